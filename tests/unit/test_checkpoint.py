"""Checkpoints are whole, belong to their run, and are read without running code."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest
import torch

from augury.config import TrainConfig
from augury.errors import RunError
from augury.train.checkpoint import Progress, parse, progress_of, read, save, seed_step
from augury.train.folder import RunFolder
from augury.train.record import Totals

IDENTITY: dict[str, Any] = {"seed": 1, "model": {"dropout": "0.1"}}


def saved(folder: RunFolder, progress: Progress) -> tuple[torch.nn.Module, bytes]:
    model = torch.nn.Linear(3, 2)
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.ones(1, 3)).sum().backward()
    optimizer.step()
    save(folder, model, optimizer, progress, IDENTITY)
    return model, read(folder)


def test_what_was_saved_comes_back(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    folder.log.write_text("12345")
    progress = Progress(
        epoch=3, step=7, evaluations=[0.5, 0.4], totals=Totals(steps=9), epoch_loss=1.5
    )
    model, data = saved(folder, progress)
    content = parse(data, folder, IDENTITY)
    assert progress_of(content) == progress
    assert (content["log_bytes"], content["metrics_bytes"]) == (5, 0)
    assert all(
        torch.equal(content["model"][key], value) for key, value in model.state_dict().items()
    )
    assert content["optimizer"]["state"][0]["step"] == 1


@pytest.mark.parametrize("cut", [0, 10, 1000])
def test_a_damaged_checkpoint_is_refused(tmp_path: Path, cut: int) -> None:
    folder = RunFolder(tmp_path)
    _, data = saved(folder, Progress())
    with pytest.raises(RunError, match=r"checkpoint.pt: not a checkpoint, or damaged"):
        parse(data[:cut], folder, IDENTITY)


def test_a_checkpoint_that_would_run_code_is_refused(tmp_path: Path) -> None:
    class Evil:
        def __reduce__(self) -> tuple[Any, ...]:
            return (Path.touch, (tmp_path / "ran",))

    with pytest.raises(RunError, match="not a checkpoint"):
        parse(pickle.dumps(Evil()), RunFolder(tmp_path), IDENTITY)
    assert not (tmp_path / "ran").exists()


def test_a_checkpoint_of_another_run_names_what_differs(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    _, data = saved(folder, Progress())
    with pytest.raises(RunError, match=r"another run: seed was 1, is 2"):
        parse(data, folder, IDENTITY | {"seed": 2})


def test_without_a_checkpoint_there_is_nothing_to_resume(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="there is no checkpoint to resume; run without --resume"):
        read(RunFolder(tmp_path))


@pytest.mark.parametrize(
    ("progress", "finished"),
    [
        (Progress(epoch=2, evaluations=[0.5, 0.31]), False),
        (Progress(epoch=2, evaluations=[0.5, 0.3]), True),
        (Progress(epoch=2, evaluations=[0.2, 0.4]), False),  # the last evaluation decides
        (Progress(epoch=5, evaluations=[0.5] * 5), True),
        (Progress(), False),
    ],
)
def test_a_run_is_finished_on_target_or_after_its_last_epoch(
    progress: Progress, finished: bool
) -> None:
    progress.finish_if_done(TrainConfig(epochs=5, batch=1, target=0.3))
    assert progress.finished is finished


def test_the_randomness_of_a_step_depends_on_all_four_numbers() -> None:
    def draw(*numbers: int) -> float:
        seed_step(*numbers)
        return float(torch.rand(1))

    base = (1, 2, 3, 4)
    assert draw(*base) == draw(*base)
    others = [
        tuple(value + (at == changed) for at, value in enumerate(base)) for changed in range(4)
    ]
    drawn = {draw(*numbers) for numbers in [base, *others, (2, 1, 3, 4)]}
    assert len(drawn) == 6
