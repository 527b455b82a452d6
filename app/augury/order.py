"""Which sample stands at which position of an epoch.

An order is a function (epoch, position) -> sample that every rank evaluates for itself.
`FeistelOrder` needs no memory and no communication: a keyed permutation, evaluated natively.
`TorchOrder` repeats `torch.utils.data.DistributedSampler(shuffle=True)` bit for bit, so that
an existing training keeps its trajectory; it holds one epoch's permutation in memory.
`SequentialOrder` is for evaluation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from augury import _native
from augury.errors import ConfigError

U64s = NDArray[np.uint64]


class Order(Protocol):
    """What the plan needs of an order."""

    @property
    def length(self) -> int:
        """Positions of one epoch."""

    def samples_at(self, epoch: int, positions: U64s) -> U64s:
        """The samples at `positions` (uint64 [P], each below `length`) of `epoch`, uint64 [P]."""


@dataclass(frozen=True, slots=True)
class FeistelOrder:
    """A keyed permutation of [0, num_samples) for every epoch, in O(1) memory."""

    num_samples: int
    seed: int

    @property
    def length(self) -> int:
        """Every sample stands at one position."""
        return self.num_samples

    def samples_at(self, epoch: int, positions: U64s) -> U64s:
        """The samples at `positions` of `epoch`.

        Args:
            epoch: counted from 0.
            positions: uint64 [P], each in [0, num_samples).

        Returns:
            uint64 [P], each in [0, num_samples); distinct for distinct positions.

        Raises:
            ValueError: a position outside the range.
        Cost: O(P) time and memory; no communication.
        """
        return _native.order_samples(self.num_samples, self.seed, epoch, positions)

    def positions_of(self, epoch: int, samples: U64s) -> U64s:
        """The positions at which `samples` stand in `epoch`: the inverse of `samples_at`."""
        return _native.order_positions(self.num_samples, self.seed, epoch, samples)


@dataclass(frozen=True, slots=True)
class TorchOrder:
    """The sequence of torch's DistributedSampler with `shuffle=True`.

    Like the sampler it makes the length divide by the ranks: it repeats the first samples
    of the permutation at its end, or drops its last ones. Position p belongs to rank
    p modulo `ranks`, which is also how the plan deals positions to ranks.
    """

    num_samples: int
    seed: int
    ranks: int
    drop_last: bool = False

    @property
    def length(self) -> int:
        """num_samples, rounded up to a multiple of the ranks, or down with `drop_last`."""
        if self.drop_last:
            return self.num_samples - self.num_samples % self.ranks
        return -(-self.num_samples // self.ranks) * self.ranks

    def samples_at(self, epoch: int, positions: U64s) -> U64s:
        """As `FeistelOrder.samples_at`, but O(num_samples) time and memory."""
        generator = torch.Generator()
        generator.manual_seed(self.seed + epoch)
        permutation = torch.randperm(self.num_samples, generator=generator).numpy()
        chosen: U64s = permutation[positions % self.num_samples].astype(np.uint64)
        return chosen


@dataclass(frozen=True, slots=True)
class SequentialOrder:
    """Position p holds sample p: every sample once, for evaluation."""

    num_samples: int

    @property
    def length(self) -> int:
        """Every sample stands at one position."""
        return self.num_samples

    def samples_at(self, epoch: int, positions: U64s) -> U64s:  # noqa: ARG002 - same in all epochs
        """`positions` itself."""
        return positions


def make_order(name: str, num_samples: int, seed: int, ranks: int) -> FeistelOrder | TorchOrder:
    """The training order called `name`.

    Raises:
        ConfigError: there is no such order.
    """
    if name == "feistel":
        return FeistelOrder(num_samples, seed)
    if name == "torch":
        return TorchOrder(num_samples, seed, ranks)
    raise ConfigError(f"loader.order: {name!r} is not one of 'feistel', 'torch'")
