"""One CosmoFlow sample, computed from its number alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from augury.dataset import lpt
from augury.dataset.cosmology import NAMES, Universe, draw, labels_of
from augury.dataset.recipe import PARTICLES_PER_VOXEL, Recipe

REDSHIFTS = (3.0, 1.5, 0.5, 0.0)
LABEL_NAMES = NAMES
_PER_AXIS = round(PARTICLES_PER_VOXEL ** (1 / 3))


@dataclass(frozen=True, slots=True)
class Sample:
    """A box of particles at four redshifts, and the universe that it is from."""

    counts: NDArray[np.int16]
    """Particles per voxel, int16 [4, side, side, side], one channel per redshift."""

    parameters: NDArray[np.float64]
    """Omega_m, sigma_8, n_s, h, float64 [4]."""

    labels: NDArray[np.float32]
    """The parameters scaled to [-1, 1], float32 [4]."""


def make_sample(recipe: Recipe, split: str, number: int) -> Sample:
    """Sample `number` of `split`: a function of the recipe's seed and side, and these two.

    Cost: about 70 ms for side 32 on one core, most of it Fourier transforms.
    """
    key = (recipe.seed, ("train", "validation").index(split), number)
    random = np.random.default_rng(key)
    parameters = draw(random)
    universe = Universe(parameters)
    voxels = lpt.Grid(recipe.side, recipe.box)
    particles = lpt.Grid(recipe.side * _PER_AXIS, recipe.box)
    modes = lpt.linear_modes(particles, universe.power, random)
    psi1, psi2 = lpt.displacements(particles, modes)
    counts = np.empty((len(REDSHIFTS), *(recipe.side,) * 3), dtype=np.int16)
    for channel, redshift in enumerate(REDSHIFTS):
        growth = universe.growth(redshift)
        positions = lpt.moved(particles, psi1, psi2, growth.d1, growth.d2)
        counts[channel] = lpt.count(positions, voxels)
    return Sample(counts, parameters, labels_of(parameters))
