"""The doctor names what is here, what is not, and what to do about it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.harness import augury

from augury import doctor
from augury.errors import WorldError


def test_every_thing_has_one_line() -> None:
    done = augury("doctor")
    assert done.code == 0, done.out + done.err
    words = [line.split()[1] for line in done.out.splitlines()]
    assert words == [
        "python", "cores", "ram", "mpi", "launcher", "horovod", "torch", "native",
        "io_uring", "cuda", "cufile", "cupy", "node-local",
    ]  # fmt: skip
    assert "thread level MULTIPLE" in done.out


def test_findings_can_be_read_by_programs() -> None:
    found = json.loads(augury("doctor", "--json").out)
    assert all(set(item) == {"what", "state", "found", "advice"} for item in found)


def test_what_is_broken_is_a_finding_and_an_exit_code(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> list[str]:
        raise WorldError("Horovod cannot be imported (no module); run `make env`")

    monkeypatch.setattr(doctor, "describe_horovod", broken)
    finding = next(item for item in doctor.examine() if item.what == "horovod")
    assert (finding.state, "run `make env`" in finding.found) == ("broken", True)


def test_node_local_space_is_the_one_that_the_site_names(tmp_path: Path) -> None:
    done = augury("doctor", env={"AUGURY_NODE_LOCAL": str(tmp_path)})
    assert f"{tmp_path} (AUGURY_NODE_LOCAL)" in done.out
    done = augury("doctor", env={"AUGURY_NODE_LOCAL": str(tmp_path / "no")})
    line = next(line for line in done.out.splitlines() if "node-local" in line)
    assert line.startswith("absent")
    assert "set AUGURY_NODE_LOCAL" in line
