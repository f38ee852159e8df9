"""The bank of donors: every entity of a corpus, with the words it was seen between."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from spanex.data import START, STOP, Sentence, entities

Span = tuple[str, ...]


@dataclass
class Donor:
    """A span of words that can take the place of another one of its type.

    Attributes:
        words: the span.
        left: how often each word stood before it in the corpus (START at the beginning).
        right: how often each word stood behind it (STOP at the end).
        used: how often it was donated.
    """

    words: Span
    left: dict[str, int] = field(default_factory=dict)
    right: dict[str, int] = field(default_factory=dict)
    used: int = 0


@dataclass
class Bank:
    """Donors of each type, in alphabetical order, and the number of entities of each type."""

    donors: dict[str, list[Donor]]
    counts: dict[str, int]

    @classmethod
    def of(cls, corpus: list[Sentence]) -> Bank:
        """Collect the entities of a corpus."""
        donors: dict[tuple[str, Span], Donor] = {}
        counts: Counter[str] = Counter()
        for sentence in corpus:
            padded = [START, *sentence.tokens, STOP]
            for start, stop, kind in entities(sentence.tags):
                words = tuple(sentence.tokens[start:stop])
                donor = donors.setdefault((kind, words), Donor(words))
                donor.left[padded[start]] = donor.left.get(padded[start], 0) + 1
                donor.right[padded[stop + 1]] = donor.right.get(padded[stop + 1], 0) + 1
                counts[kind] += 1
        kinds = sorted(counts)
        return cls(
            {kind: [donors[key] for key in sorted(donors) if key[0] == kind] for kind in kinds},
            {kind: counts[kind] for kind in kinds},
        )
