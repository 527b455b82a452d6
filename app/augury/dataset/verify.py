"""Building an index: every shard is opened, and every byte of every sample read once."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np
from numpy.typing import NDArray

from augury.dataset.files import checksum, one_line
from augury.dataset.index import Index
from augury.dataset.recipe import Progress, no_progress
from augury.errors import DataError

DTYPES = ("int16", "uint8", "float32")
"""Sample types that the native decoder reads, little-endian."""


@dataclass(frozen=True, slots=True)
class _Facts:
    """What all shards of a dataset must agree on."""

    workload: str
    shape: tuple[int, ...]
    dtype: str
    label_names: tuple[str, ...]
    recipe: str


@dataclass(frozen=True, slots=True)
class _Shard:
    """A verified file."""

    path: str
    facts: _Facts
    file_bytes: int
    offset: int
    """Of the first sample; the others follow without gaps."""

    labels: NDArray[np.float32]
    checksums: NDArray[np.uint64]


def build_index(root: Path, on_progress: Progress = no_progress) -> Index:
    """Verify all shards below `root` and write the index. On one rank.

    Args:
        on_progress: called with the shards that are done, and their total.

    Raises:
        DataError: names the file, and the dataset and row where there is one: no shards, a
            wrong shape or dtype, shards that disagree, a sample that differs from its
            checksum, labels that are not finite, a file that cannot be read.
    Cost: reads every byte once; memory for one sample, and the labels of all.
    """
    shards: list[_Shard] = []
    splits: dict[str, range] = {}
    paths = {split: sorted((root / split).glob("*.h5")) for split in ("train", "validation")}
    total = sum(map(len, paths.values()))
    if not total:
        raise DataError(f"{root}: no shards here: train/*.h5 and validation/*.h5 are looked for")
    first = 0
    for split, files in paths.items():
        for path in files:
            on_progress(len(shards), total)
            shards.append(_verify(root, path))
            _check_agrees(shards[0], shards[-1])
        count = sum(len(shard.labels) for shard in shards) - first
        splits[split] = range(first, first + count)
        first += count
    on_progress(total, total)
    index = _assemble(root, shards, splits)
    index.save()
    return index


def _verify(root: Path, path: Path) -> _Shard:
    try:
        with h5py.File(path, "r") as file:
            return _verify_open(root, path, file)
    except DataError:
        raise
    except (OSError, KeyError, RuntimeError, ValueError) as error:
        raise DataError(f"{path}: cannot be read as a shard: {one_line(error)}") from error


def _verify_open(root: Path, path: Path, file: h5py.File) -> _Shard:
    name = str(file.attrs["samples"])
    samples, labels = _array(path, file, name), _array(path, file, "labels")[:]
    if samples.dtype.name not in DTYPES or samples.dtype.newbyteorder("<") != samples.dtype:
        order = "big-endian " if samples.dtype.byteorder == ">" else ""
        raise DataError(
            f"{path}: {name} is {order}{samples.dtype.name}; it must be one of "
            f"{', '.join(DTYPES)}, little-endian"
        )
    if labels.dtype != np.float32 or labels.ndim != 2 or len(labels) != len(samples):
        raise DataError(
            f"{path}: labels are {labels.dtype.name} {labels.shape}; float32 "
            f"[{len(samples)}, labels] is needed"
        )
    if not np.isfinite(labels).all():
        row = int(np.flatnonzero(~np.isfinite(labels).all(axis=1))[0])
        raise DataError(f"{path}: labels, row {row}: not finite: {labels[row].tolist()}")
    offset = samples.id.get_offset()
    if offset is None or samples.chunks is not None:
        raise DataError(f"{path}: {name} is chunked or empty; it must be contiguous")
    facts = _Facts(
        workload=str(file.attrs["workload"]),
        shape=tuple(samples.shape[1:]),
        dtype=samples.dtype.name,
        label_names=tuple(str(label) for label in file["labels"].attrs["names"]),
        recipe=str(file.attrs.get("recipe", "")),
    )
    if len(facts.label_names) != labels.shape[1]:
        raise DataError(
            f"{path}: labels have {len(facts.label_names)} names for {labels.shape[1]} columns"
        )
    recorded = _array(path, file, "checksum")[:] if "checksum" in file else None
    sums = _checksums(path, name, samples, recorded)
    size = path.stat().st_size
    return _Shard(str(path.relative_to(root)), facts, size, int(offset), labels, sums)


def _array(path: Path, file: h5py.File, name: str) -> h5py.Dataset:
    """The dataset `name`, which has a row for each sample."""
    found = file[name]
    if not isinstance(found, h5py.Dataset) or not found.shape:
        raise DataError(f"{path}: {name} is not an array")
    return found


def _checksums(
    path: Path, name: str, samples: h5py.Dataset, expected: NDArray[np.uint64] | None
) -> NDArray[np.uint64]:
    """Checksums of all samples, compared with those that the shard records, if it does."""
    sums = np.empty(len(samples), dtype=np.uint64)
    if expected is not None and expected.shape != sums.shape:
        raise DataError(f"{path}: checksum is {expected.shape}, {name} has {len(sums)} samples")
    for row in range(len(samples)):
        sums[row] = checksum(samples[row])
        if expected is not None and sums[row] != expected[row]:
            raise DataError(
                f"{path}: {name}, row {row}: the bytes do not match their checksum; the file is "
                "damaged: remove it and make or copy it again"
            )
    return sums


def _check_agrees(first: _Shard, other: _Shard) -> None:
    """All shards hold samples of the same kind."""
    for name in ("workload", "shape", "dtype", "label_names", "recipe"):
        mine, theirs = getattr(first.facts, name), getattr(other.facts, name)
        if mine != theirs:
            raise DataError(f"{other.path}: {name} is {theirs}, in {first.path} it is {mine}")


def _assemble(root: Path, shards: list[_Shard], splits: dict[str, range]) -> Index:
    """The index of verified shards: one extent per sample."""
    facts = shards[0].facts
    length = int(np.prod(facts.shape)) * np.dtype(facts.dtype).itemsize
    counts = [len(shard.labels) for shard in shards]
    offsets = [
        np.uint64(shard.offset) + np.arange(count, dtype=np.uint64) * np.uint64(length)
        for shard, count in zip(shards, counts, strict=True)
    ]
    total = sum(counts)
    return Index(
        root=root,
        workload=facts.workload,
        sample_shape=facts.shape,
        sample_dtype=facts.dtype,
        label_names=facts.label_names,
        labels=np.concatenate([shard.labels for shard in shards]),
        files=tuple(shard.path for shard in shards),
        file_bytes=np.array([shard.file_bytes for shard in shards], dtype=np.uint64),
        extent_file=np.repeat(np.arange(len(shards), dtype=np.uint32), counts),
        extent_offset=np.concatenate(offsets),
        extent_length=np.full(total, length, dtype=np.uint64),
        extents_begin=np.arange(total + 1, dtype=np.uint64),
        checksums=np.concatenate([shard.checksums for shard in shards]),
        splits=splits,
        attributes={"recipe": facts.recipe},
    )
