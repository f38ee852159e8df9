"""Which demonstrations a prompt shows, and in which order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from packing.words import overlap, words


def select_demonstrations(
    query: str,
    pool: Sequence[tuple[str, str]],
    rare: Mapping[str, float],
    budget: int,
    *,
    template: int = 2,
    discount: float = 0.5,
    redundancy: float = 0.2,
    balance: float = 0.05,
    power: float = 1.0,
    valley: bool = True,
) -> list[int]:
    """Choose demonstrations for a query and put them in order (sections 2 and 3 of the paper).

    Args:
        query: the text that the prompt ends with.
        pool: text and label of each possible demonstration.
        rare: ρ, the rarity of words; a word that is missing counts 0.
        budget: most words of all demonstrations together.
        template: words that each demonstration costs beside its text.
        discount: γ, what the next demonstration of a word is worth, relative to the one before.
        redundancy: δ, weight of the similarity to demonstrations that were chosen.
        balance: β, weight of the balance of labels.
        power: p, the power of the cost that a score is divided by; 0 ignores it.
        valley: the best at both ends; False: the best last, and no repair of runs.

    Returns:
        Places in the pool, in the order of the prompt; empty if nothing shares a word with the query.
    """
    # TODO: implement select_demonstrations.
    raise NotImplementedError
