"""Parameters, labels, growth and power against textbook formulae."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import integrate

from augury.dataset.cosmology import HIGH, LOW, NAMES, Universe, draw, labels_of

OMEGA_MS = [0.25, 0.3, 0.35]
REDSHIFTS = [0.0, 0.5, 1.5, 3.0]


def universe(
    omega_m: float = 0.3, sigma_8: float = 0.8, n_s: float = 0.96, h: float = 0.7
) -> Universe:
    return Universe(np.array([omega_m, sigma_8, n_s, h]))


def hubble(a: float, omega_m: float) -> float:
    """H(a) / H0 of a flat universe of matter and a cosmological constant."""
    return float(np.sqrt(omega_m / a**3 + 1 - omega_m))


def growth_integral(z: float, omega_m: float) -> float:
    """Heath 1977: D is proportional to H(a) times the integral of da / (a H)^3."""
    a = 1 / (1 + z)
    integral, _ = integrate.quad(lambda x: (x * hubble(x, omega_m)) ** -3, 0, a)
    return hubble(a, omega_m) * float(integral)


def test_parameters_have_the_ranges_of_the_public_dataset() -> None:
    ranges = dict(zip(NAMES, zip(LOW.tolist(), HIGH.tolist(), strict=True), strict=True))
    assert ranges == {
        "Omega_m": (0.25, 0.35),
        "sigma_8": (0.78, 0.95),
        "n_s": (0.9, 1.0),
        "h": (0.55, 0.85),
    }


@pytest.mark.parametrize("column", range(4))
def test_labels_go_from_minus_one_to_one_over_the_range_of_each_parameter(column: int) -> None:
    middle = np.array([0.3, 0.865, 0.95, 0.7])
    for value, label in ((LOW[column], -1.0), (middle[column], 0.0), (HIGH[column], 1.0)):
        parameters = middle.copy()
        parameters[column] = value
        expected = np.zeros(4)
        expected[column] = label
        labels = labels_of(parameters)
        assert labels.dtype == np.float32
        assert labels == pytest.approx(expected, abs=1e-6)


def test_labels_of_many_are_the_labels_of_each() -> None:
    parameters = np.random.default_rng(1).uniform(LOW, HIGH, size=(5, 4))
    assert np.array_equal(labels_of(parameters), [labels_of(row) for row in parameters])


def test_draws_are_uniform_in_the_ranges_and_independent() -> None:
    random, count = np.random.default_rng(2), 4000
    shares = (np.array([draw(random) for _ in range(count)]) - LOW) / (HIGH - LOW)
    assert shares.shape == (count, 4)
    assert shares.min() >= 0
    assert shares.max() < 1
    for column in shares.T:
        # Kolmogorov-Smirnov: 1.95 / sqrt(n) is passed by chance once in a thousand
        steps = np.arange(1, count + 1) / count
        assert np.abs(np.sort(column) - steps).max() < 1.95 / np.sqrt(count) + 1 / count
    correlation = np.corrcoef(shares.T) - np.eye(4)
    assert np.abs(correlation).max() < 4 / np.sqrt(count)


@pytest.mark.parametrize("omega_m", OMEGA_MS)
@pytest.mark.parametrize("z", REDSHIFTS)
def test_first_order_growth_is_heaths_integral(omega_m: float, z: float) -> None:
    expected = growth_integral(z, omega_m) / growth_integral(0, omega_m)
    assert universe(omega_m).growth(z).d1 == pytest.approx(expected, rel=1e-3)


def test_growth_is_one_today() -> None:
    assert universe().growth(0.0).d1 == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("omega_m", OMEGA_MS)
@pytest.mark.parametrize("z", REDSHIFTS)
def test_second_order_growth_is_negative_and_nearly_three_sevenths_of_the_square(
    omega_m: float, z: float
) -> None:
    growth = universe(omega_m).growth(z)
    matter = omega_m * (1 + z) ** 3 / hubble(1 / (1 + z), omega_m) ** 2
    assert growth.d2 < 0
    assert growth.d2 == pytest.approx(-3 / 7 * growth.d1**2 * matter ** (-1 / 143), rel=1e-4)


def test_power_scales_with_the_square_of_sigma_8() -> None:
    k = np.geomspace(1e-3, 10, 50)
    ratio = universe(sigma_8=0.9).power(k) / universe(sigma_8=0.8).power(k)
    assert ratio == pytest.approx(np.full(50, (0.9 / 0.8) ** 2), rel=1e-4)


@pytest.mark.parametrize("n_s", [0.9, 1.0])
def test_power_rises_with_the_primordial_slope_on_the_largest_scales(n_s: float) -> None:
    low, high = universe(n_s=n_s).power(np.array([2e-4, 4e-4]))
    # the transfer function bends it by about one per cent here
    assert np.log(high / low) / np.log(2) == pytest.approx(n_s, abs=0.03)


def test_another_slope_tilts_the_power_by_their_difference_on_all_scales() -> None:
    k = np.geomspace(1e-3, 10, 50)
    ratio = universe(n_s=1.0).power(k) / universe(n_s=0.9).power(k)
    slope = np.diff(np.log(ratio)) / np.diff(np.log(k))
    assert slope == pytest.approx(np.full(49, 0.1), abs=2e-3)


def smooth_power(k: NDArray[np.float64], omega_m: float, n_s: float, h: float) -> Any:
    """k^n T^2 without baryonic oscillations, of no normalisation: Eisenstein and Hu 26-31."""
    matter, baryons = omega_m * h**2, 0.049 * h**2
    share = baryons / matter
    horizon = 44.5 * np.log(9.83 / matter) / np.sqrt(1 + 10 * baryons**0.75)
    alpha = 1 - 0.328 * np.log(431 * matter) * share + 0.38 * np.log(22.3 * matter) * share**2
    shape = omega_m * h * (alpha + (1 - alpha) / (1 + (0.43 * k * h * horizon) ** 4))
    q = k * (2.7255 / 2.7) ** 2 / shape
    log = np.log(2 * np.e + 1.8 * q)
    transfer = log / (log + (14.2 + 731 / (1 + 62.5 * q)) * q**2)
    return k**n_s * transfer**2


@pytest.mark.parametrize("omega_m", [0.25, 0.35])
@pytest.mark.parametrize("h", [0.55, 0.85])
def test_power_has_the_shape_of_cold_matter_with_baryons(omega_m: float, h: float) -> None:
    """Both to the smooth formula of the same paper: oscillations are left, of some per cent."""
    k = np.geomspace(1e-3, 10, 200)
    power = universe(omega_m=omega_m, h=h).power(k)
    ratio = np.log(power / smooth_power(k, omega_m, 0.96, h))
    oscillating = (k > 0.02) & (k < 0.4)
    ratio -= ratio[~oscillating].mean()
    assert np.abs(ratio[~oscillating]).max() < 0.04
    assert 0.02 < np.abs(ratio[oscillating]).max() < 0.15


def test_power_between_the_points_of_its_table_is_smooth() -> None:
    """Linear interpolation in the logarithms: halfway points are off by far less than 1 %."""
    k = np.geomspace(2e-4, 500, 4001)
    power = np.log(universe().power(k))
    halfway = 0.5 * (power[:-2:2] + power[2::2])
    assert np.abs(np.diff(power)).max() < 0.02
    assert np.abs(power[1::2] - halfway).max() < 2e-3
