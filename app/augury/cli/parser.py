"""What can be typed after `augury`, and the help for it."""

from __future__ import annotations

import argparse
from pathlib import Path

_EXIT_CODES = """\
exit codes:
   0  done
   1  an error of no other kind
   2  a mistake in the command line or the configuration
   4  a dataset or index that is missing, damaged or not what it says
   5  MPI, Horovod or the launcher are not what this job needs
   6  a run folder, checkpoint or log that cannot be read, written or used
  70  a bug in augury: please report the traceback
  75  stopped by SIGTERM or SIGUSR1 with a checkpoint; go on with --resume
 130  interrupted by Ctrl-C
The first rank that fails decides the code of the whole job.

environment variables:
  AUGURY_NODE_LOCAL   folder on node-local storage, for `augury doctor` (else $TMPDIR, /tmp)
"""

_DESCRIPTION = """\
augury trains scientific deep-learning workloads as one MPI program. It knows from the seed
which sample every rank needs when, and delivers it from native threads.
"""


def make_parser() -> argparse.ArgumentParser:
    """The parser of the whole command; the chosen verb is in `verb`."""
    parser = argparse.ArgumentParser(
        prog="augury", description=_DESCRIPTION, epilog=_EXIT_CODES, formatter_class=_RAW
    )
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", title="verbs")
    _add_data(verbs)
    _add_train(verbs)
    _add_score(verbs)
    verbs.add_parser(
        "doctor",
        help="what is installed and usable here, and what to do where something is missing",
        description="Check this machine for everything augury uses; one line each. Exits with "
        "5 when training cannot work here.",
    ).add_argument("--json", action="store_true", help="print the findings as JSON")
    return parser


_RAW = argparse.RawDescriptionHelpFormatter  # keeps the line breaks of descriptions
_Verbs = argparse._SubParsersAction


def _add_output(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--quiet", action="store_true", help="no progress, only the result")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def _add_data(verbs: _Verbs[argparse.ArgumentParser]) -> None:
    data = verbs.add_parser("data", help="make, index and describe datasets")
    parts = data.add_subparsers(dest="part", metavar="PART", title="parts", required=True)
    make = parts.add_parser(
        "make",
        formatter_class=_RAW,
        help="compute a dataset from physics",
        description="Compute a dataset from physics and index it. Samples depend on the seed and\n"
        "their number alone, so any number of ranks makes the same files. What is\n"
        "already there is kept: an interrupted call can be repeated.\n\n"
        "  mpiexec -n 2 augury data make cosmoflow data/mini --samples 2048 --side 32 --seed 1",
    )
    make.add_argument("workload", metavar="WORKLOAD", help="cosmoflow")
    make.add_argument("directory", type=Path, metavar="DIR", help="where the dataset goes")
    make.add_argument("--samples", type=int, default=2048, help="training samples (%(default)s)")
    make.add_argument("--validation", type=int, help="validation samples (an eighth of --samples)")
    make.add_argument("--side", type=int, default=32, help="voxels along each axis (%(default)s)")
    make.add_argument("--seed", type=int, default=1, help="fixes every sample (%(default)s)")
    _add_output(make)
    index = parts.add_parser(
        "index",
        formatter_class=_RAW,
        help="(re)build the index of a dataset, checking every byte of it",
        description="Read every shard in DIR, verify shapes, dtypes, sizes and checksums, and\n"
        "write DIR/index.h5.",
    )
    index.add_argument("directory", type=Path, metavar="DIR")
    _add_output(index)
    info = parts.add_parser("info", help="what a dataset holds, from its index")
    info.add_argument("directory", type=Path, metavar="DIR")
    info.add_argument("--json", action="store_true", help="print it as JSON")


def _add_train(verbs: _Verbs[argparse.ArgumentParser]) -> None:
    train = verbs.add_parser(
        "train",
        formatter_class=_RAW,
        help="train a workload: alone, under mpiexec, or under srun",
        description="Train as CONFIG.toml says and leave the result in its `output` folder:\n"
        "summary.json, the MLLOG result log, metrics.jsonl, a checkpoint, and config.toml, the\n"
        "resolved configuration that reruns the job.\n\n"
        "  mpiexec -n 2 augury train share/workloads/cosmoflow-mini.toml --set seed=7",
    )
    train.add_argument("config", type=Path, metavar="CONFIG.toml")
    train.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        dest="overrides",
        help="change one setting, such as train.epochs=3; may be repeated",
    )
    train.add_argument("--resume", action="store_true", help="go on from the run's checkpoint")
    _add_output(train)


def _add_score(verbs: _Verbs[argparse.ArgumentParser]) -> None:
    score = verbs.add_parser(
        "score",
        formatter_class=_RAW,
        help="score a finished run from its result log",
        description="Read the MLLOG result log of a run and print its time to train and quality.\n"
        "A score is unverified until MLCommons has accepted it.",
    )
    score.add_argument("run", type=Path, metavar="RUN_DIR", help="a run folder, or a result log")
    score.add_argument("--json", action="store_true", help="print the score as JSON")
