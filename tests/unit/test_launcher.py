"""A world that is not what the launcher started is caught, whichever launcher it was."""

import pytest

from augury.errors import WorldError
from augury.world.launcher import check_size, launched, ranks_here, waiting_settings

SRUN = {"SLURM_STEP_ID": "0", "SLURM_STEP_NUM_TASKS": "4", "SLURM_NTASKS": "4"}


@pytest.mark.parametrize(
    ("env", "ranks"),
    [
        ({}, None),
        ({"OMPI_COMM_WORLD_SIZE": "2"}, 2),
        ({"PMI_SIZE": "3"}, 3),
        ({"PJM_MPI_PROC": "48"}, 48),
        (SRUN, 4),
        ({"SLURM_NTASKS": "4"}, 4),
        # mpiexec in an allocation: its daemons are the Slurm tasks, one per node
        (SRUN | {"SLURM_STEP_NUM_TASKS": "1", "OMPI_COMM_WORLD_SIZE": "8"}, 8),
        # the shell of a batch script is a step of one task
        ({"SLURM_STEP_ID": "4294967291", "SLURM_STEP_NUM_TASKS": "1", "SLURM_NTASKS": "4"}, 4),
    ],
)
def test_the_innermost_launcher_counts(env: dict[str, str], ranks: int | None) -> None:
    found = launched(env)
    assert (found.ranks if found else None) == ranks


@pytest.mark.parametrize("env", [{"OMPI_COMM_WORLD_SIZE": "2"}, {"PMI_SIZE": "2"}, SRUN])
def test_ranks_that_would_train_alone_are_stopped(env: dict[str, str]) -> None:
    with pytest.raises(WorldError) as caught:
        check_size(1, env)
    assert "MPI's world has 1 rank, but" in str(caught.value)
    assert "--mpi=pmix" in str(caught.value)


def test_a_right_world_passes() -> None:
    check_size(4, SRUN)
    check_size(1, {})
    check_size(3, {}, wanted=3)


def test_one_process_in_an_allocation_is_told_to_use_srun() -> None:
    with pytest.raises(WorldError, match=r"srun or mpiexec inside the allocation.*world.ranks=1"):
        check_size(1, {"SLURM_NTASKS": "4"})
    check_size(1, {"SLURM_NTASKS": "4"}, wanted=1)


def test_the_user_can_say_how_many_ranks_there_must_be() -> None:
    with pytest.raises(WorldError, match=r"2 ranks, but world.ranks says 4"):
        check_size(2, {"OMPI_COMM_WORLD_SIZE": "2"}, wanted=4)


@pytest.mark.parametrize(
    ("env", "ranks"),
    [
        ({}, 1),
        ({"OMPI_COMM_WORLD_LOCAL_SIZE": "3"}, 3),
        ({"MPI_LOCALNRANKS": "2"}, 2),
        ({"PJM_PROC_BY_NODE": "4"}, 4),
        ({"SLURM_STEP_TASKS_PER_NODE": "4(x2),3"}, 4),
    ],
)
def test_ranks_on_this_node(env: dict[str, str], ranks: int) -> None:
    assert ranks_here(env) == ranks


def test_waiting_ranks_give_way_when_they_fill_the_cores() -> None:
    full = {"OMPI_COMM_WORLD_LOCAL_SIZE": "2"}
    assert waiting_settings(full, cores=2) == {"OMPI_MCA_mpi_yield_when_idle": "1"}
    assert waiting_settings(full, cores=8) == {}
    chosen = full | {"OMPI_MCA_mpi_yield_when_idle": "0"}
    assert waiting_settings(chosen, cores=2) == {}
