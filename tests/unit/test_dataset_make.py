"""A made dataset is its recipe's, whoever computes it and however often it is interrupted."""

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from augury.dataset.cosmoflow import make_sample
from augury.dataset.files import new_file
from augury.dataset.make import Made, make_dataset, prepare
from augury.dataset.recipe import Recipe
from augury.errors import ConfigError, DataError


def recipe_with(
    *, samples: int = 5, validation: int = 3, side: int = 8, seed: int = 1, per_shard: int = 2
) -> Recipe:
    return Recipe(
        workload="cosmoflow", samples=samples, validation=validation, side=side, seed=seed,
        samples_per_shard=per_shard,
    )  # fmt: skip


def make(folder: Path, recipe: Recipe, ranks: int = 1) -> list[Made]:
    prepare(folder, recipe)
    return [make_dataset(folder, recipe, rank=rank, ranks=ranks) for rank in range(ranks)]


def contents(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def counts_of(folder: Path, split: str) -> list[bytes]:
    """The samples of a split in the order of their numbers."""
    found: list[bytes] = []
    for path in sorted((folder / split).glob("*.h5")):
        with h5py.File(path, "r") as file:
            found += [sample.tobytes() for sample in file["counts"][:]]
    return found


# What is made


def test_a_dataset_is_the_shards_of_its_two_splits_and_nothing_else(tmp_path: Path) -> None:
    assert make(tmp_path, recipe_with()) == [Made(computed=8, kept=0)]
    names = ["train/00000.h5", "train/00001.h5", "train/00002.h5"]
    names += ["validation/00000.h5", "validation/00001.h5"]
    assert sorted(contents(tmp_path)) == names
    lengths = []
    for name in names:
        with h5py.File(tmp_path / name, "r") as file:
            lengths.append(len(file["counts"]))
    assert lengths == [2, 2, 1, 2, 1]


def test_a_shard_says_what_its_arrays_are(tmp_path: Path) -> None:
    recipe = recipe_with()
    make(tmp_path, recipe)
    with h5py.File(tmp_path / "train/00001.h5", "r") as file:
        facts = dict(file.attrs)
        recorded = json.loads(facts.pop("recipe"))
        assert recorded == {
            "workload": "cosmoflow", "samples": 5, "validation": 3, "side": 8, "seed": 1,
            "samples_per_shard": 2, "generator_version": recorded["generator_version"],
            "voxel_Mpc_per_h": 8.0, "particles_per_voxel": 8,
        }  # fmt: skip
        assert facts.pop("redshifts").tolist() == [3.0, 1.5, 0.5, 0.0]
        assert facts == {
            "workload": "cosmoflow", "samples": "counts", "box_Mpc_per_h": 64.0,
            "particles_per_voxel": 8,
        }  # fmt: skip
        assert file["counts"].attrs["dims"] == "sample, redshift, x, y, z"
        for name in ("labels", "parameters"):
            assert file[name].attrs["dims"] == "sample, parameter"
            assert list(file[name].attrs["names"]) == ["Omega_m", "sigma_8", "n_s", "h"]
        assert all(file[name].attrs["description"] for name in file)
        assert {name: (data.dtype.str, data.shape) for name, data in file.items()} == {
            "counts": ("<i2", (2, 4, 8, 8, 8)),
            "labels": ("<f4", (2, 4)),
            "parameters": ("<f8", (2, 4)),
            "checksum": ("<u8", (2,)),
        }


def test_samples_begin_at_a_multiple_of_4096_bytes_and_follow_each_other(tmp_path: Path) -> None:
    make(tmp_path, recipe_with())
    path = tmp_path / "train/00000.h5"
    with h5py.File(path, "r") as file:
        offset, counts = file["counts"].id.get_offset(), file["counts"][:]
        assert file["counts"].chunks is None
    assert offset % 4096 == 0
    raw = np.fromfile(path, dtype="<i2", offset=offset, count=counts.size)
    assert np.array_equal(raw.reshape(counts.shape), counts)


def test_the_row_of_a_shard_is_the_sample_of_its_number(tmp_path: Path) -> None:
    recipe = recipe_with()
    make(tmp_path, recipe)
    for name, row, split, number in (("train/00001.h5", 1, "train", 3),
                                     ("validation/00001.h5", 0, "validation", 2)):  # fmt: skip
        sample = make_sample(recipe, split, number)
        with h5py.File(tmp_path / name, "r") as file:
            assert np.array_equal(file["counts"][row], sample.counts)
            assert np.array_equal(file["labels"][row], sample.labels)
            assert np.array_equal(file["parameters"][row], sample.parameters)


def test_labels_are_the_scaled_parameters(tmp_path: Path) -> None:
    make(tmp_path, recipe_with())
    low, high = np.array([0.25, 0.78, 0.9, 0.55]), np.array([0.35, 0.95, 1.0, 0.85])
    with h5py.File(tmp_path / "train/00000.h5", "r") as file:
        parameters, labels = file["parameters"][:], file["labels"][:]
    assert labels == pytest.approx((parameters - low) / (high - low) * 2 - 1, abs=1e-6)


def test_no_two_samples_are_equal_and_another_seed_makes_others(tmp_path: Path) -> None:
    seen: set[bytes] = set()
    for seed in (1, 2):
        make(tmp_path / str(seed), recipe_with(seed=seed))
        for split in ("train", "validation"):
            seen.update(counts_of(tmp_path / str(seed), split))
    assert len(seen) == 2 * (5 + 3)


# Who makes it does not matter


@pytest.mark.parametrize("ranks", [3, 7])
def test_shards_do_not_depend_on_the_number_of_ranks(tmp_path: Path, ranks: int) -> None:
    alone, together = tmp_path / "alone", tmp_path / "together"
    make(alone, recipe_with())
    made = make(together, recipe_with(), ranks)
    assert sum(part.computed for part in made) == 8
    assert contents(alone) == contents(together)


def test_samples_do_not_depend_on_how_they_are_cut_into_shards(tmp_path: Path) -> None:
    make(tmp_path / "two", recipe_with(per_shard=2))
    make(tmp_path / "three", recipe_with(per_shard=3))
    for split, total in (("train", 5), ("validation", 3)):
        two = counts_of(tmp_path / "two", split)
        assert len(two) == total
        assert two == counts_of(tmp_path / "three", split)


def test_samples_do_not_depend_on_how_many_there_are(tmp_path: Path) -> None:
    make(tmp_path / "few", recipe_with(samples=3))
    make(tmp_path / "many", recipe_with(samples=5))
    few, many = (counts_of(tmp_path / name, "train") for name in ("few", "many"))
    assert few == many[:3]


@given(
    samples=st.integers(1, 300),
    validation=st.integers(1, 50),
    per_shard=st.integers(1, 320),
)
def test_shards_hold_every_sample_once(samples: int, validation: int, per_shard: int) -> None:
    recipe = recipe_with(samples=samples, validation=validation, per_shard=per_shard)
    parts = list(recipe.shards())
    for split, total in (("train", samples), ("validation", validation)):
        mine = [part for part in parts if part.split == split]
        held = [at for part in mine for at in range(part.first, part.first + part.count)]
        assert held == list(range(total))
        assert all(1 <= part.count <= per_shard for part in mine)
    paths = [part.path for part in parts]
    assert len(set(paths)) == len(paths)
    assert paths == sorted(paths)


# Again, and after an interruption


def test_a_second_call_keeps_everything(tmp_path: Path) -> None:
    make(tmp_path, recipe_with())
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.h5")}
    assert make(tmp_path, recipe_with()) == [Made(computed=0, kept=8)]
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.h5")} == before


def test_after_an_interruption_only_what_is_missing_is_computed(tmp_path: Path) -> None:
    make(tmp_path, recipe_with())
    whole = contents(tmp_path)
    (tmp_path / "train/00001.h5").unlink()
    (tmp_path / "train/.00001.h5.4711").write_bytes(b"what a killed process left")
    (tmp_path / "validation/.00000.h5.4711").write_bytes(b"")
    assert make(tmp_path, recipe_with()) == [Made(computed=2, kept=6)]
    assert contents(tmp_path) == whole


def test_progress_begins_at_nothing_and_ends_with_everything(tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    prepare(tmp_path, recipe_with())
    make_dataset(
        tmp_path, recipe_with(), on_progress=lambda done, total: seen.append((done, total))
    )
    assert {total for _, total in seen} == {8}
    done = [at for at, _ in seen]
    assert done == sorted(done)
    assert sorted(set(done)) == list(range(9))


@pytest.mark.parametrize(
    ("other", "named"),
    [
        (recipe_with(seed=2), "seed 1 (asked for: 2)"),
        (recipe_with(side=10), "side 8 (asked for: 10)"),
        (recipe_with(samples=6), "samples 5 (asked for: 6)"),
        (recipe_with(per_shard=4), "samples_per_shard 2 (asked for: 4)"),
        (
            recipe_with(seed=2, validation=4),
            "seed 1 (asked for: 2), validation 3 (asked for: 4)",
        ),
    ],
)
def test_another_recipe_in_the_same_folder_is_refused_with_what_differs(
    tmp_path: Path, other: Recipe, named: str
) -> None:
    make(tmp_path, recipe_with())
    whole = contents(tmp_path)
    with pytest.raises(DataError) as caught:
        prepare(tmp_path, other)
    assert str(caught.value) == (
        f"{tmp_path}: made with {named}; name another folder, or remove this one"
    )
    assert contents(tmp_path) == whole


def test_a_shard_of_another_recipe_among_the_rest_is_refused_by_who_meets_it(
    tmp_path: Path,
) -> None:
    make(tmp_path / "mine", recipe_with())
    make(tmp_path / "other", recipe_with(seed=2))
    stray = tmp_path / "mine/train/00002.h5"
    (tmp_path / "other/train/00002.h5").replace(stray)
    prepare(tmp_path / "mine", recipe_with())
    with pytest.raises(DataError, match=r"00002\.h5: made with seed 2 \(asked for: 1\)"):
        make_dataset(tmp_path / "mine", recipe_with())


@pytest.mark.parametrize("left", [b"", b"not HDF5 at all"])
def test_something_else_under_the_name_of_a_shard_is_not_overwritten(
    tmp_path: Path, left: bytes
) -> None:
    prepare(tmp_path, recipe_with())
    path = tmp_path / "validation/00000.h5"
    path.write_bytes(left)
    with pytest.raises(DataError, match=r"validation/00000\.h5: not a shard of a made dataset"):
        make_dataset(tmp_path, recipe_with())
    assert path.read_bytes() == left


# Bad arguments


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"samples": 0}, "--samples: must be at least 1, is 0"),
        ({"validation": 0}, "--validation: must be at least 1, is 0"),
        ({"seed": -1}, "--seed: must be at least 0, is -1"),
        ({"side": 7}, "--side: must be even and at least 4, is 7"),
        ({"side": 2}, "--side: must be even and at least 4, is 2"),
        ({"side": -8}, "--side: must be even and at least 4, is -8"),
        ({"per_shard": 0}, "samples_per_shard: must be at least 1, is 0"),
        ({"per_shard": -1}, "samples_per_shard: must be at least 1, is -1"),
    ],
)
def test_impossible_arguments_are_refused_by_name(arguments: dict[str, int], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        recipe_with(**arguments)
    assert str(caught.value) == message


def test_a_workload_without_a_generator_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"^climate: .* no generator .* there is cosmoflow$"):
        Recipe(workload="climate", samples=1, validation=1, side=8, seed=0)


