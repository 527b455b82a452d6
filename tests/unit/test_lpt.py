"""Displacements against waves whose solution is known, and boxes against linear theory."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray

from augury.dataset import lpt
from augury.dataset.cosmoflow import make_sample
from augury.dataset.cosmology import Universe
from augury.dataset.recipe import Recipe

Array = NDArray[np.float64]

BOX = 40.0
GRID = lpt.Grid(16, BOX)
STEP = 2 * np.pi / BOX
SIGMA_8 = 0.8


def coordinates(grid: lpt.Grid) -> tuple[Array, Array, Array]:
    axis = np.arange(grid.side) * grid.box / grid.side
    return axis[:, None, None], axis[None, :, None], axis[None, None, :]


def displacements_of(field: Array) -> tuple[lpt.Field, lpt.Field]:
    field = np.broadcast_to(field, (GRID.side,) * 3)
    return lpt.displacements(GRID, np.fft.rfftn(field).astype(np.complex64))


def close(actual: lpt.Field, expected: Array, size: float) -> bool:
    """Equal to float32 precision of numbers of this size, after some ten transforms."""
    return bool(np.abs(actual - expected).max() < 1e-5 * size)


def field_of(modes: NDArray[np.complexfloating]) -> Array:
    return np.asarray(np.fft.irfftn(modes.astype(np.complex128)))


def full_power(field: Array, box: float) -> Array:
    """|delta_k|^2 V / N^2 of every mode of the complex transform."""
    transform = np.fft.fftn(field)
    return np.abs(transform) ** 2 * box**3 / field.size**2


def full_wave_numbers(side: int, box: float) -> Array:
    k = 2 * np.pi * np.fft.fftfreq(side, box / side)
    return np.asarray(
        np.sqrt(k[:, None, None] ** 2 + k[None, :, None] ** 2 + k[None, None, :] ** 2)
    )


def top_hat(x: Array) -> Array:
    return 3 * (np.sin(x) - x * np.cos(x)) / x**3


# Linear modes


def test_linear_modes_have_the_power_that_was_asked_for() -> None:
    grid, boxes = lpt.Grid(16, 64.0), 24

    def power(k: Array) -> Array:
        return 500.0 * k**-1.5

    random = np.random.default_rng(1)
    measured = np.zeros((grid.side,) * 3)
    for _ in range(boxes):
        field = field_of(lpt.linear_modes(grid, power, random))
        measured += full_power(field, grid.box) / boxes
    k = full_wave_numbers(grid.side, grid.box)
    edges = 2 * np.pi / grid.box * np.array([0.5, 1.2, 1.8, 2.5, 3.5, 5, 7, 9, 14])
    for low, high in pairwise(edges):
        modes = (k >= low) & (k < high)
        ratio = (measured[modes] / power(k[modes])).mean()
        # |delta_k|^2 of N modes, of which half are conjugates of others: sqrt(2 / N)
        assert abs(ratio - 1) < 4 * np.sqrt(2 / (boxes * modes.sum()))


def test_linear_modes_are_those_of_a_real_field_without_mean() -> None:
    modes = lpt.linear_modes(GRID, np.ones_like, np.random.default_rng(2))
    field = field_of(modes)
    assert modes[0, 0, 0] == 0
    assert field.std() > 0
    assert np.abs(np.fft.rfftn(field) - modes).max() < 1e-5 * np.abs(modes).max()


def test_linear_modes_depend_on_the_generator_alone() -> None:
    first, again, other = (
        lpt.linear_modes(GRID, np.ones_like, np.random.default_rng(seed)) for seed in (3, 3, 4)
    )
    assert np.array_equal(first, again)
    assert not np.allclose(first, other)


# Displacements


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("number", [1, 3, 7])
def test_a_plane_wave_moves_particles_along_its_sine_and_not_at_second_order(
    axis: int, number: int
) -> None:
    amplitude, k = 0.3, number * STEP
    q = coordinates(GRID)[axis]
    psi1, psi2 = displacements_of(amplitude * np.cos(k * q))
    for other in range(3):
        expected = -amplitude / k * np.sin(k * q) if other == axis else np.zeros(1)
        assert close(psi1[other], expected, amplitude / k)
    assert close(psi2, np.zeros(1), amplitude**2 / k)


def test_an_oblique_plane_wave_moves_particles_along_its_wave_vector() -> None:
    amplitude, vector = 0.3, STEP * np.array([1, 2, -3])
    square = float(vector @ vector)
    x, y, z = coordinates(GRID)
    phase = vector[0] * x + vector[1] * y + vector[2] * z
    psi1, psi2 = displacements_of(amplitude * np.cos(phase))
    for axis in range(3):
        expected = -amplitude * vector[axis] / square * np.sin(phase)
        assert close(psi1[axis], expected, amplitude / STEP)
    # phi,ii phi,jj - phi,ij^2 vanishes for any single wave, though no term of it does
    assert close(psi2, np.zeros(1), amplitude**2 / STEP)


def test_crossed_waves_have_the_second_order_of_their_product() -> None:
    a, b, k, m = 0.4, -0.7, 2 * STEP, 3 * STEP
    x, y, _ = coordinates(GRID)
    _, psi2 = displacements_of(a * np.cos(k * x) + b * np.cos(m * y))
    # source = a b cos(kx) cos(my), phi2 = -source / (k^2 + m^2), psi2 = grad phi2
    factor = a * b / (k**2 + m**2)
    size = abs(a * b) / k
    assert close(psi2[0], factor * k * np.sin(k * x) * np.cos(m * y), size)
    assert close(psi2[1], factor * m * np.cos(k * x) * np.sin(m * y), size)
    assert close(psi2[2], np.zeros(1), size)


def test_waves_crossed_obliquely_have_the_second_order_of_their_angle() -> None:
    """For two waves the source is a b (1 - cos^2 of the angle between them) cos cos."""
    a, b = 0.4, 0.5
    first, second = STEP * np.array([1.0, 2.0, 0.0]), STEP * np.array([2.0, 1.0, 1.0])
    x, y, z = coordinates(GRID)
    phase1, phase2 = (v[0] * x + v[1] * y + v[2] * z for v in (first, second))
    _, psi2 = displacements_of(a * np.cos(phase1) + b * np.cos(phase2))
    sine2 = 1 - (first @ second) ** 2 / ((first @ first) * (second @ second))
    expected = np.zeros((3, *(GRID.side,) * 3))
    for vector, phase in ((first + second, phase1 + phase2), (first - second, phase1 - phase2)):
        # source a b sine2 cos(phase) / 2; grad of its inverse Laplacian is v sin(phase) / v^2
        wave = 0.5 * a * b * sine2 * np.sin(phase) / (vector @ vector)
        expected += vector[:, None, None, None] * wave
    assert close(psi2, expected, a * b / STEP)


def test_an_overdensity_collapses_as_the_spherical_solution_to_second_order() -> None:
    """Around the peak of three waves x/q = 1 - delta/3 - delta^2/21 (Omega_m = 1)."""
    a, k = 0.1, STEP
    x, y, z = coordinates(GRID)
    psi1, psi2 = displacements_of(a * (np.cos(k * x) + np.cos(k * y) + np.cos(k * z)))
    near = 1  # one point from the peak, sin(kq) / k in place of q
    lever = np.sin(k * BOX / GRID.side) / k
    delta = 3 * a
    assert psi1[0, near, 0, 0] / lever == pytest.approx(-delta / 3, rel=1e-4)
    assert -3 / 7 * psi2[0, near, 0, 0] / lever == pytest.approx(-(delta**2) / 21, rel=1e-4)


def test_a_wave_at_the_nyquist_frequency_moves_particles_by_its_whole_wave_number() -> None:
    """Not by what is left of it without the component that has no derivative."""
    a, m = 0.3, STEP
    nyquist = np.pi * GRID.side / BOX
    x, y, _ = coordinates(GRID)
    psi1, _ = displacements_of(a * np.cos(nyquist * x) * np.cos(m * y))
    expected = -a * m / (nyquist**2 + m**2) * np.cos(nyquist * x) * np.sin(m * y)
    assert close(psi1[1], expected, a / nyquist)
    assert close(psi1[0], np.zeros(1), a / nyquist)


def test_particles_start_in_the_middle_of_their_cells_and_move_by_both_orders() -> None:
    grid = lpt.Grid(4, 8.0)
    psi1, psi2 = np.random.default_rng(5).normal(size=(2, 3, 4, 4, 4)).astype(np.float32)
    at = lpt.moved(grid, psi1, psi2, 0.5, -0.25)
    start = np.stack(np.meshgrid(*([1.0, 3.0, 5.0, 7.0],) * 3, indexing="ij"))
    assert at.dtype == np.float32
    assert np.allclose(at, start + 0.5 * psi1 - 0.25 * psi2, atol=1e-6)


# Counting


def test_positions_outside_the_box_are_counted_where_they_wrap_to() -> None:
    random, voxels = np.random.default_rng(6), lpt.Grid(8, 32.0)
    inside = random.integers(0, 8, size=(3, 5000))
    turns = random.integers(-2, 3, size=(3, 5000))
    offset = random.uniform(0.1, 0.9, size=(3, 5000))
    positions = ((inside + offset) * 4.0 + turns * 32.0).astype(np.float32)
    expected = np.zeros((8, 8, 8), dtype=np.int64)
    np.add.at(expected, tuple(inside), 1)
    counts = lpt.count(positions, voxels)
    assert counts.dtype == np.int16
    assert np.array_equal(counts, expected)


@pytest.mark.parametrize(
    ("position", "voxel"),
    [(0.0, 0), (31.999, 7), (32.0, 0), (-32.0, 0), (-1e-9, 7), (-0.001, 7), (64.001, 0), (4.0, 1)],
)
def test_an_edge_belongs_to_the_voxel_that_it_begins(position: float, voxel: int) -> None:
    counts = lpt.count(np.full((3, 1), position, dtype=np.float32), lpt.Grid(8, 32.0))
    assert np.argwhere(counts).tolist() == [[voxel] * 3]


def test_a_voxel_with_more_particles_than_an_int16_holds_is_refused() -> None:
    voxels = lpt.Grid(2, 8.0)
    full = np.ones((3, 32767), dtype=np.float32)
    assert lpt.count(full, voxels)[0, 0, 0] == 32767
    with pytest.raises(OverflowError, match="32768 particles in one voxel"):
        lpt.count(np.ones((3, 32768), dtype=np.float32), voxels)


def test_no_particle_is_lost_at_any_redshift() -> None:
    recipe = Recipe(workload="cosmoflow", samples=3, validation=1, side=8, seed=1)
    for number in range(3):
        counts = make_sample(recipe, "train", number).counts
        assert counts.shape == (4, 8, 8, 8)
        assert counts.min() >= 0
        assert counts.sum(axis=(1, 2, 3), dtype=np.int64).tolist() == [8 * 8**3] * 4


def test_matter_clumps_as_time_passes() -> None:
    recipe = Recipe(workload="cosmoflow", samples=1, validation=1, side=16, seed=1)
    early, middle, late, _ = make_sample(recipe, "train", 0).counts
    assert 8 < early.var() < middle.var() < late.var()


# Whole boxes against linear theory


@dataclass(frozen=True)
class Boxes:
    """Several boxes of one universe: power on large scales, corrected for the voxels' window."""

    universe: Universe
    k: Array
    """Of the modes that are looked at."""

    number: int
    linear: Array
    """Of the linear fields at z = 0, mean over boxes."""

    at_3: Array
    at_half: Array
    """Of the counts."""


