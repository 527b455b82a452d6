"""Batches of one rank, in the order of its plan, assembled by native threads.

Python hands sample numbers over and gets tensors back; it never touches a sample. The
native side reads, decodes and assembles while the training step runs, also across the end
of an epoch: the samples of the next epoch are queued before the last batch is taken.

A batch is memory of the ring, not a copy. It stays valid as long as any of its tensors is
referenced; a consumer that holds as many batches as the ring has slots gets an error, never
old data and never a hang.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray

from augury import _native
from augury.config import LoaderConfig
from augury.dataset import Index
from augury.errors import ConfigError, DataError
from augury.order import U64s
from augury.plan import Plan


@dataclass(frozen=True, slots=True)
class Batch:
    """What one rank consumes in one step."""

    x: torch.Tensor
    """Decoded samples, float32 [b, *sample_shape]; b may be smaller at the end of an epoch."""

    y: torch.Tensor
    """Labels, float32 [b, L]."""

    samples: U64s
    """Sample numbers in the dataset, uint64 [b]."""

    step: int
    global_count: int
    """Samples of this step over all ranks."""

    stall_s: float
    """Time that the consumer waited for this batch."""

    source_bytes: int
    ram_bytes: int
    """Bytes of this batch by the tier that served them."""


@dataclass(frozen=True, slots=True)
class Traffic:
    """What a loader has moved so far on this rank."""

    source_bytes: int
    source_reads: int
    source_opens: int
    ram_bytes: int


class Loader:
    """Delivers a split of a dataset to one rank, epoch by epoch.

    Use it as a context manager, or call `stop`: both end its threads at once, whatever
    they are doing.

    Raises:
        DataError: while iterating, when a sample cannot be read: a missing, truncated or
            changed file, named with offset and sample.
        ConfigError: when made, if the ring does not fit into memory.
        RuntimeError: when the consumer holds more batches than the ring has slots.
    """

    def __init__(
        self,
        index: Index,
        split: str,
        plan: Plan,
        stages: Sequence[str],
        config: LoaderConfig,
        *,
        epochs: int,
        ram: _native.RamTier | None = None,
    ) -> None:
        self._plan = plan
        self._epochs = epochs
        self._first = np.uint64(index.splits[split].start)
        self._undelivered = 0
        self._ahead: tuple[int, int] | None = None
        try:
            self._delivery = _native.Delivery(
                files=[str(index.root / name) for name in index.files],
                file_bytes=index.file_bytes,
                extent_file=index.extent_file,
                extent_offset=index.extent_offset,
                extent_length=index.extent_length,
                extents_begin=index.extents_begin,
                labels=label_bytes(index.labels),
                sample_shape=list(index.sample_shape),
                source_dtype=index.sample_dtype,
                stages=list(stages),
                batch=plan.batch,
                depth=config.depth,
                threads=config.threads,
                ram=ram,
            )
        except MemoryError as error:
            raise ConfigError(
                f"loader.depth, train.batch: {config.depth} batches of {plan.batch} samples do "
                "not fit into memory; lower one of them"
            ) from error

    def __enter__(self) -> Self:
        """The loader itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the threads."""
        self.stop()

    def stop(self) -> None:
        """End the threads at once; batches that are still referenced stay valid."""
        self._delivery.stop()

    def epoch(self, epoch: int, first_step: int = 0) -> Iterator[Batch]:
        """The batches of `epoch`, from `first_step` on.

        Epochs come one after another; to go elsewhere, make a new loader.
        """
        if self._undelivered:
            raise RuntimeError("the last epoch was left before its end; make a new loader")
        if self._ahead is None:
            self._submit(epoch, first_step)
        elif self._ahead != (epoch, first_step):
            raise RuntimeError(f"epoch {self._ahead[0]} is the next; make a new loader for another")
        self._undelivered, self._ahead = self._plan.steps - first_step, None
        if epoch + 1 < self._epochs:
            self._submit(epoch + 1, 0)
            self._ahead = (epoch + 1, 0)
        for step in range(first_step, self._plan.steps):
            batch = self._next(step)
            self._undelivered -= 1
            yield batch

    def _submit(self, epoch: int, first_step: int) -> None:
        """Let the native side read an epoch, as far as the ring has room."""
        samples, ends = self._plan.epoch_share(epoch, first_step)
        self._delivery.submit(samples + self._first, ends)

    def _next(self, step: int) -> Batch:
        try:
            batch = self._delivery.next()
        except (OSError, ValueError) as error:
            raise DataError(str(error)) from error
        if batch is None:
            raise RuntimeError(f"step {step} was never queued")
        return Batch(
            x=torch.from_numpy(batch.x),
            y=torch.from_numpy(batch.y).view(torch.float32),
            samples=batch.samples,
            step=step,
            global_count=self._plan.global_count(step),
            stall_s=batch.stall_ns * 1e-9,
            source_bytes=batch.source_bytes,
            ram_bytes=batch.ram_bytes,
        )

    def traffic(self) -> Traffic:
        """Bytes, reads and opens of this rank since the loader was made."""
        counts = self._delivery.counters()
        return Traffic(
            source_bytes=counts["source_bytes"],
            source_reads=counts["source_reads"],
            source_opens=counts["source_opens"],
            ram_bytes=counts["ram_bytes"],
        )


def label_bytes(labels: NDArray[np.float32]) -> NDArray[np.uint8]:
    """The rows of `labels` (float32 [N, L]) as bytes, uint8 [N, 4 L]; a view where possible."""
    return np.ascontiguousarray(labels).view(np.uint8).reshape(labels.shape[0], -1)
