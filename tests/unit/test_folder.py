"""A result folder never loses an earlier run, and never shows half a file."""

import json
import os
from pathlib import Path

import pytest

from augury.errors import RunError
from augury.train.folder import RunFolder


def test_an_earlier_run_keeps_another_name(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run")
    assert folder.begin() == ""
    for number in (1, 2):
        folder.config.write_text("")
        folder.summary.write_text(str(number))
        assert folder.begin() == str(tmp_path / f"run.{number}")
        assert list(folder.path.iterdir()) == []
    assert (tmp_path / "run.1" / "summary.json").read_text() == "1"
    assert (tmp_path / "run.2" / "summary.json").read_text() == "2"


def test_an_empty_folder_is_used_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    assert RunFolder(tmp_path / "run").begin() == ""


def test_what_is_no_run_is_never_moved(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("notes")
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "thesis.tex").write_text("words")
    before = sorted(tmp_path.rglob("*"))
    for name in ("file", "home"):
        with pytest.raises(RunError, match=r"is not a run's folder; choose another"):
            RunFolder(tmp_path / name).begin()
    assert sorted(tmp_path.rglob("*")) == before


def test_an_output_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RunError, match=r"output .*file/run: .*--set output=DIR"):
        RunFolder(tmp_path / "file" / "run").begin()


def test_a_failed_write_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = RunFolder(tmp_path)
    folder.write_summary({"a": 1})

    def full(_fd: int) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(RunError, match=r"summary.json: cannot be written: No space left"):
        folder.write_summary({"a": 2})
    assert json.loads(folder.summary.read_text()) == folder.read_summary() == {"a": 1}
    assert [path.name for path in tmp_path.iterdir()] == ["summary.json"]


def test_rewinding_cuts_both_logs_and_refuses_shorter_ones(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    folder.log.write_text("abcdef")
    folder.metrics.write_text("123456")
    folder.truncate(4, 2)
    assert (folder.log.read_text(), folder.metrics.read_text()) == ("abcd", "12")
    with pytest.raises(RunError, match=r"result_0.txt: has 4 bytes, had 5 at the checkpoint"):
        folder.truncate(5, 2)


def test_a_folder_in_which_a_job_runs_is_left_alone(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run")
    folder.begin()
    folder.config.write_text("")
    held = folder.hold()
    for attempt in (folder.begin, folder.hold):
        with pytest.raises(RunError, match="another job is running in this folder"):
            attempt()
    os.close(held)
    assert folder.begin() == str(tmp_path / "run.1")
