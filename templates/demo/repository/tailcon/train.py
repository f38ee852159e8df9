"""Fitting a linear projection without gradients, and judging it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .losses import margin_focal_contrast


@dataclass(frozen=True)
class Settings:
    """One row of the paper's table: the options of the loss."""

    name: str
    margin: float = 0.0
    focus: float = 0.0
    hardness: float = 0.0
    balanced: bool = False

    def loss(self, embeddings: np.ndarray, labels: np.ndarray) -> float:
        """The loss of a batch under these options."""
        value, _, _ = margin_focal_contrast(
            embeddings,
            labels,
            margin=self.margin,
            focus=self.focus,
            hardness=self.hardness,
            balanced=self.balanced,
        )
        return value


def fit(
    features: np.ndarray, labels: np.ndarray, settings: Settings, *, steps: int, dim: int, seed: int
) -> np.ndarray:
    """Find a projection by a (1+1) evolution strategy with step-size adaptation.

    Args:
        features: training features, shape (examples, inputs).
        labels: their classes, shape (examples,).
        settings: options of the loss.
        steps: number of proposals, each of which evaluates the loss once.
        dim: output dimension of the projection.
        seed: of the proposals.

    Returns:
        The projection, shape (inputs, dim).
    """
    rng = np.random.default_rng(seed)
    best = rng.normal(size=(features.shape[1], dim))
    lowest = settings.loss(features @ best, labels)
    step = 0.5
    for _ in range(steps):
        proposal = best + step * rng.normal(size=best.shape)
        value = settings.loss(features @ proposal, labels)
        if value < lowest:
            best, lowest = proposal, value
            step *= 1.5
        else:
            step *= 1.5**-0.25
    return best


def class_accuracy(
    projection: np.ndarray, train: tuple[np.ndarray, np.ndarray], test: tuple[np.ndarray, np.ndarray]
) -> np.ndarray:
    """Accuracy of the nearest class mean (by angle) on each class.

    Args:
        projection: shape (inputs, dim).
        train: features and labels that the class means are taken from.
        test: features and labels that are classified.

    Returns:
        Fraction of correctly classified test examples of each class, shape (classes,).
    """
    means = np.stack([_directions(train[0][train[1] == c] @ projection).mean(axis=0) for c in np.unique(train[1])])
    guess = np.argmax(_directions(test[0] @ projection) @ _directions(means).T, axis=1)
    return np.array([np.mean(guess[test[1] == c] == c) for c in np.unique(test[1])])


def _directions(rows: np.ndarray) -> np.ndarray:
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    return rows / lengths[:, None]
