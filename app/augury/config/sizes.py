"""Byte counts as people write them: 8589934592, "8GiB", "1.5 TB"."""

from __future__ import annotations

import re
from decimal import Decimal

from augury.errors import ConfigError

_UNITS = {"": 1, "B": 1}
_UNITS |= {f"{prefix}B": 1000**power for power, prefix in enumerate("kMGTP", start=1)}
_UNITS |= {f"{prefix}iB": 1024**power for power, prefix in enumerate("KMGTP", start=1)}
_FOLDED = {unit.casefold(): factor for unit, factor in _UNITS.items()}


def parse_bytes(value: int | str) -> int:
    """The number of bytes that `value` says.

    Args:
        value: a count, or a number with a unit: B, kB, MB, GB, TB, PB (powers of 1000)
            or KiB, MiB, GiB, TiB, PiB (powers of 1024); case does not matter.

    Raises:
        ConfigError: not a size, or a negative one.
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-zA-Z]*)\s*", str(value))
    if match is None or match[2].casefold() not in _FOLDED:
        raise ConfigError(f"{value!r} is not a size; write bytes or a unit, such as 8GiB or 500MB")
    return int(Decimal(match[1]) * _FOLDED[match[2].casefold()])


def format_bytes(count: float) -> str:
    """`count` with the largest binary unit that leaves at least one: 1536 is "1.5 KiB"."""
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if abs(count) < 1024:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} PiB"
