"""Result logs: what is written, by whom, and what happens when it cannot be."""

import os
from pathlib import Path

import pytest

from augury.errors import RunError
from augury.mllog import Log, keys
from augury.score import events


def test_events_are_read_back_as_written(tmp_path: Path) -> None:
    log = Log(tmp_path / "result_0.txt")
    log.start(keys.INIT_START, time_ms=123)
    log.event("eval_error", 0.25, epoch_num=3)
    log.stop(keys.RUN_STOP, status="success")
    log.close()
    found = list(events(tmp_path / "result_0.txt"))
    assert [event.key for event in found] == ["init_start", "eval_error", "run_stop"]
    assert found[0].time_ms == 123
    assert (found[1].value, found[1].metadata["epoch_num"]) == (0.25, 3)
    assert found[2].metadata["status"] == "success"
    assert found[1].metadata["file"].endswith("test_mllog.py")


def test_a_log_that_is_opened_again_goes_on(tmp_path: Path) -> None:
    for key in ("first", "second"):
        log = Log(tmp_path / "log")
        log.event(key)
        log.close()
    assert [event.key for event in events(tmp_path / "log")] == ["first", "second"]


def test_other_ranks_write_nothing(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    log = Log(None)
    log.event("eval_error", 0.25)
    log.close()
    assert list(tmp_path.iterdir()) == []
    assert capfd.readouterr() == ("", "")


def test_a_log_that_cannot_be_written_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(RunError, match="cannot be written: No such file"):
        Log(tmp_path / "no" / "log")
    log = Log(tmp_path / "log")

    def full() -> None:
        raise OSError(28, os.strerror(28))

    with monkeypatch.context() as patched:
        patched.setattr(log._handler, "flush", full)
        with pytest.raises(RunError, match="log: the result log cannot be written"):
            log.event("eval_error", 0.25)
    log.close()
