"""`augury train` as a person starts it: alone and on two and three ranks."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from tests.harness import Done, augury, augury_on


def summary_of(config: Path, folder: str = "run") -> dict[str, Any]:
    content: dict[str, Any] = json.loads((config.parent / folder / "summary.json").read_text())
    return content


def sample_bytes(summary: dict[str, Any]) -> int:
    return sum(summary["bytes"].values())


@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_run_leaves_a_result_folder_and_says_what_it_came_to(config: Path, number: int) -> None:
    done = augury_on(number, "train", config)
    assert done.code == 0, done.err
    for part in ("time to train", "eval_error", "training samples/s", "for data", "result_0.txt"):
        assert done.out.count(part) == 1, done.out
    summary = summary_of(config)
    assert (summary["ranks"], summary["nodes"], summary["epochs"]) == (number, 1, 2)
    steps = -(-37 // (4 * number))
    assert (summary["steps"], summary["samples"]) == (2 * steps, 2 * 37)
    sample = 4 * 16**3 * 2
    assert sample_bytes(summary) == 2 * (37 + 11) * sample
    assert 0 <= summary["stall_share"] <= 1
    assert summary["time_to_train_s"] > 0
    assert summary["target"] is None
    names = {path.name for path in (config.parent / "run").iterdir()}
    assert names == {
        "config.toml",
        "result_0.txt",
        "metrics.jsonl",
        "checkpoint.pt",
        "summary.json",
    }


def test_alone_needs_no_launcher(config: Path) -> None:
    done = augury("train", config, "--quiet", "--set", "train.epochs=1")
    assert (done.code, done.err) == (0, "")


def test_json_gives_the_summary_and_nothing_else(config: Path) -> None:
    done = augury_on(2, "train", config, "--json", "--quiet", "--set", "train.epochs=1")
    assert json.loads(done.out) == summary_of(config)


def test_metrics_hold_a_line_for_every_step_and_epoch(config: Path) -> None:
    assert augury_on(2, "train", config).code == 0
    lines = [
        json.loads(line)
        for line in (config.parent / "run" / "metrics.jsonl").read_text().splitlines()
    ]
    steps = [(line["epoch"], line["step"]) for line in lines if line["kind"] == "step"]
    assert steps == [(epoch, step) for epoch in (1, 2) for step in range(5)]
    assert [line["epoch"] for line in lines if line["kind"] == "epoch"] == [1, 2]
    assert all(line["stall_s"] <= line["step_s"] for line in lines if line["kind"] == "step")


def test_the_written_configuration_reruns_the_job(config: Path) -> None:
    assert augury_on(2, "train", config, "--set", "train.deterministic=true").code == 0
    first = summary_of(config)
    again = config.parent / "run" / "config.toml"
    assert tomllib.loads(again.read_text())["train"]["deterministic"] is True
    done = augury_on(2, "train", again)
    assert done.code == 0, done.err
    assert "kept in" in done.err
    assert summary_of(config)["weights_xxh3"] == first["weights_xxh3"]
    assert summary_of(config, "run.1") == first


def test_the_target_ends_the_run_and_another_is_not_called_reached(config: Path) -> None:
    assert augury_on(2, "train", config, "--set", "train.target=9.5").code == 0
    assert (summary_of(config)["epochs"], summary_of(config)["target_reached"]) == (1, True)
    done = augury_on(2, "train", config, "--set", "train.target=0.0001")
    assert "NOT reached" in done.out
    summary = summary_of(config)
    assert (summary["epochs"], summary["target_reached"]) == (2, False)
    assert '"status": "aborted"' in (config.parent / "run" / "result_0.txt").read_text()


def test_the_torch_order_and_bf16_train_too(config: Path) -> None:
    done = augury_on(
        2, "train", config, "--set", "loader.order=torch", "--set", "train.precision=bf16"
    )
    assert done.code == 0, done.err
    assert summary_of(config)["samples"] == 2 * 38  # the sampler repeats one to divide by two


def test_ranks_can_be_treated_as_nodes(config: Path) -> None:
    assert augury_on(3, "train", config, "--set", "world.ranks_per_node=1").code == 0
    assert summary_of(config)["nodes"] == 3


def test_the_ram_tier_is_shared_by_the_ranks_of_a_node(config: Path) -> None:
    done = augury_on(2, "train", config, "--set", "loader.ram=1GiB", "--set", "train.epochs=4")
    assert done.code == 0, done.err
    summary, dataset = summary_of(config), (37 + 11) * 4 * 16**3 * 2
    assert summary["bytes"]["source"] == dataset
    assert summary["bytes"]["ram"] == 3 * dataset


def losses(config: Path) -> list[float]:
    lines = [
        json.loads(line)
        for line in (config.parent / "run" / "metrics.jsonl").read_text().splitlines()
    ]
    return [line["loss"] for line in lines if line["kind"] == "step"]


GOLDEN = (
    "--set",
    "train.precision=float64",
    "--set",
    "model.dropout=0.0",
    "--set",
    "optimizer.name=sgd",
)


def golden_run(config: Path, number: int, batch: int) -> tuple[list[float], Any]:
    import torch

    done: Done = augury_on(number, "train", config, *GOLDEN, "--set", f"train.batch={batch}")
    assert done.code == 0, done.err
    saved = torch.load(config.parent / "run" / "checkpoint.pt", weights_only=True)
    return losses(config), saved["model"]


@pytest.mark.parametrize(("number", "batch"), [(2, 6), (3, 4)])
def test_several_ranks_train_as_one_with_the_same_global_batch(
    config: Path, number: int, batch: int
) -> None:
    """Sums in another order differ by rounding only: 1e-12 of values of order one, in float64."""
    one, weights = golden_run(config, 1, 12)
    several, others = golden_run(config, number, batch)
    assert several == pytest.approx(one, rel=1e-12)
    assert weights.keys() == others.keys()
    for name, value in weights.items():
        assert (value - others[name]).abs().max() <= 1e-12, name
