"""A synthetic stream: classes that arrive one by one, of several modes that move, come and go, with some wrong labels."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

CLASSES, MODES, DIM, BATCH = 5, 3, 8, 16
LIFE = 40
"""Steps after which a mode is replaced by a new one, on average."""

ARRIVAL = 3
"""Steps after which the next class appears; the stream begins with one."""


def batches(steps: int, noise: float, seed: int) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Yield one batch for each step.

    Args:
        steps: number of batches.
        noise: share of the labels that are drawn at random from the classes seen so far.
        seed: seed of everything.

    Yields:
        Features, shape (BATCH, DIM); the labels that the bank sees, and the true ones, shape (BATCH,).
    """
    random = np.random.default_rng(seed)
    centres = random.normal(size=(CLASSES, MODES, DIM))
    for step in range(steps):
        centres += 0.08 * random.normal(size=centres.shape)
        replaced = random.random((CLASSES, MODES)) < 1.0 / LIFE
        centres[replaced] = random.normal(size=(int(replaced.sum()), DIM))
        present = min(CLASSES, 1 + step // ARRIVAL)
        truth = random.integers(present, size=BATCH)
        modes = random.integers(MODES, size=BATCH)
        features = centres[truth, modes] + 0.5 * random.normal(size=(BATCH, DIM))
        wrong = random.random(BATCH) < noise
        labels = np.where(wrong, random.integers(present, size=BATCH), truth)
        yield features, labels, truth
