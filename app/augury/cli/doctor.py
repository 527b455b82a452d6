"""`augury doctor`."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict

from augury.doctor import Finding, examine
from augury.errors import WorldError
from augury.terminal import print_result


def doctor(options: argparse.Namespace) -> int:
    """Print what is usable here; the exit code."""
    findings = examine()
    if options.json:
        text = json.dumps([asdict(finding) for finding in findings], indent=2)
    else:
        width = max(len(finding.what) for finding in findings)
        text = "\n".join(_line(finding, width) for finding in findings)
    print_result(text)
    broken = any(finding.state == "broken" for finding in findings)
    return WorldError.exit_code if broken else 0


def _line(finding: Finding, width: int) -> str:
    advice = f" -> {finding.advice}" if finding.advice else ""
    return f"{finding.state:<7} {finding.what:<{width}}  {finding.found}{advice}"
