"""The training objective."""

from __future__ import annotations

import numpy as np


def margin_focal_contrast(
    embeddings: np.ndarray,
    labels: np.ndarray,
    *,
    temperature: float = 0.2,
    margin: float = 0.0,
    focus: float = 0.0,
    hardness: float = 0.0,
    balanced: bool = False,
) -> tuple[float, np.ndarray, np.ndarray]:
    """Margin-focal contrastive loss of one batch (section 2 of the paper).

    Every example is an anchor once. An anchor's positives are the other examples of its class, its
    negatives the examples of all other classes. An anchor without a positive does not count.

    Args:
        embeddings: one row per example, shape (batch, dim); rows need not have unit length.
        labels: class of each example, non-negative integers, shape (batch,); at least two classes.
        temperature: divisor of the similarities, at least 0.05.
        margin: what a positive pair has to be better by, in units of cosine similarity.
        focus: exponent of the focal factor; 0 switches it off.
        hardness: tilt of the weights towards similar negatives; 0 weighs all negatives alike.
        balanced: whether every class that has a counting anchor gets the same share of the loss,
            instead of every counting anchor.

    Returns:
        The loss; the loss of each anchor, shape (batch,), 0 where it does not count; the share of
        each anchor in the loss, shape (batch,), non-negative with sum 1.
    """
    unit = embeddings / np.linalg.norm(embeddings, axis=1, keepdims=True)
    cosine = unit @ unit.T
    negative = labels[:, None] != labels[None, :]
    positive = ~negative & ~np.eye(len(labels), dtype=bool)
    logits = (cosine - margin * positive) / temperature
    weight = negative.astype(float)
    if hardness > 0:
        weight *= np.exp(hardness * cosine)
        weight *= negative.sum(axis=1, keepdims=True) / weight.sum(axis=1, keepdims=True)
    mass = ((weight + positive) * np.exp(logits)).sum(axis=1, keepdims=True)
    cost = np.log(mass) - logits
    if focus > 0:
        cost = (1.0 - np.exp(-cost)) ** focus * cost
    pairs = positive.sum(axis=1)
    anchor_loss = (cost * positive).sum(axis=1) / np.maximum(pairs, 1)
    share = (pairs > 0).astype(float)
    if balanced:
        share /= pairs + 1
    share /= share.sum()
    return float(share @ anchor_loss), anchor_loss, share
