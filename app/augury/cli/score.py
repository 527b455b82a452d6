"""`augury score`."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from augury.errors import RunError
from augury.score import RunScore, read_run
from augury.terminal import print_result


def score(options: argparse.Namespace) -> int:
    """Print the score of one run; the exit code."""
    found = read_run(find_log(options.run))
    print_result(json.dumps(as_table(found), indent=2) if options.json else as_text(found))
    return 0


def find_log(path: Path) -> Path:
    """The result log that `path` is, or holds.

    Raises:
        RunError: there is none, or there are several.
    """
    if path.is_file():
        return path
    logs = sorted(path.glob("result_*.txt"))
    if len(logs) != 1:
        what = "no" if not logs else f"{len(logs)}"
        raise RunError(f"{path}: {what} result_*.txt here; name the folder of one run, or its log")
    return logs[0]


def as_table(found: RunScore) -> dict[str, Any]:
    """The score for programs."""
    official = found.official
    return {
        "file": str(found.file),
        "benchmark": found.benchmark,
        "division": found.division,
        "status": found.status,
        "time_to_train_s": found.time_to_train_s,
        "epochs": len(found.evaluations),
        "metric": found.metric,
        "quality": found.quality,
        "official_target": official[0] if official else None,
        "meets_official_target": official[1] if official else None,
        "verified": False,
    }


def as_text(found: RunScore) -> str:
    """The score for people."""
    table = as_table(found)
    quality = "no evaluation" if found.quality is None else f"{found.metric} {found.quality:.4f}"
    official = ""
    if found.official:
        target, met = found.official
        official = f"official target {target:g} {'met' if met else 'not met'}"
    minutes = found.time_to_train_s / 60
    return (
        f"{found.benchmark}, {found.division} division, status {found.status} (unverified)\n"
        f"time to train  {found.time_to_train_s:.3f} s = {minutes:.4f} min\n"
        f"epochs         {table['epochs']}\n"
        f"quality        {quality}; {official}\n"
        f"log            {found.file}\n"
    )
