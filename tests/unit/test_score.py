"""Scores of one run, from logs as they are found."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from augury.cli.score import find_log
from augury.errors import RunError
from augury.score import events, read_run


def line(time_ms: int, key: str, value: Any = None, **metadata: Any) -> str:
    event = {"namespace": "", "time_ms": time_ms, "event_type": "POINT_IN_TIME", "key": key}
    return ":::MLLOG " + json.dumps(event | {"value": value, "metadata": metadata})


RUN = [
    line(1000, "submission_benchmark", "cosmoflow"),
    line(1001, "submission_division", "open"),
    line(2000, "run_start"),
    line(3000, "eval_error", 0.4, epoch_num=1),
    line(61_000, "eval_error", 0.1, epoch_num=2),
    line(62_500, "run_stop", status="success"),
]


def write(path: Path, lines: list[str]) -> Path:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_time_to_train_is_from_run_start_to_run_stop(tmp_path: Path) -> None:
    found = read_run(write(tmp_path / "result_0.txt", RUN))
    assert found.time_to_train_s == 60.5
    assert found.evaluations == ((1.0, 0.4), (2.0, 0.1))
    assert (found.quality, found.official, found.status) == (0.1, (0.124, True), "success")


def test_the_last_evaluation_is_the_quality_and_any_on_target_converges(tmp_path: Path) -> None:
    worse = [*RUN[:-1], line(62_000, "eval_error", 0.3, epoch_num=3), RUN[-1]]
    found = read_run(write(tmp_path / "result_0.txt", worse))
    assert (found.quality, found.meets(0.124), found.meets(0.05)) == (0.3, True, False)


def test_accuracies_must_be_at_least_the_target(tmp_path: Path) -> None:
    deepcam = [
        text.replace("cosmoflow", "deepcam").replace("eval_error", "eval_accuracy") for text in RUN
    ]
    found = read_run(write(tmp_path / "result_0.txt", deepcam))
    assert found.official == (0.82, False)
    assert found.meets(0.4)


def test_text_around_and_before_the_lines_is_passed_over(tmp_path: Path) -> None:
    noisy = ["hello", *(f" 0: {text}" for text in RUN), "Grüße \x00"]
    file = tmp_path / "result_0.txt"
    file.write_bytes("\r\n".join(noisy).encode("latin-1") + b"\xff")
    assert read_run(file).time_to_train_s == 60.5
    assert [event.line for event in events(file)] == [2, 3, 4, 5, 6, 7]


def test_the_first_start_and_the_first_stop_count(tmp_path: Path) -> None:
    doubled = [*RUN[:3], line(2500, "run_start"), *RUN[3:], line(99_000, "run_stop", status="x")]
    assert read_run(write(tmp_path / "result_0.txt", doubled)).time_to_train_s == 60.5


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (RUN[:-1], "has no run_stop: the run has not ended"),
        (["nothing"], "has no submission_benchmark: not a result log"),
        ([*RUN, ":::MLLOG {broken"], r":7: a damaged MLLOG line"),
        ([*RUN, ":::MLLOG 7"], r":7: a damaged MLLOG line"),
        ([*RUN, ':::MLLOG {"key": "x"}'], r":7: a damaged MLLOG line"),
    ],
)
def test_what_cannot_be_scored_says_why(tmp_path: Path, lines: list[str], reason: str) -> None:
    with pytest.raises(RunError, match=reason):
        read_run(write(tmp_path / "result_0.txt", lines))


def test_a_run_folder_holds_one_log(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="no result_"):
        find_log(tmp_path)
    log = write(tmp_path / "result_0.txt", RUN)
    assert find_log(tmp_path) == find_log(log) == log
    write(tmp_path / "result_1.txt", RUN)
    with pytest.raises(RunError, match="2 result_"):
        find_log(tmp_path)
