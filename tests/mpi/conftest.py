"""A small dataset and a configuration for runs that take seconds."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.harness import augury

CONFIG = """
workload = "cosmoflow"
output = "{folder}/run"
seed = 5

[data]
path = "{data}"

[train]
epochs = 2
batch = 4

[optimizer]
name = "adam"
learning_rate = 1e-3

[loader]
threads = 2

[model]
conv_channels = 4
num_conv = 3
dense = [16, 8]
"""


@pytest.fixture(scope="session")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """37 training and 11 validation samples of 16 voxels a side: nothing divides evenly."""
    folder = tmp_path_factory.mktemp("data") / "tiny"
    done = augury(
        "data", "make", "cosmoflow", folder, "--samples", "37", "--validation", "11",
        "--side", "16", "--seed", "3", "--quiet",
    )  # fmt: skip
    assert done.code == 0, done.err
    return folder


@pytest.fixture
def config(tmp_path: Path, dataset: Path) -> Path:
    """A configuration that trains two epochs on the small dataset into `tmp_path`/run."""
    file = tmp_path / "config.toml"
    file.write_text(CONFIG.format(folder=tmp_path, data=dataset))
    return file
