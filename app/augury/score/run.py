"""One run scored from its log: how long it took, and whether it converged."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from augury.errors import RunError
from augury.score.log import Event, events

OFFICIAL_TARGETS = {
    "cosmoflow": ("eval_error", 0.124),
    "deepcam": ("eval_accuracy", 0.82),
    "oc20": ("eval_error", 0.036),
}
"""Metric and target of each benchmark in the MLPerf HPC rules, round 3.0."""


@dataclass(frozen=True, slots=True)
class RunScore:
    """What the log of one run says."""

    file: Path
    benchmark: str
    division: str
    status: str
    """Status that `run_stop` states."""

    time_to_train_s: float
    """First `run_stop` minus first `run_start` (MLPerf HPC rules: time to train)."""

    evaluations: tuple[tuple[float, float], ...]
    """(epoch number, quality) of every evaluation, in order."""

    metric: str

    @property
    def quality(self) -> float | None:
        """The last evaluation, or None."""
        return self.evaluations[-1][1] if self.evaluations else None

    def meets(self, target: float) -> bool:
        """Whether any evaluation is on `target`: at most it for errors, at least for accuracies."""
        qualities = (quality for _, quality in self.evaluations)
        if self.metric == "eval_accuracy":
            return any(quality >= target for quality in qualities)
        return any(quality <= target for quality in qualities)

    @property
    def official(self) -> tuple[float, bool] | None:
        """The benchmark's target in the rules, and whether an evaluation meets it."""
        if self.benchmark not in OFFICIAL_TARGETS:
            return None
        target = OFFICIAL_TARGETS[self.benchmark][1]
        return target, self.meets(target)


def read_run(log: Path) -> RunScore:
    """The score of the run in the MLLOG file `log`.

    Raises:
        RunError: not a result log, or one of a run that has not ended; names what lacks.
    """
    first: dict[str, Event] = {}
    evaluations: list[tuple[float, float]] = []
    metric = ""
    for event in events(log):
        first.setdefault(event.key, event)
        if event.key in ("eval_error", "eval_accuracy") and isinstance(event.value, int | float):
            metric = event.key
            evaluations.append((float(event.metadata.get("epoch_num", 0)), float(event.value)))
    for key in ("submission_benchmark", "run_start", "run_stop"):
        if key not in first:
            reason = "the run has not ended" if key == "run_stop" and first else "not a result log"
            raise RunError(f"{log}: has no {key}: {reason}")
    return RunScore(
        file=log,
        benchmark=str(first["submission_benchmark"].value),
        division=str(first["submission_division"].value) if "submission_division" in first else "",
        status=str(first["run_stop"].metadata.get("status", "")),
        time_to_train_s=(first["run_stop"].time_ms - first["run_start"].time_ms) / 1000,
        evaluations=tuple(evaluations),
        metric=metric,
    )
