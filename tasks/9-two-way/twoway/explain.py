"""Reproduce the paper's table: distance of attributions from exact Shapley values, and what they cost.

    python explain.py                a quick look: 20 texts
    python explain.py --texts 200    the table of the paper
    python explain.py --json         print JSON instead of a table
"""

from __future__ import annotations

import argparse
import json

import numpy as np

from twoway.attribution import two_way_attribution
from twoway.baselines import Counting, leave_one_out, sampled, shapley
from twoway.model import Classifier, sample_texts

LENGTH = 7


def run(seed: int, texts: int) -> list[list[str]]:
    """One row per method: its name, mean distance from Shapley values, rank agreement, versions scored."""
    rng = np.random.default_rng(seed)
    model = Classifier()
    model.fit(*sample_texts(1500, LENGTH, rng), steps=60)
    rows, examples = [], sample_texts(texts, LENGTH, rng)[0]
    masks = rng.random(examples.shape) < 0.1
    exact = [shapley(model, tokens, fixed) for tokens, fixed in zip(examples, masks)]
    methods = {
        "leave one out": leave_one_out,
        "one random order": lambda *call: sampled(*call, orders=1, rng=rng),
        "six random orders": lambda *call: sampled(*call, orders=6, rng=rng),
        "two-way, K = 1": lambda *call: two_way_attribution(*call, most=1)[0],
        "two-way, K = 3": lambda *call: two_way_attribution(*call, most=3)[0],
        "two-way, all steps": lambda *call: two_way_attribution(*call, most=LENGTH)[0],
    }
    for name, method in methods.items():
        counting = Counting(model)
        found = [method(counting, tokens, fixed) for tokens, fixed in zip(examples, masks)]
        distance = np.mean([np.abs(one - other).mean() for one, other in zip(found, exact)])
        first = np.mean([np.argmax(np.abs(one)) == np.argmax(np.abs(other)) for one, other in zip(found, exact)])
        rows.append([name, f"{distance:.3f}", f"{100 * first:.0f}", f"{counting.versions / texts:.1f}"])
    return rows


def main() -> None:
    """Run every row of the table and print it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--texts", type=int, default=20, help="texts that are explained (default: 20)")
    parser.add_argument("--seed", type=int, default=0, help="seed of model and texts (default: 0)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    rows = run(options.seed, options.texts)
    if options.json:
        print(json.dumps(rows))
        return
    print(f"{'method':<24}{'distance':>12}{'first, %':>12}{'versions':>12}")
    for name, *values in rows:
        print(f"{name:<24}" + "".join(f"{value:>12}" for value in values))


if __name__ == "__main__":
    main()
