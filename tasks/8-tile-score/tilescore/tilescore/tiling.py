"""Tiles: runs of tokens that a hypothesis shares with a reference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def find_tiles(
    hypothesis: Sequence[str], reference: Sequence[str], counts: Mapping[str, int], segments: int
) -> list[tuple[int, int, int]]:
    """Cover two texts with common runs of tokens (algorithm 1 of the paper).

    Args:
        hypothesis, reference: tokens.
        counts: in how many segments of the corpus each token occurs; one that is not listed, in none.
        segments: number of segments of the corpus.

    Returns:
        Start in the hypothesis, start in the reference, and length of each tile, in the hypothesis's order.
    """
    used_left, used_right = [False] * len(hypothesis), [False] * len(reference)
    refused: set[tuple[int, int]] = set()
    tiles: list[tuple[int, int, int]] = []
    while True:
        found: list[tuple[int, int, int, int]] = []
        for i in range(len(hypothesis)):
            for j in range(len(reference)):
                length = 0
                while (
                    i + length < len(hypothesis)
                    and j + length < len(reference)
                    and not used_left[i + length]
                    and not used_right[j + length]
                    and hypothesis[i + length] == reference[j + length]
                ):
                    length += 1
                if length and (i, j) not in refused:
                    found.append((-length, abs(i - j), i, j))
        if not found:
            return sorted(tiles)
        length, _, i, j = min(found)
        length = -length
        if length == 1 and 2 * counts.get(hypothesis[i], 0) > segments:
            refused.add((i, j))
            continue
        tiles.append((i, j, length))
        used_left[i : i + length] = [True] * length
        used_right[j : j + length] = [True] * length
