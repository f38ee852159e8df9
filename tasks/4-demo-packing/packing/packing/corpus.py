"""Synthetic texts of four topics."""

from __future__ import annotations

import random

TOPICS = ("sport", "music", "trade", "science")
SYLLABLES = ("ba", "do", "ki", "lu", "me", "na", "po", "ri", "su", "ta", "ve", "zo")


def vocabulary(source: random.Random, size: int) -> list[str]:
    """Distinct made-up words."""
    found: dict[str, None] = {}
    while len(found) < size:
        found["".join(source.choices(SYLLABLES, k=3))] = None
    return list(found)


def corpus(source: random.Random, count: int, names: list[str], weights: tuple[int, ...]) -> list[tuple[str, str]]:
    """Draw texts with their topics.

    A text has 4 to 16 words: 35 % of its own topic, 15 % of any topic, the rest common to all. The words
    of a list follow a steep distribution, as in real texts.

    Args:
        source: source of randomness.
        count: number of texts.
        names: 40 words for each topic, and as many common ones.
        weights: how frequent each topic is, relative to the others.
    """
    lists = [names[start : start + 40] for start in range(0, len(names), 40)]
    steep = [1.0 / (1 + rank) for rank in range(40)]
    found = []
    for _ in range(count):
        topic = source.choices(range(len(TOPICS)), weights=weights)[0]
        text = []
        for _ in range(source.randint(4, 16)):
            draw = source.random()
            kind = topic if draw < 0.35 else source.randrange(len(TOPICS)) if draw < 0.5 else len(TOPICS)
            text.append(source.choices(lists[kind], weights=steep)[0])
        found.append((" ".join(text).capitalize() + ".", TOPICS[topic]))
    return found
