"""The parts of a run on one rank, checked before anything is written or logged."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from augury import _native
from augury.config import Config
from augury.dataset import Index
from augury.errors import ConfigError, DataError
from augury.loader import Loader
from augury.memory import node_memory
from augury.order import SequentialOrder, make_order
from augury.plan import Plan
from augury.train.compute import Compute
from augury.train.optimizers import make_optimizer
from augury.workloads import Workload, get_workload
from augury.world import World, together

_DTYPES = {"float32": torch.float32, "bf16": torch.float32, "float64": torch.float64}


@dataclass(frozen=True, slots=True)
class Parts:
    """What a run is made of; models and plans of all ranks agree."""

    world: World
    config: Config
    workload: Workload
    index: Index
    compute: Compute
    optimizer: Any
    """Horovod's wrapper of the optimizer; the state of the optimizer is in it."""

    train_plan: Plan
    eval_plan: Plan

    @property
    def identity(self) -> dict[str, Any]:
        """What must be the same for a checkpoint to belong to this run."""
        return {
            "workload": self.workload.name,
            "seed": self.config.seed,
            "data.content_hash": self.index.content_hash,
            "global batch": self.train_plan.global_batch,
            "loader.order": self.config.loader.order,
            "optimizer.name": self.config.optimizer.name,
            "train.precision": self.config.train.precision,
            "model": {key: str(value) for key, value in self.config.model.items()},
        }


def make_parts(world: World, config: Config) -> Parts:
    """Collective. Index, model, optimizer and plans of this rank.

    Raises:
        PeerError: on every rank: no such workload or dataset, a dataset of another
            workload, a split without samples, a model that does not fit the samples.
    """
    group = world.all
    index = group.from_leader("data.path", lambda: _load_index(config))
    with together(group, "model"):
        workload = get_workload(config.workload)
        torch.set_num_threads(config.train.threads or _threads(world))
        torch.use_deterministic_algorithms(config.train.deterministic)
        torch.manual_seed(config.seed)
        model = workload.model(config.model, index.sample_shape)
        device = world.device()
        model = model.to(device, dtype=_DTYPES[config.train.precision])
        optimizer = make_optimizer(model.parameters(), config.optimizer)
        distributed = world.distribute(optimizer, model.named_parameters())
    order = make_order(config.loader.order, len(index.splits["train"]), config.seed, group.size)
    batch = config.train.batch
    return Parts(
        world=world,
        config=config,
        workload=workload,
        index=index,
        compute=Compute(model, workload, device, config.train.precision),
        optimizer=distributed,
        train_plan=Plan(order, group.rank, group.size, batch),
        eval_plan=Plan(
            SequentialOrder(len(index.splits["validation"])), group.rank, group.size, batch
        ),
    )


def _load_index(config: Config) -> Index:
    """The dataset's index, checked against the configuration and the files."""
    index = Index.load(Path(config.data.path), check_files=True)
    if index.workload != config.workload:
        raise DataError(
            f"{config.data.path}: holds samples of {index.workload!r}, but the configuration "
            f"trains {config.workload!r}"
        )
    for split in ("train", "validation"):
        if not len(index.splits.get(split, range(0))):
            raise DataError(f"{config.data.path}: has no {split} samples")
    return index


def _threads(world: World) -> int:
    """The cores of the node, divided by its ranks.

    A launcher that binds ranks to cores shows in the affinity; one that does not leaves
    all cores to all ranks.
    """
    import os

    cores = os.cpu_count() or 1
    bound = len(os.sched_getaffinity(0))
    return max(1, min(bound, cores // world.node.size))


def make_loaders(stack: ExitStack, parts: Parts) -> tuple[Loader, Loader]:
    """Collective. The training and the evaluation loader; they end with `stack`."""
    tier = _ram_tier(parts)

    def loader(split: str, plan: Plan) -> Loader:
        config = parts.config
        return Loader(
            parts.index,
            split,
            plan,
            parts.workload.stages,
            config.loader,
            epochs=config.train.epochs,
            ram=tier,
        )

    with together(parts.world.all, "loader"):
        train = stack.enter_context(loader("train", parts.train_plan))
        evaluation = stack.enter_context(loader("validation", parts.eval_plan))
    return train, evaluation


def _ram_tier(parts: Parts) -> _native.RamTier | None:
    """Collective. Shared memory of the node for as many samples as `loader.ram` holds."""
    budget = parts.config.loader.ram
    if budget == 0:
        return None
    sizes = parts.index.sample_bytes()
    needed = _native.RamTier.bytes_needed(sizes, budget)
    if needed > budget:
        raise ConfigError(
            f"loader.ram: {budget} bytes do not hold even the tier's table ({needed})"
        )
    memory = node_memory(parts.world.node, needed)
    return _native.RamTier(np.asarray(memory), sizes)
