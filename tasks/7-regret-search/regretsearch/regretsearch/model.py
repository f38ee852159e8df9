"""A language model that looks back two tokens."""

from __future__ import annotations

import numpy as np


class Trigram:
    """Next-token log-probabilities from a table.

    Attributes:
        table: shape (size + 1, size + 1, size); row and column ``size`` stand for positions before the start.
        end: the token that ends a text, ``size - 1``.
    """

    def __init__(self, table: np.ndarray) -> None:
        self.table = table
        self.end = table.shape[-1] - 1

    @classmethod
    def random(cls, size: int, rng: np.random.Generator, sharpness: float = 1.5) -> Trigram:
        """A model whose first choice is often followed by tokens that are all unlikely."""
        logits = sharpness * rng.normal(size=(size + 1, size + 1, size))
        logits += rng.gumbel(size=(size + 1, size + 1, 1)) * rng.normal(size=size)
        shifted = logits - logits.max(axis=-1, keepdims=True)
        return cls(np.round(shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True)), 6))

    def log_probs(self, tokens: tuple[int, ...]) -> np.ndarray:
        """Log-probabilities of the next token after ``tokens``, shape (size,)."""
        size = self.table.shape[-1]
        earlier, last = (size, size, *tokens)[-2:]
        row: np.ndarray = self.table[earlier, last]
        return row
