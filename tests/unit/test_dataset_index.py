"""An index says where every sample's bytes are, and refuses files that are not what they were."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import xxhash
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from augury.dataset import Index, describe
from augury.dataset.files import checksum
from augury.dataset.make import make_dataset, prepare
from augury.dataset.recipe import Recipe
from augury.dataset.verify import build_index
from augury.errors import DataError

SHARD = "train/00001.h5"


def make(folder: Path, *, seed: int = 1, side: int = 8) -> Path:
    recipe = Recipe(
        workload="cosmoflow", samples=5, validation=3, side=side, seed=seed, samples_per_shard=2
    )
    prepare(folder, recipe)
    make_dataset(folder, recipe)
    return folder


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset with its index, which no test may change."""
    folder = make(tmp_path_factory.mktemp("made"))
    build_index(folder)
    return folder


@pytest.fixture
def own(made: Path, tmp_path: Path) -> Path:
    """A copy of it for one test."""
    return Path(shutil.copytree(made, tmp_path / "own"))


def write_own_shard(path: Path, samples: NDArray[Any], labels: NDArray[np.float32]) -> None:
    """A shard as somebody else's program may write it: nothing in it but what is needed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with h5py.File(path, "w") as file:
        file.attrs["workload"] = "cosmoflow"
        file.attrs["samples"] = "density"
        file["density"] = samples
        file["labels"] = labels
        file["labels"].attrs["names"] = [f"label {at}" for at in range(labels.shape[1])]


def put_in(path: Path, name: str, data: object, **how: object) -> None:
    """Another array under a name, with the attributes of the one before."""
    with h5py.File(path, "r+") as file:
        attributes = dict(file[name].attrs)
        del file[name]
        file.create_dataset(name, data=data, **how).attrs.update(attributes)


def array(path: Path, name: str) -> NDArray[Any]:
    with h5py.File(path, "r") as file:
        return np.asarray(file[name][:])


def flip(path: Path, at: int) -> None:
    data = bytearray(path.read_bytes())
    data[at] ^= 0xFF
    path.write_bytes(data)


# What an index says


def test_extents_point_at_the_bytes_of_every_sample(made: Path) -> None:
    index = Index.load(made)
    rows = [(name, row) for name in sorted(index.files)
            for row in range(len(array(made / name, "counts")))]  # fmt: skip
    assert len(rows) == len(index.checksums) == 8
    for sample, (name, row) in enumerate(rows):
        begin, end = index.extents_begin[sample : sample + 2]
        assert end - begin == 1
        assert index.files[index.extent_file[begin]] == name
        length = int(index.extent_length[begin])
        raw = np.fromfile(
            made / name, dtype=np.uint8, count=length, offset=int(index.extent_offset[begin])
        )
        expected = array(made / name, "counts")[row]
        assert length == expected.nbytes == 4 * 8**3 * 2
        assert np.array_equal(raw.view("<i2").reshape(index.sample_shape), expected)
        assert int(index.checksums[sample]) == xxhash.xxh3_64(expected.tobytes()).intdigest()
        assert np.array_equal(index.labels[sample], array(made / name, "labels")[row])


def test_an_index_describes_samples_files_and_splits(made: Path) -> None:
    index = Index.load(made)
    assert index.workload == "cosmoflow"
    assert (index.sample_shape, index.sample_dtype) == ((4, 8, 8, 8), "int16")
    assert index.label_names == ("Omega_m", "sigma_8", "n_s", "h")
    assert index.files == (
        "train/00000.h5", "train/00001.h5", "train/00002.h5",
        "validation/00000.h5", "validation/00001.h5",
    )  # fmt: skip
    assert index.file_bytes.tolist() == [(made / name).stat().st_size for name in index.files]
    assert index.splits == {"train": range(5), "validation": range(5, 8)}
    assert index.sample_bytes().tolist() == [4096] * 8
    assert index.sample_bytes().dtype == np.uint64


def test_a_description_sums_up_the_index(made: Path) -> None:
    index = Index.load(made)
    facts = describe(index)
    assert facts["samples"] == {"train": 5, "validation": 3}
    assert (facts["bytes"], facts["files"]) == (8 * 4096, 5)
    assert facts["content_hash"] == index.content_hash
    labels = np.concatenate([array(made / name, "labels") for name in index.files])
    for column, name in enumerate(index.label_names):
        assert facts["labels"][name] == [labels[:, column].min(), labels[:, column].max()]


def test_a_sample_in_pieces_has_the_sum_of_their_bytes(made: Path) -> None:
    huge = 2**60 + 1  # not a float64
    pieces = replace(
        Index.load(made),
        extent_length=np.array([3, 4, huge, 5], dtype=np.uint64),
        extents_begin=np.array([0, 2, 3, 3, 4], dtype=np.uint64),
    )
    assert pieces.sample_bytes().tolist() == [7, huge, 0, 5]


def same(one: Index, other: Index) -> bool:
    names = ("labels", "file_bytes", "extent_file", "extent_offset", "extent_length",
             "extents_begin", "checksums")  # fmt: skip
    plain = ("root", "workload", "sample_shape", "sample_dtype", "label_names", "files", "splits",
             "attributes")  # fmt: skip
    arrays = [(getattr(one, name), getattr(other, name)) for name in names]
    return all(
        mine.dtype == theirs.dtype and np.array_equal(mine, theirs) for mine, theirs in arrays
    ) and all(getattr(one, name) == getattr(other, name) for name in plain)


def test_what_is_loaded_is_what_was_built(own: Path) -> None:
    built = build_index(own)
    loaded = Index.load(own, check_files=True)
    assert same(built, loaded)
    loaded.save()
    assert same(Index.load(own), built)


# The hash of the content


def test_the_hash_of_the_content_knows_no_folder_and_no_build(made: Path, own: Path) -> None:
    assert build_index(own).content_hash == Index.load(made).content_hash


def test_the_hash_of_the_content_knows_no_files(made: Path, tmp_path: Path) -> None:
    """The same samples in one shard of each split."""
    for split in ("train", "validation"):
        files = sorted((made / split).glob("*.h5"))
        merged = tmp_path / split / "all.h5"
        merged.parent.mkdir()
        shutil.copy(files[0], merged)
        for name in ("counts", "labels", "parameters", "checksum"):
            put_in(merged, name, np.concatenate([array(path, name) for path in files]))
    assert build_index(tmp_path).content_hash == Index.load(made).content_hash


def test_the_hash_of_the_content_is_another_for_another_dataset(made: Path, tmp_path: Path) -> None:
    other = build_index(make(tmp_path, seed=2))
    assert other.content_hash != Index.load(made).content_hash


def changed(values: NDArray[Any]) -> NDArray[Any]:
    other = values.copy()
    other.flat[5] += 1
    return other


@pytest.mark.parametrize(
    "change",
    [
        lambda index: {"labels": changed(index.labels)},
        lambda index: {"labels": index.labels[::-1]},
        lambda index: {"checksums": changed(index.checksums)},
        lambda index: {"checksums": index.checksums[::-1]},
        lambda _: {"splits": {"train": range(4), "validation": range(4, 8)}},
        lambda _: {"sample_shape": (8, 4, 8, 8)},
        lambda _: {"sample_dtype": "uint16"},
        lambda _: {"label_names": ("a", "b", "c", "d")},
    ],
    ids=["label", "labels in another order", "sample", "samples in another order", "splits",
         "shape", "dtype", "names"],
)  # fmt: skip
def test_the_hash_of_the_content_changes_with_the_content(
    made: Path, change: Callable[[Index], dict[str, Any]]
) -> None:
    index = Index.load(made)
    assert replace(index, **change(index)).content_hash != index.content_hash


def test_the_hash_of_the_content_changes_with_one_voxel_of_one_sample(own: Path) -> None:
    before = Index.load(own).content_hash
    counts = changed(array(own / SHARD, "counts"))
    put_in(own / SHARD, "counts", counts)
    with h5py.File(own / SHARD, "r+") as file:
        del file["checksum"]
    assert build_index(own).content_hash != before


# Loading what is no index


def test_a_missing_index_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        Index.load(tmp_path)
    assert str(caught.value) == (
        f"{tmp_path / 'index.h5'}: no index here; run `augury data index {tmp_path}`"
    )


def damage_cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:2000])


def damage_text(path: Path) -> None:
    path.write_text("not HDF5")


def damage_empty(path: Path) -> None:
    path.write_bytes(b"")


def damage_no_labels(path: Path) -> None:
    with h5py.File(path, "r+") as file:
        del file["samples/labels"]


def damage_no_hash(path: Path) -> None:
    with h5py.File(path, "r+") as file:
        del file.attrs["index_hash"]


def damage_attributes(path: Path) -> None:
    with h5py.File(path, "r+") as file:
        file.attrs["attributes"] = "{not JSON"


def damage_names_of_files(path: Path) -> None:
    with h5py.File(path, "r+") as file:
        del file["files/path"]
        file["files/path"] = np.arange(5)


def damage_format(path: Path) -> None:
    with h5py.File(path, "r+") as file:
        file.attrs["format"] = "something else"


@pytest.mark.parametrize(
    "damage",
    [damage_cut, damage_text, damage_empty, damage_no_labels, damage_no_hash, damage_attributes,
     damage_format, damage_names_of_files],
)  # fmt: skip
def test_a_damaged_index_is_refused_and_says_how_to_make_it_again(
    own: Path, damage: Callable[[Path], None]
) -> None:
    damage(own / "index.h5")
    with pytest.raises(DataError) as caught:
        Index.load(own)
    message = str(caught.value)
    assert message.startswith(f"{own / 'index.h5'}: not an index, or damaged (")
    assert message.endswith(f"); run `augury data index {own}`")
    assert "\n" not in message
    build_index(own)
    Index.load(own)


def test_an_index_of_another_version_is_refused(own: Path) -> None:
    with h5py.File(own / "index.h5", "r+") as file:
        file.attrs["version"] = 2
    with pytest.raises(DataError, match="version 2, this augury reads 1"):
        Index.load(own)


@pytest.mark.parametrize("name", ["samples/labels", "samples/checksum"])
def test_an_index_whose_numbers_changed_does_not_match_its_hash(own: Path, name: str) -> None:
    path = own / "index.h5"
    with h5py.File(path, "r") as file:
        offset = int(file[name].id.get_offset())
    flip(path, offset + 9)
    with pytest.raises(DataError, match=r"index\.h5: damaged, its hash differs; run `augury"):
        Index.load(own)


# Files that are not as they were


def test_a_file_that_is_gone_is_named(own: Path) -> None:
    (own / SHARD).unlink()
    Index.load(own)  # does not look
    with pytest.raises(DataError) as caught:
        Index.load(own, check_files=True)
    assert str(caught.value) == f"{own / SHARD}: in the index, but: No such file or directory"


@pytest.mark.parametrize("more", [-1, 1])
def test_a_file_of_another_size_is_named_with_both_sizes(own: Path, more: int) -> None:
    path = own / SHARD
    size = path.stat().st_size
    data = path.read_bytes()
    path.write_bytes(data[:-1] if more < 0 else data + b"\0")
    with pytest.raises(DataError) as caught:
        Index.load(own).check_files()
    assert str(caught.value).startswith(
        f"{path}: has {size + more} bytes, had {size} when it was indexed; restore it, or run"
    )


# Building


def assert_refused(folder: Path, *parts: str, shard: str = SHARD) -> None:
    """The message names the shard and every part; an index that was there stays."""
    had = (folder / "index.h5").read_bytes() if (folder / "index.h5").exists() else None
    with pytest.raises(DataError) as caught:
        build_index(folder)
    message = str(caught.value)
    assert shard in message
    for part in parts:
        assert part in message
    assert "\n" not in message
    has = (folder / "index.h5").read_bytes() if (folder / "index.h5").exists() else None
    assert has == had


def test_a_folder_without_shards_is_refused(tmp_path: Path) -> None:
    assert_refused(tmp_path, f"{tmp_path}: no shards here", shard="train/*.h5")
    assert_refused(tmp_path / "nowhere", "no shards here", shard="nowhere")


@pytest.mark.parametrize(
    ("dtype", "said"),
    [("<i4", "counts is int32"), (">i2", "counts is big-endian int16"), ("<f8", "float64")],
)
def test_samples_of_a_type_that_the_decoder_cannot_read_are_refused(
    own: Path, dtype: str, said: str
) -> None:
    put_in(own / SHARD, "counts", array(own / SHARD, "counts").astype(dtype))
    assert_refused(own, said, "it must be one of int16, uint8, float32, little-endian")


@pytest.mark.parametrize(
    "how", [{"chunks": (1, 4, 8, 8, 8)}, {"chunks": True, "compression": "gzip"}]
)
def test_samples_in_chunks_are_refused(own: Path, how: dict[str, Any]) -> None:
    put_in(own / SHARD, "counts", array(own / SHARD, "counts"), **how)
    assert_refused(own, "counts is chunked or empty; it must be contiguous")


@pytest.mark.parametrize("name", ["counts", "labels"])
def test_a_shard_without_samples_or_labels_is_refused(own: Path, name: str) -> None:
    with h5py.File(own / SHARD, "r+") as file:
        del file[name]
    assert_refused(own, "cannot be read as a shard", name)


@pytest.mark.parametrize("name", ["counts", "labels"])
@pytest.mark.parametrize("kind", ["group", "scalar"])
def test_a_group_or_a_number_in_place_of_an_array_is_refused(
    own: Path, name: str, kind: str
) -> None:
    with h5py.File(own / SHARD, "r+") as file:
        del file[name]
        if kind == "group":
            file.create_group(name)
        else:
            file[name] = np.int16(1)
    assert_refused(own, f"{name} is not an array")


@pytest.mark.parametrize("name", ["samples", "workload"])
def test_a_shard_that_does_not_say_what_it_holds_is_refused(own: Path, name: str) -> None:
    with h5py.File(own / SHARD, "r+") as file:
        del file.attrs[name]
    assert_refused(own, "cannot be read as a shard", name)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_label_that_is_not_finite_is_refused_with_its_row(own: Path, value: float) -> None:
    labels = array(own / SHARD, "labels")
    labels[1, 2] = value
    put_in(own / SHARD, "labels", labels)
    assert_refused(own, f"labels, row 1: not finite: [{labels[1, 0].item()}", str(value))


@pytest.mark.parametrize(
    "labels",
    [np.zeros((1, 4), np.float32), np.zeros((3, 4), np.float32), np.zeros((2, 4), np.float64),
     np.zeros(2, np.float32)],
)  # fmt: skip
def test_labels_of_another_shape_or_type_are_refused(own: Path, labels: NDArray[Any]) -> None:
    put_in(own / SHARD, "labels", labels)
    said = f"labels are {labels.dtype.name} {labels.shape}; float32 [2, labels] is needed"
    assert_refused(own, said)


def test_labels_with_more_columns_than_names_are_refused(own: Path) -> None:
    put_in(own / SHARD, "labels", np.zeros((2, 5), np.float32))
    assert_refused(own, "labels have 4 names for 5 columns")


@pytest.mark.parametrize("row", [0, 1])
def test_a_flipped_byte_is_found_in_its_row(own: Path, row: int) -> None:
    with h5py.File(own / SHARD, "r") as file:
        offset = int(file["counts"].id.get_offset())
    flip(own / SHARD, offset + row * 4096 + 1234)
    assert_refused(own, f"counts, row {row}: the bytes do not match their checksum")


@given(at=st.integers(0, 2 * 4096 - 1), bit=st.integers(0, 7))
def test_any_flipped_bit_of_a_sample_changes_its_checksum(at: int, bit: int) -> None:
    data = np.random.default_rng(1).integers(0, 99, size=4096).astype("<i2")
    before = checksum(data)
    data.view(np.uint8)[at] ^= np.uint8(1 << bit)
    assert checksum(data) != before


def test_checksums_that_are_not_one_for_each_sample_are_refused(own: Path) -> None:
    put_in(own / SHARD, "checksum", array(own / SHARD, "checksum")[:1])
    assert_refused(own, "checksum is (1,), counts has 2 samples")


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.99])
def test_a_truncated_file_is_refused(own: Path, share: float) -> None:
    data = (own / SHARD).read_bytes()
    (own / SHARD).write_bytes(data[: int(share * len(data))])
    assert_refused(own, "cannot be read as a shard")


def test_shards_of_another_shape_are_refused_with_both(own: Path, tmp_path: Path) -> None:
    other = make(tmp_path / "other", side=4)
    shutil.copy(other / SHARD, own / SHARD)
    assert_refused(own, "shape is (4, 4, 4, 4), in train/00000.h5 it is (4, 8, 8, 8)")


def test_shards_of_another_recipe_are_refused(own: Path, tmp_path: Path) -> None:
    other = make(tmp_path / "other", seed=2)
    shutil.copy(other / "validation/00001.h5", own / "validation/00001.h5")
    assert_refused(own, "recipe is ", '"seed": 2', '"seed": 1', shard="validation/00001.h5")


# Shards from elsewhere


@pytest.mark.parametrize("dtype", ["int16", "uint8", "float32"])
def test_shards_with_nothing_but_samples_and_labels_can_be_indexed(
    tmp_path: Path, dtype: str
) -> None:
    random = np.random.default_rng(3)
    samples = {
        split: random.integers(0, 99, size=(count, 2, 3)).astype(dtype)
        for split, count in (("train", 4), ("validation", 2))
    }
    for split, data in samples.items():
        labels = random.normal(size=(len(data), 1)).astype(np.float32)
        write_own_shard(tmp_path / split / "x.h5", data, labels)
    index = build_index(tmp_path)
    assert (index.sample_shape, index.sample_dtype) == ((2, 3), dtype)
    assert index.splits == {"train": range(4), "validation": range(4, 6)}
    size = 6 * np.dtype(dtype).itemsize
    assert index.sample_bytes().tolist() == [size] * 6
    rows = np.concatenate(list(samples.values()))
    for sample, row in enumerate(rows):
        raw = (tmp_path / index.files[index.extent_file[sample]]).read_bytes()
        begin = int(index.extent_offset[sample])
        assert raw[begin : begin + size] == row.tobytes()
        assert int(index.checksums[sample]) == xxhash.xxh3_64(row.tobytes()).intdigest()


def test_progress_counts_shards(own: Path) -> None:
    seen: list[tuple[int, int]] = []
    build_index(own, lambda done, total: seen.append((done, total)))
    assert seen == [(at, 5) for at in range(6)]


@pytest.mark.parametrize("name", ["extents/offset", "extents/length", "files/bytes"])
def test_an_index_whose_placement_was_changed_is_refused(own: Path, name: str) -> None:
    with h5py.File(own / "index.h5", "r+") as file:
        file[name][0] += 1
    with pytest.raises(DataError, match="damaged, its hash differs"):
        Index.load(own)
