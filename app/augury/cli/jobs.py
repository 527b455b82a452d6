"""Verbs that run as a job of several ranks."""

from __future__ import annotations

from collections.abc import Callable

from augury.world import Group, end_job, start_mpi


def as_job(body: Callable[[Group], int]) -> int:
    """Collective. Run `body` on all ranks; a failure of one ends the job with one message."""
    everyone = start_mpi()
    try:
        return body(everyone)
    except BaseException as error:  # noqa: BLE001 - the peers must learn of anything at all
        return end_job(everyone, error)
