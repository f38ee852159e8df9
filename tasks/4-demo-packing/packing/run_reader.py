"""Reproduce the paper's table: answers of the simulated reader under seven settings.

    python run_reader.py                  a quick look: 8 queries per row
    python run_reader.py --queries 400    the table of the paper
    python run_reader.py --json           print JSON instead of a table
"""

from __future__ import annotations

import argparse
import json
import random
from typing import Any

from packing.corpus import TOPICS, corpus, vocabulary
from packing.reader import prompt, read
from packing.select import select_demonstrations
from packing.words import rarity

NEAREST: dict[str, Any] = {"discount": 1.0, "redundancy": 0.0, "balance": 0.0, "power": 0.0, "valley": False}
SETTINGS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("nearest texts", NEAREST),
    ("+ gain per word", {**NEAREST, "power": 1.0}),
    ("+ discount", {"redundancy": 0.0, "balance": 0.0, "valley": False}),
    ("+ redundancy", {"balance": 0.0, "valley": False}),
    ("+ balance", {"valley": False}),
    ("+ valley order", {}),
)


def table(queries: int, pool_size: int, budgets: tuple[int, ...]) -> list[list[str]]:
    """One row per setting: its name, then the share of right answers for each budget, in per cent."""
    source = random.Random(3)
    names = vocabulary(source, 40 * (len(TOPICS) + 1))
    asked = corpus(source, queries, names, (1, 1, 1, 1))
    rest = corpus(source, 10 * pool_size, names, (4, 3, 2, 1))
    rare = rarity(text for text, _ in rest)
    pools = [source.sample(rest, pool_size) for _ in asked]
    rows = []
    for name, options in SETTINGS:
        row = [name]
        for budget in budgets:
            right = 0
            for (query, topic), pool in zip(asked, pools):
                order = select_demonstrations(query, pool, rare, budget, **options)
                right += read(prompt([pool[place] for place in order], query), rare) == topic
            row.append(f"{100 * right / queries:.1f}")
        rows.append(row)
    return rows


def main() -> None:
    """Run every row of the table and print it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--queries", type=int, default=8, help="queries per row (default: 8)")
    parser.add_argument("--pool", type=int, default=30, help="texts to choose from (default: 30)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    rows = table(options.queries, options.pool, (40, 80))
    if options.json:
        print(json.dumps(rows))
        return
    print(f"{'setting':<22}{'40 words, %':>14}{'80 words, %':>14}")
    for name, few, many in rows:
        print(f"{name:<22}{few:>14}{many:>14}")


if __name__ == "__main__":
    main()
