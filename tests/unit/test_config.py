"""Settings: strict, all mistakes at once, and a written configuration that reruns the job."""

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from augury.config import resolve
from augury.config.sizes import format_bytes, parse_bytes
from augury.errors import ConfigError

MINIMAL = """
workload = "cosmoflow"
output = "runs/x"
[data]
path = "data/x"
[train]
epochs = 2
batch = 8
[optimizer]
learning_rate = 1
"""


@pytest.fixture
def minimal(tmp_path: Path) -> Path:
    file = tmp_path / "c.toml"
    file.write_text(MINIMAL)
    return file


def test_defaults_fill_what_the_file_leaves_out(minimal: Path) -> None:
    config = resolve(minimal).config
    assert (config.seed, config.loader.order, config.loader.ram) == (1, "feistel", 0)
    assert config.optimizer.learning_rate == 1.0


def test_set_wins_over_the_file_and_needs_no_quotes(minimal: Path) -> None:
    found = resolve(minimal, ["train.epochs=7", "data.path=/scratch/my data", "loader.ram=8GiB"])
    assert found.config.train.epochs == 7
    assert found.config.data.path == "/scratch/my data"
    assert found.config.loader.ram == 8 * 2**30


def test_all_mistakes_are_reported_in_one_message(minimal: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        resolve(
            minimal,
            ["train.epoch=7", "loader.order=random", "train.batch=two", "wold.ranks=2", "seed=-1"],
        )
    text = str(caught.value)
    assert "train.epoch: unknown key, did you mean epochs?" in text
    assert "loader.order: 'random' is not one of 'feistel', 'torch'" in text
    assert "train.batch: 'two' is not a whole number" in text
    assert "wold: unknown key, did you mean world?" in text
    assert str(minimal) in text


@pytest.mark.parametrize(
    ("override", "part"),
    [
        ("train.batch=0", "train.batch: must be at least 1, is 0"),
        ("train.batch=true", "train.batch: True is not a whole number"),
        ("loader.depth=1", "loader.depth: must be at least 2, is 1"),
        ("loader.ram=8 apples", "loader.ram: '8 apples' is not a size"),
        ("loader.ram=-5", "loader.ram: -5 is not a size"),
        ("schedule.decay_epochs=[1, 2]", "schedule.decay_factors: 0 values for 2 decay_epochs"),
        ("seed=-1", "seed: must be at least 0 and below 2^63, is -1"),
        (f"seed={2**63}", "seed: must be at least 0 and below 2^63"),
        ("loader.threads=100000", "loader.threads: must be from 1 to 256, is 100000"),
        ("data=3", "data: must be a table, is 3"),
        ("data.path.x=3", "--set data.path.x: data.path is a value, not a table"),
        ("train.epochs", "--set train.epochs: write key=value"),
        ("data.path=7", "data.path: 7 is not a string"),
    ],
)
def test_each_mistake_names_its_key(minimal: Path, override: str, part: str) -> None:
    with pytest.raises(ConfigError) as caught:
        resolve(minimal, [override])
    assert part in str(caught.value)


def test_a_missing_key_is_named(tmp_path: Path) -> None:
    file = tmp_path / "c.toml"
    file.write_text('workload = "cosmoflow"\n[train]\nepochs = 1\n')
    with pytest.raises(ConfigError) as caught:
        resolve(file)
    for name in ("output: missing", "data: missing", "train.batch: missing", "optimizer: missing"):
        assert name in str(caught.value)


@pytest.mark.parametrize("content", [b"a = ", b"\xff\xfe\x00"])
def test_a_file_that_is_not_toml_is_named(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "c.toml"
    file.write_bytes(content)
    with pytest.raises(ConfigError, match="not TOML"):
        resolve(file)
    with pytest.raises(ConfigError, match="cannot be read: No such file"):
        resolve(tmp_path / "other.toml")


def test_the_written_configuration_gives_the_same_job(minimal: Path, tmp_path: Path) -> None:
    first = resolve(minimal, ["train.target=0.3", "schedule.decay_epochs=[3]",
                              "schedule.decay_factors=[0.5]", "model.dropout=0.1",
                              'output=a "quoted" name # with a hash'])  # fmt: skip
    again = tmp_path / "again.toml"
    again.write_text(first.to_toml())
    assert resolve(again).config == first.config


def test_the_written_configuration_names_the_origin_of_every_value(minimal: Path) -> None:
    text = resolve(minimal, ["train.batch=4"]).to_toml()
    tomllib.loads(text)
    assert "batch = 4  # --set" in text
    assert "epochs = 2  # c.toml" in text
    assert "depth = 4  # default" in text


@given(st.integers(0, 2**60))
def test_a_plain_number_is_bytes(count: int) -> None:
    assert parse_bytes(count) == parse_bytes(str(count)) == count


@pytest.mark.parametrize(
    ("text", "count"),
    [("8GiB", 8 * 2**30), ("1.5 TB", 1_500_000_000_000), ("2kb", 2000), ("7 B", 7), ("0", 0)],
)
def test_sizes_with_units(text: str, count: int) -> None:
    assert parse_bytes(text) == count


@pytest.mark.parametrize("text", ["", "GiB", "1 GiBB", "-1", "1e9", "0x10", "1,5GB"])
def test_what_is_not_a_size_is_refused(text: str) -> None:
    with pytest.raises(ConfigError):
        parse_bytes(text)


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0 B"), (1023, "1023 B"), (1536, "1.5 KiB"), (2**50 * 3, "3.0 PiB")]
)
def test_sizes_for_people(count: int, text: str) -> None:
    assert format_bytes(count) == text
