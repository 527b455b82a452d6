"""Memory that the ranks of a node share, for the ram tier.

One copy per node, whatever the ranks per node. The name in /dev/shm exists only while the
ranks attach; after that the memory has no name, and the kernel frees it when the last rank
ends, however it ends: nothing is left behind by a killed job.
"""

from __future__ import annotations

import mmap
import os
import secrets
from contextlib import suppress
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from augury.config.sizes import format_bytes
from augury.errors import ConfigError
from augury.world import Group, together

_SHM = Path("/dev/shm")  # noqa: S108 - this is the shared memory of POSIX, not a scratch file


def node_memory(node: Group, size_bytes: int) -> NDArray[np.uint8]:
    """Collective. `size_bytes` of zeroed memory, the same on all ranks of `node`.

    Returns:
        uint8 [size_bytes], writable, shared; it lives as long as a rank refers to it.

    Raises:
        PeerError: on every rank, when the node has too little room; it names the setting.
    """
    name = node.share(f"augury-{os.getpid()}-{secrets.token_hex(4)}")
    path = _SHM / name
    try:
        with together(node, "loader.ram"):
            if node.leads:
                _create(path, size_bytes)
        with together(node, "loader.ram"):
            memory = _attach(path, size_bytes)
    finally:
        if node.leads:
            path.unlink(missing_ok=True)
    return np.frombuffer(memory, dtype=np.uint8)


def _create(path: Path, size_bytes: int) -> None:
    """Reserve the memory now: a tmpfs that fills up later would end the ranks with SIGBUS."""
    free = available_bytes()
    if size_bytes > free:
        raise ConfigError(
            f"{format_bytes(size_bytes)} are needed, this node has {format_bytes(free)} free; "
            "lower loader.ram"
        )
    fd = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
    try:
        os.posix_fallocate(fd, 0, size_bytes)
    except OSError as error:
        raise ConfigError(
            f"{_SHM} has no room for {format_bytes(size_bytes)}: {error.strerror}; lower loader.ram"
        ) from error
    finally:
        os.close(fd)


def _attach(path: Path, size_bytes: int) -> mmap.mmap:
    fd = os.open(path, os.O_RDWR)
    try:
        return mmap.mmap(fd, size_bytes)
    finally:
        os.close(fd)


def available_bytes() -> int:
    """Memory that this node can still give: the least that anybody who limits it allows."""
    shm = os.statvfs(_SHM)
    limits = [shm.f_bavail * shm.f_frsize]
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            limits.append(int(line.split()[1]) * 1024)
    with suppress(OSError, ValueError):  # no cgroup v2 limit: "max", or no such file
        cgroup = Path("/sys/fs/cgroup")
        most = int((cgroup / "memory.max").read_text())
        limits.append(most - int((cgroup / "memory.current").read_text()))
    return max(0, min(limits))
