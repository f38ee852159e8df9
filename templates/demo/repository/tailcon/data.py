"""Synthetic long-tailed data: Gaussian classes hidden among noise dimensions."""

from __future__ import annotations

import numpy as np

CLASS_SIZES = (20, 12, 6, 2, 1)
"""Training examples per class: a head class of twenty, down to a class that is seen once."""

INFORMATIVE = 4
NOISE = 6


def centres(rng: np.random.Generator) -> np.ndarray:
    """One centre per class on a sphere of radius 2 in the informative dimensions.

    Returns:
        Array of shape (classes, INFORMATIVE).
    """
    points = rng.normal(size=(len(CLASS_SIZES), INFORMATIVE))
    return 2.0 * points / np.linalg.norm(points, axis=1, keepdims=True)


def sample(
    middle: np.ndarray, sizes: tuple[int, ...], rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Draw ``sizes[c]`` examples of each class ``c`` around its centre.

    Args:
        middle: class centres, shape (classes, INFORMATIVE).
        sizes: number of examples of each class.
        rng: source of randomness.

    Returns:
        Features of shape (examples, INFORMATIVE + NOISE) and integer labels of shape (examples,).
    """
    labels = np.repeat(np.arange(len(sizes)), sizes)
    signal = middle[labels] + 0.7 * rng.normal(size=(len(labels), INFORMATIVE))
    noise = 1.5 * rng.normal(size=(len(labels), NOISE))
    return np.concatenate([signal, noise], axis=1), labels
