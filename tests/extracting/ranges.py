"""Ranges of lines to try: mostly whole statements of one suite, sometimes any lines at all."""

from __future__ import annotations

import ast
from random import Random

from lmr_author.authoring.extracting.selection import Suite, last_line, suites
from lmr_author.core import code
from lmr_author.core.code import first_line

LENGTHS = (0, 0, 1, 2, 3, 5, 9, 15)


def some_suites(module: code.Module, after: int = 0) -> list[Suite]:
    """The suites of a module in which a block may lie, from some line on."""
    found = [suite for suite in suites(module.tree) if first_line(suite.statements[-1]) > after]
    return [suite for suite in found if not isinstance(suite.owners[-1], ast.ClassDef)]


def some_range(module: code.Module, candidates: list[Suite], random: Random) -> tuple[int, int]:
    """A first and a last line."""
    if random.random() < 0.1:
        start = random.randint(1, module.line_count)
        return start, min(module.line_count, start + random.choice(LENGTHS))
    suite = random.choice(candidates)
    begin = random.randrange(len(suite.statements))
    end = min(len(suite.statements) - 1, begin + random.choice(LENGTHS))
    return first_line(suite.statements[begin]), last_line(suite.statements[end])
