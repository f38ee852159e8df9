"""How much two pieces of code use the same names, texts, numbers and operators, whatever their statements are.

A copy that was rewritten (``a, b = f(a), f(b)`` for two lines, a generator for a loop) has other statements and other
variables, but calls the same functions with the same constants, as many times.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from lmr_author.leaks.statements import Statement, token_weight

_KINDS = tuple(".@'#%")


def profile(statements: Iterable[Statement]) -> Counter[str]:
    """The tokens that tell something, each with how often it stands there."""
    return Counter(token for item in statements for token in item.shape if token.startswith(_KINDS))


def weight(tokens: Counter[str]) -> float:
    """How much some tokens tell."""
    return sum(token_weight(token) * count for token, count in tokens.items())


def likeness(one: Counter[str], other: Counter[str]) -> float:
    """Share of what both tell that they have in common (Dice), 0 to 1."""
    both = weight(one) + weight(other)
    return 2 * weight(one & other) / both if both else 0.0
