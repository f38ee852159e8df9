"""Reproduce the paper's table: agreement of metrics with the damage that was done to texts.

    python evaluate.py                 a quick look: 12 segments
    python evaluate.py --segments 300  the table of the paper
    python evaluate.py --json          print JSON instead of a table
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter
from collections.abc import Callable, Sequence

from tilescore.corpus import damage, report
from tilescore.metric import tile_score
from tilescore.tokens import tokenize

LEVELS = (0, 1, 2, 4, 7)
Metric = Callable[[Sequence[str], Sequence[Sequence[str]]], tuple[float, list[float]]]


def overlap(order: int) -> Metric:
    """F1 of n-grams, best over the references; the corpus has the mean."""

    def metric(hypotheses: Sequence[str], references: Sequence[Sequence[str]]) -> tuple[float, list[float]]:
        def grams(text: str) -> Counter[tuple[str, ...]]:
            words = tokenize(text)
            return Counter(tuple(words[i : i + order]) for i in range(len(words) - order + 1))

        def f1(left: Counter[tuple[str, ...]], right: Counter[tuple[str, ...]]) -> float:
            both = left.total() + right.total()
            return 2 * (left & right).total() / both if both else 1.0

        scores = [max(f1(grams(text), grams(other)) for other in group) for text, group in zip(hypotheses, references)]
        return sum(scores) / max(1, len(scores)), scores

    return metric


METRICS: tuple[tuple[str, Metric], ...] = (
    ("unigram F1", overlap(1)),
    ("bigram F1", overlap(2)),
    ("tiles", tile_score),
    ("tiles, no drift (η = 0)", lambda left, right: tile_score(left, right, drift=0.0)),
    ("tiles, no disorder (θ = 0)", lambda left, right: tile_score(left, right, disorder=0.0)),
    ("tiles, balanced (β = 1)", lambda left, right: tile_score(left, right, beta=1.0)),
)


def kendall(scores: Sequence[float]) -> float:
    """Rank agreement with falling quality: concordant minus discordant pairs; a tie is neither."""
    pairs = [(a, b) for place, a in enumerate(scores) for b in scores[place + 1 :]]
    return sum((a > b) - (a < b) for a, b in pairs) / len(pairs)


def table(segments: int, seed: int) -> list[list[str]]:
    """One row per metric: its name, mean Kendall's tau within segments, and its scores by level of damage."""
    rng = random.Random(seed)
    texts = [report(rng) for _ in range(segments)]
    references = [group for _, group in texts]
    levels = [[damage(text, times, rng) for text, _ in texts] for times in LEVELS]
    rows = []
    for name, metric in METRICS:
        results = [metric(hypotheses, references) for hypotheses in levels]
        tau = sum(kendall(scores) for scores in zip(*(scores for _, scores in results))) / segments
        rows.append([name, f"{tau:.3f}", *(f"{corpus:.2f}" for corpus, _ in results)])
    return rows


def main() -> None:
    """Run every row of the table and print it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--segments", type=int, default=12, help="segments of the corpus (default: 12)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the corpus (default: 1)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    rows = table(options.segments, options.seed)
    if options.json:
        print(json.dumps(rows))
        return
    print(f"{'metric':<28}{'tau':>8}" + "".join(f"{f'{level} damages':>12}" for level in LEVELS))
    for name, tau, *means in rows:
        print(f"{name:<28}{tau:>8}" + "".join(f"{mean:>12}" for mean in means))


if __name__ == "__main__":
    main()
