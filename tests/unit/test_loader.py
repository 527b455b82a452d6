"""Batches of a rank: the samples of its plan, decoded, without copies, and never by surprise."""

from __future__ import annotations

import gc
import threading
from pathlib import Path

import numpy as np
import pytest
import torch

from augury.config import LoaderConfig
from augury.dataset import Index
from augury.errors import DataError
from augury.loader import Loader
from augury.order import FeistelOrder
from augury.plan import Plan

SHAPE = (2, 4, 4, 4)
BYTES = 2 * 64 * 2


def make_index(root: Path, train: int = 23, validation: int = 5) -> tuple[Index, np.ndarray]:
    """A dataset in two raw files: sample numbers in file order, one extent each."""
    total = train + validation
    samples = np.random.default_rng(1).poisson(3.0, (total, *SHAPE)).astype(np.int16)
    cut = total // 2
    samples[:cut].tofile(root / "a.bin")
    samples[cut:].tofile(root / "b.bin")
    first, second = np.arange(cut), np.arange(total - cut)
    index = Index(
        root=root,
        workload="cosmoflow",
        sample_shape=SHAPE,
        sample_dtype="int16",
        label_names=("a", "b"),
        labels=np.arange(2 * total, dtype=np.float32).reshape(total, 2),
        files=("a.bin", "b.bin"),
        file_bytes=np.array([cut * BYTES, (total - cut) * BYTES], dtype=np.uint64),
        extent_file=np.repeat(np.array([0, 1], dtype=np.uint32), [cut, total - cut]),
        extent_offset=(np.concatenate([first, second]) * BYTES).astype(np.uint64),
        extent_length=np.full(total, BYTES, dtype=np.uint64),
        extents_begin=np.arange(total + 1, dtype=np.uint64),
        checksums=np.zeros(total, dtype=np.uint64),
        splits={"train": range(train), "validation": range(train, total)},
        attributes={},
    )
    return index, samples


def make_loader(index: Index, *, epochs: int = 3, rank: int = 0, ranks: int = 1) -> Loader:
    plan = Plan(FeistelOrder(len(index.splits["train"]), seed=9), rank, ranks, batch=4)
    return Loader(index, "train", plan, ["log1p"], LoaderConfig(), epochs=epochs)


@pytest.mark.parametrize("ranks", [1, 2, 3, 5])
def test_every_epoch_delivers_every_sample_once_over_all_ranks(tmp_path: Path, ranks: int) -> None:
    index, samples = make_index(tmp_path)
    seen: list[list[int]] = [[], [], []]
    for rank in range(ranks):
        with make_loader(index, rank=rank, ranks=ranks) as loader:
            for epoch in range(3):
                for batch in loader.epoch(epoch):
                    seen[epoch] += batch.samples.tolist()
                    expected = np.log1p(samples[batch.samples.astype(int)].astype(np.float32))
                    np.testing.assert_allclose(batch.x.numpy(), expected, rtol=2e-7)
                    labels = index.labels[batch.samples.astype(int)]
                    assert np.array_equal(batch.y.numpy(), labels)
    assert [sorted(numbers) for numbers in seen] == [list(range(23))] * 3
    assert seen[0] != seen[1]


def test_an_epoch_can_be_entered_at_any_step(tmp_path: Path) -> None:
    index, _ = make_index(tmp_path)
    with make_loader(index) as whole, make_loader(index) as late:
        all_steps = [batch.samples.tolist() for batch in whole.epoch(0)]
        rest = [batch.samples.tolist() for batch in late.epoch(0, 2)]
        assert rest == all_steps[2:]
        assert next(late.epoch(1)).samples.tolist() == next(whole.epoch(1)).samples.tolist()


def test_tensors_are_views_that_outlive_the_loader(tmp_path: Path) -> None:
    index, _ = make_index(tmp_path)
    loader = make_loader(index)
    batch = next(loader.epoch(0))
    kept, copy = batch.x, batch.x.clone()
    loader.stop()
    del loader, batch
    gc.collect()
    assert torch.equal(kept, copy)


def test_a_kept_batch_is_never_refilled(tmp_path: Path) -> None:
    index, _ = make_index(tmp_path)
    with make_loader(index) as loader:
        stream = loader.epoch(0)
        first = next(stream).x
        copy = first.clone()
        for _ in stream:
            pass
        assert torch.equal(first, copy)


def test_holding_every_batch_of_the_ring_is_an_error_not_a_hang(tmp_path: Path) -> None:
    index, _ = make_index(tmp_path)
    with make_loader(index) as loader:
        stream = loader.epoch(0)
        held = [next(stream) for _ in range(LoaderConfig().depth)]
        with pytest.raises(RuntimeError, match=r"4 batches are still held.*loader\.depth"):
            next(stream)
        assert len(held) == 4


def test_an_epoch_that_was_left_early_is_not_mixed_into_the_next(tmp_path: Path) -> None:
    index, _ = make_index(tmp_path)
    with make_loader(index) as loader:
        next(loader.epoch(0))
        with pytest.raises(RuntimeError, match="left before its end; make a new loader"):
            next(loader.epoch(1))


def test_epochs_come_in_their_order(tmp_path: Path) -> None:
    index, _ = make_index(tmp_path)
    with make_loader(index) as loader:
        assert sum(1 for _ in loader.epoch(0)) == 6
        with pytest.raises(RuntimeError, match="epoch 1 is the next"):
            next(loader.epoch(2))


def test_an_exception_in_the_consumer_leaves_at_once(tmp_path: Path) -> None:
    index, _ = make_index(tmp_path)
    before = threading.active_count()

    def consume() -> None:
        with make_loader(index) as loader:
            for _ in loader.epoch(0):
                raise KeyError("consumer")

    with pytest.raises(KeyError):
        consume()
    assert threading.active_count() == before


def test_a_stopped_loader_says_so(tmp_path: Path) -> None:
    index, _ = make_index(tmp_path)
    loader = make_loader(index)
    loader.stop()
    loader.stop()
    with pytest.raises(RuntimeError, match="stopped"):
        next(loader.epoch(0))


@pytest.mark.parametrize("damage", ["missing", "truncated"])
def test_a_file_that_changed_under_the_run_is_named(tmp_path: Path, damage: str) -> None:
    index, _ = make_index(tmp_path)
    if damage == "missing":
        (tmp_path / "b.bin").unlink()
    else:
        (tmp_path / "b.bin").write_bytes(b"short")
    with make_loader(index) as loader, pytest.raises(DataError, match=r"b\.bin"):
        list(loader.epoch(0))


def test_traffic_is_what_was_read(tmp_path: Path) -> None:
    index, _ = make_index(tmp_path)
    with make_loader(index, epochs=1) as loader:
        batches = [batch.source_bytes for batch in loader.epoch(0)]
        traffic = loader.traffic()
    assert sum(batches) == traffic.source_bytes == 23 * BYTES
    assert (traffic.source_opens, traffic.ram_bytes) == (2, 0)
