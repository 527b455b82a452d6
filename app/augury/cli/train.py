"""`augury train`."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from augury.cli.jobs import as_job
from augury.config import resolve
from augury.errors import STOPPED
from augury.terminal import Terminal, print_result
from augury.train import Outcome, run
from augury.train.summary import as_text
from augury.world import Group


def train(options: argparse.Namespace) -> int:
    """Collective. Train as the configuration says; the exit code."""
    return as_job(lambda everyone: _train(everyone, options))


def _train(everyone: Group, options: argparse.Namespace) -> int:
    resolved = everyone.from_leader(
        "configuration", lambda: resolve(options.config, options.overrides)
    )
    speaks = everyone.leads and not options.quiet
    with Terminal(speaks=speaks) as terminal:
        outcome = run(everyone, resolved, terminal, resume=options.resume)
    if outcome.stopped_by:
        if everyone.leads:
            sys.stderr.write(
                f"augury: stopped by {outcome.stopped_by}; checkpoint in "
                f"{outcome.folder.checkpoint}; go on with --resume\n"
            )
        return STOPPED
    if everyone.leads:
        _print(outcome, as_json=options.json)
    return 0


def _print(outcome: Outcome, *, as_json: bool) -> None:
    folder, summary = outcome.folder, outcome.summary
    if as_json:
        print_result(json.dumps(summary, indent=2))
        return
    files: list[tuple[str, Path]] = [
        ("result log", folder.log),
        ("checkpoint", folder.checkpoint),
        ("summary", folder.summary),
    ]
    print_result(as_text(summary, files))
