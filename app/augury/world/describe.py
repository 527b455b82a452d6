"""MPI and Horovod as they are in this process, for `augury doctor`."""

from __future__ import annotations

from dataclasses import dataclass

from mpi4py import MPI

from augury import _native
from augury.world.identity import check_same, libraries, short_version
from augury.world.start import extension_of, import_horovod, start_mpi

_LEVELS = {
    MPI.THREAD_SINGLE: "SINGLE",
    MPI.THREAD_FUNNELED: "FUNNELED",
    MPI.THREAD_SERIALIZED: "SERIALIZED",
    MPI.THREAD_MULTIPLE: "MULTIPLE",
}


@dataclass(frozen=True, slots=True)
class MpiFacts:
    """The MPI library of mpi4py, and what it gave when asked for threads."""

    library: str
    thread_level: str


def describe_mpi() -> MpiFacts:
    """Collective. Start MPI and say what it is."""
    start_mpi()
    return MpiFacts(short_version(MPI.Get_library_version()), _LEVELS[MPI.Query_thread()])


def describe_horovod() -> list[str]:
    """What Horovod was built with.

    Raises:
        WorldError: it cannot be used, or uses another MPI library than the other parts.
    """
    horovod = import_horovod()
    check_same(libraries(extension_of(horovod), _native.mpi_identity()))
    flags = {"MPI": horovod.mpi_built(), "CUDA": horovod.cuda_built(), "NCCL": horovod.nccl_built()}
    return [name for name, built in flags.items() if built]
