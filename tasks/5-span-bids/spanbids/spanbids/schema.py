"""Types of mentions, roles of events, and what the two decoders pass on."""

from __future__ import annotations

from dataclasses import dataclass

TYPES = ("person", "place", "date")
ROLES = ("agent", "patient", "where", "when")

FIT = {
    ("person", "agent"): 1.0,
    ("person", "patient"): 0.8,
    ("place", "where"): 1.0,
    ("place", "agent"): 0.2,
    ("date", "when"): 1.0,
}
"""How well a type suits a role; what is not named does not suit at all."""

CAPACITY = {"patient": 2, "where": 2}
"""How many mentions a role of one event takes, where that is not 1."""


@dataclass(frozen=True)
class Mention:
    """Tokens ``start`` to ``end`` (excluded) of a document, with a type and the score of the decoder."""

    start: int
    end: int
    type: str
    score: float

    def distance(self, token: int) -> int:
        """Number of tokens from the mention's closest token to another one; 0 inside of it."""
        return max(self.start - token, token - self.end + 1, 0)


@dataclass(frozen=True)
class Link:
    """A mention, by its place in the list of mentions, as an argument of an event, and the bid that won."""

    trigger: int
    role: str
    mention: int
    bid: float
