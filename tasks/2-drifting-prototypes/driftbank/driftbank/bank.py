"""The bank of prototypes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from driftbank.geometry import cosines, rival, unit


@dataclass(frozen=True)
class Options:
    """Options of a bank, with the symbols of the paper.

    Attributes:
        decay: ρ, the share of its mass that a slot keeps from one step to the next, in (0, 1].
        threshold: τ, the cosine below which a feature opens a slot of its own, if one is free.
        sharpness: γ of the weights; 0 gives every feature the same weight.
        separation: δ, the cosine between classes that is still tolerated.
        push: λ, the strength of the repulsion; 0 switches it off.
        retire: ε, the mass below which a slot is freed; 0 switches it off.
    """

    decay: float = 0.9
    threshold: float = 0.5
    sharpness: float = 0.0
    separation: float = 0.7
    push: float = 0.0
    retire: float = 0.0


class PrototypeBank:
    """Up to ``slots`` prototypes for each of ``classes`` classes.

    Attributes:
        vectors: unit vectors, shape (classes, slots, dim); the content of a free slot has no meaning.
        mass: how much each slot has been fed, aged; 0 marks a free slot. Shape (classes, slots).
        fed: the step that last fed each slot, shape (classes, slots).
        step: number of updates so far.
    """

    def __init__(self, classes: int, slots: int, dim: int, options: Options | None = None) -> None:
        self.options = options or Options()
        self.vectors = np.zeros((classes, slots, dim))
        self.mass = np.zeros((classes, slots))
        self.fed = np.zeros((classes, slots), dtype=np.int64)
        self.step = 0

    def update(self, features: np.ndarray, labels: np.ndarray) -> tuple[list[int], list[float]]:
        """Take in one batch of the stream (algorithm 1 of the paper); changes the bank in place.

        Args:
            features: not normalised, shape (batch, dim).
            labels: classes, integers, shape (batch,).

        Returns:
            The slot that each feature was assigned to, and its weight.
        """
        # TODO: implement update.
        raise NotImplementedError

    def predict(self, features: np.ndarray) -> np.ndarray:
        """The class of the most similar prototype, shape (batch,); -1 while the bank is empty."""
        occupied = self.mass > 0
        if not occupied.any():
            return np.full(len(features), -1)
        similar = np.einsum("nd,csd->ncs", unit(features), self.vectors)
        return np.where(occupied, similar, -np.inf).max(axis=2).argmax(axis=1)
