"""Reproduce the paper's table: accuracy of nearest class means under five losses.

    python run_experiment.py            print the table
    python run_experiment.py --json     print it as JSON
"""

from __future__ import annotations

import argparse
import json

import numpy as np

from tailcon import CLASS_SIZES, Settings, fit, sample
from tailcon.data import centres
from tailcon.train import class_accuracy

ROWS = (
    Settings("plain"),
    Settings("+ margin", margin=0.3),
    Settings("+ focal factor", margin=0.3, focus=2.0),
    Settings("+ hard negatives", margin=0.3, focus=2.0, hardness=2.0),
    Settings("+ balanced classes", margin=0.3, focus=2.0, hardness=2.0, balanced=True),
)
ABLATION = Settings("soft focus", margin=0.1, focus=0.5, hardness=0.5, balanced=True)
"""Not in the paper's table: weaker factors, printed with --ablation."""
TAIL = 2
"""The last two classes, of two examples and of one, are the tail."""


def run(settings: Settings, seed: int, steps: int) -> tuple[float, float]:
    """Train and test once. Returns the accuracy over all classes and over the tail classes."""
    rng = np.random.default_rng(1000 + seed)
    middle = centres(rng)
    train = sample(middle, CLASS_SIZES, rng)
    test = sample(middle, (200,) * len(CLASS_SIZES), rng)
    projection = fit(*train, settings, steps=steps, dim=3, seed=seed)
    accuracy = class_accuracy(projection, train, test)
    return float(accuracy.mean()), float(accuracy[-TAIL:].mean())


def table(steps: int, seeds: int, listed: tuple[Settings, ...] = ROWS) -> list[list[str]]:
    """One row per setting: its name, then per column the mean and its standard error, in per cent."""
    rows = []
    for settings, length in [(Settings("untrained"), 0), *((row, steps) for row in listed)]:
        scores = 100 * np.array([run(settings, seed, length) for seed in range(seeds)])
        errors = scores.std(axis=0, ddof=1) / np.sqrt(seeds)
        cells = [f"{mean:.1f} ± {error:.1f}" for mean, error in zip(scores.mean(axis=0), errors)]
        rows.append([settings.name, *cells])
    return rows


def main() -> None:
    """Run every row of the table and print it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=200, help="proposals per run (default: 200)")
    parser.add_argument("--seeds", type=int, default=16, help="runs per row, at least 2 (default: 16)")
    parser.add_argument("--ablation", action="store_true", help="add a row with weaker factors")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    listed = (*ROWS, ABLATION) if options.ablation else ROWS
    rows = table(options.steps, options.seeds, listed)
    if options.json:
        print(json.dumps(rows))
        return
    print(f"{'loss':<22}{'all classes':>14}{'tail':>14}")
    for name, everything, tail in rows:
        print(f"{name:<22}{everything:>14}{tail:>14}")


if __name__ == "__main__":
    main()
