"""The metric of the paper."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tilescore.tiling import find_tiles
from tilescore.tokens import segment_counts, tokenize


def tile_score(
    hypotheses: Sequence[str],
    references: Sequence[Sequence[str]],
    *,
    beta: float = 2.0,
    drift: float = 0.1,
    disorder: float = 0.1,
) -> tuple[float, list[float]]:
    """Displaced-tile score of a corpus (section 2 of the paper).

    Args:
        hypotheses: generated texts.
        references: one or more reference texts of each.
        beta: β, weight of recall.
        drift: η, how fast the credit of a displaced tile falls.
        disorder: θ, what is lost when all tiles are in the wrong order.

    Returns:
        The score of the corpus and that of each segment, between 0 and 1.

    Raises:
        ValueError: The numbers of hypotheses and of reference groups differ, or a group is empty.
    """
    if len(hypotheses) != len(references) or not all(references):
        raise ValueError("every hypothesis needs at least one reference")
    counts, segments = segment_counts(references), len(references)

    def weigh(tokens: list[str]) -> float:
        return math.fsum(1.0 + math.log((1 + segments) / (1 + counts[token])) for token in tokens)

    def combine(credit: float, of_hypothesis: float, of_reference: float) -> float:
        if of_hypothesis == of_reference == 0.0:
            return 1.0
        if credit == 0.0:
            return 0.0
        precision, recall = credit / of_hypothesis, credit / of_reference
        return (1 + beta**2) * precision * recall / (beta**2 * precision + recall)

    sums, scores = [0.0, 0.0, 0.0], []
    for text, group in zip(hypotheses, references):
        tokens = tokenize(text)
        options = []
        for reference in sorted(map(tokenize, group), key=len):
            tiles = find_tiles(tokens, reference, counts, segments)
            credit = 0.0
            for i, j, length in tiles:
                shift = abs((i + length / 2) / len(tokens) - (j + length / 2) / len(reference))
                credit += weigh(tokens[i : i + length]) * math.exp(-drift * shift)
            inversions = sum(before[1] > behind[1] for before, behind in zip(tiles, tiles[1:]))
            credit *= 1.0 - disorder * inversions / max(1, len(tiles) - 1)
            parts = (credit, weigh(tokens), weigh(reference))
            options.append((combine(*parts), parts))
        highest = max(score for score, _ in options)
        chosen = next(parts for score, parts in options if score >= highest - 1e-9)
        scores.append(highest)
        sums = [total + part for total, part in zip(sums, chosen)]
    return combine(*sums) if scores else 0.0, scores
