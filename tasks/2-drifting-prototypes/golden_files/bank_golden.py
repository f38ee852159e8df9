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
        options = self.options
        points = unit(features)
        self.step += 1
        self.mass *= options.decay ** (self.step - self.fed)

        slots, similar, founders = [], [], []
        occupied = self.mass > 0
        for point, label in zip(points, labels):
            taken, free = np.flatnonzero(occupied[label]), np.flatnonzero(~occupied[label])
            own = cosines(self.vectors[label, taken], point)
            founder = len(taken) == 0 or (own.max() < options.threshold and len(free) > 0)
            if founder:
                self.vectors[label, free[0]] = point
                occupied[label, free[0]] = True
            slots.append(int(free[0] if founder else taken[own.argmax()]))
            similar.append(1.0 if founder else float(own.max()))
            founders.append(founder)

        weights = []
        for point, label, cosine, founder in zip(points, labels, similar, founders):
            other = rival(point, label, self.vectors, occupied)
            if founder or other is None:
                weights.append(1.0)
            else:
                weights.append(2.0 / (1.0 + np.exp(-options.sharpness * (cosine - other[0]))))

        sums = np.zeros_like(self.vectors)
        gained = np.zeros_like(self.mass)
        for point, label, slot, weight in zip(points, labels, slots, weights):
            sums[label, slot] += weight * point
            gained[label, slot] += weight
        active = gained > 0
        self.vectors[active] = unit(self.mass[active, None] * self.vectors[active] + sums[active])
        self.mass += gained
        self.fed[active] = self.step

        settled = self.vectors.copy()
        for label, slot in np.argwhere(active):
            other = rival(settled[label, slot], label, settled, occupied)
            if other is not None and other[0] > options.separation:
                pushed = settled[label, slot] - options.push * (other[0] - options.separation) * other[1]
                self.vectors[label, slot] = unit(pushed)

        weak = self.mass < options.retire
        weak[np.arange(len(weak)), self.mass.argmax(axis=1)] = False
        self.mass[weak] = 0.0
        return slots, weights

    def predict(self, features: np.ndarray) -> np.ndarray:
        """The class of the most similar prototype, shape (batch,); -1 while the bank is empty."""
        occupied = self.mass > 0
        if not occupied.any():
            return np.full(len(features), -1)
        similar = np.einsum("nd,csd->ncs", unit(features), self.vectors)
        return np.where(occupied, similar, -np.inf).max(axis=2).argmax(axis=1)
