"""The result of a run as numbers: `summary.json`, and the same for a person to read.

The keys of `summary.json` are a stable interface; later versions add, never rename.
"""

from __future__ import annotations

import platform
import subprocess
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
import xxhash

from augury import __version__
from augury.config.sizes import format_bytes as _size
from augury.train.record import Totals


def speeds(totals: Totals) -> dict[str, Any]:
    """What follows from the totals of a run.

    samples_per_s: training samples of all ranks per second of the training part of epochs.
    stall_share: share (0..1) of the ranks' step time in which a step waited for its batch.
    bytes: by the tier that served them, training and evaluation, all ranks.
    """
    return {
        "steps": totals.steps,
        "samples": totals.samples,
        "train_s": totals.train_s,
        "samples_per_s": totals.samples / totals.train_s if totals.train_s else 0.0,
        "stall_share": totals.stall_s / totals.step_s if totals.step_s else 0.0,
        "allreduce_share": totals.allreduce_s / totals.step_s if totals.step_s else 0.0,
        "bytes": {
            "ram": totals.ram_bytes,
            "nvme": 0,  # no such tier yet: nothing comes from it
            "remote": 0,
            "source": totals.source_bytes,
        },
        "source_opens": totals.source_opens,
    }


def versions(mpi: Mapping[str, str]) -> dict[str, str]:
    """Releases of what the result depends on."""
    packages = ("torch", "horovod", "mpi4py", "h5py", "numpy")
    found = {"augury": __version__, "python": platform.python_version()}
    return found | {name: version(name) for name in packages} | {"mpi": mpi["mpi4py"]}


def git_commit() -> str | None:
    """The commit of the checkout that this augury runs from; None outside a checkout.

    A `+` stands behind it when tracked files differ from that commit.
    """
    folder = Path(__file__).parent
    commit = _git(folder, "rev-parse", "HEAD")
    if not commit or not _git(folder, "ls-files", "--", __file__):
        return None
    return commit + ("+" if _git(folder, "status", "--porcelain", "-uno") else "")


def _git(folder: Path, *words: str) -> str:
    command = ["git", "-C", str(folder), *words]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)  # noqa: S603 - fixed words
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()


def parameters_hash(model: torch.nn.Module) -> str:
    """XXH3-64 over all parameters and buffers, in order: equal models, equal text."""
    state = xxhash.xxh3_64()
    for name, tensor in model.state_dict().items():
        state.update(name.encode())
        state.update(tensor.detach().cpu().contiguous().numpy().tobytes())
    return state.hexdigest()


def as_text(summary: Mapping[str, Any], files: Sequence[tuple[str, Path]]) -> str:
    """The summary for a person: what was reached, how fast, what it waited for, where it is."""
    quality, target = summary["quality"], summary["target"]
    goal = "no target set"
    if target is not None:
        goal = f"target {target:g} {'reached' if summary['target_reached'] else 'NOT reached'}"
    tiers = summary["bytes"]
    ranks, nodes = _count(summary["ranks"], "rank"), _count(summary["nodes"], "node")
    epochs, steps = _count(summary["epochs"], "epoch"), _count(summary["steps"], "step")
    data, gradients = summary["stall_share"], summary["allreduce_share"]
    opens = _count(summary["source_opens"], "open")
    rows = [
        ("workload", f"{summary['workload']}, {ranks} on {nodes}, seed {summary['seed']}"),
        ("time to train", f"{summary['time_to_train_s']:.1f} s, {epochs}, {steps}"),
        ("quality", f"{summary['metric']} {quality:.4f}, {goal}"),
        ("speed", f"{summary['samples_per_s']:.0f} training samples/s"),
        ("waiting", f"for data {data:.2%} of step time, for gradients {gradients:.2%}"),
        ("bytes", f"source {_size(tiers['source'])} in {opens}, ram {_size(tiers['ram'])}"),
        *((name, str(path)) for name, path in files),
    ]
    width = max(len(name) for name, _ in rows)
    return "\n".join(f"{name:<{width}}  {text}" for name, text in rows)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