@pytest.fixture(scope="module")
def boxes() -> Boxes:
    side, box, number = 32, 128.0, 24
    universe = Universe(np.array([0.3, SIGMA_8, 0.96, 0.7]))
    particles, voxels = lpt.Grid(2 * side, box), lpt.Grid(side, box)
    step = 2 * np.pi / box
    wave_numbers = full_wave_numbers(side, box)
    # to 0.2 h/Mpc: a quarter of the voxels' Nyquist frequency, aliases are below 1 %
    chosen = (wave_numbers > 0) & (wave_numbers < 4.1 * step)
    along = np.sinc(np.fft.fftfreq(side))  # sin(k cell / 2) / (k cell / 2)
    window = along[:, None, None] * along[None, :, None] * along[None, None, :]
    random = np.random.default_rng(11)
    sums = np.zeros((3, int(chosen.sum())))
    for _ in range(number):
        modes = lpt.linear_modes(particles, universe.power, random)
        psi1, psi2 = lpt.displacements(particles, modes)
        linear = full_power(field_of(modes), box)
        low = np.fft.fftfreq(side, 1 / side).astype(int)  # the same modes of the finer grid
        sums[0] += linear[np.ix_(low, low, low)][chosen]
        for row, z in ((1, 3.0), (2, 0.5)):
            growth = universe.growth(z)
            counts = lpt.count(lpt.moved(particles, psi1, psi2, growth.d1, growth.d2), voxels)
            sums[row] += (full_power(counts / 8.0 - 1, box) / window**2)[chosen]
    linear_mean, at_3, at_half = sums / number
    return Boxes(universe, wave_numbers[chosen], number, linear_mean, at_3, at_half)


