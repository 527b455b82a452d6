"""The learning rate as a function of the step; nothing to save, nothing to restore."""

from __future__ import annotations

import math
from dataclasses import dataclass

from augury.config import ScheduleConfig


@dataclass(frozen=True, slots=True)
class Schedule:
    """The learning rates of a run of `epochs` epochs with `steps` steps each."""

    base: float
    steps: int
    epochs: int
    config: ScheduleConfig

    def rate(self, step: int) -> float:
        """The learning rate of `step`, counted from 0 over the whole run.

        Linear from `warmup_factor * base` to `base` over the warm-up, times the decay: the
        factor of the last boundary passed (`step`), or half a cosine period from the end of
        the warm-up to the end of the run (`cosine`; Loshchilov and Hutter, 2017, without
        restarts).
        """
        epoch = step / self.steps
        warmup = self.config.warmup_epochs
        factor = 1.0
        if epoch < warmup:
            start = self.config.warmup_factor
            factor = start + (1.0 - start) * epoch / warmup
        return self.base * factor * self._decay(epoch)

    def _decay(self, epoch: float) -> float:
        config = self.config
        if config.decay == "step":
            passed = [
                factor
                for at, factor in zip(config.decay_epochs, config.decay_factors, strict=True)
                if epoch >= at
            ]
            return passed[-1] if passed else 1.0
        if config.decay == "cosine" and epoch > config.warmup_epochs:
            share = (epoch - config.warmup_epochs) / (self.epochs - config.warmup_epochs)
            return 0.5 * (1.0 + math.cos(math.pi * min(1.0, share)))
        return 1.0
