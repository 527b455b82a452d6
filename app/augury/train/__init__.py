"""Training: one run from a configuration to a result folder.

`run` puts the parts together; `loop` holds the epochs and steps; `evaluate` measures quality
exactly; `optimizers` and `schedule` say how weights change; `checkpoint` makes a run
resumable at any step; `folder` owns the result folder; `record` counts and times; `stop`
turns signals into an orderly end.
"""

from augury.train.run import Outcome, run

__all__ = ["Outcome", "run"]
