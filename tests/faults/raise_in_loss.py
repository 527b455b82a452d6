"""`augury train` with a loss that fails on the last rank at its third step."""

import sys

import torch
from mpi4py import MPI

from augury.cli import main
from augury.train.compute import Compute

_original = Compute.mean_share
_calls = 0


def failing(self: Compute, batch: object) -> torch.Tensor:
    global _calls
    _calls += 1
    if _calls == 3 and MPI.COMM_WORLD.Get_rank() == MPI.COMM_WORLD.Get_size() - 1:
        raise ValueError("the loss is odd")
    return _original(self, batch)  # type: ignore[arg-type]


Compute.mean_share = failing  # type: ignore[method-assign]
sys.exit(main())
