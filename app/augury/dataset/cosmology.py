"""Cosmological parameters of the CosmoFlow dataset, and what follows from them.

Flat LambdaCDM; linear power and growth from colossus (Diemer 2018, ApJS 239, 35) with the
transfer function of Eisenstein and Hu 1998 (ApJ 496, 605).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from colossus.cosmology import cosmology as colossus
from numpy.typing import NDArray

NAMES = ("Omega_m", "sigma_8", "n_s", "h")

LOW = np.array([0.25, 0.78, 0.9, 0.55])
HIGH = np.array([0.35, 0.95, 1.0, 0.85])
"""Ranges of the parameters, in the order of `NAMES`: those described for the public CosmoFlow
dataset of 2019. That of h could not be checked against its generator; an older set has 0.6 to 0.8.
"""

OMEGA_B = 0.049  # baryons are not varied
_LOG_K = np.linspace(np.log(1e-4), np.log(1e3), 400)


def draw(random: np.random.Generator) -> NDArray[np.float64]:
    """One set of parameters, uniform in the ranges, float64 [4] in the order of `NAMES`."""
    return random.uniform(LOW, HIGH)


def labels_of(parameters: NDArray[np.float64]) -> NDArray[np.float32]:
    """Parameters (float64 [..., 4]) scaled linearly from their ranges to [-1, 1]."""
    return np.asarray(2 * (parameters - LOW) / (HIGH - LOW) - 1, dtype=np.float32)


@dataclass(frozen=True, slots=True)
class Growth:
    """Growth factors of first and second order at one redshift, with D1(z=0) = 1."""

    d1: float
    d2: float


class Universe:
    """Linear power and growth for one set of parameters."""

    def __init__(self, parameters: NDArray[np.float64]) -> None:
        omega_m, sigma_8, n_s, h = (float(value) for value in parameters)
        self._model = colossus.Cosmology(
            name="augury", flat=True, Om0=omega_m, Ob0=OMEGA_B, H0=100 * h, sigma8=sigma_8,
            ns=n_s, relspecies=False, persistence="",
        )  # fmt: skip
        k = np.exp(_LOG_K)
        self._log_power = np.log(self._model.matterPowerSpectrum(k, model="eisenstein98"))

    def power(self, k: NDArray[np.float64]) -> NDArray[np.float64]:
        """P(k) at redshift 0 in (Mpc/h)^3, for k in h/Mpc between 1e-4 and 1e3, float64 [K]."""
        return np.asarray(np.exp(np.interp(np.log(k), _LOG_K, self._log_power)))

    def growth(self, z: float) -> Growth:
        """D1, and D2 = -3/7 D1^2 Omega_m(z)^(-1/143) (Bouchet et al. 1995)."""
        d1 = float(self._model.growthFactor(z))
        return Growth(d1, -3 / 7 * d1**2 * float(self._model.Om(z)) ** (-1 / 143))
