"""torch's optimizers by the names of the configuration."""

from __future__ import annotations

from collections.abc import Iterable

import torch

from augury.config import OptimizerConfig


def make_optimizer(
    parameters: Iterable[torch.nn.Parameter], config: OptimizerConfig
) -> torch.optim.Optimizer:
    """The optimizer that `config` names, at its base learning rate."""
    rate, decay = config.learning_rate, config.weight_decay
    if config.name == "sgd":
        return torch.optim.SGD(parameters, lr=rate, momentum=config.momentum, weight_decay=decay)
    kind = torch.optim.AdamW if config.name == "adamw" else torch.optim.Adam
    return kind(parameters, lr=rate, weight_decay=decay)
