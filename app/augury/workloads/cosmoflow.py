"""CosmoFlow: cosmological parameters from the distribution of matter.

The model is the one of the MLPerf HPC reference (mlcommons/hpc, cosmoflow): blocks of a "same"
convolution, LeakyReLU(0.3) and max-pooling by 2, the channels doubling from block to block,
then two dense layers with dropout and a tanh output scaled by 1.2. With its default settings
and samples of 4 x 128^3 it has 8,907,556 parameters.

Tensors: B batch, C channels, D H W voxels, P cosmological parameters.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import nn

from augury.config import build
from augury.errors import ConfigError
from augury.workloads.workload import Workload

NUM_PARAMETERS = 4
_SLOPE = 0.3
_OUTPUT_SCALE = 1.2
_POOLS = {"max": nn.MaxPool3d, "average": nn.AvgPool3d}


@dataclass(frozen=True, kw_only=True, slots=True)
class CosmoFlowSettings:
    """Settings of the model; the defaults are the reference's."""

    conv_channels: int = 32
    """Channels of the first block; each block has twice those of the one before."""

    num_conv: int = 5
    """Blocks of convolution and pooling; each halves the sides of the field."""

    kernel: int = 3
    """Side of the convolution kernels."""

    dense: tuple[int, ...] = (128, 64)
    """Sizes of the dense layers before the output."""

    dropout: float = 0.5
    """Share of dense activations dropped in training."""

    head: Literal["flatten", "average"] = "flatten"
    """`flatten`: the dense layers see every remaining voxel (the reference). `average`: they see
    the mean over them, which suits small fields: the universe has no preferred place."""

    pool: Literal["max", "average"] = "max"
    """`max` (the reference) or `average`: how each block halves the field."""

    input_mean: tuple[float, ...] = ()
    """Subtracted from each channel of the decoded input; empty: nothing is (the reference)."""

    input_std: tuple[float, ...] = ()
    """Divides each channel after that."""

    def __post_init__(self) -> None:
        if self.conv_channels < 1 or self.num_conv < 1 or self.kernel < 1:
            raise ConfigError("conv_channels, num_conv and kernel: must be at least 1")
        if min(self.dense, default=1) < 1:
            raise ConfigError(f"dense: sizes must be at least 1, are {list(self.dense)}")
        if not 0 <= self.dropout < 1:
            raise ConfigError(f"dropout: must be in [0, 1), is {self.dropout}")
        positive = all(std > 0 for std in self.input_std)
        if len(self.input_mean) != len(self.input_std) or not positive:
            raise ConfigError("input_mean, input_std: one pair for each channel, std above 0")


class Standardise(nn.Module):
    """(x - mean) / std for each channel, with constants."""

    mean: torch.Tensor
    std: torch.Tensor

    def __init__(self, mean: tuple[float, ...], std: tuple[float, ...]) -> None:
        super().__init__()
        shape = (1, -1, 1, 1, 1)
        self.register_buffer("mean", torch.tensor(mean).view(shape), persistent=False)
        self.register_buffer("std", torch.tensor(std).view(shape), persistent=False)

    def forward(self, x_BCDHW: torch.Tensor) -> torch.Tensor:
        """The standardised input, same shape."""
        return (x_BCDHW - self.mean) / self.std


class ScaledTanh(nn.Module):
    """1.2 tanh(x): reaches the ends of [-1, 1] without saturating."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Values in (-1.2, 1.2), same shape."""
        return _OUTPUT_SCALE * torch.tanh(x)


def make_model(table: Mapping[str, Any], sample_shape: tuple[int, ...]) -> nn.Sequential:
    """The CosmoFlow network for samples of `sample_shape` = (C, D, H, W).

    Returns:
        x_BCDHW -> prediction_BP, P = 4, each in (-1.2, 1.2).

    Raises:
        ConfigError: an unknown setting, or a sample that the blocks cannot halve.
    """
    settings = build(CosmoFlowSettings, table, "model")
    channels, *sides = _checked(settings, sample_shape)
    layers: list[nn.Module] = []
    if settings.input_mean:
        layers.append(Standardise(settings.input_mean, settings.input_std))
    for block in range(settings.num_conv):
        wider = settings.conv_channels * 2**block
        layers += [
            nn.Conv3d(channels, wider, settings.kernel, padding="same"),
            nn.LeakyReLU(_SLOPE),
            _POOLS[settings.pool](2),
        ]
        channels, sides = wider, [side // 2 for side in sides]
    if settings.head == "average":
        layers.append(nn.AdaptiveAvgPool3d(1))
        sides = [1, 1, 1]
    layers.append(nn.Flatten())
    features = channels * sides[0] * sides[1] * sides[2]
    for size in settings.dense:
        layers += [nn.Linear(features, size), nn.LeakyReLU(_SLOPE), nn.Dropout(settings.dropout)]
        features = size
    layers += [nn.Linear(features, NUM_PARAMETERS), ScaledTanh()]
    return _initialised(nn.Sequential(*layers))


def _checked(settings: CosmoFlowSettings, sample_shape: tuple[int, ...]) -> tuple[int, ...]:
    if len(sample_shape) != 4:
        raise ConfigError(f"model: samples are {sample_shape}, CosmoFlow's are (C, D, H, W)")
    least = 2**settings.num_conv
    if min(sample_shape[1:]) < least:
        raise ConfigError(
            f"model.num_conv: {settings.num_conv} blocks need at least {least} voxels a side, "
            f"samples are {sample_shape}"
        )
    if settings.input_mean and len(settings.input_mean) != sample_shape[0]:
        raise ConfigError(
            f"model.input_mean: {len(settings.input_mean)} values for {sample_shape[0]} channels"
        )
    return sample_shape


def _initialised(model: nn.Sequential) -> nn.Sequential:
    """Glorot-uniform weights and zero biases, as the reference's framework does by default."""
    for module in model.modules():
        if isinstance(module, nn.Conv3d | nn.Linear):
            nn.init.xavier_uniform_(module.weight)
            if module.bias is not None:
                nn.init.zeros_(module.bias)
    return model


def loss(prediction_BP: torch.Tensor, labels_BP: torch.Tensor) -> torch.Tensor:
    """Mean squared error over the parameters, for each sample, [B]."""
    return ((prediction_BP - labels_BP) ** 2).mean(dim=1)


def errors(prediction_BP: torch.Tensor, labels_BP: torch.Tensor) -> torch.Tensor:
    """Mean absolute error over the parameters, for each sample, [B]."""
    return (prediction_BP - labels_BP).abs().mean(dim=1)


COSMOFLOW = Workload(
    name="cosmoflow",
    benchmark="cosmoflow",
    stages=("log1p",),
    model=make_model,
    loss=loss,
    errors=errors,
    metric="eval_error",
)
