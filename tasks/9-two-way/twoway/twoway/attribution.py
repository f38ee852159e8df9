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
    # TODO: implement two_way_attribution.
    raise NotImplementedError
