"""Parts of the program that bring different MPI libraries are caught and named."""

import pytest
from mpi4py import MPI

from augury.errors import WorldError
from augury.world.identity import check_same, libraries, library_of, short_version
from augury.world.start import extension_of, import_horovod, start_mpi


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("Open MPI v5.0.11, package: Open MPI x@y Distribution, ident: 5.0.11", "Open MPI v5.0.11"),
        ("MPICH Version:      5.0.2\nMPICH Release date: x\n", "MPICH Version: 5.0.2"),
    ],
)
def test_vendor_and_release_are_kept(text: str, short: str) -> None:
    assert short_version(text) == short


def test_the_parts_of_this_installation_use_one_library() -> None:
    start_mpi()
    extension = extension_of(import_horovod())
    assert library_of(extension) == short_version(MPI.Get_library_version())
    check_same(libraries(extension, None))


def test_a_mismatch_names_the_three_parts() -> None:
    found = {"mpi4py": "Open MPI v5.0.11", "Horovod": "MPICH 4.2", "native module": "MPICH 4.2"}
    with pytest.raises(WorldError) as caught:
        check_same(found)
    text = str(caught.value)
    assert "mpi4py uses Open MPI v5.0.11" in text
    assert "Horovod uses MPICH 4.2, native module uses MPICH 4.2" in text
