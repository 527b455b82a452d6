"""Memory shared by the ranks of a node: zeroed, nameless, and refused in time."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from augury.errors import PeerError
from augury.memory import available_bytes, node_memory
from augury.world import Group, start_mpi


@pytest.fixture
def alone() -> Group:
    return start_mpi()


def test_it_is_zeroed_and_writable_and_has_no_name(alone: Group) -> None:
    made = node_memory(alone, 12345)
    assert (made.shape, int(made.sum())) == ((12345,), 0)
    made[-1] = 7
    assert list(Path("/dev/shm").glob(f"augury-{os.getpid()}-*")) == []


def test_more_than_the_node_has_is_refused_with_both_sizes(alone: Group) -> None:
    with pytest.raises(PeerError, match=r"PiB are needed, this node has .* free; lower loader.ram"):
        node_memory(alone, 2**52)


def test_a_full_tmpfs_is_refused_and_nothing_is_left(
    alone: Group, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_fd: int, _offset: int, _size: int) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(PeerError, match=r"has no room for 1.0 MiB: No space left"):
        node_memory(alone, 2**20)
    assert list(Path("/dev/shm").glob(f"augury-{os.getpid()}-*")) == []


def test_what_is_available_is_the_least_of_all_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    assert 0 < available_bytes() <= os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    texts = {"meminfo": "MemAvailable: 4 kB", "memory.max": "5000", "memory.current": "2000"}
    monkeypatch.setattr(Path, "read_text", lambda path: texts[path.name])
    assert available_bytes() == 3000
