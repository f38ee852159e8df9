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
    # TODO: implement exchange_spans.
    raise NotImplementedError
