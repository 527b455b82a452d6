"""Workloads by name."""

from __future__ import annotations

import difflib

from augury.errors import ConfigError
from augury.workloads.cosmoflow import COSMOFLOW
from augury.workloads.workload import Workload

_WORKLOADS = {workload.name: workload for workload in (COSMOFLOW,)}


def get_workload(name: str) -> Workload:
    """The workload called `name`.

    Raises:
        ConfigError: there is none; it suggests the nearest.
    """
    if name in _WORKLOADS:
        return _WORKLOADS[name]
    near = difflib.get_close_matches(name, _WORKLOADS, n=1)
    hint = f", did you mean {near[0]}?" if near else f"; there is {', '.join(_WORKLOADS)}"
    raise ConfigError(f"workload: {name!r} does not exist{hint}")
