"""A run that was interrupted anywhere ends with the weights of one that was not."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from tests.harness import BIN, Done, augury_on, finish, rank_pids, ranks, started, wait_for

EXACT = ("--set", "train.deterministic=true", "--set", "train.epochs=3", "--quiet")


def summary_of(folder: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((folder / "summary.json").read_text())
    return content


def steps_of(folder: Path) -> list[tuple[int, int, float]]:
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    return [(line["epoch"], line["step"], line["loss"]) for line in lines if line["kind"] == "step"]


@pytest.fixture
def whole(config: Path) -> Path:
    """The folder of an uninterrupted run on two ranks."""
    folder = config.parent / "whole"
    done = augury_on(2, "train", config, *EXACT, "--set", f"output={folder}")
    assert done.code == 0, done.err
    return folder


def interrupted(config: Path, sign: int) -> Done:
    """A run in which one rank gets `sign` inside an epoch, after a checkpoint."""
    folder = config.parent / "run"
    words: list[str | Path] = ["train", config, *EXACT, "--set", "train.checkpoint_steps=2"]
    with started(*ranks(2), BIN / "augury", *words) as job:
        wait_for(lambda: (folder / "checkpoint.pt").exists() or job.poll() is not None)
        os.kill(rank_pids(job)[-1], sign)
        return finish(job, 30)


def test_a_signal_to_one_rank_checkpoints_all_and_resume_is_exact(
    config: Path, whole: Path
) -> None:
    done = interrupted(config, signal.SIGUSR1)
    assert done.code == 75, done.err
    assert "stopped by" in done.err
    resumed = augury_on(2, "train", config, *EXACT, "--resume")
    assert resumed.code == 0, resumed.err
    run = config.parent / "run"
    assert summary_of(run)["weights_xxh3"] == summary_of(whole)["weights_xxh3"]
    assert steps_of(run) == steps_of(whole)
    assert summary_of(run)["samples"] == summary_of(whole)["samples"] == 3 * 37


def test_a_killed_rank_ends_the_job_and_resume_is_exact(config: Path, whole: Path) -> None:
    began = time.monotonic()
    done = interrupted(config, signal.SIGKILL)
    assert done.code not in (0, 75)
    assert time.monotonic() - began < 60
    resumed = augury_on(2, "train", config, *EXACT, "--resume")
    assert resumed.code == 0, resumed.err
    run = config.parent / "run"
    assert summary_of(run)["weights_xxh3"] == summary_of(whole)["weights_xxh3"]
    assert steps_of(run) == steps_of(whole)
    log = (run / "result_0.txt").read_text()
    assert log.count('"run_start"') == log.count('"run_stop"') == 1
    assert [log.count(f'"epoch_num": {number}') for number in (1, 2, 3)] == [5, 5, 5]


def test_a_finished_run_is_not_touched(config: Path, whole: Path) -> None:
    before = {path: path.read_bytes() for path in whole.iterdir()}
    loud = EXACT[:-1]
    done = augury_on(2, "train", config, *loud, "--resume", "--set", f"output={whole}")
    assert done.code == 0
    assert "nothing to resume" in done.err
    assert {path: path.read_bytes() for path in whole.iterdir()} == before


def test_more_epochs_go_on_where_the_run_ended(config: Path, whole: Path) -> None:
    short = ("--set", "train.epochs=2")
    assert augury_on(2, "train", config, *EXACT, *short).code == 0
    assert augury_on(2, "train", config, *EXACT, "--resume").code == 0
    assert summary_of(config.parent / "run")["weights_xxh3"] == summary_of(whole)["weights_xxh3"]


def test_resume_without_a_run_and_of_another_run_say_so(config: Path, whole: Path) -> None:
    done = augury_on(2, "train", config, "--resume")
    assert (done.code, len(done.messages)) == (6, 1)
    assert "there is no checkpoint to resume" in done.err
    done = augury_on(2, "train", config, "--resume", "--set", f"output={whole}", "--set", "seed=6")
    assert (done.code, len(done.messages)) == (6, 1)
    assert "belongs to another run: seed was 5, is 6" in done.err
