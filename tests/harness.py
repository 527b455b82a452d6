"""How tests start augury the way a person does, and never wait for ever."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BIN = Path(sys.executable).parent


@dataclass(frozen=True, slots=True)
class Done:
    """What a finished command left."""

    code: int
    out: str
    err: str

    @property
    def messages(self) -> list[str]:
        """The lines that augury itself wrote to standard error as errors."""
        return [line for line in self.err.splitlines() if line.startswith("augury:")]


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Variables under which `mpiexec` of any MPI starts several ranks on any machine."""
    env = dict(os.environ) | {"PATH": f"{BIN}{os.pathsep}{os.environ.get('PATH', '')}"}
    env["PRTE_MCA_rmaps_default_mapping_policy"] = ":oversubscribe"
    env["OMPI_MCA_mpi_yield_when_idle"] = "1"
    if os.geteuid() == 0:
        env |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    return env | dict(extra or {})


@contextmanager
def started(
    *words: str | Path, env: Mapping[str, str] | None = None
) -> Iterator[subprocess.Popen[str]]:
    """A command in a session of its own, which has ended, whole, when the block does."""
    with subprocess.Popen(
        [str(word) for word in words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env=environment(env),
        start_new_session=True,
    ) as job:
        try:
            yield job
        finally:
            for pid in session_pids(job.pid):
                os.kill(pid, signal.SIGKILL)


def session_pids(session: int) -> list[int]:
    """Process ids that belong to a session and are not zombies."""
    found = []
    for entry in Path("/proc").iterdir():
        with suppress(OSError, ValueError):
            fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            if int(fields[3]) == session and fields[0] != "Z":
                found.append(int(entry.name))
    return found


def rank_pids(job: subprocess.Popen[str]) -> list[int]:
    """Process ids of the augury ranks of a job, the launcher left out."""
    found = []
    for pid in session_pids(job.pid):
        with suppress(OSError):
            words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            if b"python" in Path(words[0].decode()).name.encode():
                found.append(pid)
    return found


def wait_for(condition: Callable[[], object], limit_s: float = 60) -> None:
    """Wait until `condition` holds; the test fails when it does not in time."""
    end = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < end, "what the test waits for did not happen"
        time.sleep(0.01)


def finish(job: subprocess.Popen[str], limit_s: float) -> Done:
    """Wait for a command; the test fails when it takes longer."""
    try:
        out, err = job.communicate(timeout=limit_s)
    except subprocess.TimeoutExpired:
        for pid in session_pids(job.pid):
            os.kill(pid, signal.SIGKILL)
        out, err = job.communicate()
        raise AssertionError(
            f"{job.args!r}: still running after {limit_s} s\n{out}\n{err}"
        ) from None
    return Done(job.returncode, out, err)


def run(*words: str | Path, limit_s: float = 60, env: Mapping[str, str] | None = None) -> Done:
    """Run a command to its end."""
    with started(*words, env=env) as job:
        return finish(job, limit_s)


def augury(*words: str | Path, limit_s: float = 90, env: Mapping[str, str] | None = None) -> Done:
    """Run the `augury` command alone."""
    return run(BIN / "augury", *words, limit_s=limit_s, env=env)


def ranks(number: int) -> list[str | Path]:
    """The words before a command that start it on `number` ranks."""
    return [BIN / "mpiexec" if (BIN / "mpiexec").exists() else "mpiexec", "-n", str(number)]


def augury_on(number: int, *words: str | Path, limit_s: float = 120) -> Done:
    """Run the `augury` command on `number` ranks."""
    return run(*ranks(number), BIN / "augury", *words, limit_s=limit_s)
