"""The result log of a run: MLLOG lines, written by the public `mlperf-logging` package.

Only the leading rank writes; elsewhere a `Log` takes the same calls and writes nothing.
Writing never synchronises: a call may stand anywhere, also where only one rank comes by.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mlperf_logging import mllog
from mlperf_logging.mllog import constants as keys

from augury.errors import RunError

__all__ = ["Log", "keys"]


class _StrictFile(logging.FileHandler):
    """A log file whose failures are errors: a result without its log is no result."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: ARG002, N802 - logging's name
        raise RunError(f"{self.baseFilename}: the result log cannot be written")


class Log:
    """MLLOG events of one run, appended to `file`; None writes nothing."""

    def __init__(self, file: Path | None) -> None:
        self._handler: logging.Handler = logging.NullHandler()
        if file is not None:
            try:
                self._handler = _StrictFile(file, mode="a", encoding="utf-8")
            except OSError as error:
                raise RunError(f"{file}: cannot be written: {error.strerror}") from error
        logger = logging.Logger(f"mllog {file}", logging.INFO)
        logger.addHandler(self._handler)
        self._logger = mllog.mllog.MLLogger(logger, default_stack_offset=2)

    def event(self, key: str, value: Any = None, **metadata: Any) -> None:
        """Something that is true, or happens, at this point in time."""
        self._logger.event(key, value, metadata)

    def events(self, values: Mapping[str, Any]) -> None:
        """One event for every key."""
        for key, value in values.items():
            self.event(key, value)

    def start(self, key: str, *, time_ms: int | None = None, **metadata: Any) -> None:
        """The beginning of an interval, now or at `time_ms` (since the epoch)."""
        self._logger.start(key, None, metadata, time_ms=time_ms)

    def stop(self, key: str, **metadata: Any) -> None:
        """The end of an interval."""
        self._logger.end(key, None, metadata)

    def close(self) -> None:
        """Close the file; later calls fail."""
        self._handler.close()
