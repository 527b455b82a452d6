"""One contender: delivers epochs of a dataset and prints the samples/s of each timed epoch."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import h5py
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

BATCH = 16


class Shards(Dataset[tuple[torch.Tensor, torch.Tensor]]):
    """The training samples of a dataset through h5py, file handles opened once per process."""

    def __init__(self, folder: Path) -> None:
        self.files = sorted((folder / "train").glob("*.h5"))
        self.rows: list[tuple[int, int]] = []
        for at, name in enumerate(self.files):
            with h5py.File(name) as file:
                self.rows += [(at, row) for row in range(len(file["counts"]))]
        self.open: dict[int, h5py.File] = {}

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, sample: int) -> tuple[torch.Tensor, torch.Tensor]:
        at, row = self.rows[sample]
        if at not in self.open:
            self.open[at] = h5py.File(self.files[at])
        file = self.open[at]
        x = np.log1p(file["counts"][row].astype(np.float32))
        return torch.from_numpy(x), torch.from_numpy(file["labels"][row])


def torch_epochs(folder: Path, workers: int, epochs: int) -> Iterator[int]:
    """Samples of each batch; a negative number ends an epoch."""
    loader = DataLoader(
        Shards(folder),
        BATCH,
        shuffle=True,
        num_workers=workers,
        persistent_workers=workers > 0,
        prefetch_factor=4 if workers else None,
    )
    for _ in range(epochs):
        for x, _y in loader:
            yield len(x)
        yield -1


def augury_epochs(folder: Path, epochs: int) -> Iterator[int]:
    """As `torch_epochs`, from augury's loader."""
    from augury.config import LoaderConfig
    from augury.dataset import Index
    from augury.loader import Loader
    from augury.order import FeistelOrder
    from augury.plan import Plan

    index = Index.load(folder)
    order = FeistelOrder(len(index.splits["train"]), seed=1)
    plan = Plan(order, 0, 1, BATCH)
    with Loader(index, "train", plan, ["log1p"], LoaderConfig(), epochs=epochs) as loader:
        for epoch in range(epochs):
            for batch in loader.epoch(epoch):
                yield len(batch.x)
            yield -1


def main() -> None:
    """CONTENDER FOLDER EPOCHS: one warm-up epoch, then EPOCHS timed ones."""
    name, folder, epochs = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    torch.set_num_threads(1)
    if name == "augury":
        stream = augury_epochs(folder, epochs + 1)
    else:
        stream = torch_epochs(folder, int(name.removeprefix("torch-")), epochs + 1)
    rates, count, started = [], 0, time.perf_counter()
    for samples in stream:
        if samples >= 0:
            count += samples
            continue
        now = time.perf_counter()
        rates.append(count / (now - started))
        count, started = 0, now
    print(json.dumps(rates[1:]))


if __name__ == "__main__":
    main()
