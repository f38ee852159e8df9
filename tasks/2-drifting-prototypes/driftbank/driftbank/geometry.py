"""Vectors on the unit sphere."""

from __future__ import annotations

import numpy as np

EPSILON = 1e-12


def unit(vectors: np.ndarray) -> np.ndarray:
    """Scale vectors to length 1 along the last axis; a zero vector stays zero."""
    return vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), EPSILON)


def cosines(prototypes: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """The cosine of each unit vector of shape (count, dim) with one of shape (dim,)."""
    return prototypes @ vector


def rival(
    vector: np.ndarray, label: int, prototypes: np.ndarray, occupied: np.ndarray
) -> tuple[float, np.ndarray] | None:
    """The prototype of another class that is most similar to a unit vector.

    Args:
        vector: a unit vector, shape (dim,).
        label: the class that the vector belongs to.
        prototypes: unit vectors, shape (classes, slots, dim).
        occupied: which slots hold a prototype, shape (classes, slots).

    Returns:
        Its cosine with the vector, and the prototype; None if no other class has one.
    """
    others = occupied.copy()
    others[label] = False
    if not others.any():
        return None
    candidates = prototypes[others]
    similar = cosines(candidates, vector)
    best = int(similar.argmax())
    return float(similar[best]), candidates[best]
