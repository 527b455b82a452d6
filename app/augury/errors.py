"""Every error that augury raises on purpose, and the exit code that each one means.

The message of an `AuguryError` is one line: what went wrong, where (file, key,
sample or rank), and what to do about it. `cli.main` prints it and exits with
`exit_code`; nothing else in the package calls `sys.exit`.
"""

from __future__ import annotations

BUG = 70
"""Exit code of an error that augury did not foresee (EX_SOFTWARE)."""

STOPPED = 75
"""Exit code of a run that a signal stopped, with a checkpoint (EX_TEMPFAIL)."""

INTERRUPTED = 130
"""Exit code after Ctrl-C."""


class AuguryError(Exception):
    """An error with a message for the user; the base of all others."""

    exit_code: int = 1


class ConfigError(AuguryError):
    """A setting, an argument or a combination of them that cannot work."""

    exit_code = 2


class DataError(AuguryError):
    """A dataset, an index or a sample that is missing, damaged or not what it says."""

    exit_code = 4


class WorldError(AuguryError):
    """MPI, Horovod or the launcher are not what they must be for this job."""

    exit_code = 5


class RunError(AuguryError):
    """A run folder, a checkpoint or a log that cannot be read, written or used."""

    exit_code = 6


class PeerError(AuguryError):
    """A failure that every rank knows of; it has the exit code of what happened first."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code
