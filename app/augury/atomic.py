"""Files that are replaced whole or not at all."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


def write_whole(path: Path, data: bytes) -> None:
    """Replace the file at `path` by `data`: a reader, or a crash, sees the old or the new.

    Raises:
        OSError: it cannot be written; what was there is still there, and nothing else.
    """
    new = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with new.open("wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        new.replace(path)
    finally:
        with suppress(OSError):  # such as a folder that is none: the first error says it
            new.unlink()
