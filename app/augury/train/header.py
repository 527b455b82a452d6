"""What the result log says before the clock starts: who, what, how much, how."""

from __future__ import annotations

from typing import Any

from augury.mllog import Log, keys
from augury.train.parts import Parts


def log_header(log: Log, parts: Parts, started_ms: int) -> None:
    """Log the description of a run, from `init_start` on."""
    config, submission = parts.config, parts.config.submission
    log.start(keys.INIT_START, time_ms=started_ms)
    log.event(keys.CACHE_CLEAR, False, reason="the page cache is left as it is")
    log.events(
        {
            keys.SUBMISSION_BENCHMARK: parts.workload.benchmark,
            keys.SUBMISSION_ORG: submission.org,
            keys.SUBMISSION_PLATFORM: submission.platform,
            keys.SUBMISSION_DIVISION: submission.division,
            keys.SUBMISSION_STATUS: submission.status,
            keys.SEED: config.seed,
            keys.TRAIN_SAMPLES: len(parts.index.splits["train"]),
            keys.EVAL_SAMPLES: len(parts.index.splits["validation"]),
            keys.GLOBAL_BATCH_SIZE: parts.train_plan.global_batch,
            "number_of_ranks": parts.world.all.size,
            "number_of_nodes": parts.world.num_nodes,
            "accelerators_per_node": _accelerators(parts),
        }
    )
    log.events(_optimizer_events(parts))


def _accelerators(parts: Parts) -> int:
    """Accelerators that the ranks of a node use; 0 on the CPU."""
    return parts.world.node.size if parts.compute.device.type == "cuda" else 0


def _optimizer_events(parts: Parts) -> dict[str, Any]:
    optimizer, schedule = parts.config.optimizer, parts.config.schedule
    return {
        keys.OPT_NAME: optimizer.name,
        keys.OPT_BASE_LR: optimizer.learning_rate,
        keys.OPT_LR_WARMUP_EPOCHS: schedule.warmup_epochs,
        keys.OPT_LR_WARMUP_FACTOR: schedule.warmup_factor,
        "opt_learning_rate_decay_boundary_epochs": list(schedule.decay_epochs),
        "opt_learning_rate_decay_factor": list(schedule.decay_factors),
        keys.OPT_WEIGHT_DECAY: optimizer.weight_decay,
    }
