"""Numbers of a summary follow from the totals of a run, and say what they say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch

from augury.train import summary as module
from augury.train.record import Metrics, Step, Totals, step_columns, totals_of
from augury.train.summary import as_text, git_commit, parameters_hash, speeds
from augury.world import start_mpi

STEPS = [
    Step(
        loss=0.5, samples=4, step_s=2.0, stall_s=0.5, allreduce_s=0.25, source_bytes=10, ram_bytes=1
    ),
    Step(
        loss=0.25,
        samples=3,
        step_s=1.0,
        stall_s=0.0,
        allreduce_s=0.25,
        source_bytes=20,
        ram_bytes=2,
    ),
]


def test_speeds_follow_from_the_totals() -> None:
    found = speeds(totals_of(STEPS, train_s=3.5, source_opens=2))
    assert (found["steps"], found["samples"], found["source_opens"]) == (2, 7, 2)
    assert found["samples_per_s"] == 2.0
    assert found["stall_share"] == pytest.approx(0.5 / 3)
    assert found["allreduce_share"] == pytest.approx(0.5 / 3)
    assert found["bytes"] == {"ram": 3, "nvme": 0, "remote": 0, "source": 30}


def test_a_run_without_steps_divides_by_nothing() -> None:
    found = speeds(Totals())
    assert (found["samples_per_s"], found["stall_share"]) == (0.0, 0.0)


def test_totals_add_up_over_interruptions_and_ranks() -> None:
    half = totals_of(STEPS[:1], 2.0, 1)
    both = half.plus(totals_of(STEPS[1:], 1.5, 1))
    assert both == totals_of(STEPS, 3.5, 2)
    assert both.over_ranks(start_mpi()) == both


def test_columns_hold_a_value_for_every_step() -> None:
    columns = step_columns(STEPS, start_mpi())
    assert columns["loss"] == [0.5, 0.25]
    assert columns["step_s"] == [2.0, 1.0]
    assert columns["source_bytes"] == [10.0, 20.0]
    assert step_columns([], start_mpi()) == {}


def test_metrics_are_written_by_one_rank_only(tmp_path: Path) -> None:
    Metrics(None).write([{"kind": "step"}])
    Metrics(tmp_path / "m").write([{"kind": "step"}, {"kind": "epoch"}])
    assert (tmp_path / "m").read_text() == '{"kind": "step"}\n{"kind": "epoch"}\n'


def test_equal_weights_have_equal_hashes_and_others_have_not() -> None:
    def model(seed: int) -> torch.nn.Module:
        torch.manual_seed(seed)
        return torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.BatchNorm1d(2))

    assert parameters_hash(model(1)) == parameters_hash(model(1))
    assert parameters_hash(model(1)) != parameters_hash(model(2))


def test_the_commit_is_that_of_the_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    assert re.fullmatch(r"[0-9a-f]{40}\+?", git_commit() or "")
    monkeypatch.setenv("PATH", "/nowhere")
    assert git_commit() is None


def test_code_outside_a_checkout_has_no_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "__file__", str(tmp_path / "summary.py"))
    assert git_commit() is None


@pytest.mark.parametrize(
    ("target", "reached", "words"),
    [
        (0.3, True, "target 0.3 reached"),
        (0.1, False, "target 0.1 NOT reached"),
        (None, False, "no target"),
    ],
)
def test_the_text_says_whether_the_target_was_reached(
    target: float | None, reached: bool, words: str
) -> None:
    table = speeds(totals_of(STEPS, 3.5, 2)) | {
        "workload": "cosmoflow",
        "ranks": 1,
        "nodes": 1,
        "seed": 3,
        "epochs": 1,
        "metric": "eval_error",
        "time_to_train_s": 4.0,
        "quality": 0.2,
        "target": target,
        "target_reached": reached,
    }
    text = as_text(table, [("summary", Path("runs/x"))])
    assert words in text
    assert "1 rank on 1 node, seed 3" in text
    assert "source 30 B in 2 opens, ram 3 B" in text
