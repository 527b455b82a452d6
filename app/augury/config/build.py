"""Frozen dataclasses from plain tables, strictly: every mistake is reported at once."""

from __future__ import annotations

import difflib
import types
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from augury.config.sizes import parse_bytes
from augury.errors import ConfigError

T = TypeVar("T")


def build(cls: type[T], table: Mapping[str, Any], at: str = "") -> T:
    """A `cls` from a TOML table.

    Args:
        cls: a dataclass whose fields are the allowed keys.
        table: keys and values, as `tomllib` gives them.
        at: the dotted name of the table, for messages.

    Raises:
        ConfigError: names every unknown, missing, mistyped or impossible key at once.
    """
    hints = get_type_hints(cls)
    known = {item.name: item for item in fields(cls)}  # type: ignore[arg-type]
    bad: list[str] = []
    found: dict[str, Any] = {}
    for key, value in table.items():
        name = f"{at}.{key}" if at else key
        if key not in known:
            bad.append(f"{name}: unknown key{_suggest(key, known)}")
            continue
        try:
            found[key] = _convert(hints[key], known[key], value, name)
        except ConfigError as error:  # keep looking: report everything at once
            bad.append(str(error))
    for name, item in known.items():
        if name not in table and item.default is MISSING and item.default_factory is MISSING:
            bad.append(f"{at}.{name}".lstrip(".") + ": missing")
    if bad:
        raise ConfigError("; ".join(bad))
    try:
        return cls(**found)
    except ConfigError as error:  # from __post_init__, which knows no dotted names
        raise ConfigError(f"{at}.{error}" if at else str(error)) from error


def _suggest(key: str, known: Mapping[str, object]) -> str:
    near = difflib.get_close_matches(key, known, n=1)
    return f", did you mean {near[0]}?" if near else f"; known are {', '.join(known)}"


def _convert(hint: Any, item: Field[Any], value: Any, name: str) -> Any:
    """`value` as the field's type, or a ConfigError that names the key."""
    if is_dataclass(hint) and isinstance(hint, type):
        if not isinstance(value, Mapping):
            raise ConfigError(f"{name}: must be a table, is {value!r}")
        return build(hint, value, name)
    if item.metadata.get("parse") == "bytes" and isinstance(value, int | str):
        try:
            return parse_bytes(value)
        except ConfigError as error:
            raise ConfigError(f"{name}: {error}") from None
    fitted = _fit(hint, value)
    if fitted is MISSING:
        raise ConfigError(f"{name}: {value!r} is not {_describe(hint)}")
    return fitted


def _fit(hint: Any, value: Any) -> Any:
    """`value` as `hint` (an int may stand for a float), or MISSING when it does not fit."""
    origin = get_origin(hint)
    if hint is Any:
        return value
    if origin is Literal:
        return value if value in get_args(hint) else MISSING
    if origin in (Union, types.UnionType):
        fits = (_fit(option, value) for option in get_args(hint))
        return next((fitted for fitted in fits if fitted is not MISSING), MISSING)
    if origin is tuple:
        if not isinstance(value, list | tuple):
            return MISSING
        items = [_fit(get_args(hint)[0], item) for item in value]
        return MISSING if MISSING in items else tuple(items)
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    kind = origin or hint
    is_stray_bool = isinstance(value, bool) and kind is not bool
    return value if isinstance(value, kind) and not is_stray_bool else MISSING


def _describe(hint: Any) -> str:
    """A type in a reader's words."""
    if get_origin(hint) is Literal:
        return "one of " + ", ".join(map(repr, get_args(hint)))
    if get_origin(hint) in (Union, types.UnionType):
        kinds = [option for option in get_args(hint) if option is not type(None)]
        return " or ".join(map(_describe, kinds))
    if get_origin(hint) is tuple:
        return f"a list of {_describe(get_args(hint)[0])}"
    names = {int: "a whole number", float: "a number", str: "a string", bool: "true or false"}
    return names.get(hint, str(hint))
