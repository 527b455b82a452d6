"""HDF5 files that are written whole or not at all, and checksums of samples.

Large arrays begin at a multiple of 4096 bytes: where the source allows direct reads, samples
can be read that way.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import h5py
import numpy as np
import xxhash
from numpy.typing import NDArray

from augury.errors import DataError

ALIGNMENT = 4096


def checksum(sample: NDArray[np.generic]) -> int:
    """XXH3-64 of a sample's bytes."""
    return xxhash.xxh3_64_intdigest(np.ascontiguousarray(sample).data)


@contextmanager
def new_file(path: Path) -> Iterator[h5py.File]:
    """An HDF5 file that gets its name when the block has succeeded, and no sooner.

    Raises:
        DataError: it cannot be written; nothing stands under the final name.
    """
    new = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with h5py.File(
            new, "w", alignment_threshold=ALIGNMENT, alignment_interval=ALIGNMENT
        ) as file:
            yield file
        with new.open("rb") as written:
            os.fsync(written.fileno())
        new.replace(path)
    except OSError as error:
        reason = error.strerror or str(error)
        raise DataError(f"{path}: cannot be written: {reason}") from error
    finally:
        new.unlink(missing_ok=True)
