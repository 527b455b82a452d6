"""Parts of the program that bring different MPI libraries are caught and named."""

import os
import subprocess
from pathlib import Path

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


def compile_shared(folder: Path, name: str, code: str, *words: str) -> Path:
    """A shared library made from C code."""
    source, made = folder / f"{name}.c", folder / f"lib{name}.so"
    source.write_text(code)
    command = [os.environ.get("CC", "cc"), "-shared", "-fPIC", str(source), "-o", str(made)]
    subprocess.run([*command, f"-Wl,-rpath,{folder}", f"-L{folder}", *words], check=True)
    return made


def test_each_part_is_asked_for_the_library_that_it_is_linked_with(tmp_path: Path) -> None:
    """Another MPI beside the one that mpi4py has loaded, under the same function name."""
    start_mpi()
    other = """
        #include <string.h>
        int MPI_Get_library_version(char *text, int *length) {
            strcpy(text, "Other MPI v1.2, package: x");
            *length = (int)strlen(text);
            return 0;
        }"""
    compile_shared(tmp_path, "othermpi", other)
    part = """
        int MPI_Get_library_version(char *text, int *length);
        void *uses(void) { return MPI_Get_library_version; }"""
    extension = compile_shared(tmp_path, "part", part, "-lothermpi")
    found = libraries(str(extension), None)
    assert found["Horovod"] == "Other MPI v1.2"
    with pytest.raises(WorldError, match=r"Horovod uses Other MPI v1\.2"):
        check_same(found)


def test_a_mismatch_names_the_three_parts() -> None:
    found = {"mpi4py": "Open MPI v5.0.11", "Horovod": "MPICH 4.2", "native module": "MPICH 4.2"}
    with pytest.raises(WorldError) as caught:
        check_same(found)
    text = str(caught.value)
    assert "mpi4py uses Open MPI v5.0.11" in text
    assert "Horovod uses MPICH 4.2, native module uses MPICH 4.2" in text
