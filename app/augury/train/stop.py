"""Signals that ask a run to stop at the next step, with a checkpoint.

Batch systems warn before a time limit (Slurm: `--signal=USR1@60`; at the limit: SIGTERM).
A handler only notes the request; the training loop asks all ranks at every step whether any
of them was asked, so that a signal to one rank stops all at the same step.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

STOP_SIGNALS = (signal.SIGTERM, signal.SIGUSR1)


class StopRequest:
    """Whether this rank was asked to stop, and by what."""

    def __init__(self) -> None:
        self.by: str = ""

    def __bool__(self) -> bool:
        return bool(self.by)

    def note(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002 - handler's form
        """The signal handler."""
        self.by = signal.Signals(number).name


@contextmanager
def stop_signals() -> Iterator[StopRequest]:
    """Note the stop signals inside the block; earlier handlers come back after it."""
    request = StopRequest()
    before = {number: signal.signal(number, request.note) for number in STOP_SIGNALS}
    try:
        yield request
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
