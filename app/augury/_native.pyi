"""The native half of augury: order, tiers, and delivery of batches.

Arrays are taken as they are, never converted: dtype, contiguity and dimensions must fit,
or the call is a TypeError. Every call that can wait releases the GIL.
"""

from collections.abc import Sequence
from typing import TypedDict, final

import numpy as np
from numpy.typing import NDArray

class MpiIdentity(TypedDict):
    """Which MPI the module was built with, and which one it runs with."""

    library: str
    header: str
    comm_bytes: int

class BuildInfo(TypedDict):
    """How the module was built, and what of this machine it can use."""

    version: str
    compiler: str
    build_type: str
    simd: list[str]
    cuda: bool
    io_uring_header: bool
    io_uring_kernel: bool

class Counters(TypedDict):
    """What a delivery has done so far; batches and samples are those taken by the consumer."""

    source_bytes: int
    source_reads: int
    source_opens: int
    ram_bytes: int
    stall_ns: int
    batches: int
    samples: int

def order_samples(
    num_samples: int, seed: int, epoch: int, positions: NDArray[np.uint64]
) -> NDArray[np.uint64]:
    """The samples (uint64 [P]) at `positions` (uint64 [P]) of `epoch`.

    Raises ValueError for a position that is not below num_samples, or num_samples > 2^63.
    """

def order_positions(
    num_samples: int, seed: int, epoch: int, samples: NDArray[np.uint64]
) -> NDArray[np.uint64]:
    """The positions (uint64 [P]) of `samples` (uint64 [P]) in `epoch`: the inverse.

    Raises ValueError for a sample that is not below num_samples, or num_samples > 2^63.
    """

def mpi_identity() -> MpiIdentity | None:
    """The MPI library in use; None when built without MPI. MPI need not be initialised."""

def build_info() -> BuildInfo:
    """How this module was built, and what of this machine it can use."""

@final
class RamTier:
    """Samples in memory that the ranks of a node share."""

    def __init__(self, memory: NDArray[np.uint8], sizes: NDArray[np.uint64]) -> None:
        """Attach to `memory` (zero-filled when fresh) for samples of `sizes` bytes.

        Raises ValueError when it is too small or belongs to other samples.
        """

    @staticmethod
    def bytes_needed(sizes: NDArray[np.uint64], budget: int) -> int:
        """Bytes that hold all samples, at most `budget` unless the table alone needs more."""

    def get(self, sample: int) -> NDArray[np.uint8] | None:
        """The bytes of `sample`, read-only; None when it is not ready."""

    def claim(self, sample: int) -> NDArray[np.uint8] | None:
        """Room to fill with `sample`, then publish; None when there is none to give."""

    def publish(self, sample: int) -> None:
        """Make a claimed and filled sample ready for all processes."""

    @property
    def used_bytes(self) -> int:
        """Bytes of the memory in use, the table included."""

@final
class Batch:
    """One batch, in memory of the ring, which is not refilled while it or a view lives."""

    @property
    def x(self) -> NDArray[np.float32]:
        """Decoded samples, float32 [b, *sample_shape]; a view."""

    @property
    def y(self) -> NDArray[np.uint8]:
        """Label rows, uint8 [b, L]; a view."""

    @property
    def samples(self) -> NDArray[np.uint64]:
        """Sample numbers, uint64 [b]; a view."""

    @property
    def stall_ns(self) -> int:
        """Time that next() waited for this batch."""

    @property
    def source_bytes(self) -> int:
        """Bytes of this batch that were read from the source."""

    @property
    def ram_bytes(self) -> int:
        """Bytes of this batch that the ram tier served."""

@final
class Delivery:
    """Batches in the order of submission, read, decoded and assembled by native threads."""

    def __init__(
        self,
        *,
        files: Sequence[str],
        file_bytes: NDArray[np.uint64],
        extent_file: NDArray[np.uint32],
        extent_offset: NDArray[np.uint64],
        extent_length: NDArray[np.uint64],
        extents_begin: NDArray[np.uint64],
        labels: NDArray[np.uint8],
        sample_shape: Sequence[int],
        source_dtype: str,
        stages: Sequence[str],
        batch: int,
        depth: int,
        threads: int,
        ram: RamTier | None = None,
    ) -> None:
        """Start the reader threads. Raises ValueError for what does not fit together."""

    def submit(self, samples: NDArray[np.uint64], batch_ends: NDArray[np.uint64]) -> None:
        """Queue batches: batch i is samples[batch_ends[i-1]:batch_ends[i]], it may be empty.

        Raises ValueError when they do not fit, RuntimeError after stop().
        """

    def next(self) -> Batch | None:
        """Wait for the next batch; None when all submitted ones were taken.

        Raises OSError or ValueError for a sample that cannot be read, now and on every
        further call; RuntimeError after stop(), and when the caller holds every slot.
        """

    def stop(self) -> None:
        """End the threads, from any thread, any number of times. Batches stay valid."""

    def counters(self) -> Counters:
        """What this delivery has done so far."""
