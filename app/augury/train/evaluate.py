"""Exact quality: the mean of the metric over every evaluation sample, once each."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from augury.loader import Loader
from augury.train.compute import Compute
from augury.world import Group


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The outcome of one evaluation; the same on every rank but for the bytes."""

    quality: float
    samples: int
    source_bytes: int
    ram_bytes: int
    """Bytes that this rank's batches came from, by tier."""


def evaluate(compute: Compute, loader: Loader, epoch: int, group: Group) -> Evaluation:
    """Collective. The mean error over the evaluation samples.

    Sums and counts are added over the ranks in float64, so that the mean is exact, whether
    or not the samples divide evenly.
    """
    total, count, source_bytes, ram_bytes = 0.0, 0, 0, 0
    compute.model.eval()
    with torch.no_grad():
        for batch in loader.epoch(epoch):
            if len(batch.samples):
                total += float(compute.errors(batch).double().sum())
            count += len(batch.samples)
            source_bytes += batch.source_bytes
            ram_bytes += batch.ram_bytes
    compute.model.train()
    error, samples = group.sums([total, count])
    return Evaluation(float(error / samples), int(samples), source_bytes, ram_bytes)
