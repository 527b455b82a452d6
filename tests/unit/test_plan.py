"""The shares of all ranks together are the order, whatever divides what."""

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from augury.errors import ConfigError
from augury.order import FeistelOrder, SequentialOrder, TorchOrder, make_order
from augury.plan import Plan

sizes = st.integers(0, 200)
few = st.integers(1, 7)


@given(
    num_samples=sizes, ranks=few, batch=few, seed=st.integers(0, 2**63), epoch=st.integers(0, 99)
)
@settings(max_examples=200, deadline=None)
def test_every_sample_goes_to_one_rank_once(
    num_samples: int, ranks: int, batch: int, seed: int, epoch: int
) -> None:
    order = FeistelOrder(num_samples, seed)
    shares = [Plan(order, rank, ranks, batch).epoch_share(epoch)[0] for rank in range(ranks)]
    assert np.array_equal(np.sort(np.concatenate(shares)), np.arange(num_samples))


@given(num_samples=sizes, ranks=few, batch=few, epoch=st.integers(0, 9))
@settings(max_examples=100, deadline=None)
def test_a_step_holds_the_same_samples_however_many_ranks_share_it(
    num_samples: int, ranks: int, batch: int, epoch: int
) -> None:
    order = FeistelOrder(num_samples, seed=3)
    alone = Plan(order, 0, 1, batch * ranks)
    samples, ends = alone.epoch_share(epoch)
    for step in range(alone.steps):
        together = []
        for rank in range(ranks):
            mine, my_ends = Plan(order, rank, ranks, batch).epoch_share(epoch)
            begin = my_ends[step - 1] if step else 0
            together.append(mine[begin : my_ends[step]])
            assert len(together[-1]) <= batch
        begin = ends[step - 1] if step else 0
        expected = samples[begin : ends[step]]
        assert alone.global_count(step) == len(expected)
        assert np.array_equal(np.sort(np.concatenate(together)), np.sort(expected))


@given(num_samples=st.integers(1, 200), ranks=few, batch=few, data=st.data())
@settings(max_examples=100, deadline=None)
def test_a_share_from_a_step_on_is_the_end_of_the_whole_share(
    num_samples: int, ranks: int, batch: int, data: st.DataObject
) -> None:
    plan = Plan(FeistelOrder(num_samples, 5), data.draw(st.integers(0, ranks - 1)), ranks, batch)
    first = data.draw(st.integers(0, plan.steps))
    whole, whole_ends = plan.epoch_share(2)
    rest, rest_ends = plan.epoch_share(2, first)
    skipped = int(whole_ends[first - 1]) if first else 0
    assert np.array_equal(rest, whole[skipped:])
    assert np.array_equal(rest_ends, whole_ends[first:] - np.uint64(skipped))


@pytest.mark.parametrize("num_samples", [1, 2, 7, 64, 65, 1000])
@pytest.mark.parametrize("ranks", [1, 2, 3, 8])
@pytest.mark.parametrize("drop_last", [False, True])
@pytest.mark.parametrize(("seed", "epoch"), [(0, 0), (7, 3)])
def test_torch_order_is_the_distributed_samplers(
    num_samples: int, ranks: int, drop_last: bool, seed: int, epoch: int
) -> None:
    dataset = TensorDataset(torch.arange(num_samples))
    order = TorchOrder(num_samples, seed, ranks, drop_last)
    for rank in range(ranks):
        sampler: DistributedSampler[Any] = DistributedSampler(
            dataset, ranks, rank, shuffle=True, seed=seed, drop_last=drop_last
        )
        sampler.set_epoch(epoch)
        share, _ = Plan(order, rank, ranks, 4).epoch_share(epoch)
        assert share.tolist() == list(sampler)


def test_torch_order_gives_the_batches_of_a_dataloader() -> None:
    dataset = TensorDataset(torch.arange(53))
    plan = Plan(TorchOrder(53, 1, 3), 2, 3, 5)
    sampler: DistributedSampler[Any] = DistributedSampler(dataset, 3, 2, shuffle=True, seed=1)
    share, ends = plan.epoch_share(0)
    batches = np.split(share, ends[:-1].astype(int))
    theirs = [batch[0].tolist() for batch in DataLoader(dataset, batch_size=5, sampler=sampler)]
    assert [batch.tolist() for batch in batches] == theirs


def test_evaluation_takes_samples_in_sequence() -> None:
    share, ends = Plan(SequentialOrder(5), 1, 2, 2).epoch_share(0)
    assert (share.tolist(), ends.tolist()) == ([1, 3], [2, 2])


def test_impossible_plans_and_orders_are_refused() -> None:
    with pytest.raises(ConfigError, match="rank 2 of 2"):
        Plan(SequentialOrder(5), 2, 2, 1)
    with pytest.raises(ConfigError, match="'random' is not one of"):
        make_order("random", 5, 0, 1)
