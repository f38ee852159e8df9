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
    texts = [words(text) for text, _ in pool]
    costs = [template + len(text) for text in texts]
    asked = set(words(query))
    whole = sum(rare.get(word, 0.0) for word in asked)
    shown = dict.fromkeys(asked, 0)
    labels = dict.fromkeys((label for _, label in pool), 0)
    chosen: list[int] = []
    while True:
        best, most = None, 0.0
        for place, (_, label) in enumerate(pool):
            gain = sum(rare.get(word, 0.0) * discount ** shown[word] for word in asked & set(texts[place]))
            if place in chosen or costs[place] > budget or gain <= 0:
                continue
            alike = max((overlap(texts[place], texts[other]) for other in chosen), default=0.0)
            even = 1.0 / (1 + labels[label] - min(labels.values()))
            score = (gain / whole - redundancy * alike + balance * even) / costs[place] ** power
            if score > most:
                best, most = place, score
        if best is None:
            break
        chosen.append(best)
        budget -= costs[best]
        labels[pool[best][1]] += 1
        for word in asked & set(texts[best]):
            shown[word] += 1

    relevance = {place: sum(rare.get(word, 0.0) for word in asked & set(texts[place])) for place in chosen}
    ranked = sorted(chosen, key=lambda place: relevance[place], reverse=True)
    if not valley:
        return ranked[::-1]
    order = ranked[1::2] + ranked[0::2][::-1]
    for place in range(1, len(order) - 1):
        run = {pool[order[near]][1] for near in (place - 1, place, place + 1)}
        later = [spot for spot in range(place + 2, len(order) - 1) if pool[order[spot]][1] not in run]
        if len(run) == 1 and later:
            order[place], order[later[0]] = order[later[0]], order[place]
    return order
