"""Particles moved by second-order Lagrangian perturbation theory (2LPT), counted on a grid.

Positions follow x(q) = q + D1 psi1(q) + D2 psi2(q) with

    psi1 = -grad phi1,   laplace phi1 = delta
    psi2 = +grad phi2,   laplace phi2 = sum over i>j of phi1,ii phi1,jj - (phi1,ij)^2

for the linear density contrast delta at redshift 0 (Bouchet, Colombi, Hivon and Juszkiewicz
1995, A&A 296, 575; the notation is that of Scoccimarro 1998, MNRAS 299, 1097). Lengths are
in Mpc/h, wave numbers in h/Mpc; fields are periodic and float32, which is exact enough for
counting particles in voxels.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import fft

Field = NDArray[np.float32]
Modes = NDArray[np.complex64]
Power = Callable[[NDArray[np.float64]], NDArray[np.float64]]


@dataclass(frozen=True, slots=True)
class Grid:
    """A periodic cube of `side`^3 points with edges of `box` Mpc/h."""

    side: int
    box: float

    def axes(self) -> tuple[Field, Field, Field]:
        """Wave numbers along each axis of a real-to-complex transform, shaped to broadcast.

        The Nyquist component is zero: the derivative of a real field has none there.
        """
        step = 2 * np.pi / self.box
        full = np.fft.fftfreq(self.side, 1 / self.side)
        half = np.fft.rfftfreq(self.side, 1 / self.side)
        if self.side % 2 == 0:
            full[self.side // 2] = half[-1] = 0.0
        x, y, z = (step * full, step * full, step * half)
        return (
            x[:, None, None].astype(np.float32),
            y[None, :, None].astype(np.float32),
            z[None, None, :].astype(np.float32),
        )

    def wave_numbers(self) -> NDArray[np.float64]:
        """|k| of every mode of a real-to-complex transform, float64 [side, side, side//2 + 1]."""
        step = 2 * np.pi / self.box
        full = step * np.fft.fftfreq(self.side, 1 / self.side)
        half = step * np.fft.rfftfreq(self.side, 1 / self.side)
        squares = full[:, None, None] ** 2 + full[None, :, None] ** 2 + half[None, None, :] ** 2
        return np.asarray(np.sqrt(squares))


def linear_modes(grid: Grid, power: Power, random: np.random.Generator) -> Modes:
    """Fourier modes of one Gaussian realisation of the linear density contrast.

    White noise of unit variance is coloured by sqrt(P(k) side^3 / box^3), so that
    <|delta_k|^2> = side^6 P(k) / box^3 in the convention of an unnormalised transform.

    Args:
        power: P(k) in (Mpc/h)^3 at wave numbers in h/Mpc, both float64 [K].

    Returns:
        complex64 [side, side, side//2 + 1]; the mean of the field is zero.
    """
    noise = random.standard_normal((grid.side,) * 3, dtype=np.float32)
    k = grid.wave_numbers()
    k.flat[0] = 1.0  # any positive number: this mode is removed below
    colour = np.sqrt(power(k.ravel()).reshape(k.shape) * (grid.side / grid.box) ** 3)
    modes = fft.rfftn(noise) * colour.astype(np.float32)
    modes.flat[0] = 0.0
    return np.asarray(modes, dtype=np.complex64)


def displacements(grid: Grid, modes: Modes) -> tuple[Field, Field]:
    """The first- and second-order displacement fields at redshift 0, without growth factors.

    Args:
        modes: those of the linear density contrast, as `linear_modes` gives them.

    Returns:
        psi1, psi2: float32 [3, side, side, side] in Mpc/h.
    Cost: 13 inverse and one forward transform.
    """
    k = grid.axes()
    inverse: Modes = _inverse_laplace(grid) * modes  # -phi1 in Fourier space
    shape = (grid.side,) * 3

    def derivative(*axes: int) -> Field:
        factor: Modes = inverse
        for axis in axes:
            factor = factor * (1j * k[axis]).astype(np.complex64)
        return np.asarray(fft.irfftn(factor, shape))

    psi1 = np.stack([derivative(axis) for axis in range(3)])
    xx, yy, zz = derivative(0, 0), derivative(1, 1), derivative(2, 2)
    source = xx * yy + yy * zz + zz * xx
    for first, second in ((0, 1), (1, 2), (0, 2)):
        source -= derivative(first, second) ** 2
    inverse = (-_inverse_laplace(grid) * fft.rfftn(source)).astype(np.complex64)
    psi2 = np.stack([derivative(axis) for axis in range(3)])
    return psi1, psi2


def _inverse_laplace(grid: Grid) -> Field:
    """1/k^2, and zero where k vanishes: the negative of the inverse Laplace operator.

    k is whole here: the Nyquist components that `axes` leaves out count in |k|.
    """
    square = grid.wave_numbers() ** 2
    inverse = np.zeros_like(square)
    np.divide(1.0, square, out=inverse, where=square > 0)
    return np.asarray(inverse, dtype=np.float32)


def moved(grid: Grid, psi1: Field, psi2: Field, d1: float, d2: float) -> Field:
    """Positions of particles that started on the grid, float32 [3, side, side, side], Mpc/h.

    They may lie outside the box by the distance moved.
    """
    start = (np.arange(grid.side, dtype=np.float32) + np.float32(0.5)) * np.float32(
        grid.box / grid.side
    )
    at = np.float32(d1) * psi1 + np.float32(d2) * psi2
    at[0] += start[:, None, None]
    at[1] += start[None, :, None]
    at[2] += start[None, None, :]
    return at


def count(positions: Field, voxels: Grid) -> NDArray[np.int16]:
    """Particles in each voxel (nearest grid point), int16 [side, side, side].

    Raises:
        OverflowError: a voxel holds more particles than an int16 can say.
    """
    scale = np.float32(voxels.side / voxels.box)
    x, y, z = np.floor(positions.reshape(3, -1) * scale).astype(np.int64) % voxels.side
    flat = np.bincount((x * voxels.side + y) * voxels.side + z, minlength=voxels.side**3)
    if flat.max(initial=0) > np.iinfo(np.int16).max:
        raise OverflowError(f"{flat.max()} particles in one voxel; int16 holds 32767")
    return flat.astype(np.int16).reshape((voxels.side,) * 3)
