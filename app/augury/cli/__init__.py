"""The `augury` command: `parser` says what can be typed, the other modules do it."""

from augury.cli.main import main

__all__ = ["main"]
