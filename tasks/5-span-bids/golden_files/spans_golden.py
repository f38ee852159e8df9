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
    sums = np.vstack([np.zeros(len(TYPES)), np.cumsum(inside, axis=0)])
    totals: dict[tuple[int, int], float] = {}
    chains: dict[tuple[int, int], list[Mention]] = {}
    for stop in range(1, len(begin) + 1):
        for kind, name in enumerate(TYPES):
            for start in range(max(0, stop - longest), stop):
                length = stop - start
                value = float(begin[start, kind] + end[stop - 1, kind])
                value += float(sums[stop, kind] - sums[start, kind]) / length
                value += length_bonus * math.log(length) - offset
                total, chain = 0.0, []
                for (earlier, other), reached in totals.items():
                    if earlier <= start:
                        cost = gap_cost / (1 + start - earlier) if other == kind else 0.0
                        if reached - cost > total:
                            total, chain = reached - cost, chains[earlier, other]
                if total + value > totals.get((stop, kind), -math.inf):
                    totals[stop, kind] = total + value
                    chains[stop, kind] = [*chain, Mention(start, stop, name, value)]
    best = max(totals, key=lambda last: totals[last])
    return chains[best] if totals[best] > 0 else []
