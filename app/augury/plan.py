"""Which rank consumes which position at which step: everything follows from numbers.

The positions of an epoch are cut into global batches; inside one, rank r of R takes every
R-th position from r on (the strict assignment, the one of every distributed sampler). The
last batch of an epoch may be smaller, and a rank may have no sample in it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from augury.errors import ConfigError
from augury.order import Order, U64s


@dataclass(frozen=True, slots=True)
class Plan:
    """The share of one rank in the order of a training or evaluation."""

    order: Order
    rank: int
    ranks: int
    batch: int
    """Samples of a full batch on one rank."""

    def __post_init__(self) -> None:
        if not 0 <= self.rank < self.ranks or self.batch < 1:
            raise ConfigError(f"no plan for rank {self.rank} of {self.ranks}, batch {self.batch}")

    @property
    def global_batch(self) -> int:
        """Samples of a full step over all ranks."""
        return self.batch * self.ranks

    @property
    def steps(self) -> int:
        """Steps of one epoch; the last may be smaller than the others."""
        return -(-self.order.length // self.global_batch)

    def global_count(self, step: int) -> int:
        """Samples that all ranks together consume in `step`."""
        return min(self.global_batch, self.order.length - step * self.global_batch)

    def epoch_share(self, epoch: int, first_step: int = 0) -> tuple[U64s, U64s]:
        """This rank's samples of `epoch` from `first_step` on, and where its batches end.

        Returns:
            samples: uint64 [P], in the order of use.
            ends: uint64 [steps - first_step]; batch i is samples[ends[i-1]:ends[i]].
        Cost: O(P) time and memory, P = samples / ranks, for an order that is itself so.
        """
        start = first_step * self.global_batch
        positions = np.arange(start + self.rank, self.order.length, self.ranks, dtype=np.uint64)
        steps = np.arange(first_step + 1, self.steps + 1, dtype=np.uint64)
        ends = np.minimum((steps - first_step) * self.batch, positions.size).astype(np.uint64)
        return self.order.samples_at(epoch, positions), ends
