"""What the installer decides, from what it finds."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


def load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("install", ROOT / "share/environment/install.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["install"] = module
    spec.loader.exec_module(module)
    return module


install: Any = load()


def make_tool(folder: Path, name: str, text: str = "") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    tool = folder / name
    tool.write_text(f"#!/bin/sh\n{text}\n")
    tool.chmod(0o755)
    return tool


def test_the_mpi_on_path_is_taken(tmp_path: Path) -> None:
    cxx = make_tool(tmp_path / "openmpi" / "bin", "mpicxx")
    path = f"/nowhere::{cxx.parent}"
    assert install.find_mpi(tmp_path / "venv", path) == install.Mpi(str(cxx), "site")


def test_the_environments_own_wrapper_is_not_a_site_mpi(tmp_path: Path) -> None:
    own = make_tool(tmp_path / "venv" / "bin", "mpicxx")
    assert install.find_mpi(tmp_path / "venv", str(own.parent)) == install.Mpi(str(own), "wheel")


def test_without_an_mpi_the_wheel_is_installed(tmp_path: Path) -> None:
    assert install.find_mpi(tmp_path / "venv", str(tmp_path)) == install.Mpi("", "wheel")


@pytest.mark.parametrize(
    ("text", "numbers"),
    [("2.13.0+cpu", (2, 13, 0)), ("2.4.0a0+git1", (2, 4)), ("2.6", (2, 6))],
)
def test_versions_are_compared_as_numbers(text: str, numbers: tuple[int, ...]) -> None:
    assert install.version_of(text) == numbers


@pytest.mark.parametrize(
    ("torch", "horovod", "site"),
    [
        ("2.13.0", "0.28.1", ("2.13.0", "0.28.1")),
        ("2.13.0", "", ("2.13.0", "")),
        ("1.13.1", "0.28.1", ("", "")),
        ("", "", ("", "")),
    ],
)
def test_a_site_install_is_used_when_it_fits(
    tmp_path: Path, torch: str, horovod: str, site: tuple[str, str]
) -> None:
    script = f'case "$2" in *horovod*) v="{horovod}";; *) v="{torch}";; esac; [ "$v" ] && echo "$v"'
    python = make_tool(tmp_path, "python", script)
    assert install.find_site(str(python)) == install.Site(*site)


def test_nccl_is_chosen_on_gpu_nodes_only(tmp_path: Path) -> None:
    mpi = install.Mpi("/opt/mpi/bin/mpicxx", "site")
    make_tool(tmp_path / "bin", "nvcc")
    (tmp_path / "nvidia0").touch()
    (tmp_path / "none").mkdir()
    path = {"PATH": str(tmp_path / "bin")}
    gpu = "HOROVOD_GPU_OPERATIONS"

    def chosen(cuda: str, base: dict[str, str], devices: str = "") -> str | None:
        env: dict[str, str] = install.horovod_environment(mpi, cuda, base, tmp_path / devices)
        assert env["PATH"].startswith("/opt/mpi/bin:")
        return env.get(gpu)

    assert chosen("13.0", path) == "NCCL"
    assert chosen("", path) is None
    assert chosen("13.0", {"PATH": "/nowhere"}) is None
    assert chosen("13.0", path, "none") is None
    assert chosen("13.0", path | {gpu: "MPI"}) == "MPI"
    assert chosen("13.0", path | {gpu: "NCCL"}, "none") == "NCCL"


@pytest.mark.parametrize("gpu", [False, True])
def test_horovod_is_patched_for_this_torch_and_this_node(tmp_path: Path, gpu: bool) -> None:
    texts = {
        "CMakeLists.txt": "a\nset(CMAKE_CXX_STANDARD 14)\nb\n",
        "horovod/torch/CMakeLists.txt": "    set(CMAKE_CXX_STANDARD 14)\n",
        "cmake/Modules/FindPytorch.cmake": "print(cuda and (CUDA_HOME is not None))\n",
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    install.patch_horovod(tmp_path, gpu=gpu)
    assert "CMAKE_CXX_STANDARD 17" in (tmp_path / "horovod/torch/CMakeLists.txt").read_text()
    found = (tmp_path / "cmake/Modules/FindPytorch.cmake").read_text()
    assert found == (texts["cmake/Modules/FindPytorch.cmake"] if gpu else "print(cuda and False)\n")
    with pytest.raises(install.InstallError, match="holds no 'CMAKE_CXX_STANDARD 14'"):
        install.patch_horovod(tmp_path, gpu=gpu)


def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, torch: str = "") -> Any:
    monkeypatch.setattr(install, "find_site", lambda _python: install.Site(torch, ""))
    monkeypatch.setenv("PATH", "/nowhere")
    (tmp_path / "venv").mkdir(exist_ok=True)
    return install.Environment(tmp_path / "venv", ["test"])


def test_a_complete_installation_is_current_until_an_input_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = environment(tmp_path, monkeypatch)
    assert not made.is_current()
    made.stamp.write_text(json.dumps(made.fingerprint() | {"extras": ["cuda", "test"]}))
    assert made.is_current()
    made.stamp.write_text(json.dumps(made.fingerprint() | {"extras": []}))
    assert not made.is_current()
    made.stamp.write_text(json.dumps(made.fingerprint() | {"extras": ["test"], "python": "2.7"}))
    assert not made.is_current()


def test_a_sites_torch_replaces_the_pinned_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = environment(tmp_path, monkeypatch, torch="2.11.0+cu130")
    made.write_constraints()
    lines = made.constraints.read_text().splitlines()
    assert [line for line in lines if line.startswith("torch==")] == ["torch==2.11.0+cu130"]
    assert "horovod==0.28.1" in lines


def test_a_failed_command_shows_its_end_and_where_the_rest_is(tmp_path: Path) -> None:
    tool = make_tool(tmp_path, "tool", "echo CMake Error: first; seq 100; exit 3")
    with pytest.raises(install.InstallError) as caught:
        install.run([tool], log=tmp_path / "log" / "tool.log")
    text = str(caught.value)
    assert "failed with exit code 3" in text
    assert "\n100\n" in text
    assert "\n70\n" not in text
    assert "CMake Error: first" in text
    assert str(tmp_path / "log" / "tool.log") in text


def test_a_machine_without_a_compiler_is_told_before_anything_is_installed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(install.InstallError, match="no C\\+\\+ compiler"):
        install.check_machine()
