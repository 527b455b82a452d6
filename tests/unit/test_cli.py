"""What can be typed, frozen; and help that says what it does."""

from __future__ import annotations

import argparse

import pytest
from tests.harness import BIN, run

from augury.cli import main
from augury.cli.parser import make_parser


def options(parser: argparse.ArgumentParser, prefix: str = "augury") -> dict[str, set[str]]:
    """Every verb with the words that it takes."""
    found: dict[str, set[str]] = {}
    words: set[str] = set()
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, inner in action.choices.items():
                found |= options(inner, f"{prefix} {name}")
        else:
            words.add(action.option_strings[-1] if action.option_strings else action.dest)
    return {prefix: words - {"--help"}} | found


def test_the_command_line_is_what_the_manual_says() -> None:
    show = {"--quiet", "--json"}
    assert options(make_parser()) == {
        "augury": {"--version"},
        "augury data": set(),
        "augury data make": {
            "workload",
            "directory",
            "--samples",
            "--validation",
            "--side",
            "--seed",
        }
        | show,
        "augury data index": {"directory"} | show,
        "augury data info": {"directory", "--json"},
        "augury train": {"config", "--set", "--resume"} | show,
        "augury score": {"run", "--json"},
        "augury doctor": {"--json"},
    }


def test_without_a_verb_the_help_is_shown_as_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert "exit codes:" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["train", "--help"], ["data", "make", "--help"], ["--help"]])
def test_help_goes_to_standard_output(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(words)
    assert caught.value.code == 0
    assert "usage: augury" in capsys.readouterr().out


def test_the_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("augury 0.")


def test_a_wrong_word_is_a_usage_error() -> None:
    with pytest.raises(SystemExit) as caught:
        main(["trian"])
    assert caught.value.code == 2


def test_a_missing_run_is_one_message(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", "/nowhere/run"]) == 6
    assert capsys.readouterr().err.count("augury:") == 1


def test_a_reader_that_leaves_early_is_no_error() -> None:
    done = run("bash", "-c", f"set -o pipefail; {BIN}/augury doctor | head -n 1")
    assert (done.code, done.err) == (0, "")


def test_a_full_disk_under_standard_output_is_said() -> None:
    done = run("bash", "-c", f"{BIN}/augury doctor > /dev/full")
    assert (done.code, done.messages) == (
        6,
        ["augury: standard output: cannot be written: No space left on device"],
    )
