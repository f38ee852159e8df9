"""What two-way elimination is compared with."""

from __future__ import annotations

import math

import numpy as np

from twoway.model import Classifier


class Counting:
    """A classifier that counts the versions it was asked for."""

    def __init__(self, model: Classifier) -> None:
        self.model, self.versions = model, 0

    def scores(self, tokens: np.ndarray, keep: np.ndarray) -> np.ndarray:
        """Scores of the model."""
        self.versions += len(keep)
        return self.model.scores(tokens, keep)


def shapley(model: Classifier, tokens: np.ndarray, fixed: np.ndarray) -> np.ndarray:
    """Exact Shapley values of the tokens that are not fixed."""
    (free,) = np.nonzero(~fixed)
    count = len(free)
    sets = (np.arange(2**count)[:, None] >> np.arange(count)) % 2 == 1
    keep = np.repeat(fixed[None], len(sets), axis=0)
    keep[:, free] = sets
    scores, sizes = model.scores(tokens, keep), sets.sum(axis=1)
    values = np.zeros(len(tokens))
    for place, token in enumerate(free):
        without = np.flatnonzero(~sets[:, place])
        weights = [math.factorial(size) * math.factorial(count - size - 1) for size in sizes[without]]
        values[token] = np.dot(weights, scores[without + 2**place] - scores[without]) / math.factorial(count)
    return values


def leave_one_out(model: Classifier, tokens: np.ndarray, fixed: np.ndarray) -> np.ndarray:
    """By how much the score falls without each token."""
    keep = np.vstack([np.ones_like(fixed), ~np.eye(len(tokens), dtype=bool) | fixed])
    scores = model.scores(tokens, keep)
    return np.where(fixed, 0.0, scores[0] - scores[1:])


def sampled(model: Classifier, tokens: np.ndarray, fixed: np.ndarray, orders: int, rng: np.random.Generator) -> np.ndarray:
    """Shapley values estimated from random orders."""
    values = np.zeros(len(tokens))
    for _ in range(orders):
        order = rng.permutation(np.flatnonzero(~fixed))
        keep = np.repeat(fixed[None], len(order) + 1, axis=0)
        for step, token in enumerate(order):
            keep[step + 1 :, token] = True
        values[order] += np.diff(model.scores(tokens, keep)) / orders
    return values
