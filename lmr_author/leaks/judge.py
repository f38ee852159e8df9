"""From similarities to a judgement: the solution (sure), something like it (a look-alike), or neither.

The numbers were chosen by reading several hundred pairs of functions of public research repositories.
"""

from __future__ import annotations

from enum import IntEnum

from lmr_author.leaks import tokens
from lmr_author.leaks.compare import Match, compare
from lmr_author.leaks.fragments import Fragment
from lmr_author.leaks.solution import Solution

LITTLE = 8.0
"""Solutions that tell less than this are found only whole: their few statements stand in many places."""
MUCH = 15.0
"""From here on a copy whose names all differ is believed."""
RENAMED = 0.94
"""Similarity of such a copy."""
LINES = 0.6
"""Share of the telling lines that makes a text a copy."""
LINES_SURE = 0.75
TOKENS = 0.9
"""Likeness of tokens that makes rewritten code a look-alike. Below, siblings (two optimizers) are as like as copies."""
TOKENS_IN_COMMENTS = 0.7
"""The same in comments: there code stands because it is an old version of something."""
TOKENS_NAMED = 0.5
"""The same where a document writes a function of the same name out: it explains that function, if in a simpler form."""
TOKENS_LEAST = 12.0
"""Solutions whose tokens tell less than this are not known by them."""


class Level(IntEnum):
    """How sure it is that a place gives the solution away."""

    NO = 0
    ALIKE = 1
    SURE = 2


def level(solution: Solution, fragment: Fragment, match: Match) -> Level:
    """What a match of statements means."""
    named = _same_name(solution, fragment)
    if solution.weight < LITTLE:
        return _little(solution, match, named)
    likeness, exact = match.similarity, match.exact
    density = match.density if fragment.kind == "code" else 1.0
    if named and likeness >= 0.75 and exact >= 0.5:
        return Level.SURE
    if (likeness >= 0.85 and exact >= 0.7 and density >= 0.5) or (
        likeness >= RENAMED and density >= 0.6 and solution.weight >= MUCH
    ):
        return Level.SURE
    alike = (
        (likeness >= 0.7 and exact >= 0.5 and density >= 0.4)
        or (likeness >= 0.8 and exact >= 0.3 and density >= 0.6)
        or (likeness >= 0.8 and density >= 0.8 and solution.weight >= MUCH)
        or (likeness >= 0.95 and density >= 0.8)
        or (named and likeness >= 0.6 and exact >= 0.35)
        or (named and likeness >= 0.5 and exact >= 0.25 and density >= 0.6 and solution.weight >= 3 * MUCH)
    )
    return Level.ALIKE if alike or _is_made_of(solution, fragment, match) else Level.NO


def _is_made_of(solution: Solution, fragment: Fragment, match: Match) -> bool:
    """Whether a function is little else than a large part of the solution, or all of it under a like name."""
    if match.similarity < 0.4 or match.density < 0.8 or solution.weight < MUCH or not fragment.where:
        return False
    back = compare(fragment.statements, solution.statements)
    part = match.exact >= 0.35 and match.similarity * solution.weight >= MUCH
    if part and back.similarity >= 0.9 and back.exact >= 0.7:
        return True
    return _like_name(solution, fragment) and match.similarity >= 0.7 and back.similarity >= 0.8


def level_of_lines(solution: Solution, share: float) -> Level:
    """What a share of the telling lines means."""
    if share < LINES or (len(solution.lines) < 3 and share < 1.0) or solution.weight < LITTLE / 2:
        return Level.NO
    return Level.SURE if share >= LINES_SURE and solution.weight >= LITTLE else Level.ALIKE


def level_of_tokens(solution: Solution, fragment: Fragment, likeness: float) -> Level:
    """What a likeness of tokens means: a look-alike at most, as order and variables are not compared."""
    least = TOKENS_IN_COMMENTS if fragment.kind == "comments" else TOKENS
    if is_namesake(solution, fragment) and min(len(solution.statements), len(fragment.statements)) >= 3:
        least = TOKENS_NAMED
    telling = tokens.weight(solution.tokens) >= TOKENS_LEAST
    return Level.ALIKE if telling and likeness >= least else Level.NO


def _little(solution: Solution, match: Match, named: bool) -> Level:
    if named and match.similarity >= 0.9 and match.exact >= 0.5 and match.density >= 0.5:
        return Level.SURE
    whole = match.exact >= 0.95 and match.density >= 0.6
    telling = solution.weight >= LITTLE / 2 and solution.name != "__init__"
    return Level.ALIKE if whole and telling else Level.NO


def is_namesake(solution: Solution, fragment: Fragment) -> bool:
    """Whether a document writes a function out that has the solution's telling name."""
    return fragment.kind == "text" and _same_name(solution, fragment)


def _like_name(solution: Solution, fragment: Fragment) -> bool:
    """Whether the solution's telling name is that of the place with a word more or less: ``get_mask_prob``."""
    if fragment.definition is None or not solution.has_telling_name:
        return False
    mine, theirs = solution.name, fragment.definition.qualname.rpartition(".")[2]
    shorter, longer = sorted((mine, theirs), key=len)
    return "_" in shorter.strip("_") and f"_{shorter}_" in f"_{longer}_"


def _same_name(solution: Solution, fragment: Fragment) -> bool:
    """Whether the place is a function of the same, telling name; for two methods, of the same class, too.

    A method of the same name in another class is an override: another function on purpose.
    """
    if fragment.definition is None:
        return False
    mine, theirs = solution.qualname.split("."), fragment.definition.qualname.split(".")
    if len(mine) > 1 and len(theirs) > 1:
        return mine[-2:] == theirs[-2:]
    return solution.has_telling_name and mine[-1] == theirs[-1]
