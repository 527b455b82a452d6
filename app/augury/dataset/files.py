"""HDF5 files that are written whole or not at all, and checksums of samples.

Large arrays begin at a multiple of 4096 bytes: where the source allows direct reads, samples
can be read that way.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import h5py
import numpy as np
import xxhash
from numpy.typing import NDArray

from augury.atomic import write_whole
from augury.errors import DataError

ALIGNMENT = 4096


def checksum(sample: NDArray[np.generic]) -> int:
    """XXH3-64 of a sample's bytes."""
    return xxhash.xxh3_64_intdigest(np.ascontiguousarray(sample).data)


@contextmanager
def new_file(path: Path) -> Iterator[h5py.File]:
    """An HDF5 file that gets its name when the block has succeeded, and no sooner.

    It is composed in memory and written by Python: where HDF5 itself meets a full disk, the
    process ends in a segmentation fault.

    Raises:
        DataError: it cannot be written; nothing stands under the final name.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with h5py.File(
            path.name, "w", driver="core", backing_store=False,
            alignment_threshold=ALIGNMENT, alignment_interval=ALIGNMENT,
        ) as file:  # fmt: skip
            yield file
            file.flush()
            image = file.id.get_file_image()
        write_whole(path, image)
    except OSError as error:
        reason = error.strerror or one_line(error)
        raise DataError(f"{path}: cannot be written: {reason}") from error


def one_line(error: Exception) -> str:
    """What an error says, on one line: HDF5's own texts have several."""
    return " ".join(str(error).split())
