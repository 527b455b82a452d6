"""The result folder of a run: which files it holds, and what happens to an earlier run.

| file            | what                                                          |
| --------------- | ------------------------------------------------------------- |
| config.toml     | the resolved configuration, with the origin of every value    |
| result_0.txt    | the MLLOG result log                                          |
| metrics.jsonl   | a line per step, per epoch and per evaluation                 |
| checkpoint.pt   | the newest checkpoint                                         |
| summary.json    | the result; the keys are a stable interface                   |
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from augury.atomic import write_whole
from augury.errors import RunError


@dataclass(frozen=True, slots=True)
class RunFolder:
    """The files of one run."""

    path: Path

    @property
    def config(self) -> Path:
        """The resolved configuration."""
        return self.path / "config.toml"

    @property
    def log(self) -> Path:
        """The MLLOG result log, named as MLPerf submissions name it."""
        return self.path / "result_0.txt"

    @property
    def metrics(self) -> Path:
        """Times and counts, one JSON object a line."""
        return self.path / "metrics.jsonl"

    @property
    def checkpoint(self) -> Path:
        """The newest checkpoint."""
        return self.path / "checkpoint.pt"

    @property
    def summary(self) -> Path:
        """The result of the run."""
        return self.path / "summary.json"

    def begin(self) -> str:
        """Make an empty folder for a new run; an earlier run's files keep another name.

        Returns:
            The name under which an earlier run is kept, or the empty string.

        Raises:
            RunError: the folder cannot be made or written, or holds something that is no run
                and must not be moved.
        """
        kept = ""
        try:
            if self.path.exists() and not self._is_empty():
                if not self.config.is_file():
                    raise RunError(
                        f"output {self.path}: is there and is not a run's folder; choose another "
                        "with --set output=DIR"
                    )
                os.close(self.hold())
                kept = str(self._set_aside())
            self.path.mkdir(parents=True, exist_ok=True)
            self._check_writable()
        except OSError as error:
            raise RunError(
                f"output {self.path}: {error.strerror}; choose another with --set output=DIR"
            ) from error
        return kept

    def hold(self) -> int:
        """Keep other jobs out of this folder until the returned descriptor is closed.

        The kernel lets go when the process ends, however it ends. A file system without
        locks protects nothing.

        Raises:
            RunError: another job holds the folder.
        """
        held = os.open(self.config, os.O_RDONLY)
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(held)
            raise RunError(
                f"output {self.path}: another job is running in this folder; choose another with "
                "--set output=DIR"
            ) from None
        except OSError:
            pass
        return held

    def _is_empty(self) -> bool:
        return self.path.is_dir() and not any(self.path.iterdir())

    def _set_aside(self) -> Path:
        """Rename what is there to the first free of path.1, path.2, ..."""
        number = 1
        while (free := self.path.with_name(f"{self.path.name}.{number}")).exists():
            number += 1
        return self.path.rename(free)

    def _check_writable(self) -> None:
        probe = self.path / f".writable-{os.getpid()}"
        probe.touch()
        probe.unlink()

    def write_atomically(self, file: Path, data: bytes) -> None:
        """Replace `file` by `data`: a reader, or a crash, sees the old or the new, whole.

        Raises:
            RunError: the file cannot be written; the old one is still there.
        """
        try:
            write_whole(file, data)
        except OSError as error:
            raise RunError(f"{file}: cannot be written: {error.strerror}") from error

    def write_summary(self, summary: Mapping[str, Any]) -> None:
        """Write `summary.json`."""
        text = json.dumps(summary, indent=2) + "\n"
        self.write_atomically(self.summary, text.encode())

    def read_summary(self) -> dict[str, Any]:
        """The content of `summary.json`.

        Raises:
            RunError: it cannot be read.
        """
        try:
            content: dict[str, Any] = json.loads(self.summary.read_text())
        except (OSError, ValueError) as error:
            raise RunError(f"{self.summary}: cannot be read: {error}") from error
        return content

    def truncate(self, log_bytes: int, metrics_bytes: int) -> None:
        """Forget what was logged after a checkpoint: the resumed run does it again.

        Raises:
            RunError: a file is missing or shorter than it was at the checkpoint.
        """
        for file, size in ((self.log, log_bytes), (self.metrics, metrics_bytes)):
            have = size_of(file)
            if have < size:
                raise RunError(
                    f"{file}: has {have} bytes, had {size} at the checkpoint; cannot resume"
                )
            os.truncate(file, size)


def size_of(file: Path) -> int:
    """Bytes of a file; 0 when it is not there."""
    try:
        return file.stat().st_size
    except FileNotFoundError:
        return 0
