"""`augury data make`, `index` and `info`."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from augury.cli.jobs import as_job
from augury.config.sizes import format_bytes
from augury.dataset import Index, describe
from augury.dataset.make import make_dataset, prepare
from augury.dataset.recipe import Recipe
from augury.dataset.verify import build_index
from augury.errors import DataError
from augury.terminal import Terminal, print_result
from augury.world import Group, together


def data(options: argparse.Namespace) -> int:
    """Do one part of the verb; the exit code."""
    if options.part == "make":
        return as_job(lambda everyone: _make(everyone, options))
    if options.part == "index":
        with Terminal(speaks=not options.quiet) as terminal:
            index = build_index(options.directory, _counter(terminal, "indexing shards"))
    else:
        index = Index.load(options.directory)
    _print(describe(index), as_json=options.json)
    return 0


def _make(everyone: Group, options: argparse.Namespace) -> int:
    """Collective. Every rank computes its shards; the leader indexes them all."""
    directory = options.directory
    with Terminal(speaks=everyone.leads and not options.quiet) as terminal:
        recipe = everyone.from_leader("data make", lambda: _prepared(options))
        show = _counter(terminal, f"samples of rank 0 of {everyone.size}")
        with together(everyone, "data make"):
            made = make_dataset(
                directory, recipe, rank=everyone.rank, ranks=everyone.size, on_progress=show
            )
        computed = int(everyone.sums([made.computed])[0])
        kept = int(everyone.sums([made.kept])[0])
        terminal.say(f"{directory}: {computed} samples computed, {kept} were there")

        def indexed() -> dict[str, Any]:
            return describe(_index_of(directory, recipe, terminal))

        facts = everyone.from_leader("data make", indexed)
    if everyone.leads:
        _print(facts, as_json=options.json)
    return 0


def _prepared(options: argparse.Namespace) -> Recipe:
    """The recipe that the command line asks for, its folder ready."""
    validation = options.samples // 8 if options.validation is None else options.validation
    recipe = Recipe(
        workload=options.workload,
        samples=options.samples,
        validation=max(1, validation) if options.validation is None else validation,
        side=options.side,
        seed=options.seed,
    )
    prepare(options.directory, recipe)
    return recipe


def _index_of(directory: Path, recipe: Recipe, terminal: Terminal) -> Index:
    """The index of a made dataset: the one that is there when it still fits, else a new one."""
    try:
        index = Index.load(directory, check_files=True)
        files = sorted(index.files)
        if index.attributes["recipe"] == recipe.to_json() and files == sorted(
            shard.path for shard in recipe.shards()
        ):
            return index
    except DataError:
        pass  # missing or outdated: built below, from the files themselves
    return build_index(directory, _counter(terminal, "indexing shards"))


def _counter(terminal: Terminal, title: str) -> Callable[[int, int], None]:
    """A progress callback that counts under `title`."""

    def show(done: int, total: int) -> None:
        if done == 0:
            terminal.begin(title, total)
        terminal.advance(done)

    return show


def _print(facts: Mapping[str, Any], *, as_json: bool) -> None:
    if as_json:
        print_result(json.dumps(facts, indent=2))
        return
    shape = " x ".join(map(str, facts["sample_shape"]))
    samples = ", ".join(f"{count} {name}" for name, count in facts["samples"].items())
    labels = ", ".join(
        f"{name} [{low:.3g}, {high:.3g}]" for name, (low, high) in facts["labels"].items()
    )
    rows = [
        ("workload", facts["workload"]),
        ("samples", samples),
        ("each", f"{shape} of {facts['sample_dtype']}"),
        ("in all", f"{format_bytes(facts['bytes'])} in {facts['files']} files"),
        ("labels", labels),
        ("content", facts["content_hash"]),
    ]
    print_result("".join(f"{name:<9} {text}\n" for name, text in rows))
