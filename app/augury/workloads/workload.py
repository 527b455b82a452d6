"""What the training loop needs to know of a workload."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch

PerSample = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


@dataclass(frozen=True, kw_only=True, slots=True)
class Workload:
    """A model and what is asked of it."""

    name: str
    benchmark: str
    """Its name in MLPerf HPC result logs."""

    stages: tuple[str, ...]
    """Native decode stages between a sample's bytes and float32."""

    model: Callable[[Mapping[str, Any], tuple[int, ...]], torch.nn.Module]
    """The model from its settings (`[model]` of the configuration) and a sample's shape.

    Raises ConfigError for settings that do not exist or do not fit the shape.
    """

    loss: PerSample
    """(prediction [b, ...], labels [b, L]) -> loss of each sample [b]."""

    errors: PerSample
    """(prediction [b, ...], labels [b, L]) -> metric of each sample [b]."""

    metric: str
    """Key of the quality, the mean of `errors`, in result logs. Lower is better."""
