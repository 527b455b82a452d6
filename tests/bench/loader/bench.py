"""Compare augury's loader with torch's DataLoader on the same files; see README.md."""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

CONTENDERS = ("augury", "torch-0", "torch-2")
HERE = Path(__file__).parent


def make_dataset(folder: Path, samples: int) -> None:
    """Samples of 32^3 voxels in four channels, 256 KiB each."""
    augury = str(Path(sys.executable).with_name("augury"))
    words = ["--samples", str(samples), "--validation", "1", "--quiet"]
    command = [augury, "data", "make", "cosmoflow", str(folder), *words]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def measure(contender: str, folder: Path, epochs: int) -> list[float]:
    """Samples/s of each timed epoch of one process."""
    words = [sys.executable, str(HERE / "contenders.py"), contender, str(folder), str(epochs)]
    done = subprocess.run(words, check=True, capture_output=True, text=True, timeout=600)
    return [float(rate) for rate in json.loads(done.stdout.splitlines()[-1])]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="few samples and repeats")
    parser.add_argument("--data", type=Path, help="an existing dataset instead of a made one")
    parser.add_argument("--json", type=Path, help="write every repeat to this file")
    options = parser.parse_args()
    samples, repeats, epochs = (256, 3, 1) if options.short else (1024, 7, 3)
    rates: dict[str, list[float]] = {name: [] for name in CONTENDERS}
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.data or Path(scratch) / "data"
        if options.data is None:
            make_dataset(folder, samples)
        for _ in range(repeats):
            for name in CONTENDERS:
                rates[name].append(statistics.median(measure(name, folder, epochs)))
    for name, found in rates.items():
        middle = statistics.median(found)
        print(f"{name:8} {middle:9.0f} samples/s  (least {min(found):.0f}, most {max(found):.0f})")
    best = max(CONTENDERS[1:], key=lambda name: statistics.median(rates[name]))
    ratio = statistics.median(rates["augury"]) / statistics.median(rates[best])
    print(f"augury delivers {ratio:.2f} x the samples/s of the better peer, {best}")
    if options.json:
        facts = {
            "machine": platform.machine(),
            "cores": os.cpu_count(),
            "repeats": repeats,
            "versions": {name: version(name) for name in ("augury", "torch", "h5py")},
            "samples_per_s": rates,
        }
        options.json.write_text(json.dumps(facts, indent=1) + "\n")


if __name__ == "__main__":
    main()
