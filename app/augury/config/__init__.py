"""Settings: what they are (`settings`), how they are built, and their `sources`."""

from augury.config.build import build
from augury.config.settings import (
    Config,
    DataConfig,
    LoaderConfig,
    OptimizerConfig,
    ScheduleConfig,
    SubmissionConfig,
    TrainConfig,
    WorldConfig,
)
from augury.config.sources import Resolved, resolve

__all__ = [
    "Config",
    "DataConfig",
    "LoaderConfig",
    "OptimizerConfig",
    "Resolved",
    "ScheduleConfig",
    "SubmissionConfig",
    "TrainConfig",
    "WorldConfig",
    "build",
    "resolve",
]
