"""The small dataset and configuration of the MPI tests."""

from tests.mpi.conftest import config, dataset

__all__ = ["config", "dataset"]
