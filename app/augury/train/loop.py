"""Epochs and steps: the training loop of one rank.

Every rank runs the same steps. At each one the ranks ask each other whether any of them was
told to stop; the question travels while the step computes, and its answer is the same on
all ranks, so that all stop at the same step.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from augury.config import TrainConfig
from augury.errors import RunError
from augury.loader import Batch, Loader
from augury.mllog import Log, keys
from augury.plan import Plan
from augury.terminal import Terminal
from augury.train.checkpoint import Progress, seed_step
from augury.train.compute import Compute
from augury.train.evaluate import evaluate
from augury.train.record import Metrics, Step, Totals, step_columns, totals_of
from augury.train.schedule import Schedule
from augury.train.stop import StopRequest
from augury.world import Group


class _Pages:
    """The steps of an epoch since the books were last brought up to date."""

    def __init__(self, loader: Loader) -> None:
        self.steps: list[Step] = []
        self.asked_at = self._started = time.perf_counter()
        self._loader = loader
        self._opens = loader.traffic().source_opens

    def add(self, step: Step) -> None:
        """Note a finished step; the next batch is asked for now."""
        self.steps.append(step)
        self.asked_at = time.perf_counter()

    def totals(self) -> Totals:
        """This rank's totals over these steps."""
        opened = self._loader.traffic().source_opens - self._opens
        return totals_of(self.steps, time.perf_counter() - self._started, opened)


@dataclass(kw_only=True, slots=True)
class Trainer:
    """The parts of a run, and the loop over them."""

    group: Group
    compute: Compute
    optimizer: Any
    """Horovod's wrapper of the optimizer: `synchronize`, `skip_synchronize`, `step`."""

    schedule: Schedule
    plan: Plan
    train_data: Loader
    eval_data: Loader
    log: Log
    metrics: Metrics
    terminal: Terminal
    progress: Progress
    seed: int
    config: TrainConfig
    save: Callable[[], None]
    """Write a checkpoint of `progress`, on the leading rank."""

    stop: StopRequest

    def train(self) -> bool:
        """Collective. Train to the target or the last epoch; False when asked to stop before."""
        while not self.progress.finished:
            if not self._train_epoch():
                return False
            self._evaluate()
            self.save()
        return True

    def _train_epoch(self) -> bool:
        """The rest of the current epoch; False when asked to stop."""
        epoch, first = self.progress.epoch, self.progress.step
        if first == 0:
            self.log.start(keys.EPOCH_START, epoch_num=epoch + 1)
        self.terminal.begin(f"epoch {epoch + 1}/{self.config.epochs}", self.plan.steps, first)
        pages = _Pages(self.train_data)
        for batch in self.train_data.epoch(epoch, first):
            asked = self.group.start_any(bool(self.stop))
            step = self._step(batch, pages.asked_at)
            pages.add(step)
            self.progress.step = batch.step + 1
            self.terminal.advance(batch.step + 1, f"loss {step.loss * self.group.size:.4f}")
            must_stop = asked.wait()
            if self.progress.step < self.plan.steps and (must_stop or self._checkpoint_is_due()):
                self._account(pages)
                self.save()
                pages = _Pages(self.train_data)
                if must_stop:
                    return False
        self._account(pages)
        self.log.stop(keys.EPOCH_STOP, epoch_num=epoch + 1)
        return True

    def _checkpoint_is_due(self) -> bool:
        every = self.config.checkpoint_steps
        return every > 0 and self.progress.step % every == 0

    def _step(self, batch: Batch, asked_at: float) -> Step:
        """One optimizer step; `asked_at` is when its batch was asked for."""
        epoch = self.progress.epoch
        seed_step(self.seed, epoch, batch.step, self.group.rank)
        rate = self.schedule.rate(epoch * self.plan.steps + batch.step)
        for parameters in self.optimizer.param_groups:
            parameters["lr"] = rate
        loss = 0.0
        if len(batch.samples):
            share = self.compute.mean_share(batch)
            share.backward()  # type: ignore[no-untyped-call]  # torch leaves it untyped
            loss = float(share.detach())
        computed = time.perf_counter()
        self.optimizer.synchronize()
        reduced = time.perf_counter()
        with self.optimizer.skip_synchronize():
            self.optimizer.step()
        self.optimizer.zero_grad()
        return Step(
            loss=loss,
            samples=len(batch.samples),
            step_s=time.perf_counter() - asked_at,
            stall_s=batch.stall_s,
            allreduce_s=reduced - computed,
            source_bytes=batch.source_bytes,
            ram_bytes=batch.ram_bytes,
        )

    def _account(self, pages: _Pages) -> None:
        """Collective. Add the last steps of this epoch so far to the books."""
        progress, steps = self.progress, pages.steps
        columns = step_columns(steps, self.group)
        first = progress.step - len(steps)
        self.metrics.write(
            [
                {"kind": "step", "epoch": progress.epoch + 1, "step": first + at}
                | {name: column[at] for name, column in columns.items()}
                for at in range(len(steps))
            ]
        )
        progress.epoch_loss += sum(columns.get("loss", ()))
        progress.totals = progress.totals.plus(pages.totals().over_ranks(self.group))
        if not math.isfinite(progress.epoch_loss):
            raise RunError(
                f"the loss is {progress.epoch_loss} in epoch {progress.epoch + 1}; "
                "lower optimizer.learning_rate or lengthen schedule.warmup_epochs"
            )

    def _evaluate(self) -> None:
        """Collective. Measure quality after the epoch, and move on to the next."""
        progress, number = self.progress, self.progress.epoch + 1
        self.log.start(keys.EVAL_START, epoch_num=number)
        started = time.perf_counter()
        opens = self.eval_data.traffic().source_opens
        result = evaluate(self.compute, self.eval_data, progress.epoch, self.group)
        eval_s = time.perf_counter() - started
        metric = self.compute.workload.metric
        self.log.event(metric, result.quality, epoch_num=number)
        self.log.stop(keys.EVAL_STOP, epoch_num=number)
        moved = replace(
            totals_of([], 0.0, self.eval_data.traffic().source_opens - opens),
            source_bytes=result.source_bytes,
            ram_bytes=result.ram_bytes,
        )
        progress.totals = progress.totals.plus(moved.over_ranks(self.group))
        loss = progress.epoch_loss / self.plan.steps
        self.metrics.write(
            [
                {
                    "kind": "epoch",
                    "epoch": number,
                    "loss": loss,
                    metric: result.quality,
                    "eval_s": eval_s,
                }
            ]
        )
        goal = "" if self.config.target is None else f" (target {self.config.target:g})"
        done = f"epoch {number}/{self.config.epochs}"
        self.terminal.say(f"{done}: loss {loss:.4f}, {metric} {result.quality:.4f}{goal}")
        progress.evaluations.append(result.quality)
        progress.epoch, progress.step, progress.epoch_loss = number, 0, 0.0
        progress.finish_if_done(self.config)
