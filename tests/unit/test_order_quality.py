"""The order is as random as NumPy's permutation, by tests that catch permutations which are not.

Each test gives a p-value for a set of epochs, an array [epochs, num_samples]. Good orders and
NumPy's permutations must stay above a threshold, and each test must reject, with the same
threshold, a permutation that is bad in the way that the test looks for. Seeds are fixed, so
that the outcome is, too; the threshold leaves room for all the p-values of this file.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from augury import _native

Epochs = NDArray[np.int64]

THRESHOLD = 1e-4
SEED = 20


def feistel(num_samples: int, epochs: int) -> Epochs:
    positions = np.arange(num_samples, dtype=np.uint64)
    rows = [_native.order_samples(num_samples, SEED, epoch, positions) for epoch in range(epochs)]
    return np.array(rows, dtype=np.int64)


def numpy_permutations(num_samples: int, epochs: int) -> Epochs:
    generator = np.random.default_rng(SEED)
    return generator.permuted(np.tile(np.arange(num_samples), (epochs, 1)), axis=1)


def rotations(num_samples: int, epochs: int) -> Epochs:
    """Every position sees every sample equally often, but neighbours stay neighbours."""
    starts = np.random.default_rng(SEED).integers(num_samples, size=(epochs, 1))
    return (np.arange(num_samples) + starts) % num_samples


def lazy(num_samples: int, epochs: int) -> Epochs:
    """A random permutation in which one sample in ten never leaves its place."""
    samples = numpy_permutations(num_samples, epochs)
    for position in range(0, num_samples, 10):
        rows = np.arange(epochs)
        where = (samples == position).argmax(axis=1)
        samples[rows, where] = samples[rows, position]
        samples[rows, position] = position
    return samples


def repeating(num_samples: int, epochs: int) -> Epochs:
    """Every second epoch repeats a part of the one before."""
    samples = numpy_permutations(num_samples, epochs)
    changed = samples[1::2]
    changed[:] = samples[0::2][: len(changed)]
    half = num_samples // 2
    np.random.default_rng(SEED).permuted(changed[:, half:], axis=1, out=changed[:, half:])
    return samples


def even_only(num_samples: int, epochs: int) -> Epochs:
    """Random among the even permutations, as a plain Feistel network is."""
    samples = numpy_permutations(num_samples, epochs)
    odd = is_odd(samples)
    samples[odd, 0], samples[odd, 1] = samples[odd, 1], samples[odd, 0]
    return samples


def is_odd(samples: Epochs) -> NDArray[np.bool_]:
    inversions = np.zeros(len(samples), dtype=np.int64)
    for position in range(samples.shape[1] - 1):
        inversions += (samples[:, position + 1 :] < samples[:, position, None]).sum(axis=1)
    return np.equal(inversions % 2, 1)


def pairs_p(samples: Epochs) -> float:
    """Chi-square of (position, sample) pairs, in at most 64 x 64 cells."""
    epochs, num_samples = samples.shape
    cells = min(num_samples, 64)
    cell_of = np.arange(num_samples) * cells // num_samples
    size = np.bincount(cell_of)
    table = np.zeros((cells, cells))
    np.add.at(table, (np.broadcast_to(cell_of, samples.shape), cell_of[samples]), 1)
    expected = epochs * np.outer(size, size) / num_samples
    # A permutation fills cells more evenly than independent draws: scaled to (cells - 1)^2
    # degrees of freedom by (n - 1) / n, exactly so when every cell is one sample.
    statistic = ((table - expected) ** 2 / expected).sum() * (num_samples - 1) / num_samples
    return float(stats.chi2.sf(statistic, (cells - 1) ** 2))


def serial_p(samples: Epochs) -> float:
    """Serial correlation of neighbouring samples: -1 / (n - 1) in the mean of all permutations."""
    num_samples = samples.shape[1]
    centred = samples - (num_samples - 1) / 2
    variance = (num_samples**2 - 1) / 12
    products = (centred[:, 1:] * centred[:, :-1]).mean(axis=1) / variance
    deviation = products + 1 / (num_samples - 1)
    score = deviation.mean() / (deviation.std(ddof=1) / np.sqrt(len(samples)))
    return float(2 * stats.norm.sf(abs(score)))


def steps_p(samples: Epochs) -> float:
    """Chi-square of the step from a sample to the next, modulo n: every step is as likely."""
    num_samples = samples.shape[1]
    steps = np.diff(samples, axis=1) % num_samples
    edges = np.linspace(1, num_samples, min(num_samples - 1, 64) + 1)
    counts, _ = np.histogram(steps, bins=edges)
    sizes, _ = np.histogram(np.arange(1, num_samples), bins=edges)
    return float(stats.chisquare(counts, steps.size * sizes / sizes.sum()).pvalue)


def epochs_p(samples: Epochs) -> float:
    """Places that keep their sample from one epoch to the next are Poisson with mean 1."""
    kept = int((samples[1:] == samples[:-1]).sum())
    expected = len(samples) - 1
    return float(2 * min(stats.poisson.cdf(kept, expected), stats.poisson.sf(kept - 1, expected)))


def relative_p(samples: Epochs) -> float:
    """`pairs_p` of the permutation that leads from one epoch to the next."""
    inverse = np.argsort(samples[:-1], axis=1)
    return pairs_p(np.take_along_axis(samples[1:], inverse, axis=1))


def parity_p(samples: Epochs) -> float:
    """Odd and even permutations are as likely."""
    return float(stats.binomtest(int(is_odd(samples).sum()), len(samples)).pvalue)


Test = Callable[[Epochs], float]
TESTS: list[tuple[Test, Callable[[int, int], Epochs]]] = [
    (pairs_p, lazy),
    (serial_p, rotations),
    (steps_p, rotations),
    (epochs_p, repeating),
    (relative_p, repeating),
    (parity_p, even_only),
]
SIZES = [(8, 20_000), (16, 20_000), (24, 20_000), (64, 5_000), (65, 5_000), (1000, 500)]


@pytest.mark.parametrize(("num_samples", "epochs"), SIZES)
@pytest.mark.parametrize(("test", "bad"), TESTS, ids=[test.__name__ for test, _ in TESTS])
def test_the_order_passes_what_numpy_passes_and_a_bad_one_fails(
    test: Test, bad: Callable[[int, int], Epochs], num_samples: int, epochs: int
) -> None:
    assert test(numpy_permutations(num_samples, epochs)) > THRESHOLD
    assert test(feistel(num_samples, epochs)) > THRESHOLD
    assert test(bad(num_samples, epochs)) < THRESHOLD


@pytest.mark.parametrize("num_samples", [16_385, 65_536, 100_003])
def test_a_single_long_epoch_is_random(num_samples: int) -> None:
    for samples in (numpy_permutations(num_samples, 8), feistel(num_samples, 8)):
        assert pairs_p(samples) > THRESHOLD
        assert serial_p(samples) > THRESHOLD
        assert steps_p(samples) > THRESHOLD
        assert epochs_p(samples) > THRESHOLD


@pytest.mark.parametrize("num_samples", [3, 4, 5])
def test_every_permutation_of_few_samples_is_as_likely(num_samples: int) -> None:
    samples = feistel(num_samples, 60_000)
    _, counts = np.unique(samples, axis=0, return_counts=True)
    assert len(counts) == np.prod(np.arange(1, num_samples + 1))
    assert stats.chisquare(counts).pvalue > THRESHOLD
