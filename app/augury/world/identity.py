"""Which MPI library each part of the process uses, and whether it is the same one.

mpi4py, Horovod and augury's native module are compiled separately. When two of them bring
different MPI libraries, ranks see different worlds, or crash. Each part is asked for the
library that *its own* symbols resolve to.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping

from mpi4py import MPI

from augury.errors import WorldError

_LONGEST = 8192  # MPI_MAX_LIBRARY_VERSION_STRING of the libraries in use is at most this


def short_version(text: str) -> str:
    """Vendor and release from MPI_Get_library_version: "Open MPI v5.0.11"."""
    return " ".join(text.split(",")[0].split("\n")[0].split())


def library_of(extension: str) -> str:
    """The MPI library that the extension module at this path is linked with.

    `dlsym` on a handle searches that module and what it is linked with, in order, so the
    answer is this module's, whatever else the process has loaded.
    """
    text = ctypes.create_string_buffer(_LONGEST)
    length = ctypes.c_int()
    ctypes.CDLL(extension).MPI_Get_library_version(text, ctypes.byref(length))
    return short_version(text.value.decode(errors="replace"))


def libraries(horovod: str | None, native: Mapping[str, object] | None) -> dict[str, str]:
    """The MPI library of each part.

    Args:
        horovod: path of Horovod's extension module; None when it is not installed.
        native: what `_native.mpi_identity()` says; None when built without MPI.
    """
    found = {"mpi4py": short_version(MPI.Get_library_version())}
    if horovod is not None:
        found["Horovod"] = library_of(horovod)
    if native is not None:
        found["native module"] = short_version(str(native["library"]))
    return found


def check_same(found: Mapping[str, str]) -> None:
    """Stop when the parts use different MPI libraries.

    Raises:
        WorldError: names every part with its library.
    """
    if len(set(found.values())) > 1:
        parts = ", ".join(f"{part} uses {library}" for part, library in found.items())
        raise WorldError(
            f"several MPI libraries in one program: {parts}. Build all against the MPI of "
            "this machine: load its module, remove .venv and run `make env`"
        )
