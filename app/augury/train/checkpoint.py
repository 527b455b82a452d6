"""Checkpoints: everything that a run needs to go on at the next step.

A run is a function of its configuration and of the step: the learning rate, the order of
samples and the randomness of a step (`seed_step`) are computed from (seed, epoch, step,
rank). What remains to be kept are weights, optimizer state and counts. No random-number
state is saved, so nothing about it can go wrong, and the rank count may change.
"""

from __future__ import annotations

import io
from dataclasses import asdict, dataclass, field
from typing import Any

import torch

from augury.config import TrainConfig
from augury.errors import RunError
from augury.train.folder import RunFolder, size_of
from augury.train.record import Totals

_FORMAT = 1


@dataclass(kw_only=True, slots=True)
class Progress:
    """Where a run stands."""

    epoch: int = 0
    """The epoch of the next step."""

    step: int = 0
    """The next step inside that epoch."""

    evaluations: list[float] = field(default_factory=list)
    """Quality after each finished epoch."""

    totals: Totals = field(default_factory=Totals)
    finished: bool = False
    """The run has reached its target or its last epoch."""

    epoch_loss: float = 0.0
    """Sum of the mean losses of the steps done in this epoch, over all ranks."""

    @property
    def is_new(self) -> bool:
        """True before the first step."""
        return self.epoch == 0 and self.step == 0

    def reached(self, target: float | None) -> bool | None:
        """Whether the last evaluation met `target`; None without a target."""
        if target is None:
            return None
        return bool(self.evaluations) and self.evaluations[-1] <= target

    def finish_if_done(self, config: TrainConfig) -> None:
        """Decide whether anything is left to train."""
        self.finished = bool(self.reached(config.target)) or self.epoch >= config.epochs


def save(
    folder: RunFolder,
    model: torch.nn.Module,
    optimizer: torch.optim.Optimizer,
    progress: Progress,
    identity: dict[str, Any],
) -> None:
    """Write the checkpoint, whole or not at all. On one rank.

    Args:
        identity: what must be the same for a run that resumes here.

    Raises:
        RunError: the file cannot be written; the earlier checkpoint is still there.
    """
    content = {
        "format": _FORMAT,
        "identity": identity,
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "progress": asdict(progress),
        "log_bytes": size_of(folder.log),
        "metrics_bytes": size_of(folder.metrics),
    }
    stream = io.BytesIO()
    torch.save(content, stream)
    folder.write_atomically(folder.checkpoint, stream.getvalue())


def read(folder: RunFolder) -> bytes:
    """The checkpoint's bytes. On one rank; the others are given them.

    Raises:
        RunError: there is none, or it cannot be read.
    """
    try:
        return folder.checkpoint.read_bytes()
    except FileNotFoundError:
        raise RunError(
            f"{folder.checkpoint}: there is no checkpoint to resume; run without --resume"
        ) from None
    except OSError as error:
        raise RunError(f"{folder.checkpoint}: cannot be read: {error.strerror}") from error


def parse(data: bytes, folder: RunFolder, identity: dict[str, Any]) -> dict[str, Any]:
    """The content of a checkpoint that belongs to this run.

    Raises:
        RunError: damaged, of another format, or of another run; it names what differs.
    """
    try:
        content: dict[str, Any] = torch.load(
            io.BytesIO(data), weights_only=True, map_location="cpu"
        )
    except Exception as error:
        raise RunError(f"{folder.checkpoint}: not a checkpoint, or damaged: {error}") from error
    if content.get("format") != _FORMAT:
        raise RunError(
            f"{folder.checkpoint}: format {content.get('format')}, this augury reads {_FORMAT}"
        )
    had = content["identity"]
    differs = [
        f"{key} was {had.get(key)!r}, is {identity[key]!r}"
        for key in identity
        if had.get(key) != identity[key]
    ]
    if differs:
        raise RunError(f"{folder.checkpoint}: belongs to another run: {'; '.join(differs)}")
    return content


def progress_of(content: dict[str, Any]) -> Progress:
    """The progress that a checkpoint's content holds."""
    table = dict(content["progress"])
    table["totals"] = Totals(**table["totals"])
    return Progress(**table)


def seed_step(seed: int, epoch: int, step: int, rank: int) -> None:
    """Make torch's randomness in a step a function of these four numbers alone."""
    state = 0
    for value in (seed, epoch, step, rank):
        state = _mix(state ^ value)
    torch.manual_seed(state & (2**63 - 1))


def _mix(value: int) -> int:
    """The finaliser of splitmix64 (Steele, Lea and Flood, 2014)."""
    value = (value + 0x9E3779B97F4A7C15) % 2**64
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    value = (value ^ (value >> 27)) * 0x94D049BB133111EB % 2**64
    return value ^ (value >> 31)
