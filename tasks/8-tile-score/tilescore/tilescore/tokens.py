"""Tokens, and how many segments use them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence


def tokenize(text: str) -> list[str]:
    """Words and single punctuation marks, in lower case."""
    return re.findall(r"\w+|[^\w\s]", text.lower())


def segment_counts(references: Sequence[Sequence[str]]) -> Counter[str]:
    """In how many segments each token occurs, in any of the segment's references."""
    return Counter(token for group in references for token in {token for text in group for token in tokenize(text)})
