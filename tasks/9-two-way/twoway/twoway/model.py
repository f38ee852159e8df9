"""A classifier that sees which tokens, and which pairs of neighbours, occur."""

from __future__ import annotations

import numpy as np

VOCABULARY = 12
PAD = VOCABULARY
"""Stands in the place of a token that was taken away."""

GOOD, FINE, BAD, POOR, NOT, VERY = range(6)
"""Tokens with a meaning; the others have none."""


class Classifier:
    """Logistic regression on the presence of tokens and of pairs of neighbours.

    Attributes:
        single: weight of each token, shape (VOCABULARY + 1,); PAD has the weight 0.
        pair: weight of each pair of neighbours, shape (VOCABULARY + 1, VOCABULARY + 1).
        bias: score of a text without tokens.
    """

    def __init__(self) -> None:
        self.single = np.zeros(VOCABULARY + 1)
        self.pair = np.zeros((VOCABULARY + 1, VOCABULARY + 1))
        self.bias = 0.0

    def scores(self, tokens: np.ndarray, keep: np.ndarray) -> np.ndarray:
        """Scores (log-odds) of a text of which only some tokens are kept.

        Args:
            tokens: shape (length,).
            keep: boolean, one row for each version of the text, shape (versions, length).

        Returns:
            One score for each version, shape (versions,).
        """
        texts = np.where(keep, tokens, PAD)
        seen, pairs = _presence(texts)
        single: np.ndarray = seen @ self.single + (pairs * self.pair).sum(axis=(1, 2)) + self.bias
        return single

    def fit(self, texts: np.ndarray, labels: np.ndarray, steps: int) -> None:
        """Full-batch gradient descent with weight decay, from zero. ``texts`` has shape (count, length)."""
        seen, pairs = _presence(texts)
        for _ in range(steps):
            scores = seen @ self.single + (pairs * self.pair).sum(axis=(1, 2)) + self.bias
            error = (1 / (1 + np.exp(-scores)) - labels) / len(labels)
            self.single -= 4.0 * (error @ seen + 1e-4 * self.single)
            self.pair -= 4.0 * (np.tensordot(error, pairs, axes=1) + 1e-4 * self.pair)
            self.bias -= 4.0 * float(error.sum())


def _presence(texts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Presence of tokens and of neighbours as 0 and 1; PAD is never present."""
    rows = np.arange(len(texts))[:, None]
    seen = np.zeros((len(texts), VOCABULARY + 1))
    seen[rows, texts] = 1.0
    pairs = np.zeros((len(texts), VOCABULARY + 1, VOCABULARY + 1))
    pairs[rows, texts[:, :-1], texts[:, 1:]] = 1.0
    seen[:, PAD] = pairs[:, PAD, :] = pairs[:, :, PAD] = 0.0
    return seen, pairs


def sample_texts(count: int, length: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Random texts of shape (count, length) and their labels.

    A text is positive if it says more good than bad. Saying the same twice counts once, NOT turns the word
    behind it round, and VERY makes it count double.
    """
    shares = np.array([3, 2, 3, 2, 3, 2] + [1] * (VOCABULARY - 6), dtype=float)
    texts = rng.choice(VOCABULARY, size=(count, length), p=shares / shares.sum())
    labels = np.zeros(count)
    for row, text in enumerate(texts.tolist()):
        said = set()
        for before, word in zip([PAD, *text], text):
            if word in (GOOD, FINE, BAD, POOR):
                side = 1 if word in (GOOD, FINE) else -1
                said.add((word, before if before in (NOT, VERY) else PAD, side))
        value = sum(side * {NOT: -1, VERY: 2}.get(before, 1) for _, before, side in said)
        labels[row] = float(value > 0)
    return texts, labels