def test_large_scales_at_redshift_3_have_the_power_of_linear_theory(boxes: Boxes) -> None:
    theory = boxes.universe.growth(3.0).d1 ** 2 * boxes.universe.power(boxes.k)
    ratio = (boxes.at_3 / theory).mean()
    # the modes' own scatter (4 sigma), and 2 % for second order and voxels
    assert abs(ratio - 1) < 4 * np.sqrt(2 / (boxes.number * boxes.k.size)) + 0.02


def test_large_scales_at_redshift_3_are_those_of_the_linear_field(boxes: Boxes) -> None:
    """The same modes are compared: their scatter cancels, and what is left is second order."""
    ratio = boxes.at_3.sum() / boxes.linear.sum() / boxes.universe.growth(3.0).d1 ** 2
    assert abs(ratio - 1) < 0.03


def test_large_scales_grow_as_linear_theory_says(boxes: Boxes) -> None:
    """From z = 3 to 0.5 by the square of D1; the same modes, so that their scatter cancels.

    10 %: at 0.1 h/Mpc and z = 0.5 second-order theory is some 5 % below the linear one.
    """
    growth = boxes.universe.growth(0.5).d1 / boxes.universe.growth(3.0).d1
    largest = boxes.k < 0.11
    ratio = boxes.at_half[largest].sum() / boxes.at_3[largest].sum() / growth**2
    assert growth**2 > 5
    assert abs(ratio - 1) < 0.1


