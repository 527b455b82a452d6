"""What a person sees while augury works: on standard error, from one rank.

On a terminal a progress bar; elsewhere (a batch job's file, a pipe) a plain line now and
then; with `quiet`, or on any rank but the leading one, nothing. Results go to standard
output and are not this module's business.
"""

from __future__ import annotations

import os
import sys
import time
from types import TracebackType
from typing import Self, TextIO

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from augury.errors import RunError

_LINE_EVERY_S = 10.0


class Terminal:
    """Progress and messages; every method is cheap and never synchronises ranks."""

    def __init__(self, *, speaks: bool, stream: TextIO | None = None) -> None:
        """`speaks`: this rank writes at all."""
        self._stream = stream or sys.stderr
        self._speaks = speaks
        self._bar = _bar(self._stream) if speaks and self._stream.isatty() else None
        self._task = TaskID(0)
        self._title = ""
        self._total = 0
        self._last_line = 0.0

    def __enter__(self) -> Self:
        """Show the progress bar, where there is one."""
        if self._bar:
            self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Leave the terminal as it was."""
        if self._bar:
            self._bar.stop()

    def say(self, text: str) -> None:
        """One line that stays."""
        if self._bar:
            self._bar.console.print(text, highlight=False, markup=False)
        elif self._speaks:
            try:
                self._stream.write(f"{text}\n")
                self._stream.flush()
            except OSError:  # nobody listens any more: a run does not end for that
                self._speaks = False

    def begin(self, title: str, total: int, done: int = 0) -> None:
        """Start counting to `total`, from `done`."""
        self._title, self._total, self._last_line = title, total, time.monotonic()
        if self._bar:
            self._bar.remove_task(self._task) if self._task in self._bar.task_ids else None
            self._task = self._bar.add_task(title, total=total, completed=done, note="")

    def advance(self, done: int, note: str = "") -> None:
        """`done` of the total are done."""
        if self._bar:
            self._bar.update(self._task, completed=done, note=note)
        elif self._speaks and time.monotonic() - self._last_line >= _LINE_EVERY_S:
            self._last_line = time.monotonic()
            self.say(f"{self._title}: {done}/{self._total} {note}".rstrip())


def print_result(text: str) -> None:
    """Write a result to standard output; a reader who has left early has seen enough.

    Raises:
        RunError: it cannot be written for another reason, such as a full disk.
    """
    try:
        sys.stdout.write(text if text.endswith("\n") else f"{text}\n")
        sys.stdout.flush()
    except OSError as error:
        # What is still buffered must not fail again when the interpreter ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            reason = f"standard output: cannot be written: {error.strerror}"
            raise RunError(reason) from error


def _bar(stream: TextIO) -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed}/{task.total} {task.fields[note]}"),
        TimeRemainingColumn(),
        console=Console(file=stream),
        transient=True,
    )
