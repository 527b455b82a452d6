"""What is installed and usable on this machine, one finding per thing that augury uses.

`ok`: there and usable. `absent`: not there; augury works without it, in the way that the
finding says. `broken`: training cannot work until it is mended.
"""

from __future__ import annotations

import ctypes.util
import os
import platform
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

import torch

from augury import _native
from augury.config.sizes import format_bytes
from augury.errors import AuguryError
from augury.memory import available_bytes
from augury.world import describe_horovod, describe_mpi
from augury.world.launcher import launched


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that augury uses, and how it is here."""

    what: str
    state: Literal["ok", "absent", "broken"]
    found: str
    advice: str = ""


def examine() -> list[Finding]:
    """Look at everything; a check that fails is a finding, not an end."""
    checks: list[Callable[[], Finding]] = [
        _python, _cores, _memory, _mpi, _launcher, _horovod, _torch, _native_module,
        _io_uring, _cuda, _cufile, _cupy, _node_local,
    ]  # fmt: skip
    findings = []
    for check in checks:
        try:
            findings.append(check())
        except AuguryError as error:
            findings.append(Finding(check.__name__.strip("_"), "broken", str(error)))
    return findings


def _python() -> Finding:
    return Finding("python", "ok", f"{platform.python_version()} on {platform.machine()}")


def _cores() -> Finding:
    bound = len(os.sched_getaffinity(0))
    return Finding("cores", "ok", f"{os.cpu_count()}, {bound} of them open to this process")


def _memory() -> Finding:
    return Finding("ram", "ok", f"{format_bytes(available_bytes())} available to the ram tier")


def _mpi() -> Finding:
    mpi = describe_mpi()
    text = f"{mpi.library}, thread level {mpi.thread_level}"
    if mpi.thread_level != "MULTIPLE":
        return Finding(
            "mpi", "broken", text, "Horovod needs MPI_THREAD_MULTIPLE: another MPI build"
        )
    return Finding("mpi", "ok", text)


def _launcher() -> Finding:
    path = shutil.which("mpiexec")
    launch = launched(os.environ)
    started = f"; this process is one of {launch.ranks} ({launch.source})" if launch else ""
    if path is None:
        return Finding(
            "launcher", "absent", f"no mpiexec on PATH{started}", "use srun, or activate .venv"
        )
    return Finding("launcher", "ok", f"{path}{started}")


def _horovod() -> Finding:
    found = describe_horovod()
    return Finding("horovod", "ok", f"{version('horovod')}, built with {', '.join(found)}")


def _torch() -> Finding:
    capability = torch.backends.cpu.get_cpu_capability()
    cuda = torch.version.cuda or "none"
    return Finding("torch", "ok", f"{torch.__version__}, CPU {capability}, CUDA {cuda}")


def _native_module() -> Finding:
    facts = _native.build_info()
    simd = " ".join(facts["simd"])
    return Finding("native", "ok", f"{facts['compiler']}, {facts['build_type']}, {simd}")


def _io_uring() -> Finding:
    if not _native.build_info()["io_uring_kernel"]:
        advice = "reads use threads with pread, which works everywhere"
        return Finding("io_uring", "absent", "the kernel has it not, or forbids it", advice)
    return Finding("io_uring", "ok", "usable; this version reads with threads and pread")


def _cuda() -> Finding:
    if torch.version.cuda is None:
        return Finding(
            "cuda", "absent", "this torch was built without CUDA", "training runs on the CPU"
        )
    if not torch.cuda.is_available():
        return Finding("cuda", "absent", "no usable driver or device", "training runs on the CPU")
    names = [torch.cuda.get_device_name(at) for at in range(torch.cuda.device_count())]
    return Finding("cuda", "ok", ", ".join(names))


def _cufile() -> Finding:
    # Only looked for, never opened: its driver call spins for ever where there is no GPU.
    name = ctypes.util.find_library("cufile")
    if name is None:
        return Finding("cufile", "absent", "no libcufile", "needed for GPUDirect Storage only")
    return Finding("cufile", "ok", name)


def _cupy() -> Finding:
    if find_spec("cupy") is None:
        return Finding("cupy", "absent", "not installed", "pip install augury[cuda] on GPU nodes")
    for name in ("cupy-cuda13x", "cupy-cuda12x", "cupy"):
        try:
            return Finding("cupy", "ok", f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return Finding("cupy", "ok", "installed")


def _node_local() -> Finding:
    for name in ("AUGURY_NODE_LOCAL", "TMPDIR"):
        if folder := os.environ.get(name):
            break
    else:
        name, folder = "default", "/tmp"  # noqa: S108 - looked at, not written to
    path = Path(folder)
    if not path.is_dir() or not os.access(path, os.W_OK):
        return Finding(
            "node-local",
            "absent",
            f"{path} ({name}) is not a writable folder",
            "set AUGURY_NODE_LOCAL",
        )
    free = shutil.disk_usage(path).free
    return Finding("node-local", "ok", f"{path} ({name}), {format_bytes(free)} free")
