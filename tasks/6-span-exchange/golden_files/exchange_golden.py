"""Exchange of entity spans in place."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from spanex.bank import Bank
from spanex.data import START, STOP, Sentence, entities


@dataclass(frozen=True)
class Options:
    """Symbols of section 2 of the paper.

    Attributes:
        rate: ρ, share of the entities of an average type that are exchanged.
        balance: γ, how much more often entities of rare types are.
        context: κ, weight of the words around a donor.
        stretch: λ, cost of each word by which a donor is longer or shorter.
        fatigue: η, cost of having been donated before.
        quota: μ, share of a sentence's words that exchanges may concern.
    """

    rate: float = 0.5
    balance: float = 0.5
    context: float = 1.0
    stretch: float = 0.3
    fatigue: float = 1.0
    quota: float = 0.6


def exchange_spans(sentence: Sentence, bank: Bank, options: Options, rng: np.random.Generator) -> int:
    """Exchange entities of a sentence for donors of their types (algorithm 1 of the paper).

    Args:
        sentence: changed in place, words and tags.
        bank: where donors come from; the uses of its donors are counted in place.
        options: the method's constants.
        rng: source of randomness.

    Returns:
        The number of entities that were exchanged.
    """
    tokens, tags = sentence.tokens, sentence.tags
    mean = sum(bank.counts.values()) / max(1, len(bank.counts))
    left_over = math.floor(options.quota * len(tokens))
    exchanged, shift = 0, 0
    for start, stop, kind in entities(tags):
        draw = rng.random()
        if kind not in bank.counts:
            continue
        rate = min(1.0, options.rate * (mean / bank.counts[kind]) ** options.balance)
        if draw >= rate:
            continue
        start, stop, size = start + shift, stop + shift, stop - start
        lowered = [word.lower() for word in tokens[start:stop]]
        donors = [
            donor
            for donor in bank.donors[kind]
            if max(size, len(donor.words)) <= left_over and [word.lower() for word in donor.words] != lowered
        ]
        if not donors:
            continue
        before = tokens[start - 1] if start > 0 else START
        after = tokens[stop] if stop < len(tokens) else STOP
        scores = np.array(
            [
                options.context * (math.log1p(donor.left.get(before, 0)) + math.log1p(donor.right.get(after, 0)))
                - options.stretch * abs(len(donor.words) - size)
                - options.fatigue * math.log1p(donor.used)
                for donor in donors
            ]
        )
        cumulated = np.cumsum(np.exp(scores))
        chosen = donors[int(np.searchsorted(cumulated, draw / rate * cumulated[-1], side="right"))]
        tokens[start:stop] = chosen.words
        tags[start:stop] = [f"B-{kind}"] + [f"I-{kind}"] * (len(chosen.words) - 1)
        chosen.used += 1
        left_over -= max(size, len(chosen.words))
        shift += len(chosen.words) - size
        exchanged += 1
    return exchanged
