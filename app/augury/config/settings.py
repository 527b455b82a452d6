"""Every setting of a training run, with its unit and the meaning of its default.

A configuration file is TOML: the fields of `Config` are its top-level keys, the fields of
the other classes those of the table of the same name (`loader.order` is `LoaderConfig.order`).
What can be computed from settings, such as the steps of an epoch, lives in the plan.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from augury.errors import ConfigError

MOST_THREADS = 256
"""Reader threads of a rank; far more than any source rewards."""

BYTES = {"parse": "bytes"}
"""Field metadata: the value may be written with a unit ("8GiB")."""


def _at_least(least: float, **values: float) -> None:
    for name, value in values.items():
        if value < least:
            raise ConfigError(f"{name}: must be at least {least:g}, is {value:g}")


@dataclass(frozen=True, kw_only=True, slots=True)
class DataConfig:
    """Where the samples are."""

    path: str
    """Folder of the dataset, the one that holds `index.h5`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TrainConfig:
    """The training loop."""

    epochs: int
    """Passes over the training samples; the run ends earlier when it reaches its target."""

    batch: int
    """Samples of one step on one rank; the global batch is `batch` times the ranks."""

    target: float | None = None
    """Quality to reach (the workload's metric). Not set: train for all epochs."""

    precision: Literal["float32", "bf16", "float64"] = "float32"
    """`bf16`: matrix products and convolutions in bfloat16, weights in float32."""

    deterministic: bool = False
    """Bit-identical results for the same seed and ranks, at some cost in speed."""

    checkpoint_steps: int = 0
    """Steps between checkpoints. 0: one at the end of every epoch."""

    threads: int = 0
    """Compute threads per rank. 0: the cores of the node divided by its ranks."""

    def __post_init__(self) -> None:
        _at_least(1, epochs=self.epochs, batch=self.batch)
        _at_least(0, checkpoint_steps=self.checkpoint_steps, threads=self.threads)


@dataclass(frozen=True, kw_only=True, slots=True)
class OptimizerConfig:
    """The optimizer; its learning rate is the one after warm-up."""

    name: Literal["sgd", "adam", "adamw"] = "sgd"
    """Which rule updates the weights."""

    learning_rate: float
    """Base learning rate."""

    momentum: float = 0.9
    """Momentum of `sgd`."""

    weight_decay: float = 0.0
    """L2 penalty (`sgd`, `adam`) or decoupled decay (`adamw`)."""

    def __post_init__(self) -> None:
        _at_least(0, learning_rate=self.learning_rate, weight_decay=self.weight_decay)


@dataclass(frozen=True, kw_only=True, slots=True)
class ScheduleConfig:
    """How the learning rate changes: a linear warm-up, then one decay rule."""

    warmup_epochs: float = 0.0
    """Epochs until the base learning rate is reached."""

    warmup_factor: float = 0.0
    """Fraction of the base learning rate at the first step of the warm-up."""

    decay: Literal["none", "step", "cosine"] = "none"
    """`step`: by `decay_factors` at `decay_epochs`. `cosine`: to zero at the last step."""

    decay_epochs: tuple[float, ...] = ()
    """Epochs at which a `step` decay changes the learning rate, ascending."""

    decay_factors: tuple[float, ...] = ()
    """Multiples of the base learning rate from each of `decay_epochs` on."""

    def __post_init__(self) -> None:
        _at_least(0, warmup_epochs=self.warmup_epochs, warmup_factor=self.warmup_factor)
        if len(self.decay_epochs) != len(self.decay_factors):
            raise ConfigError(
                f"decay_factors: {len(self.decay_factors)} values for "
                f"{len(self.decay_epochs)} decay_epochs"
            )
        if list(self.decay_epochs) != sorted(self.decay_epochs):
            raise ConfigError(f"decay_epochs: must ascend, are {list(self.decay_epochs)}")


@dataclass(frozen=True, kw_only=True, slots=True)
class LoaderConfig:
    """Delivery of samples into the training step."""

    order: Literal["feistel", "torch"] = "feistel"
    """`feistel`: augury's permutation. `torch`: the sequence of torch's DistributedSampler."""

    ram: int = field(default=0, metadata=BYTES)
    """Memory per node that keeps samples after their first read, in bytes or as "8GiB"."""

    threads: int = 2
    """Reader threads per rank."""

    depth: int = 4
    """Batches in the ring of one rank: being filled, ready, or in use."""

    def __post_init__(self) -> None:
        _at_least(0, ram=self.ram)
        if not 1 <= self.threads <= MOST_THREADS:
            raise ConfigError(f"threads: must be from 1 to {MOST_THREADS}, is {self.threads}")
        _at_least(2, depth=self.depth)


@dataclass(frozen=True, kw_only=True, slots=True)
class WorldConfig:
    """Ranks and nodes."""

    ranks_per_node: int = 0
    """Treat every group of so many ranks as a node. 0: ask MPI who shares memory."""

    ranks: int = 0
    """Ranks that this job must have. 0: as many as the launcher says it started."""

    def __post_init__(self) -> None:
        _at_least(0, ranks_per_node=self.ranks_per_node, ranks=self.ranks)


@dataclass(frozen=True, kw_only=True, slots=True)
class SubmissionConfig:
    """Who and what the result log names."""

    org: str = "unnamed"
    """Organisation that ran the job."""

    platform: str = "unnamed"
    """System that it ran on."""

    division: Literal["open", "closed"] = "open"
    """`closed` demands the reference model, hyperparameters and target."""

    status: Literal["onprem", "cloud", "preview", "research"] = "research"
    """Availability of the system."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Config:
    """A whole training run."""

    workload: str
    """Name of the workload, such as `cosmoflow`."""

    output: str
    """Folder of the run; a run that is already there is kept under another name."""

    seed: int = 1
    """Fixes the initial weights, the order of samples and every random choice."""

    data: DataConfig
    train: TrainConfig
    optimizer: OptimizerConfig
    schedule: ScheduleConfig = field(default_factory=ScheduleConfig)
    loader: LoaderConfig = field(default_factory=LoaderConfig)
    world: WorldConfig = field(default_factory=WorldConfig)
    submission: SubmissionConfig = field(default_factory=SubmissionConfig)

    model: Mapping[str, Any] = field(default_factory=dict)
    """Settings of the workload's model; the workload says which there are."""

    def __post_init__(self) -> None:
        if not 0 <= self.seed < 2**63:
            raise ConfigError(f"seed: must be at least 0 and below 2^63, is {self.seed}")
