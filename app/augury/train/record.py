"""What a run counts and times: totals for the summary, lines for `metrics.jsonl`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from augury.errors import RunError
from augury.world import Group


@dataclass(frozen=True, kw_only=True, slots=True)
class Totals:
    """Sums over all ranks and all steps of a run, across interruptions."""

    steps: int = 0
    """Optimizer steps (not multiplied by the ranks)."""

    samples: int = 0
    step_s: float = 0.0
    """Rank-seconds inside training steps, waiting for data included."""

    stall_s: float = 0.0
    """Rank-seconds of that in which a step waited for its batch."""

    allreduce_s: float = 0.0
    """Rank-seconds of that in which a step waited for gradients of other ranks."""

    train_s: float = 0.0
    """Wall seconds of the training part of epochs, on the leading rank."""

    source_bytes: int = 0
    ram_bytes: int = 0
    source_opens: int = 0

    def plus(self, other: Totals) -> Totals:
        """The sums of both, field by field."""
        mine, theirs = asdict(self), asdict(other)
        return Totals(**{key: mine[key] + theirs[key] for key in mine})

    def over_ranks(self, group: Group) -> Totals:
        """Collective. The sums over the ranks; `steps` and `train_s` are the leader's."""
        names = [item.name for item in fields(self)]
        mine = [getattr(self, name) for name in names]
        sums = group.sums(mine)
        summed = Totals(
            **{
                name: type(value)(total)
                for name, value, total in zip(names, mine, sums, strict=True)
            }
        )
        return replace(summed, steps=self.steps, train_s=group.share(self.train_s))


@dataclass(frozen=True, slots=True)
class Step:
    """One training step on this rank; times in seconds."""

    loss: float
    """This rank's share of the global batch's mean loss."""

    samples: int
    step_s: float
    stall_s: float
    allreduce_s: float
    source_bytes: int
    ram_bytes: int


def totals_of(steps: Sequence[Step], train_s: float, source_opens: int) -> Totals:
    """This rank's totals over `steps`."""
    return Totals(
        steps=len(steps),
        samples=sum(step.samples for step in steps),
        step_s=sum(step.step_s for step in steps),
        stall_s=sum(step.stall_s for step in steps),
        allreduce_s=sum(step.allreduce_s for step in steps),
        train_s=train_s,
        source_bytes=sum(step.source_bytes for step in steps),
        ram_bytes=sum(step.ram_bytes for step in steps),
        source_opens=source_opens,
    )


def step_columns(steps: Sequence[Step], group: Group) -> dict[str, list[float]]:
    """Collective. Per step over all ranks: the slowest rank's times, the loss, the bytes.

    Every rank has the same number of steps. Cost: two allreduces of 4 values per step.
    """
    if not steps:
        return {}
    table = np.array(
        [(s.step_s, s.stall_s, s.allreduce_s, s.loss, s.source_bytes, s.ram_bytes) for s in steps]
    ).T
    slowest = group.maxima(table[:3].ravel()).reshape(3, -1)
    summed = group.sums(table[3:].ravel()).reshape(3, -1)
    names = ("step_s", "stall_s", "allreduce_s", "loss", "source_bytes", "ram_bytes")
    rows = np.concatenate([slowest, summed])
    return {name: row.tolist() for name, row in zip(names, rows, strict=True)}


class Metrics:
    """`metrics.jsonl`: one JSON object a line; None writes nothing (all ranks but one)."""

    def __init__(self, file: Path | None) -> None:
        self._file = file

    def write(self, lines: Sequence[Mapping[str, Any]]) -> None:
        """Append `lines`.

        Raises:
            RunError: the file cannot be written.
        """
        if self._file is None:
            return
        text = "".join(json.dumps(line) + "\n" for line in lines)
        try:
            with self._file.open("a", encoding="utf-8") as stream:
                stream.write(text)
        except OSError as error:
            raise RunError(f"{self._file}: cannot be written: {error.strerror}") from error
