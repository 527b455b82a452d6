"""The ram tier from Python: states, views, and memory shared with a forked process."""

from __future__ import annotations

import gc
import mmap
import os

import numpy as np
import pytest

from augury import _native

SIZES = np.array([100, 64, 1000], dtype=np.uint64)


def make_tier() -> _native.RamTier:
    return _native.RamTier(np.zeros(_native.RamTier.bytes_needed(SIZES, 1 << 20), np.uint8), SIZES)


def test_a_published_sample_is_found_and_read_only() -> None:
    tier = make_tier()
    assert tier.get(2) is None
    room = tier.claim(2)
    assert room is not None
    assert room.shape == (1000,)
    assert tier.claim(2) is None
    room[:] = 7
    tier.publish(2)
    found = tier.get(2)
    assert found is not None
    assert not found.flags.writeable
    assert (found == 7).all()


def test_a_view_keeps_the_memory_alive() -> None:
    tier = make_tier()
    room = tier.claim(0)
    assert room is not None
    del tier
    gc.collect()
    room[:] = 5
    assert int(room.sum()) == 500


def test_what_one_process_puts_another_finds() -> None:
    memory = np.frombuffer(mmap.mmap(-1, 1 << 16), np.uint8)
    tier = _native.RamTier(memory, SIZES)
    child = os.fork()
    if child == 0:
        room = _native.RamTier(memory, SIZES).claim(1)
        if room is not None:
            room[:] = 9
            tier.publish(1)
        os._exit(0)
    os.waitpid(child, 0)
    found = tier.get(1)
    assert found is not None
    assert (found == 9).all()


def test_memory_of_other_samples_and_samples_that_do_not_exist_are_refused() -> None:
    memory = np.zeros(1 << 16, np.uint8)
    tier = _native.RamTier(memory, SIZES)
    with pytest.raises(ValueError, match="belongs to other samples"):
        _native.RamTier(memory, SIZES[::-1].copy())
    with pytest.raises(ValueError, match="do not hold the table"):
        _native.RamTier(memory[:64], SIZES)
    with pytest.raises(IndexError):
        tier.get(3)


def test_a_budget_bounds_the_memory_but_not_below_the_table() -> None:
    assert _native.RamTier.bytes_needed(SIZES, 1 << 20) == 128 + 128 + 64 + 1024
    assert _native.RamTier.bytes_needed(SIZES, 500) == 500
    assert _native.RamTier.bytes_needed(SIZES, 0) == 128
