"""The index of a dataset: where every sample's bytes are, what they must be, and its labels.

It is made once, by one rank, from the files themselves (`verify`); the loader believes it and
nothing else. `content_hash` names the content: two datasets with equal hashes hold equal
samples and labels in the same order, wherever their files are.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import xxhash
from numpy.typing import NDArray

from augury.dataset.files import new_file, one_line
from augury.errors import DataError

VERSION = 1
FILE = "index.h5"
U64s = NDArray[np.uint64]


@dataclass(frozen=True, kw_only=True, slots=True)
class Index:
    """Samples -> extents, labels, checksums. N samples, F files, E extents, L labels."""

    root: Path
    """Folder that the paths of files are relative to."""

    workload: str
    sample_shape: tuple[int, ...]
    sample_dtype: str
    """NumPy's name of the little-endian type, such as "int16"."""

    label_names: tuple[str, ...]
    labels: NDArray[np.float32]
    """float32 [N, L]."""

    files: tuple[str, ...]
    file_bytes: U64s
    """uint64 [F]."""

    extent_file: NDArray[np.uint32]
    extent_offset: U64s
    extent_length: U64s
    """[E] each, lengths and offsets in bytes."""

    extents_begin: U64s
    """uint64 [N + 1]: sample k has the extents from extents_begin[k] to extents_begin[k + 1]."""

    checksums: U64s
    """XXH3-64 of each sample's bytes, uint64 [N]."""

    splits: Mapping[str, range]
    """Sample numbers of each split."""

    attributes: Mapping[str, str]
    """What the generator says of itself."""

    @property
    def content_hash(self) -> str:
        """XXH3-128 over shape, type, label names, splits, labels and checksums, as hex."""
        splits = {name: [split.start, split.stop] for name, split in self.splits.items()}
        facts = [list(self.sample_shape), self.sample_dtype, list(self.label_names), splits]
        state = xxhash.xxh3_128(json.dumps(facts, sort_keys=True).encode())
        state.update(np.ascontiguousarray(self.labels).data)
        state.update(np.ascontiguousarray(self.checksums).data)
        return state.hexdigest()

    @property
    def index_hash(self) -> str:
        """XXH3-128 over the content's hash and where the content is: guards the index itself."""
        facts = [self.content_hash, self.workload, dict(self.attributes), list(self.files)]
        state = xxhash.xxh3_128(json.dumps(facts, sort_keys=True).encode())
        for array in (
            self.file_bytes, self.extent_file, self.extent_offset, self.extent_length,
            self.extents_begin,
        ):  # fmt: skip
            state.update(np.ascontiguousarray(array).data)
        return state.hexdigest()

    def sample_bytes(self) -> U64s:
        """Bytes of every sample, uint64 [N]."""
        ends = np.zeros(len(self.extent_length) + 1, dtype=np.uint64)
        np.cumsum(self.extent_length, out=ends[1:])
        bounds = ends[self.extents_begin.astype(np.int64)]
        return np.ascontiguousarray(np.diff(bounds), dtype=np.uint64)

    def save(self) -> None:
        """Write `root`/index.h5, whole or not at all.

        Raises:
            DataError: it cannot be written.
        """
        with new_file(self.root / FILE) as file:
            file.attrs.update(
                {
                    "format": "augury-index",
                    "version": VERSION,
                    "workload": self.workload,
                    "sample_shape": self.sample_shape,
                    "sample_dtype": self.sample_dtype,
                    "label_names": self.label_names,
                    "content_hash": self.content_hash,
                    "index_hash": self.index_hash,
                    "attributes": json.dumps(dict(self.attributes), sort_keys=True),
                }
            )
            file.create_dataset("files/path", data=list(self.files), dtype=h5py.string_dtype())
            file["files/bytes"] = self.file_bytes
            file["extents/file"] = self.extent_file
            file["extents/offset"] = self.extent_offset
            file["extents/length"] = self.extent_length
            file["samples/extents_begin"] = self.extents_begin
            file["samples/checksum"] = self.checksums
            file["samples/labels"] = self.labels
            for name, split in self.splits.items():
                file[f"splits/{name}"] = np.array([split.start, split.stop], dtype=np.uint64)

    @classmethod
    def load(cls, path: Path, *, check_files: bool = False) -> Index:
        """The index of the dataset in folder `path`.

        Args:
            check_files: also look whether every file is there with the recorded size.

        Raises:
            DataError: there is no index, it is damaged or of another version, or a file is
                not as it was when it was indexed.
        """
        file = path / FILE
        try:
            with h5py.File(file, "r") as stream:
                index = _read(path, stream)
                recorded = str(stream.attrs["index_hash"])
        except FileNotFoundError:
            raise DataError(f"{file}: no index here; run `augury data index {path}`") from None
        except (OSError, KeyError, RuntimeError, TypeError, ValueError) as error:
            reason = f"not an index, or damaged ({one_line(error)})"
            raise DataError(f"{file}: {reason}; run `augury data index {path}`") from error
        if index.index_hash != recorded:
            raise DataError(f"{file}: damaged, its hash differs; run `augury data index {path}`")
        if check_files:
            index.check_files()
        return index

    def check_files(self) -> None:
        """Look whether every file is there with the size that it had when it was indexed.

        Raises:
            DataError: names the first file that is not.
        """
        for name, size in zip(self.files, self.file_bytes, strict=True):
            file = self.root / name
            try:
                have = file.stat().st_size
            except OSError as error:
                raise DataError(f"{file}: in the index, but: {error.strerror}") from error
            if have != size:
                raise DataError(
                    f"{file}: has {have} bytes, had {size} when it was indexed; restore it, or "
                    f"run `augury data index {self.root}` if it was replaced on purpose"
                )


def _read(root: Path, file: h5py.File) -> Index:
    if file.attrs["format"] != "augury-index" or file.attrs["version"] != VERSION:
        raise ValueError(f"version {file.attrs['version']}, this augury reads {VERSION}")
    return Index(
        root=root,
        workload=str(file.attrs["workload"]),
        sample_shape=tuple(int(size) for size in file.attrs["sample_shape"]),
        sample_dtype=str(file.attrs["sample_dtype"]),
        label_names=tuple(str(name) for name in file.attrs["label_names"]),
        labels=file["samples/labels"][:],
        files=tuple(file["files/path"].asstr()[:].tolist()),
        file_bytes=file["files/bytes"][:],
        extent_file=file["extents/file"][:],
        extent_offset=file["extents/offset"][:],
        extent_length=file["extents/length"][:],
        extents_begin=file["samples/extents_begin"][:],
        checksums=file["samples/checksum"][:],
        splits={name: range(*map(int, bounds[:])) for name, bounds in file["splits"].items()},
        attributes=json.loads(file.attrs["attributes"]),
    )


def describe(index: Index) -> dict[str, Any]:
    """What a dataset holds, for people and programs."""
    ranges = {
        name: [float(column.min()), float(column.max())]
        for name, column in zip(index.label_names, index.labels.T, strict=True)
    }
    return {
        "workload": index.workload,
        "samples": {name: len(split) for name, split in index.splits.items()},
        "sample_shape": list(index.sample_shape),
        "sample_dtype": index.sample_dtype,
        "bytes": int(index.extent_length.sum()),
        "files": len(index.files),
        "labels": ranges,
        "content_hash": index.content_hash,
        **index.attributes,
    }