# Disks that fail


def assert_one_line(message: str, *parts: str) -> None:
    assert "\n" not in message
    for part in parts:
        assert part in message


def test_a_full_disk_leaves_nothing_under_the_final_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    prepare(tmp_path, recipe_with())
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(DataError) as caught:
            make_dataset(tmp_path, recipe_with())
    path = tmp_path / "train/00000.h5"
    assert str(caught.value) == f"{path}: cannot be written: No space left on device"
    assert contents(tmp_path) == {}
    assert make(tmp_path, recipe_with()) == [Made(computed=8, kept=0)]


# In a process of its own, whose end is looked at too: HDF5 falls over files that it cannot close.
# The limit makes the kernel refuse to let any file grow further, as on a full disk.
WRITE_WITH_LIMIT = """
import resource, sys
from pathlib import Path
from augury.dataset.cosmoflow import make_sample
from augury.dataset.recipe import Recipe
from augury.dataset.shards import write_shard
from augury.errors import DataError

path, size = Path(sys.argv[1]), int(sys.argv[2])
recipe = Recipe(workload="cosmoflow", samples=1, validation=1, side=8, seed=1)
sample = make_sample(recipe, "train", 0)
before = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
try:
    write_shard(path, recipe, [sample])
except DataError as error:
    resource.setrlimit(resource.RLIMIT_FSIZE, before)
    print(error, flush=True)
"""


