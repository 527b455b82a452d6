"""What fixes every sample of a made dataset, and how its samples are cut into shards."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass

from augury.errors import ConfigError, DataError

Progress = Callable[[int, int], None]
"""Called with what is done, and the total."""


def no_progress(done: int, total: int) -> None:
    """Tell nobody."""


GENERATORS = {"cosmoflow": 2}
"""Generators by workload, with the version of what they compute."""

BOX_PER_VOXEL = 8.0
"""Edge of a voxel in Mpc/h."""

PARTICLES_PER_VOXEL = 8


@dataclass(frozen=True, slots=True)
class Shard:
    """A file of the dataset and the samples in it."""

    split: str
    number: int
    first: int
    """Number of its first sample, counted inside the split."""

    count: int

    @property
    def path(self) -> str:
        """Relative to the dataset's folder."""
        return f"{self.split}/{self.number:05d}.h5"


@dataclass(frozen=True, kw_only=True, slots=True)
class Recipe:
    """The arguments of a made dataset; equal recipes give equal bytes."""

    workload: str
    samples: int
    validation: int
    side: int
    seed: int
    samples_per_shard: int = 128

    def __post_init__(self) -> None:
        if self.workload not in GENERATORS:
            raise ConfigError(
                f"{self.workload}: there is no generator of this name; there is "
                f"{', '.join(GENERATORS)}"
            )
        if self.samples_per_shard < 1:
            raise ConfigError(f"samples_per_shard: must be at least 1, is {self.samples_per_shard}")
        for name, least in (("samples", 1), ("validation", 1), ("seed", 0)):
            if getattr(self, name) < least:
                raise ConfigError(f"--{name}: must be at least {least}, is {getattr(self, name)}")
        if self.side < 4 or self.side % 2:
            raise ConfigError(f"--side: must be even and at least 4, is {self.side}")

    @property
    def box(self) -> float:
        """Edge of the simulated cube in Mpc/h."""
        return self.side * BOX_PER_VOXEL

    def to_json(self) -> str:
        """The recipe with the version of its generator; stands in every shard."""
        table = asdict(self) | {
            "generator_version": GENERATORS[self.workload],
            "voxel_Mpc_per_h": BOX_PER_VOXEL,
            "particles_per_voxel": PARTICLES_PER_VOXEL,
        }
        return json.dumps(table, sort_keys=True)

    def shards(self) -> Iterator[Shard]:
        """All files of the dataset."""
        for split, total in (("train", self.samples), ("validation", self.validation)):
            for number, first in enumerate(range(0, total, self.samples_per_shard)):
                yield Shard(split, number, first, min(self.samples_per_shard, total - first))

    def check_same(self, other_json: str, where: str) -> None:
        """Refuse to mix this recipe with another.

        Raises:
            DataError: names what differs and what to do.
        """
        mine, other = json.loads(self.to_json()), json.loads(other_json)
        differs = [
            f"{key} {other.get(key)!r} (asked for: {value!r})"
            for key, value in mine.items()
            if other.get(key) != value
        ]
        if differs:
            raise DataError(
                f"{where}: made with {', '.join(differs)}; name another folder, or remove this one"
            )
