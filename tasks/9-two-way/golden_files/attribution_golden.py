"""Two-way elimination."""

from __future__ import annotations

import numpy as np

from twoway.model import Classifier

TIE = 1e-9
"""Changes of the score that differ by no more than this are a tie."""


def two_way_attribution(
    model: Classifier, tokens: np.ndarray, fixed: np.ndarray, most: int
) -> tuple[np.ndarray, np.ndarray]:
    """Attribute a score to tokens by a deletion and an insertion path (section 2 of the paper).

    Args:
        model: gives the score of a text of which some tokens are kept.
        tokens: the text, shape (length,).
        fixed: tokens that are always kept and get no credit, boolean, shape (length,).
        most: K, number of steps of each path; the tokens that are left share what remains.

    Returns:
        The attribution of each token, which sum to the difference between the score of the text and that of
        its fixed tokens alone, and the disagreement of each token; both of shape (length,).
    """
    free = np.flatnonzero(~fixed)
    whole, bare = model.scores(tokens, np.stack([np.ones_like(fixed), fixed])).tolist()
    changes, ranks = np.zeros((2, len(tokens))), np.ones((2, len(tokens)))
    for path, (start, end) in enumerate([(whole, bare), (bare, whole)]):
        keep = np.ones_like(fixed) if path == 0 else fixed.copy()
        score, left = start, free
        for step in range(1, min(most, len(free)) + 1):
            versions = np.repeat(keep[None], len(left), axis=0)
            versions[np.arange(len(left)), left] = path == 1
            after = model.scores(tokens, versions)
            gains = after - score if path == 1 else score - after
            wanted = gains if whole >= bare else -gains
            chosen = int(np.flatnonzero(wanted >= wanted.max() - TIE)[0])
            token = left[chosen]
            changes[path, token], ranks[path, token] = gains[chosen], step
            keep[token], score = path == 1, float(after[chosen])
            left = np.delete(left, chosen)
        if len(left):
            changes[path, left] = (end - score if path == 1 else score - end) / len(left)
            ranks[path, left] = most + 1
    removed, restored = changes
    size = np.abs(removed) + np.abs(restored)
    doubt = np.divide(np.abs(removed - restored), size, out=np.zeros(len(tokens)), where=size > TIE)
    share = ranks[0] / ranks.sum(axis=0)
    credit = share * removed + (1.0 - share) * restored
    if doubt.any():
        credit += (whole - bare - credit.sum()) * doubt / doubt.sum()
    return credit, doubt