@pytest.mark.parametrize("sigma_8", [0.78, 0.95])
def test_sigma_8_is_the_scatter_of_spheres_of_8_megaparsec(sigma_8: float) -> None:
    universe = Universe(np.array([0.28, sigma_8, 0.95, 0.7]))
    k = np.geomspace(1.001e-4, 30, 4000)
    integrand = universe.power(k) * top_hat(8 * k) ** 2 * k**3 / (2 * np.pi**2)
    variance = np.sum(0.5 * (integrand[1:] + integrand[:-1]) * np.diff(np.log(k)))
    assert np.sqrt(variance) == pytest.approx(sigma_8, rel=0.01)


def test_sigma_8_is_the_scatter_of_spheres_in_linear_fields() -> None:
    universe, boxes = Universe(np.array([0.3, SIGMA_8, 0.96, 0.7])), 8
    grid = lpt.Grid(64, 256.0)
    k = full_wave_numbers(grid.side, grid.box)
    k[0, 0, 0] = 1.0
    filtered = top_hat(8 * k)
    random = np.random.default_rng(12)
    variances = []
    for _ in range(boxes):
        modes = lpt.linear_modes(grid, universe.power, random)
        field = field_of(modes * filtered[..., : grid.side // 2 + 1])
        variances.append(field.var())
    shares = universe.power(k.ravel()).reshape(k.shape) * filtered**2 / grid.box**3
    shares[0, 0, 0] = 0
    # each mode's share scatters as a chi-square with its conjugate's: 2 share^2
    scatter = np.sqrt(2 * (shares**2).sum() / boxes)
    assert abs(np.mean(variances) - shares.sum()) < 4 * scatter
    assert 4 * scatter < 0.1 * SIGMA_8**2
    # the box lacks waves longer than itself, and cuts those shorter than two points
    assert shares.sum() == pytest.approx(SIGMA_8**2, rel=0.05)
