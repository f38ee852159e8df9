"""Words of texts."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable


def words(text: str) -> list[str]:
    """The words of a text in lower case, in their order."""
    return re.findall(r"[a-z]+", text.lower())


def rarity(texts: Iterable[str]) -> dict[str, float]:
    """How rare each word is: log((1 + texts) / (1 + texts with the word)), never negative."""
    found = [set(words(text)) for text in texts]
    counts = Counter(word for text in found for word in text)
    return {word: math.log((1 + len(found)) / (1 + count)) for word, count in counts.items()}


def overlap(first: Iterable[str], second: Iterable[str]) -> float:
    """Jaccard similarity: distinct words that both have, among all distinct words; 0 for no words."""
    one, other = set(first), set(second)
    return len(one & other) / len(one | other) if one | other else 0.0
