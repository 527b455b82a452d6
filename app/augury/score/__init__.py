"""What a result log says: pure functions from files to records. Nothing here writes."""

from augury.score.log import Event, events
from augury.score.run import RunScore, read_run

__all__ = ["Event", "RunScore", "events", "read_run"]
