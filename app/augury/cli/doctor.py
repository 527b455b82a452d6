"""`augury doctor`."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict

from augury.doctor import Finding, examine
from augury.errors import WorldError


def doctor(options: argparse.Namespace) -> int:
    """Print what is usable here; the exit code."""
    findings = examine()
    if options.json:
        sys.stdout.write(json.dumps([asdict(finding) for finding in findings], indent=2) + "\n")
    else:
        width = max(len(finding.what) for finding in findings)
        for finding in findings:
            sys.stdout.write(_line(finding, width) + "\n")
    broken = any(finding.state == "broken" for finding in findings)
    return WorldError.exit_code if broken else 0


def _line(finding: Finding, width: int) -> str:
    advice = f" -> {finding.advice}" if finding.advice else ""
    return f"{finding.state:<7} {finding.what:<{width}}  {finding.found}{advice}"
