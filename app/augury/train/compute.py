"""Model, loss and metric at the configured precision, on the rank's device."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

import torch

from augury.loader import Batch
from augury.workloads import Workload

PerSample = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


@dataclass(frozen=True, slots=True)
class Compute:
    """What a training step and an evaluation do with a batch."""

    model: torch.nn.Module
    workload: Workload
    device: torch.device
    precision: str

    def mean_share(self, batch: Batch) -> torch.Tensor:
        """This rank's share of the global batch's mean loss; the shares add up to the mean."""
        return self._per_sample(batch, self.workload.loss).sum() / batch.global_count

    def errors(self, batch: Batch) -> torch.Tensor:
        """The metric of every sample of `batch`, float32 or float64 [b]."""
        return self._per_sample(batch, self.workload.errors)

    def _per_sample(self, batch: Batch, measure: PerSample) -> torch.Tensor:
        x, y = (tensor.to(self.device, non_blocking=True) for tensor in (batch.x, batch.y))
        if self.precision == "float64":
            x, y = x.double(), y.double()
        with self._autocast():
            prediction = self.model(x)
        if self.precision == "bf16":
            prediction = prediction.float()
        return measure(prediction, y)

    def _autocast(self) -> AbstractContextManager[object]:
        if self.precision == "bf16":
            return torch.autocast(self.device.type, dtype=torch.bfloat16)
        return nullcontext()
