"""Ranks, nodes and collective calls: the only package that touches MPI and Horovod.

`launcher` reads what started the job from the environment, `identity` compares the MPI
libraries in the process, `group` holds ranks that act together, `start` builds the
world, `describe` tells `augury doctor` about it.

Importing it does not start MPI: `start_mpi` does, after it has looked at the environment.
"""

import mpi4py

mpi4py.rc.initialize = False
mpi4py.rc.finalize = True

from augury.world.describe import describe_horovod, describe_mpi  # noqa: E402
from augury.world.group import Group, end_job, together  # noqa: E402
from augury.world.start import World, start_mpi  # noqa: E402

__all__ = ["Group", "World", "describe_horovod", "describe_mpi", "end_job", "start_mpi", "together"]
