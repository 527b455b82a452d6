"""Making a dataset: every rank computes its own shards, and keeps those that are there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from augury.dataset.cosmoflow import make_sample
from augury.dataset.recipe import Progress, Recipe, Shard, no_progress
from augury.dataset.shards import recipe_of, write_shard
from augury.errors import DataError


@dataclass(frozen=True, slots=True)
class Made:
    """What one rank did."""

    computed: int
    """Samples that it computed."""

    kept: int
    """Samples that were there already."""


def prepare(directory: Path, recipe: Recipe) -> None:
    """Make the folders, and refuse one that holds another dataset. On one rank.

    What a call that was killed left under temporary names is removed.

    Raises:
        DataError: the folder cannot be made, or holds samples of another recipe.
    """
    try:
        for split in ("train", "validation"):
            (directory / split).mkdir(parents=True, exist_ok=True)
        for left in (*directory.glob(".*.h5.*"), *directory.glob("*/.*.h5.*")):
            left.unlink()
    except OSError as error:
        raise DataError(f"{directory}: cannot be made: {error.strerror}") from error
    for shard in sorted(directory.glob("*/*.h5")):
        if (found := recipe_of(shard)) is not None:
            recipe.check_same(found, str(directory))
            break


def make_dataset(
    directory: Path,
    recipe: Recipe,
    *,
    rank: int = 0,
    ranks: int = 1,
    on_progress: Progress = no_progress,
) -> Made:
    """Compute the shards of `rank` that are not there yet; all ranks together make all.

    Args:
        directory: the dataset's folder, after `prepare`.
        on_progress: called with the samples of this rank that are done, and their total.

    Raises:
        DataError: a shard cannot be written, or is there and is not one of this recipe.
    """
    mine = [shard for at, shard in enumerate(recipe.shards()) if at % ranks == rank]
    total = sum(shard.count for shard in mine)
    done = computed = 0
    for shard in mine:
        on_progress(done, total)
        path = directory / shard.path
        found = recipe_of(path)
        if found is None:
            _make_shard(path, recipe, shard, partial(_offset, on_progress, done, total))
            computed += shard.count
        else:
            recipe.check_same(found, str(path))
        done += shard.count
    on_progress(done, total)
    return Made(computed, total - computed)


def _offset(on_progress: Progress, base: int, total: int, at: int) -> None:
    """Report `at` samples of a shard as so many of all."""
    on_progress(base + at, total)


def _make_shard(
    path: Path, recipe: Recipe, shard: Shard, on_progress: Callable[[int], None]
) -> None:
    samples = []
    for at in range(shard.count):
        samples.append(make_sample(recipe, shard.split, shard.first + at))
        on_progress(at + 1)
    write_shard(path, recipe, samples)