@pytest.mark.parametrize("size", [0, 6000])
def test_a_write_that_fails_half_way_leaves_nothing(tmp_path: Path, size: int) -> None:
    path = tmp_path / "train/00000.h5"
    done = subprocess.run(
        [sys.executable, "-c", WRITE_WITH_LIMIT, str(path), str(size)],
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{path}: cannot be written: File too large\n"
    assert contents(tmp_path) == {}


def write_and_raise(path: Path, error: BaseException) -> None:
    with new_file(path) as file:
        file["x"] = np.arange(5)
        raise error


def test_an_interrupt_while_writing_leaves_nothing_and_is_not_swallowed(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        write_and_raise(tmp_path / "a.h5", KeyboardInterrupt())
    assert contents(tmp_path) == {}


def test_a_failed_write_keeps_the_file_that_was_there(tmp_path: Path) -> None:
    path = tmp_path / "a.h5"
    with new_file(path) as file:
        file["x"] = 1
    before = contents(tmp_path)
    with pytest.raises(DataError, match=r"a\.h5: cannot be written: Input/output error"):
        write_and_raise(path, OSError(errno.EIO, os.strerror(errno.EIO)))
    assert contents(tmp_path) == before


def test_a_folder_that_is_a_file_is_named_with_the_reason(tmp_path: Path) -> None:
    taken = tmp_path / "taken"
    taken.write_text("a file")
    with pytest.raises(DataError) as caught:
        prepare(taken, recipe_with())
    assert_one_line(str(caught.value), f"{taken}: cannot be made: ", "Not a directory")
    with pytest.raises(DataError) as caught, new_file(taken / "a.h5"):
        pass
    assert_one_line(str(caught.value), f"{taken / 'a.h5'}: cannot be written: ")
    assert taken.read_text() == "a file"


def test_a_dataset_of_an_older_generator_or_another_box_is_refused(tmp_path: Path) -> None:
    recipe = Recipe(workload="cosmoflow", samples=2, validation=1, side=8, seed=1)
    older = recipe.to_json().replace('"generator_version": 2', '"generator_version": 1')
    smaller = recipe.to_json().replace('"voxel_Mpc_per_h": 8.0', '"voxel_Mpc_per_h": 4.0')
    recipe.check_same(recipe.to_json(), "here")
    for other, name in ((older, "generator_version 1"), (smaller, "voxel_Mpc_per_h 4.0")):
        assert other != recipe.to_json()
        with pytest.raises(DataError, match=name):
            recipe.check_same(other, str(tmp_path))
