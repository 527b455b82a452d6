"""What started this process, read from the environment before MPI is.

A launcher and an MPI library that do not speak the same PMI start N worlds of one rank
each, silently, and every rank trains alone. The launcher's own count tells.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from augury.errors import WorldError


@dataclass(frozen=True, slots=True)
class Launch:
    """How many ranks a launcher says that it started."""

    ranks: int
    source: str
    """The environment variable that says so."""


def launched(env: Mapping[str, str]) -> Launch | None:
    """The launcher's count of ranks, or None when nothing launched this process.

    The innermost launcher counts: `mpiexec` inside a Slurm allocation starts what it is
    told, whatever the allocation holds, and its daemons are the only Slurm tasks then.
    `SLURM_STEP_NUM_TASKS` is trusted in a step of `srun` only; the shell of a batch script
    has `SLURM_NTASKS` although it is one process.
    """
    names = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS", "PJM_MPI_PROC"]
    if "SLURM_STEP_ID" in env and env.get("SLURM_STEP_ID") != "4294967291":  # the batch step
        names += ["SLURM_STEP_NUM_TASKS"]
    names += ["SLURM_NTASKS"]
    for name in names:
        if env.get(name, "").isdigit():
            return Launch(int(env[name]), name)
    return None


def check_size(size: int, env: Mapping[str, str], wanted: int = 0) -> None:
    """Stop a job whose world is not what the launcher or the user says.

    Args:
        size: ranks of MPI's world.
        env: the environment.
        wanted: `world.ranks` of the configuration; 0 asks the launcher.

    Raises:
        WorldError: naming both numbers, the variable, and the usual cause.
    """
    launch = Launch(wanted, "world.ranks") if wanted else launched(env)
    if launch is None or launch.ranks == size:
        return
    raise WorldError(
        f"MPI's world has {size} rank{'s' if size > 1 else ''}, but {launch.source} says "
        f"{launch.ranks}. {_advice(size, launch)}"
    )


def _advice(size: int, launch: Launch) -> str:
    if launch.source == "world.ranks":
        return "Start as many ranks as the configuration asks for, or unset world.ranks."
    if launch.source == "SLURM_NTASKS" and size == 1:
        return (
            "Start augury with srun or mpiexec inside the allocation; for one rank on "
            "purpose, set world.ranks=1."
        )
    return (
        "Every rank would train alone. Use the launcher of the MPI that augury was built "
        "with (`augury doctor` names it); under Slurm choose its PMI: `srun --mpi=pmix` for "
        "Open MPI, `srun --mpi=pmi2` for MPICH."
    )


def ranks_here(env: Mapping[str, str]) -> int:
    """Ranks that the launcher started on this node; 1 when it does not say."""
    for name in ("OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "PJM_PROC_BY_NODE"):
        if env.get(name, "").isdigit():
            return int(env[name])
    tasks = env.get("SLURM_STEP_TASKS_PER_NODE", "").split("(")[0].split(",")[0]
    return int(tasks) if tasks.isdigit() else 1


def waiting_settings(env: Mapping[str, str], cores: int) -> dict[str, str]:
    """Variables that make waiting ranks give way when they fill or outnumber the cores.

    Open MPI spins while it waits. With more threads than cores the spinning rank takes the
    core from the one that it waits for. Horovod's thread waits beside the training thread,
    so this begins when the ranks alone fill the node.
    """
    name = "OMPI_MCA_mpi_yield_when_idle"
    return {name: "1"} if ranks_here(env) >= cores and name not in env else {}
