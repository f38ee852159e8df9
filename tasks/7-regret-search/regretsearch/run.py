"""Reproduce the paper's table: score by number of model calls, for beam search and regret search.

    python run.py                 a quick look: 4 models
    python run.py --models 60     the table of the paper
    python run.py --json          print JSON instead of a table
"""

from __future__ import annotations

import argparse
import json
from typing import Any

import numpy as np

from regretsearch.beam import beam_search
from regretsearch.model import Trigram
from regretsearch.search import RegretSearch

TOKENS = 8
LONGEST = 12
SHORTEST = 1
POWER = 0.7
BUDGETS = (12, 24, 48, 96)
SETTINGS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("regret search", {}),
    ("no discount (γ = 1)", {"discount": 1.0}),
    ("forgets at once (γ = 0)", {"discount": 0.0}),
    ("two branches (k = 2)", {"branches": 2}),
    ("small limit (ε = 0.5)", {"limit": 0.5}),
)


def run(seed: int, prompts: int) -> dict[str, list[list[float]]]:
    """Best score by budget for each prompt of one random model, by setting."""
    rng = np.random.default_rng(seed)
    model = Trigram.random(TOKENS, rng)
    searches = {name: RegretSearch(model, 0, LONGEST, SHORTEST, power=POWER, **options) for name, options in SETTINGS}
    scores: dict[str, list[list[float]]] = {}
    for _ in range(prompts):
        prompt = tuple(rng.integers(TOKENS - 1, size=2).tolist())
        beams = [beam_search(model, prompt, width, LONGEST, SHORTEST, POWER) for width in (1, 2, 4, 8)]
        spent = np.cumsum([calls for _, calls in beams])
        found = [
            max(score for (score, _), calls in zip(beams, spent) if calls <= max(budget, spent[0])) for budget in BUDGETS
        ]
        scores.setdefault("beams of width 1, 2, 4, 8", []).append(found)
        for name, search in searches.items():
            found = []
            for search.budget in BUDGETS:
                found.append([one.score for one in search.decode(prompt)][-1])
            scores.setdefault(name, []).append(found)
    return scores


def table(models: int, prompts: int) -> list[list[str]]:
    """One row per setting: its name and the mean score at every budget."""
    runs = [run(seed, prompts) for seed in range(models)]
    return [
        [name, *(f"{value:.3f}" for value in np.mean([one[name] for one in runs], axis=(0, 1)))] for name in runs[0]
    ]


def main() -> None:
    """Run every row of the table and print it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", type=int, default=4, help="random models (default: 4)")
    parser.add_argument("--prompts", type=int, default=5, help="prompts of each (default: 5)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    rows = table(options.models, options.prompts)
    if options.json:
        print(json.dumps(rows))
        return
    print(f"{'setting':<28}" + "".join(f"{f'{budget} calls':>12}" for budget in BUDGETS))
    for name, *values in rows:
        print(f"{name:<28}" + "".join(f"{value:>12}" for value in values))


if __name__ == "__main__":
    main()
