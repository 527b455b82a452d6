"""What the native module says of itself."""

from __future__ import annotations

from importlib.metadata import version

from augury import _native


def test_the_module_has_the_version_of_the_package() -> None:
    info = _native.build_info()
    assert info["version"] == version("augury")
    assert info["compiler"].startswith(("GCC", "Clang"))


def test_the_mpi_library_says_its_name() -> None:
    identity = _native.mpi_identity()
    if identity is not None:
        assert identity["library"].isprintable() or "\n" in identity["library"]
        assert identity["comm_bytes"] in (4, 8)
