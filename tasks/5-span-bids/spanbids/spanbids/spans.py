"""From scores of tokens to mentions."""

from __future__ import annotations

import math

import numpy as np

from spanbids.schema import TYPES, Mention


def decode_spans(
    begin: np.ndarray,
    inside: np.ndarray,
    end: np.ndarray,
    *,
    longest: int = 4,
    length_bonus: float = 0.5,
    gap_cost: float = 1.0,
    offset: float = 1.0,
) -> list[Mention]:
    """Choose the mentions of a document: section 2 of the paper, equations (1) to (3).

    Args:
        begin: score of each token as the first of a mention, shape (tokens, types).
        inside: score of each token as a part of a mention, shape (tokens, types).
        end: score of each token as the last of a mention, shape (tokens, types).
        longest: most tokens of a mention.
        length_bonus: λ, what a longer mention is worth.
        gap_cost: μ, what a short gap to a preceding mention of the same type costs.
        offset: θ, what every mention costs.

    Returns:
        Mentions that do not overlap, from left to right; empty where nothing is worth it. Their scores
        are the values of equation (1), without the costs of gaps.
    """
    # TODO: implement decode_spans.
    raise NotImplementedError
