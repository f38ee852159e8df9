"""Synthetic documents: events whose arguments lie around their trigger, and noisy scores of tokens."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spanbids.schema import TYPES

ARGUMENTS = (
    ("person", "agent", 0.9),
    ("person", "patient", 0.6),
    ("person", "patient", 0.3),
    ("place", "where", 0.6),
    ("place", "where", 0.3),
    ("place", "agent", 0.1),
    ("date", "when", 0.5),
)
"""Type, role, and how often an event has such an argument."""


@dataclass(frozen=True)
class Document:
    """A document with its right answer.

    Attributes:
        begin, inside, end: scores of the tokens, shape (tokens, types).
        triggers: tokens that name an event.
        mentions: start, end (excluded) and type of every mention.
        arguments: trigger, role, start and end of every argument.
    """

    begin: np.ndarray
    inside: np.ndarray
    end: np.ndarray
    triggers: list[int]
    mentions: set[tuple[int, int, str]]
    arguments: set[tuple[int, str, int, int]]


def document(random: np.random.Generator, noise: float, most_events: int = 3) -> Document:
    """Draw a document of one event or more, with normal noise of that standard deviation."""
    token, triggers = 0, []
    mentions: set[tuple[int, int, str]] = set()
    arguments: set[tuple[int, str, int, int]] = set()
    for _ in range(random.integers(1, most_events + 1)):
        drawn = [item for item in ARGUMENTS if random.random() < item[2]]
        order = [drawn[place] for place in random.permutation(len(drawn))]
        cut = int(random.integers(len(order) + 1))
        found = []
        for place in range(len(order) + 1):
            if place == cut:
                triggers.append(token)
                token += 1 + int(random.integers(3))
            if place < len(order):
                length = int(random.integers(1, 4))
                found.append((token, token + length, *order[place][:2]))
                token += length + int(random.integers(3))
        mentions |= {(start, end, kind) for start, end, kind, _ in found}
        arguments |= {(triggers[-1], role, start, end) for start, end, _, role in found}
    scores = random.normal(-1.0, noise, size=(3, token, len(TYPES)))
    for start, end, kind in mentions:
        column = TYPES.index(kind)
        scores[0, start, column] += 2.5
        scores[1, start:end, column] += 2.0
        scores[2, end - 1, column] += 2.5
    return Document(*scores, triggers, mentions, arguments)
