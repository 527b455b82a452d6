"""The native delivery, driven from Python: views and their lifetime, errors, signals."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from augury import _native

SHAPE = (2, 3, 4)
SAMPLE_BYTES = 48


def u64(*values: int) -> NDArray[np.uint64]:
    return np.array(values, dtype=np.uint64)


@dataclass
class Data:
    """20 samples of int16 in two files, with labels of two float32."""

    folder: Path
    values: NDArray[np.int16] = field(init=False)
    labels: NDArray[np.float32] = field(init=False)

    def __post_init__(self) -> None:
        generator = np.random.default_rng(1)
        self.values = generator.poisson(3, (20, *SHAPE)).astype(np.int16)
        self.labels = generator.normal(size=(20, 2)).astype(np.float32)
        for name, half in (("a", self.values[:10]), ("b", self.values[10:])):
            half.tofile(self.folder / name)

    def arguments(self, **changes: Any) -> dict[str, Any]:
        numbers = np.arange(20, dtype=np.uint64)
        known: dict[str, Any] = {
            "files": [str(self.folder / "a"), str(self.folder / "b")],
            "file_bytes": u64(480, 480),
            "extent_file": (numbers // 10).astype(np.uint32),
            "extent_offset": numbers % 10 * np.uint64(SAMPLE_BYTES),
            "extent_length": np.full(20, SAMPLE_BYTES, np.uint64),
            "extents_begin": np.arange(21, dtype=np.uint64),
            "labels": self.labels.view(np.uint8),
            "sample_shape": list(SHAPE),
            "source_dtype": "int16",
            "stages": ["log1p"],
            "batch": 4,
            "depth": 3,
            "threads": 2,
        }
        return known | changes

    @contextmanager
    def delivery(self, **changes: Any) -> Iterator[_native.Delivery]:
        delivery = _native.Delivery(**self.arguments(**changes))
        try:
            yield delivery
        finally:
            delivery.stop()


@pytest.fixture
def data(tmp_path: Path) -> Data:
    return Data(tmp_path)


def take(delivery: _native.Delivery) -> _native.Batch:
    batch = delivery.next()
    assert batch is not None
    return batch


def test_batches_are_writable_aligned_views_of_the_right_values(data: Data) -> None:
    with data.delivery() as delivery:
        delivery.submit(u64(13, 2, 7), u64(2, 2, 3))
        for samples in ([13, 2], [], [7]):
            batch = take(delivery)
            assert batch.samples.tolist() == samples
            assert batch.x.shape == (len(samples), *SHAPE)
            np.testing.assert_allclose(batch.x, np.log1p(data.values[samples]), rtol=1e-6)
            np.testing.assert_array_equal(batch.y.view(np.float32), data.labels[samples])
            assert batch.x.flags.writeable
            assert not batch.x.flags.owndata
            assert batch.x.ctypes.data % 64 == batch.y.ctypes.data % 64 == 0
            del batch
        assert delivery.next() is None


def test_a_view_keeps_its_slot_after_batch_and_delivery_are_gone(data: Data) -> None:
    with data.delivery(depth=1) as delivery:
        delivery.submit(u64(5, 6), u64(1, 2))
        x = take(delivery).x
        gc.collect()
        with pytest.raises(RuntimeError, match=r"1 batches are still held.*raise loader\.depth"):
            delivery.next()
        rest = x[0, 1]
        del x
        gc.collect()
        with pytest.raises(RuntimeError, match="still held"):
            delivery.next()
    del delivery
    gc.collect()
    np.testing.assert_allclose(rest, np.log1p(data.values[5, 1]), rtol=1e-6)


def test_a_dropped_view_frees_its_slot(data: Data) -> None:
    with data.delivery(depth=1) as delivery:
        delivery.submit(u64(*range(20)), u64(*range(1, 21)))
        for sample in range(20):
            assert take(delivery).x.shape == (1, *SHAPE)
            assert delivery.counters()["samples"] == sample + 1


def test_a_missing_file_is_an_os_error_with_its_name_again_and_again(data: Data) -> None:
    (data.folder / "b").unlink()
    with data.delivery() as delivery:
        delivery.submit(u64(1, 15), u64(1, 2))
        take(delivery)
        for _ in range(2):
            with pytest.raises(FileNotFoundError, match="sample 15") as caught:
                delivery.next()
            assert caught.value.filename == str(data.folder / "b")


def test_a_truncated_file_is_a_value_error_that_names_both_sizes(data: Data) -> None:
    os.truncate(data.folder / "a", 100)
    with data.delivery() as delivery:
        delivery.submit(u64(3), u64(1))
        with pytest.raises(ValueError, match=r"a: truncated .*100 bytes, .*480, sample 3"):
            delivery.next()


def test_after_stop_everything_says_stopped(data: Data) -> None:
    with data.delivery() as delivery:
        delivery.submit(u64(1, 2), u64(1, 2))
        delivery.stop()
        delivery.stop()
        with pytest.raises(RuntimeError, match="stopped"):
            delivery.next()
        with pytest.raises(RuntimeError, match="stopped"):
            delivery.submit(u64(1), u64(1))


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"extent_file": np.zeros(20, np.uint64)}, TypeError),
        ({"extents_begin": np.arange(42, dtype=np.uint64)[::2]}, TypeError),
        ({"sample_shape": [2, 3]}, ValueError),
        ({"source_dtype": "float64"}, ValueError),
        ({"stages": ["sqrt"]}, ValueError),
        ({"threads": 0}, ValueError),
    ],
)
def test_arguments_that_do_not_fit_are_refused(
    data: Data, changes: dict[str, Any], error: type[Exception]
) -> None:
    with pytest.raises(error):
        _native.Delivery(**data.arguments(**changes))


def test_the_ram_tier_serves_the_second_epoch(data: Data) -> None:
    sizes = np.full(20, SAMPLE_BYTES, np.uint64)
    memory = np.zeros(_native.RamTier.bytes_needed(sizes, 1 << 20), np.uint8)
    with data.delivery(ram=_native.RamTier(memory, sizes)) as delivery:
        for epoch in range(2):
            delivery.submit(np.arange(20, dtype=np.uint64), u64(4, 8, 12, 16, 20))
            for start in range(0, 20, 4):
                batch = take(delivery)
                expected = np.log1p(data.values[start : start + 4])
                np.testing.assert_allclose(batch.x, expected, rtol=1e-6)
                assert (batch.source_bytes, batch.ram_bytes) == ((192, 0), (0, 192))[epoch]
                del batch
        counters = delivery.counters()
    assert (counters["source_bytes"], counters["ram_bytes"]) == (960, 960)
    assert (counters["source_opens"], counters["batches"]) == (2, 10)


def test_ctrl_c_interrupts_a_waiting_next(data: Data) -> None:
    (data.folder / "b").unlink()
    os.mkfifo(data.folder / "b")  # opening it hangs until somebody writes
    main = threading.main_thread().ident
    assert main is not None
    # A job in the background of a shell starts with Ctrl-C ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    with data.delivery() as delivery:
        delivery.submit(u64(15), u64(1))
        timer = threading.Timer(0.2, signal.pthread_kill, (main, signal.SIGINT))
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            delivery.next()
        timer.join()
        writer = os.open(data.folder / "b", os.O_RDWR)
    os.close(writer)
    signal.signal(signal.SIGINT, before)


def test_stop_wakes_a_next_that_waits_in_another_thread(data: Data) -> None:
    (data.folder / "b").unlink()
    os.mkfifo(data.folder / "b")
    outcome: list[str] = []

    def wait(delivery: _native.Delivery) -> None:
        try:
            delivery.next()
        except RuntimeError as error:
            outcome.append(str(error))

    with data.delivery() as delivery:
        delivery.submit(u64(15), u64(1))
        waiter = threading.Thread(target=wait, args=(delivery,))
        waiter.start()
        stopper = threading.Thread(target=delivery.stop)
        stopper.start()
        waiter.join()  # although the reader still hangs in open
        writer = os.open(data.folder / "b", os.O_RDWR)
        stopper.join()
    os.close(writer)
    assert outcome == ["stopped"]


def test_a_process_that_ends_in_mid_epoch_ends_at_once_and_leaks_nothing(data: Data) -> None:
    program = f"""
import numpy as np, sys
from pathlib import Path
sys.path.insert(0, {str(Path(__file__).parent)!r})
from augury import _native
from test_native_delivery import Data
delivery = _native.Delivery(**Data(Path({str(data.folder)!r})).arguments())
samples = np.tile(np.arange(20, dtype=np.uint64), 100)
delivery.submit(samples, np.arange(4, 2001, 4, dtype=np.uint64))
kept = delivery.next().x
sys.exit(3)
"""
    started = time.monotonic()
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (3, "", "")
    assert time.monotonic() - started < 60
