"""Rules of the house that a reader of one file cannot see broken."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted((ROOT / "app").rglob("*.py"))
COLLECTIVE = {
    "barrier", "share", "gather", "sums", "maxima", "start_any", "from_leader", "together",
    "bcast", "allreduce", "Allreduce", "Barrier", "Split", "Split_type", "over_ranks",
    "broadcast_parameters", "node_memory", "shutdown",
}  # fmt: skip


def mentions_rank(condition: ast.expr) -> bool:
    names = {node.attr for node in ast.walk(condition) if isinstance(node, ast.Attribute)}
    names |= {node.id for node in ast.walk(condition) if isinstance(node, ast.Name)}
    return bool(names & {"rank", "leads", "rank_in_node"})


def guarded_collectives(tree: ast.AST) -> list[str]:
    """Collective calls below a condition that mentions the rank."""
    found = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.If | ast.IfExp | ast.While) or not mentions_rank(node.test):
            continue
        for below in ast.walk(node):
            if isinstance(below, ast.Call):
                function = below.func
                name = getattr(function, "attr", getattr(function, "id", ""))
                if name in COLLECTIVE:
                    found.append(f"line {below.lineno}: {name}")
    return found


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_collective_call_stands_under_a_condition_on_the_rank(source: Path) -> None:
    assert guarded_collectives(ast.parse(source.read_text())) == []


def test_the_rule_finds_what_it_forbids() -> None:
    bad = "if group.leads:\n    group.barrier()\n"
    assert guarded_collectives(ast.parse(bad)) == ["line 2: barrier"]


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_files_and_functions_stay_small(source: Path) -> None:
    tree = ast.parse(source.read_text())
    assert len(source.read_text().splitlines()) <= 400
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            length = (node.end_lineno or 0) - node.lineno + 1
            assert length <= 60, f"{node.name} has {length} lines"


def test_no_file_has_a_name_that_says_nothing() -> None:
    banned = {"utils", "helpers", "common", "misc", "manager", "base"}
    files = [*SOURCES, *(ROOT / "native").rglob("*.[ch]pp"), *(ROOT / "tests").rglob("*.py")]
    assert [str(file) for file in files if file.stem in banned] == []
