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
    # TODO: implement tile_score.
    raise NotImplementedError
