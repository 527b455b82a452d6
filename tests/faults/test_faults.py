"""What goes wrong in a job: it ends in seconds, with one message that says what and where."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import h5py
import numpy as np
import pytest
from tests.harness import (
    BIN,
    augury,
    augury_on,
    environment,
    finish,
    rank_pids,
    ranks,
    run,
    session_pids,
    started,
    wait_for,
)

SECONDS = 15


@pytest.fixture
def copy(tmp_path: Path, dataset: Path) -> Path:
    """A dataset that a test may damage."""
    return Path(shutil.copytree(dataset, tmp_path / "copy"))


def shard(copy: Path) -> Path:
    return sorted((copy / "train").glob("*.h5"))[0]


def train(config: Path, *words: str | Path, number: int = 2) -> tuple[int, str]:
    """Exit code and the one message of a job that fails."""
    done = augury_on(number, "train", config, *words, limit_s=60)
    assert len(done.messages) == 1, done.err
    assert "Traceback" not in done.err
    return done.code, done.messages[0]


def test_a_missing_file_is_named_before_training(config: Path, copy: Path) -> None:
    shard(copy).unlink()
    code, message = train(config, "--set", f"data.path={copy}")
    assert code == 4
    assert str(shard_name(copy)) in message
    assert not (config.parent / "run").exists()


def shard_name(copy: Path) -> str:
    with h5py.File(copy / "index.h5") as index:
        return str(index["files/path"].asstr()[0])


def test_a_truncated_shard_is_named_with_both_sizes(config: Path, copy: Path) -> None:
    file = shard(copy)
    size = file.stat().st_size
    os.truncate(file, size - 1000)
    code, message = train(config, "--set", f"data.path={copy}")
    assert code == 4
    assert file.name in message
    assert str(size) in message
    assert str(size - 1000) in message


def test_a_wrong_dtype_is_named_when_indexing(copy: Path) -> None:
    with h5py.File(shard(copy), "r+") as file:
        counts = file["counts"][:].astype(np.int32)
        del file["counts"]
        file["counts"] = counts
    done = augury("data", "index", copy)
    assert (done.code, len(done.messages)) == (4, 1)
    assert "int32" in done.err
    assert shard(copy).name in done.err


def test_a_flipped_byte_is_found_when_indexing(copy: Path) -> None:
    with h5py.File(shard(copy), "r+") as file:
        file["counts"][2, 0, 0, 0, 0] += 1
    done = augury("data", "index", copy)
    assert (done.code, len(done.messages)) == (4, 1)
    assert "checksum" in done.err
    assert shard(copy).name in done.err


def test_a_folder_that_is_no_dataset_says_what_to_do(config: Path, tmp_path: Path) -> None:
    code, message = train(config, "--set", f"data.path={tmp_path}")
    assert code == 4
    assert "augury data index" in message


def test_an_unknown_key_suggests_the_near_one(config: Path) -> None:
    code, message = train(config, "--set", "train.epoch=3", number=3)
    assert code == 2
    assert "train.epoch: unknown key, did you mean epochs?" in message


@pytest.mark.parametrize("override", ["workload=cosmoflo", "model.dropuot=0.5"])
def test_an_unknown_workload_or_model_setting_suggests_the_near_one(
    config: Path, override: str
) -> None:
    code, message = train(config, "--set", override)
    assert code in (2, 4)
    assert "did you mean" in message or "cosmoflo" in message


def test_an_output_that_cannot_be_made_is_named(config: Path) -> None:
    code, message = train(config, "--set", f"output={config}/run")
    assert code == 6
    assert "--set output=DIR" in message


def test_a_world_that_is_not_the_wanted_one_is_refused(config: Path) -> None:
    code, message = train(config, "--set", "world.ranks=5")
    assert code == 5
    assert "world.ranks says 5" in message


def test_a_rank_that_raises_in_mid_epoch_ends_all_with_one_message(config: Path) -> None:
    began = time.monotonic()
    done = run(
        *ranks(3), sys.executable, "tests/faults/raise_in_loss.py", "train", config, "--quiet"
    )
    assert done.code != 0
    assert done.messages == ["augury: rank 2 of 3: ValueError: the loss is odd"]
    assert time.monotonic() - began < 60


@contextmanager
def long_job(config: Path, *words: str | Path) -> Iterator[subprocess.Popen[str]]:
    """A job on two ranks that would run for hours, after its first epoch."""
    words = ("train", config, "--set", "train.epochs=100000", "--quiet", *words)
    with started(*ranks(2), BIN / "augury", *words) as job:
        wait_for(
            lambda: (config.parent / "run" / "checkpoint.pt").exists() or job.poll() is not None
        )
        yield job


def test_sigkill_of_one_rank_in_mid_epoch_ends_the_job(config: Path) -> None:
    with long_job(config) as job:
        pids = rank_pids(job)
        assert len(pids) == 2
        os.kill(pids[0], signal.SIGKILL)
        assert finish(job, SECONDS).code != 0
        wait_for(lambda: not session_pids(job.pid), SECONDS)


def test_a_diverging_run_says_so(config: Path) -> None:
    done = augury_on(2, "train", config, "--set", "optimizer.learning_rate=1e30", "--set",
                     "optimizer.name=sgd")  # fmt: skip
    assert done.code == 6
    assert "lower optimizer.learning_rate" in done.err


@pytest.mark.skipif(not Path("/dev/shm").is_dir(), reason="no /dev/shm on this machine")
def test_a_job_leaves_nothing_in_shared_memory_after_a_kill(config: Path) -> None:
    before = set(Path("/dev/shm").glob("augury-*"))
    with long_job(config, "--set", "loader.ram=64MiB") as job:
        os.kill(rank_pids(job)[0], signal.SIGKILL)
        finish(job, SECONDS)
    assert set(Path("/dev/shm").glob("augury-*")) == before


def test_ranks_that_do_not_see_each_other_are_stopped(config: Path) -> None:
    """The launcher says two, MPI says one: what a wrong PMI type looks like."""
    done = augury("train", config, env={"OMPI_COMM_WORLD_SIZE": "2"})
    assert done.code == 5
    assert "Every rank would train alone" in done.err
    assert "OMPI_COMM_WORLD_SIZE" not in environment()
