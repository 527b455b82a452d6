"""The world of a job: MPI first, then nodes, then Horovod.

`start_mpi` comes before the configuration is read, so that one rank can read it for all;
`World.start` comes after, because the configuration says what a node is.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from mpi4py import MPI

from augury import _native
from augury.config import WorldConfig
from augury.errors import WorldError
from augury.world.group import Group, together
from augury.world.identity import check_same, libraries
from augury.world.launcher import check_size, waiting_settings


def start_mpi() -> Group:
    """Collective. Initialise MPI unless somebody has; all ranks as one group."""
    if not MPI.Is_initialized():
        os.environ.update(waiting_settings(os.environ, os.cpu_count() or 1))
        MPI.Init_thread(MPI.THREAD_MULTIPLE)
    comm = MPI.COMM_WORLD
    return Group(comm, comm.Get_rank(), comm.Get_size(), "world")


@dataclass(frozen=True, slots=True)
class World:
    """All ranks, the ranks of this node, and Horovod on all of them."""

    all: Group
    node: Group
    num_nodes: int
    horovod: Any
    """The module `horovod.torch`, initialised on the ranks of `all`."""

    mpi_libraries: Mapping[str, str]
    """The MPI library that each part of the program uses; all are the same."""

    @classmethod
    def start(cls, everyone: Group, config: WorldConfig, *, deterministic: bool) -> World:
        """Collective. Check the world, find the nodes, initialise Horovod.

        Raises:
            PeerError: on every rank: the world is not what the launcher says, or the parts
                of the program use different MPI libraries, or Horovod is missing.
        """
        with together(everyone, "start"):
            check_size(everyone.size, os.environ, config.ranks)
            horovod = import_horovod()
            found = libraries(extension_of(horovod), _native.mpi_identity())
            check_same(found)
        node = _node_of(everyone, config.ranks_per_node)
        num_nodes = int(everyone.sums([node.leads])[0])
        if deterministic:
            # Fusion packs gradients by arrival time, and packing changes rounding.
            os.environ["HOROVOD_FUSION_THRESHOLD"] = "0"
        horovod.init(everyone.comm)
        return cls(everyone, node, num_nodes, horovod, found)

    def device(self) -> torch.device:
        """The device of this rank: the one of its number in the node, modulo the visible ones."""
        if not torch.cuda.is_available():
            return torch.device("cpu")
        return torch.device("cuda", self.node.rank % torch.cuda.device_count())

    def distribute(
        self, optimizer: torch.optim.Optimizer, named: Iterable[tuple[str, torch.nn.Parameter]]
    ) -> torch.optim.Optimizer:
        """`optimizer` with gradients *summed* over all ranks before every step.

        The loss of a rank is its share of the global batch's mean, so the sum is exact
        when the last batch is uneven, and right for a rank that has no sample at all.
        """
        made: torch.optim.Optimizer = self.horovod.DistributedOptimizer(
            optimizer, named_parameters=named, op=self.horovod.Sum
        )
        return made

    def shutdown(self) -> None:
        """Collective. End Horovod's thread, after which MPI can be finalised."""
        self.horovod.shutdown()


def import_horovod() -> Any:
    """The module `horovod.torch`.

    Raises:
        WorldError: it is missing or was built without MPI.
    """
    try:
        import horovod.torch
    except ImportError as error:
        raise WorldError(f"Horovod cannot be imported ({error}); run `make env`") from error
    if not horovod.torch.mpi_built():
        raise WorldError("this Horovod was built without MPI; run `make env`")
    return horovod.torch


def extension_of(horovod: Any) -> str:
    """Path of Horovod's compiled module."""
    return str(horovod.mpi_lib_v2.__file__)


def _node_of(everyone: Group, ranks_per_node: int) -> Group:
    """Collective. The ranks that share this rank's node."""
    if ranks_per_node:
        comm = everyone.comm.Split(everyone.rank // ranks_per_node, everyone.rank)
    else:
        comm = everyone.comm.Split_type(MPI.COMM_TYPE_SHARED, everyone.rank)
    return Group(comm, comm.Get_rank(), comm.Get_size(), "node")
