"""Entry of the `augury` command: from words to an exit code."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence

from augury import __version__
from augury.cli.parser import make_parser
from augury.errors import INTERRUPTED, AuguryError

Verb = Callable[[argparse.Namespace], int]


def main(argv: Sequence[str] | None = None) -> int:
    """Do what the command line says; the exit code.

    Modules are imported by the verb that needs them: `augury --help` needs neither MPI
    nor torch.
    """
    parser = make_parser()
    options = parser.parse_args(argv)
    if options.version:
        sys.stdout.write(f"augury {__version__}\n")
        return 0
    if options.verb is None:
        parser.print_help(sys.stderr)
        return 2
    try:
        return _verb(options.verb)(options)
    except AuguryError as error:
        sys.stderr.write(f"augury: {error}\n")
        return error.exit_code
    except KeyboardInterrupt:
        sys.stderr.write("augury: interrupted\n")
        return INTERRUPTED


def _verb(name: str) -> Verb:
    if name == "train":
        from augury.cli.train import train

        return train
    if name == "data":
        from augury.cli.data import data

        return data
    if name == "score":
        from augury.cli.score import score

        return score
    from augury.cli.doctor import doctor

    return doctor
