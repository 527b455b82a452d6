"""The CosmoFlow model has the size, range and gradients of the reference; its losses are means."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from augury.errors import ConfigError
from augury.workloads import get_workload
from augury.workloads.cosmoflow import Standardise, errors, loss, make_model

SMALL = {"conv_channels": 2, "num_conv": 2, "dense": [5], "dropout": 0.25}


def size_of(model: nn.Module) -> int:
    return sum(parameter.numel() for parameter in model.parameters())


def expected_size(
    shape: tuple[int, ...], conv: int, blocks: int, kernel: int, dense: list[int], *, whole: bool
) -> int:
    """Weights and biases, layer by layer."""
    channels = [shape[0], *(conv * 2**block for block in range(blocks))]
    total = sum((before * kernel**3 + 1) * after for before, after in pairwise(channels))
    voxels = int(np.prod([side // 2**blocks for side in shape[1:]])) if whole else 1
    sizes = [channels[-1] * voxels, *dense, 4]
    return int(total + sum((before + 1) * after for before, after in pairwise(sizes)))


# Size and shape


def test_the_default_model_has_the_size_of_the_reference() -> None:
    shape = (4, 128, 128, 128)
    with torch.device("meta"):
        model = make_model({}, shape)
    assert size_of(model) == 8_907_556
    assert size_of(model) == expected_size(shape, 32, 5, 3, [128, 64], whole=True)


@pytest.mark.parametrize("head", ["flatten", "average"])
@pytest.mark.parametrize("kernel", [1, 3, 5])
@pytest.mark.parametrize("shape", [(1, 4, 4, 4), (3, 8, 8, 8), (2, 8, 4, 9)])
def test_the_size_follows_from_the_settings(shape: tuple[int, ...], kernel: int, head: str) -> None:
    settings = {**SMALL, "kernel": kernel, "head": head, "dense": [7, 3]}
    model = make_model(settings, shape)
    whole = head == "flatten"
    assert size_of(model) == expected_size(shape, 2, 2, kernel, [7, 3], whole=whole)
    assert model(torch.zeros(2, *shape)).shape == (2, 4)


def test_an_average_head_has_the_same_parameters_for_fields_of_any_size() -> None:
    shapes = [
        [parameter.shape for parameter in make_model(settings, (4, side, side, side)).parameters()]
        for settings in ({**SMALL, "head": "average"}, SMALL)
        for side in (8, 16)
    ]
    assert shapes[0] == shapes[1]
    assert shapes[2] != shapes[3]


def test_an_average_head_sees_the_mean_and_not_the_place() -> None:
    """With kernels of one voxel, moving the field by whole pools moves nothing in the answer."""
    field = torch.rand(2, 4, 8, 8, 8)
    moved = torch.roll(field, (4, 0, 4), dims=(2, 3, 4))
    answers = {}
    for head in ("average", "flatten"):
        torch.manual_seed(1)
        model = make_model({**SMALL, "kernel": 1, "head": head}, (4, 8, 8, 8)).eval()
        answers[head] = float((model(field) - model(moved)).abs().max().detach())
    assert answers["average"] < 1e-6 < 1e-3 < answers["flatten"]


def test_an_average_head_gives_a_field_and_its_repetition_the_same_answer() -> None:
    torch.manual_seed(1)
    small, large = (
        make_model({**SMALL, "kernel": 1, "head": "average"}, (4, side, side, side)).eval()
        for side in (8, 16)
    )
    large.load_state_dict(small.state_dict())
    field = torch.rand(2, 4, 8, 8, 8)
    assert torch.allclose(small(field), large(field.repeat(1, 1, 2, 2, 2)), atol=1e-6)


# Values


def numpy_forward(model: nn.Sequential, field: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """One sample through blocks of 1-voxel kernels and the dense layers, written out."""
    x = field
    parameters = [parameter.detach().numpy() for parameter in model.parameters()]
    weights = list(zip(parameters[::2], parameters[1::2], strict=True))

    def leaky(value: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        return np.where(value > 0, value, 0.3 * value)

    for weight, bias in weights[:2]:
        x = leaky(np.einsum("oc,cdhw->odhw", weight[:, :, 0, 0, 0], x) + bias[:, None, None, None])
        channels, *sides = x.shape
        pools = [part for side in sides for part in (side // 2, 2)]
        x = x.reshape(channels, *pools).max(axis=(2, 4, 6))
    x = leaky(weights[2][0] @ x.ravel() + weights[2][1])
    return np.asarray(1.2 * np.tanh(weights[3][0] @ x + weights[3][1]))


def test_the_layers_are_those_of_the_reference_in_their_order() -> None:
    torch.manual_seed(2)
    model = make_model({**SMALL, "kernel": 1}, (3, 8, 8, 4)).double().eval()
    for parameter in model.parameters():  # biases too
        nn.init.normal_(parameter, std=0.3)
    fields = torch.randn(3, 3, 8, 8, 4, dtype=torch.float64)
    answers = model(fields).detach().numpy()
    for field, answer in zip(fields.numpy(), answers, strict=True):
        assert answer == pytest.approx(numpy_forward(model, field), abs=1e-12)


def test_a_convolution_keeps_the_sides_of_its_field() -> None:
    model = make_model({**SMALL, "num_conv": 1, "kernel": 5}, (1, 6, 8, 10))
    assert model[0](torch.zeros(1, 1, 6, 8, 10)).shape == (1, 2, 6, 8, 10)


def test_predictions_reach_beyond_the_labels_and_end_at_one_point_two() -> None:
    torch.manual_seed(3)
    model = make_model(SMALL, (4, 8, 8, 8)).eval()
    answers = model(1e4 * torch.randn(8, 4, 8, 8, 8)).detach()
    assert answers.abs().max() > 1
    assert answers.abs().max() <= np.float32(1.2)


def test_the_model_computes_in_float64_when_it_is_asked_to() -> None:
    settings = {**SMALL, "input_mean": [1.0], "input_std": [2.0]}
    model = make_model(settings, (1, 4, 4, 4)).double().eval()
    answer = model(torch.rand(2, 1, 4, 4, 4, dtype=torch.float64))
    assert answer.dtype == torch.float64
    assert torch.isfinite(answer).all()


def test_weights_begin_glorot_uniform_and_biases_at_zero() -> None:
    torch.manual_seed(4)
    model = make_model({"conv_channels": 8, "num_conv": 2, "dense": [64]}, (4, 16, 16, 16))
    for layer in model:
        if isinstance(layer, nn.Conv3d | nn.Linear):
            assert layer.bias is not None
            assert not layer.bias.any()
            outputs, inputs, *kernel = layer.weight.shape
            limit = np.sqrt(6 / ((inputs + outputs) * np.prod(kernel)))
            weights = layer.weight.detach().numpy()
            assert np.abs(weights).max() <= limit
            # of a uniform distribution: limit / sqrt(3), known to some 1 / sqrt(N)
            spread = weights.std() * np.sqrt(3) / limit
            assert abs(spread - 1) < 4 / np.sqrt(weights.size)


def test_equal_seeds_make_equal_models() -> None:
    models = []
    for seed in (5, 5, 6):
        torch.manual_seed(seed)
        models.append(
            torch.cat([p.flatten() for p in make_model(SMALL, (1, 4, 4, 4)).parameters()])
        )
    assert torch.equal(models[0], models[1])
    assert not torch.equal(models[0], models[2])


def test_a_step_with_the_default_settings_has_finite_gradients_everywhere() -> None:
    torch.manual_seed(7)
    shape = (4, 32, 32, 32)
    model = make_model({}, shape)
    counts = torch.poisson(torch.full((2, *shape), 8.0))
    total = loss(model(torch.log1p(counts)), torch.rand(2, 4) * 2 - 1).sum()
    torch.autograd.backward(total)
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert torch.isfinite(parameter.grad).all(), name
        assert parameter.grad.any(), name


def test_dropout_is_for_training_only() -> None:
    torch.manual_seed(8)
    model = make_model({**SMALL, "dense": [64]}, (1, 4, 4, 4))
    field = torch.rand(1, 1, 4, 4, 4)
    assert not torch.equal(model.train()(field), model(field))
    assert torch.equal(model.eval()(field), model(field))


def test_dropout_drops_the_share_that_is_set() -> None:
    torch.manual_seed(9)
    model = make_model({**SMALL, "dense": [64, 32], "dropout": 0.3}, (1, 4, 4, 4)).train()
    dropouts = [layer for layer in model if isinstance(layer, nn.Dropout)]
    assert len(dropouts) == 2
    for dropout in dropouts:
        share = float((dropout(torch.ones(20000)) == 0).float().mean())
        assert abs(share - 0.3) < 4 * np.sqrt(0.3 * 0.7 / 20000)


# Input


def test_standardise_takes_each_channel_by_its_own_numbers() -> None:
    x = torch.rand(2, 3, 2, 2, 2)
    mean, std = (1.0, -2.0, 0.5), (2.0, 0.5, 4.0)
    y = Standardise(mean, std)(x)
    for channel in range(3):
        expected = (x[:, channel].numpy() - mean[channel]) / std[channel]
        assert y[:, channel].numpy() == pytest.approx(expected, abs=1e-6)


def test_a_standardised_input_is_the_first_thing_that_the_model_does() -> None:
    mean, std = [1.0, 2.0], [0.5, 3.0]
    torch.manual_seed(10)
    plain = make_model(SMALL, (2, 4, 4, 4)).eval()
    torch.manual_seed(10)
    model = make_model({**SMALL, "input_mean": mean, "input_std": std}, (2, 4, 4, 4)).eval()
    x = torch.rand(3, 2, 4, 4, 4)
    by_hand = torch.stack([(x[:, at] - mean[at]) / std[at] for at in range(2)], dim=1)
    assert torch.allclose(model(x), plain(by_hand), atol=1e-6)
    assert size_of(model) == size_of(plain)


# Loss and errors


def test_loss_and_errors_are_means_over_the_parameters_of_each_sample() -> None:
    random = np.random.default_rng(1)
    prediction, labels = random.normal(size=(2, 5, 4))
    there = torch.from_numpy(prediction), torch.from_numpy(labels)
    squares = [sum((p - q) ** 2 for p, q in zip(*pair, strict=True)) / 4
               for pair in zip(prediction, labels, strict=True)]  # fmt: skip
    sizes = [sum(abs(p - q) for p, q in zip(*pair, strict=True)) / 4
             for pair in zip(prediction, labels, strict=True)]  # fmt: skip
    assert loss(*there).tolist() == pytest.approx(squares, rel=1e-12)
    assert errors(*there).tolist() == pytest.approx(sizes, rel=1e-12)


def test_nothing_is_lost_on_a_perfect_prediction() -> None:
    labels = torch.rand(3, 4)
    assert loss(labels, labels).tolist() == errors(labels, labels).tolist() == [0.0] * 3


# Settings that cannot work


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"conv_chanels": 8}, "model.conv_chanels: unknown key, did you mean conv_channels?"),
        ({"conv_channels": 0}, "model.conv_channels, num_conv and kernel: must be at least 1"),
        ({"num_conv": 0}, "model.conv_channels, num_conv and kernel: must be at least 1"),
        ({"kernel": 0}, "model.conv_channels, num_conv and kernel: must be at least 1"),
        ({"kernel": 2.5}, "model.kernel: 2.5 is not a whole number"),
        ({"dense": [8, 0]}, "model.dense: sizes must be at least 1, are [8, 0]"),
        ({"dense": [-8]}, "model.dense: sizes must be at least 1, are [-8]"),
        ({"dropout": 1.0}, "model.dropout: must be in [0, 1), is 1.0"),
        ({"dropout": -0.1}, "model.dropout: must be in [0, 1), is -0.1"),
        ({"dropout": float("nan")}, "model.dropout: must be in [0, 1), is nan"),
        ({"head": "max"}, "model.head: 'max' is not one of 'flatten', 'average'"),
        ({"input_mean": [1.0, 1.0]}, "model.input_mean, input_std: one pair for each channel"),
        (
            {"input_mean": [1.0, 1.0], "input_std": [1.0, 0.0]},
            "model.input_mean, input_std: one pair for each channel, std above 0",
        ),
        (
            {"input_mean": [1.0] * 3, "input_std": [1.0] * 3},
            "model.input_mean: 3 values for 2 channels",
        ),
        (
            {"num_conv": 3},
            "model.num_conv: 3 blocks need at least 8 voxels a side, samples are (2, 8, 4, 8)",
        ),
    ],
)
def test_settings_that_cannot_work_are_refused_by_name(
    settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        make_model({"num_conv": 2, **settings}, (2, 8, 4, 8))
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("shape", [(8, 8, 8), (1, 4, 8, 8, 8), ()])
def test_samples_without_channels_or_with_more_axes_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ConfigError) as caught:
        make_model(SMALL, shape)
    assert str(caught.value) == f"model: samples are {shape}, CosmoFlow's are (C, D, H, W)"


# The workload


def test_cosmoflow_is_found_by_its_name() -> None:
    workload = get_workload("cosmoflow")
    assert (workload.name, workload.stages) == ("cosmoflow", ("log1p",))
    assert (workload.loss, workload.errors) == (loss, errors)
    assert size_of(workload.model(SMALL, (1, 4, 4, 4))) == size_of(make_model(SMALL, (1, 4, 4, 4)))


@pytest.mark.parametrize(
    ("name", "hint"),
    [("cosmo_flow", ", did you mean cosmoflow?"), ("weather", "; there is cosmoflow")],
)
def test_an_unknown_workload_is_refused_with_what_there_is(name: str, hint: str) -> None:
    with pytest.raises(ConfigError) as caught:
        get_workload(name)
    assert str(caught.value) == f"workload: {name!r} does not exist{hint}"
