"""One run, from a resolved configuration to a result folder."""

from __future__ import annotations

import os
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from augury.config import Resolved
from augury.mllog import Log, keys
from augury.score import read_run
from augury.terminal import Terminal
from augury.train import checkpoint
from augury.train.checkpoint import Progress
from augury.train.folder import RunFolder
from augury.train.header import log_header
from augury.train.loop import Trainer
from augury.train.parts import Parts, make_loaders, make_parts
from augury.train.record import Metrics
from augury.train.schedule import Schedule
from augury.train.stop import StopRequest, stop_signals
from augury.train.summary import git_commit, parameters_hash, speeds, versions
from augury.world import Group, World, together


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run came to; the same on every rank, but for the summary."""

    folder: RunFolder
    stopped_by: str = ""
    """Why the run ended before its target and its last epoch; `--resume` goes on."""

    summary: dict[str, Any] = field(default_factory=dict)
    """The content of `summary.json`, on the leading rank of a finished run."""


def run(everyone: Group, resolved: Resolved, terminal: Terminal, *, resume: bool) -> Outcome:
    """Collective. Train as configured.

    Raises:
        PeerError: on every rank, for what was found before training began.
        AuguryError: on one rank, for what it met in training; the job must then be ended.
    """
    started_ms = int(time.time() * 1000)
    config = resolved.config
    world = World.start(everyone, config.world, deterministic=config.train.deterministic)
    parts = make_parts(world, config)
    folder = RunFolder(Path(config.output))
    if resume:
        progress, summary = _resume(parts, folder)
        if summary:
            terminal.say(f"{folder.path}: this run is finished, there is nothing to resume")
            return Outcome(folder, summary=summary)
    else:
        progress = Progress()
        _begin(parts, folder, resolved, terminal)
    with ExitStack() as stack, stop_signals() as request:
        with together(everyone, "output"):
            if everyone.leads:
                stack.callback(os.close, folder.hold())
        log = Log(folder.log if everyone.leads else None)
        stack.callback(log.close)
        if not resume:
            log_header(log, parts, started_ms)
        trainer = _trainer(stack, parts, folder, log, terminal, progress, request)
        if not trainer.train():
            return Outcome(folder, stopped_by=request.by or "a signal to another rank")
        return Outcome(folder, summary=_finish(parts, folder, log, progress))


def _begin(parts: Parts, folder: RunFolder, resolved: Resolved, terminal: Terminal) -> None:
    """Collective. An empty result folder with the configuration in it."""

    def make() -> str:
        kept = folder.begin()
        folder.write_atomically(folder.config, resolved.to_toml().encode())
        return kept

    if kept := parts.world.all.from_leader("output", make):
        terminal.say(f"the earlier run in {folder.path} is kept in {kept}")


def _resume(parts: Parts, folder: RunFolder) -> tuple[Progress, dict[str, Any]]:
    """Collective. Put weights and optimizer back; where the run stands.

    Returns:
        The progress, and the summary of a run that has nothing left to do.
    """
    group = parts.world.all
    data = group.from_leader("--resume", lambda: checkpoint.read(folder))
    with together(group, "--resume"):
        content = checkpoint.parse(data, folder, parts.identity)
        parts.compute.model.load_state_dict(content["model"])
        parts.optimizer.load_state_dict(content["optimizer"])
    progress = checkpoint.progress_of(content)
    progress.finish_if_done(parts.config.train)

    def summary_or_rewind() -> dict[str, Any]:
        if progress.finished and folder.summary.exists():
            return folder.read_summary()
        folder.truncate(content["log_bytes"], content["metrics_bytes"])
        return {}

    return progress, group.from_leader("--resume", summary_or_rewind)


def _trainer(
    stack: ExitStack,
    parts: Parts,
    folder: RunFolder,
    log: Log,
    terminal: Terminal,
    progress: Progress,
    request: StopRequest,
) -> Trainer:
    """Collective. The loop, ready to go; the clock of a new run starts here.

    Rules of round 3.0: the clock starts before the first sample is touched.
    """
    config, group = parts.config, parts.world.all
    model = parts.compute.model
    parts.world.horovod.broadcast_parameters(model.state_dict(), root_rank=0)
    is_new = progress.is_new
    if is_new:
        log.stop(keys.INIT_STOP)
        group.barrier()
        log.start(keys.RUN_START)
        log.start("staging_start")
    train_data, eval_data = make_loaders(stack, parts)
    if is_new:
        log.stop("staging_stop")

    def save() -> None:
        if group.leads:
            checkpoint.save(folder, model, parts.optimizer, progress, parts.identity)

    return Trainer(
        group=group,
        compute=parts.compute,
        optimizer=parts.optimizer,
        schedule=Schedule(
            config.optimizer.learning_rate,
            parts.train_plan.steps,
            config.train.epochs,
            config.schedule,
        ),
        plan=parts.train_plan,
        train_data=train_data,
        eval_data=eval_data,
        log=log,
        metrics=Metrics(folder.metrics if group.leads else None),
        terminal=terminal,
        progress=progress,
        seed=config.seed,
        config=config.train,
        save=save,
        stop=request,
    )


def _finish(parts: Parts, folder: RunFolder, log: Log, progress: Progress) -> dict[str, Any]:
    """Stop the clock and write the summary; its content, on the leading rank."""
    group, config = parts.world.all, parts.config
    group.barrier()
    if not group.leads:
        return {}
    reached = progress.reached(config.train.target)
    log.stop(keys.RUN_STOP, status="aborted" if reached is False else "success")
    times = read_run(folder.log)
    summary = {
        "workload": config.workload,
        "ranks": group.size,
        "nodes": parts.world.num_nodes,
        "seed": config.seed,
        "epochs": len(progress.evaluations),
        "time_to_train_s": times.time_to_train_s,
        "metric": parts.workload.metric,
        "quality": progress.evaluations[-1],
        "target": config.train.target,
        "target_reached": bool(reached),
        **speeds(progress.totals),
        "order": config.loader.order,
        "weights_xxh3": parameters_hash(parts.compute.model),
        "content_hash": parts.index.content_hash,
        "git_commit": git_commit(),
        "versions": versions(parts.world.mpi_libraries),
    }
    folder.write_summary(summary)
    return summary
