"""Workloads: data layout, model, loss and metric, one file each. They know no ranks or files."""

from augury.workloads.registry import get_workload
from augury.workloads.workload import Workload

__all__ = ["Workload", "get_workload"]
