"""Where settings come from, in rising precedence: defaults, the file, `--set key=value`.

The resolved configuration knows the origin of every value and can be written as a TOML
file that reruns the job.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import tomli_w

from augury.config.build import build
from augury.config.settings import Config
from augury.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Resolved:
    """A configuration and where each of its values comes from."""

    config: Config
    origins: Mapping[str, str]
    """Dotted key -> `--set` or the file's name; a key that is not here has its default."""

    def to_toml(self) -> str:
        """A file that reruns the job: every value, its origin as a comment."""
        table = asdict(self.config)
        scalars = {key: value for key, value in table.items() if not isinstance(value, dict)}
        lines = ["# The resolved configuration of this run; `augury train` takes it as it is.", ""]
        lines += self._lines(scalars, "")
        for key, value in table.items():
            if isinstance(value, dict):
                lines += ["", f"[{key}]", *self._lines(value, f"{key}.")]
        return "\n".join(lines) + "\n"

    def _lines(self, table: Mapping[str, Any], prefix: str) -> Iterator[str]:
        for key, value in table.items():
            if value is None:  # TOML has no null: the default is to be unset
                continue
            text = tomli_w.dumps({key: list(value) if isinstance(value, tuple) else value})
            yield f"{' '.join(text.split())}  # {self.origins.get(prefix + key, 'default')}"


def resolve(file: Path, overrides: Sequence[str] = ()) -> Resolved:
    """The configuration of `file` with `overrides` applied.

    Args:
        file: a TOML file.
        overrides: `dotted.key=value`; the value is read as TOML, and as a string when it
            is not TOML, so that `--set data.path=/scratch/x` needs no quotes.

    Raises:
        ConfigError: an unreadable file or a mistake in any key; one message for all.
    """
    table = _read(file)
    origins = dict.fromkeys(_dotted(table), file.name)
    for text in overrides:
        key, value = _parse_override(text)
        _put(table, key, value)
        origins[key] = "--set"
    try:
        return Resolved(build(Config, table), origins)
    except ConfigError as error:
        raise ConfigError(f"{file}: {error}") from None


def _read(file: Path) -> dict[str, Any]:
    try:
        with file.open("rb") as stream:
            return tomllib.load(stream)
    except OSError as error:
        raise ConfigError(f"{file}: cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file}: not TOML: {error}") from error


def _parse_override(text: str) -> tuple[str, Any]:
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise ConfigError(f"--set {text}: write key=value, such as --set train.epochs=3")
    try:
        return key.strip(), tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return key.strip(), value.strip()


def _put(table: dict[str, Any], key: str, value: Any) -> None:
    *path, last = key.split(".")
    for depth, name in enumerate(path, start=1):
        inner = table.setdefault(name, {})
        if not isinstance(inner, dict):
            raise ConfigError(f"--set {key}: {'.'.join(path[:depth])} is a value, not a table")
        table = inner
    table[last] = value


def _dotted(table: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from _dotted(value, f"{prefix}{key}.")
        else:
            yield prefix + key
