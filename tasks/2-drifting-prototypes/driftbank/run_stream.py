"""Reproduce the paper's table: accuracy on a stream that drifts, under six settings.

    python run_stream.py                          a quick look: one run of 30 steps per row
    python run_stream.py --steps 200 --seeds 8    the table of the paper
    python run_stream.py --last                   only the last row
    python run_stream.py --json                   print JSON instead of a table
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence

import numpy as np

from driftbank.bank import Options, PrototypeBank
from driftbank.stream import CLASSES, DIM, batches

Setting = tuple[str, int, Options]
"""A row of the table: its name, the slots of a class, the options of the bank."""

SETTINGS: tuple[Setting, ...] = (
    ("one prototype, no decay", 1, Options(decay=1.0)),
    ("one prototype", 1, Options()),
    ("six slots", 6, Options()),
    ("+ retirement", 6, Options(retire=0.5)),
    ("+ weights", 6, Options(retire=0.5, sharpness=6.0)),
    ("+ repulsion", 6, Options(retire=0.5, sharpness=6.0, push=0.5)),
)


def run(slots: int, options: Options, steps: int, noise: float, seed: int) -> float:
    """Share of the features that the bank names before it is given their labels."""
    bank = PrototypeBank(CLASSES, slots, DIM, options)
    right = []
    for features, labels, truth in batches(steps, noise, seed):
        right.append(bank.predict(features) == truth)
        bank.update(features, labels)
    return float(np.mean(right[steps // 5 :]))


def table(settings: Sequence[Setting], steps: int, seeds: int) -> list[list[str]]:
    """One row per setting: its name, then the accuracy in per cent with clean and with noisy labels."""
    rows = []
    for name, slots, options in settings:
        row = [name]
        for noise in (0.0, 0.3):
            scores = 100 * np.array([run(slots, options, steps, noise, seed) for seed in range(seeds)])
            error = f" ± {scores.std(ddof=1) / seeds**0.5:.1f}" if seeds > 1 else ""
            row.append(f"{scores.mean():.1f}{error}")
        rows.append(row)
    return rows


def main() -> None:
    """Run every row of the table and print it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=30, help="batches of the stream (default: 30)")
    parser.add_argument("--seeds", type=int, default=1, help="streams per row (default: 1)")
    parser.add_argument("--last", action="store_true", help="only the last row")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    rows = table(SETTINGS[-1:] if options.last else SETTINGS, options.steps, options.seeds)
    if options.json:
        print(json.dumps(rows))
        return
    print(f"{'setting':<26}{'clean labels, %':>18}{'noisy labels, %':>18}")
    for name, clean, noisy in rows:
        print(f"{name:<26}{clean:>18}{noisy:>18}")


if __name__ == "__main__":
    main()
