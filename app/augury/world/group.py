"""Ranks that act together, and what happens to all of them when one fails."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from mpi4py import MPI
from numpy.typing import NDArray

from augury.errors import BUG, INTERRUPTED, AuguryError, PeerError

T = TypeVar("T")
Floats = NDArray[np.float64]


class PendingAny:
    """A question to all ranks that is on its way: has anyone said yes?"""

    def __init__(self, comm: MPI.Comm, mine: bool) -> None:
        self._mine = np.array([mine], dtype=np.int32)
        self._any = np.zeros(1, dtype=np.int32)
        self._request = comm.Iallreduce(self._mine, self._any, op=MPI.MAX)

    def wait(self) -> bool:
        """Collective. True when at least one rank said yes; the same on every rank."""
        self._request.Wait()
        return bool(self._any[0])


@dataclass(frozen=True, slots=True)
class Group:
    """Some ranks that act together: the world, an instance, or a node."""

    comm: MPI.Comm
    rank: int
    size: int
    name: str

    @property
    def leads(self) -> bool:
        """True on one rank. Guard *output* with it, never a collective call."""
        return self.rank == 0

    def barrier(self) -> None:
        """Collective. Wait until every rank of the group is here."""
        self.comm.Barrier()

    def share(self, value: T) -> T:
        """Collective. The leader's `value`, on every rank."""
        shared: T = self.comm.bcast(value, root=0)
        return shared

    def gather(self, value: T) -> list[T]:
        """Collective. Every rank's `value` in rank order on the leader, empty elsewhere."""
        return self.comm.gather(value, root=0) or []

    def sums(self, values: Sequence[float] | Floats) -> Floats:
        """Collective. Element-wise sums over the ranks, in float64."""
        return self._reduced(values, MPI.SUM)

    def maxima(self, values: Sequence[float] | Floats) -> Floats:
        """Collective. Element-wise maxima over the ranks, in float64."""
        return self._reduced(values, MPI.MAX)

    def _reduced(self, values: Sequence[float] | Floats, op: MPI.Op) -> Floats:
        mine = np.ascontiguousarray(values, dtype=np.float64)
        out = np.empty_like(mine)
        self.comm.Allreduce(mine, out, op=op)
        return out

    def start_any(self, mine: bool) -> PendingAny:
        """Collective. Ask whether any rank says yes; the answer comes with `wait`."""
        return PendingAny(self.comm, mine)

    def from_leader(self, what: str, make: Callable[[], T]) -> T:
        """Collective. What `make` gives on the leader, on every rank.

        Raises:
            PeerError: on every rank, when `make` raised; with its message and exit code.
        """
        value: Any = None
        with together(self, what):
            if self.leads:
                value = make()
        shared: T = self.share(value)
        return shared


@contextmanager
def together(group: Group, what: str) -> Iterator[None]:
    """Make a failure of one rank in this block a failure of the whole group.

    Collective: every rank of `group` enters and leaves. The block itself must hold no
    collective call, or a rank that failed early leaves its peers in it.

    Raises:
        PeerError: on every rank, naming the lowest rank that failed and why.
    Cost: one 4-byte allreduce; one small broadcast more when something failed.
    """
    failure: Exception | None = None
    try:
        yield
    except Exception as error:  # noqa: BLE001 - becomes a PeerError below, on all ranks
        failure = error
    first = group.comm.allreduce(group.size if failure is None else group.rank, op=MPI.MIN)
    if first == group.size:
        return
    code, reason = group.comm.bcast(_verdict(failure), root=first)
    where = f"rank {first} of {group.size}: " if group.size > 1 else ""
    raise PeerError(f"{where}{what}: {reason}", code) from failure


def _verdict(failure: BaseException | None) -> tuple[int, str]:
    """Exit code and reason of a failure, for the user and the peers."""
    if isinstance(failure, AuguryError):
        return failure.exit_code, str(failure)
    if isinstance(failure, KeyboardInterrupt):
        return INTERRUPTED, "interrupted"
    return BUG, f"{type(failure).__name__}: {failure}"


def end_job(group: Group, error: BaseException) -> int:
    """Print one message for the whole job and end it; the exit code.

    A PeerError is known to every rank, so all leave by the front door. Any other error is
    known here alone, and the peers may be waiting for this rank: the job is aborted.
    """
    code, reason = _verdict(error)
    if isinstance(error, PeerError):
        if group.leads:
            sys.stderr.write(f"augury: {reason}\n")
        return code
    if code == BUG:
        traceback.print_exception(error)
    where = f"rank {group.rank} of {group.size}: " if group.size > 1 else ""
    sys.stderr.write(f"augury: {where}{reason}\n")
    sys.stderr.flush()
    if group.size > 1:
        group.comm.Abort(code)
    return code
