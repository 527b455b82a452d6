"""The HDF5 shards of a made dataset: readable by anyone with h5py.

Samples are one contiguous, uncompressed dataset, so that the native reader finds a sample at
one offset.
"""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
from numpy.typing import NDArray

from augury.dataset.cosmoflow import LABEL_NAMES, REDSHIFTS, Sample
from augury.dataset.files import checksum, new_file
from augury.dataset.recipe import PARTICLES_PER_VOXEL, Recipe
from augury.errors import DataError


def write_shard(path: Path, recipe: Recipe, samples: list[Sample]) -> None:
    """Write `samples` and what describes them to `path`.

    Raises:
        DataError: it cannot be written.
    """
    with new_file(path) as file:
        file.attrs["workload"] = recipe.workload
        file.attrs["recipe"] = recipe.to_json()
        file.attrs["samples"] = "counts"
        file.attrs["redshifts"] = REDSHIFTS
        file.attrs["box_Mpc_per_h"] = recipe.box
        file.attrs["particles_per_voxel"] = PARTICLES_PER_VOXEL
        _put(
            file,
            "counts",
            np.stack([sample.counts for sample in samples]),
            dims="sample, redshift, x, y, z",
            description="particles per voxel, from second-order Lagrangian perturbation theory",
        )
        _put(
            file,
            "labels",
            np.stack([sample.labels for sample in samples]),
            dims="sample, parameter",
            description="the parameters, each scaled from its range to [-1, 1]",
            names=LABEL_NAMES,
        )
        _put(
            file,
            "parameters",
            np.stack([sample.parameters for sample in samples]),
            dims="sample, parameter",
            description="cosmological parameters of a flat LambdaCDM universe",
            names=LABEL_NAMES,
        )
        _put(
            file,
            "checksum",
            np.array([checksum(sample.counts) for sample in samples], dtype=np.uint64),
            dims="sample",
            description="XXH3-64 of the bytes of each sample of `counts`",
        )


def _put(file: h5py.File, name: str, data: NDArray[np.generic], **facts: object) -> None:
    file.create_dataset(name, data=data).attrs.update(facts)


def recipe_of(path: Path) -> str | None:
    """The recipe that the shard at `path` was made with; None when there is no such file.

    Raises:
        DataError: the file is there and is not a shard.
    """
    if not path.exists():
        return None
    try:
        with h5py.File(path, "r") as file:
            return str(file.attrs["recipe"])
    except (OSError, KeyError) as error:
        raise DataError(
            f"{path}: not a shard of a made dataset ({error}); remove it and make the dataset again"
        ) from error
