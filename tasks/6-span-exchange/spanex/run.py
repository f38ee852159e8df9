"""Reproduce the paper's table: a tagger trained on a small corpus and its exchanged copies.

    python run.py                a quick look: one seed
    python run.py --seeds 8      the table of the paper
    python run.py --json         print JSON instead of a table
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace

import numpy as np

from spanex.bank import Bank
from spanex.data import Sentence, sample_corpus
from spanex.exchange import Options, exchange_spans
from spanex.tagger import Tagger, f1

PLAIN = Options(balance=0.0, context=0.0, stretch=0.0, fatigue=0.0, quota=2.0)
SETTINGS = (
    ("copies, no exchange", replace(PLAIN, rate=0.0)),
    ("uniform exchange", PLAIN),
    ("+ balance", replace(PLAIN, balance=0.5)),
    ("+ context", replace(PLAIN, balance=0.5, context=1.0)),
    ("+ stretch and fatigue", replace(PLAIN, balance=0.5, context=1.0, stretch=0.3, fatigue=1.0)),
    ("+ quota", Options()),
)


def augment(corpus: list[Sentence], options: Options, copies: int, rng: np.random.Generator) -> list[Sentence]:
    """The corpus and exchanged copies of it."""
    bank = Bank.of(corpus)
    more = [Sentence(list(one.tokens), list(one.tags)) for _ in range(copies) for one in corpus]
    for sentence in more:
        exchange_spans(sentence, bank, options, rng)
    return corpus + more


def run(seed: int, size: int) -> list[tuple[float, float]]:
    """F1 of all entities and of firms, the rarest type, for the corpus alone and for every setting."""
    rng = np.random.default_rng(seed)
    corpus, test = sample_corpus(size, rng), sample_corpus(400, rng)
    scores = []
    for options in (None, *(options for _, options in SETTINGS)):
        data = corpus if options is None else augment(corpus, options, 3, np.random.default_rng(seed))
        tagger = Tagger()
        tagger.train(data, 4, np.random.default_rng(seed))
        scores.append((100 * f1(tagger, test), 100 * f1(tagger, test, "firm")))
    return scores


def table(seeds: int, size: int) -> list[list[str]]:
    """One row per setting: its name, then mean and (of several seeds) standard error of both measures."""
    scores = np.array([run(seed, size) for seed in range(seeds)])
    names = ["corpus alone", *(name for name, _ in SETTINGS)]
    means = scores.mean(axis=0)
    if seeds == 1:
        return [[name, *(f"{mean:.1f}" for mean in row)] for name, row in zip(names, means)]
    errors = scores.std(axis=0, ddof=1) / seeds**0.5
    return [
        [name, *(f"{mean:.1f} ± {error:.1f}" for mean, error in zip(row, error_row))]
        for name, row, error_row in zip(names, means, errors)
    ]


def main() -> None:
    """Run every row of the table and print it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=1, help="runs per row (default: 1)")
    parser.add_argument("--size", type=int, default=40, help="sentences of the training corpus (default: 40)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    rows = table(options.seeds, options.size)
    if options.json:
        print(json.dumps(rows))
        return
    print(f"{'setting':<28}{'F1, all':>16}{'F1, firms':>16}")
    for name, every, firms in rows:
        print(f"{name:<28}{every:>16}{firms:>16}")


if __name__ == "__main__":
    main()
