"""MLLOG lines as records, one pass over the file, whatever else stands in it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from augury.errors import RunError

_MARK = ":::MLLOG "


@dataclass(frozen=True, slots=True)
class Event:
    """One MLLOG line."""

    line: int
    """Line of the file, counted from 1."""

    time_ms: float
    key: str
    value: Any
    metadata: dict[str, Any]


def events(file: Path) -> Iterator[Event]:
    """The MLLOG events of `file`, in its order; other text is passed over.

    The token may stand anywhere in a line: `srun --label` and others write before it.

    Raises:
        RunError: the file cannot be read, or a line with the token holds no event.
    """
    try:
        with file.open(encoding="utf-8", errors="replace") as stream:
            for number, line in enumerate(stream, start=1):
                _, mark, text = line.partition(_MARK)
                if mark:
                    yield _event(file, number, text)
    except OSError as error:
        raise RunError(f"{file}: cannot be read: {error.strerror}") from error


def _event(file: Path, number: int, text: str) -> Event:
    try:
        table = json.loads(text)
        metadata = table.get("metadata") or {}
        return Event(
            number, float(table["time_ms"]), str(table["key"]), table.get("value"), metadata
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise RunError(
            f"{file}:{number}: a damaged MLLOG line ({error}); score an undamaged log"
        ) from error
