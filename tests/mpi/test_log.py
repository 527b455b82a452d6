"""Result logs pass the public compliance checker."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from tests.harness import augury, augury_on, run


def complaints(log: Path) -> list[str]:
    """What the checker of round 3.0 says against `log`."""
    done = run(
        sys.executable, "-m", "mlperf_logging.compliance_checker", "--usage", "hpc",
        "--ruleset", "3.0.0", "--log_output", log.parent.parent / "checker.log", log,
    )  # fmt: skip
    return [
        line for line in (done.out + done.err).splitlines() if re.search("ERROR|WARN|not", line)
    ]


def test_a_mini_run_fails_the_official_target_and_nothing_else(config: Path) -> None:
    assert augury_on(2, "train", config, "--set", "train.target=9.0").code == 0
    found = complaints(config.parent / "run" / "result_0.txt")
    blamed = [line for line in found if "SUCCESS" not in line]
    assert blamed
    assert all("eval_error" in line or "0.124" in line or "FAILED" in line for line in blamed), (
        blamed
    )


def test_a_run_on_target_passes(config: Path) -> None:
    assert augury_on(2, "train", config, "--set", "train.target=9.0").code == 0
    log = config.parent / "run" / "result_0.txt"
    log.write_text(re.sub(r'("eval_error", "value": )[0-9.]+', r"\g<1>0.1", log.read_text()))
    assert complaints(log) == []


def test_the_score_of_a_run_is_its_summary(config: Path) -> None:
    import json

    assert augury_on(2, "train", config, "--set", "train.target=9.0").code == 0
    done = augury("score", config.parent / "run", "--json")
    score = json.loads(done.out)
    summary = json.loads((config.parent / "run" / "summary.json").read_text())
    for key in ("time_to_train_s", "quality", "epochs", "metric"):
        assert score[key] == summary[key]
    assert (score["status"], score["verified"]) == ("success", False)
    text = augury("score", config.parent / "run").out
    assert "unverified" in text
    assert "official target 0.124 not met" in text
