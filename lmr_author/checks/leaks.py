"""LMR403 and LMR404: the solution stands a second time, in code or in words."""

from __future__ import annotations

import ast
import json
import re
import shlex
import textwrap
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from lmr_author.checks.base import Check, Example, ImplementationCheck
from lmr_author.checks.example_texts import BODY, GOAL, GOLDEN, HEAD, MASKED, MASKED_BODY, REPOSITORY, TAIL
from lmr_author.checks.leak_files import place
from lmr_author.checks.pairing import pair
from lmr_author.checks.scan import scan, solutions
from lmr_author.checks.view import TaskView
from lmr_author.leaks import Leak, Solution, is_generated
from lmr_author.leaks import lines as text_lines
from lmr_author.model import Finding, Implementation, Severity
from lmr_author.source import Module, parse, walk
from lmr_author.texts import counted

WORRYING = 0.85
"""Similarity from which a look-alike is a warning; below it is a note."""

RENAMED_COPY = "def old_loss(s, y, m=1.0):\n" + (
    BODY.replace("penalties", "values")
    .replace("ordered", "right")
    .replace("difference", "gap")
    .replace("labels", "y")
    .replace("scores", "s")
    .replace("margin", "m")
)


class CopyElsewhere(Check):
    code = "LMR403"
    title = "the solution stands nowhere else in the repository"
    rationale = (
        "An upstream module, a notebook, a fork of a library, a nested copy, a backup, a patch: an agent that"
        " searches for the function's name finds the answer. Compared are statements (also with renamed"
        " variables) in Python files, comments, notebooks, documents, patches and archives. What only looks"
        " like the solution is a warning, or a note when less than 85 % is the same."
    )
    failing = (
        Example("a copy in another module", files={f"{REPOSITORY}/legacy/old_losses.py": GOLDEN}),
        Example(
            "a copy with renamed variables in the goal file",
            files={
                GOAL: MASKED + "\n\n" + RENAMED_COPY,
                "golden_files/losses_golden.py": GOLDEN + "\n\n" + RENAMED_COPY,
            },
        ),
        Example("a backup", files={f"{REPOSITORY}/ranking/losses.py.bak": GOLDEN}, also=("LMR701",)),
        Example(
            "of a golden that info.json names otherwise",
            files={
                "golden_files/losses_golden.py": None,
                "golden_files/losses-gold.py": GOLDEN,
                "golden_files/train_golden.py": "from ranking.losses import pairwise_loss\n",
                f"{REPOSITORY}/legacy/old_losses.py": GOLDEN,
            },
            also=("LMR302",),
        ),
        Example("the golden beside the goal file", files={f"{REPOSITORY}/ranking/losses_golden.py": GOLDEN}),
        Example(
            "a notebook",
            files={
                f"{REPOSITORY}/analysis.ipynb": json.dumps(
                    {
                        "cells": [
                            {
                                "cell_type": "code",
                                "source": ("def loss(scores, labels, margin):\n" + BODY).splitlines(True),
                            }
                        ]
                    }
                )
            },
        ),
        Example(
            "the unit test has it",
            files={
                f"{REPOSITORY}/unit_test/reference.py": (
                    "import math\n\n\ndef reference(scores, labels, margin):\n" + BODY
                )
            },
        ),
        Example(
            "commented out in another file",
            files={f"{REPOSITORY}/ranking/old.py": "".join(f"# {line}\n" for line in BODY.splitlines())},
        ),
    )
    passing = (
        Example("a masked copy", files={f"{REPOSITORY}/legacy/old_losses.py": MASKED}),
        Example("another function", files={f"{REPOSITORY}/legacy/old_losses.py": "import math\n" + TAIL}),
    )

    def run(self, view: TaskView) -> Iterator[Finding]:
        """One finding for each file and implementation, about the place that is most like the solution."""
        goals = {
            implementation.index: pair(view, implementation).goal_path
            for implementation in view.implementations
        }
        places: dict[tuple[str, int, str], list[Leak]] = defaultdict(list)
        for leak in scan(view).leaks:
            if leak.kind == "compiled" or leak.solution is None:
                continue
            own = goals.get(leak.solution.implementation.index) == place(view, leak)
            if not (own and leak.kind == "comments"):
                solution = leak.solution
                places[leak.path, solution.implementation.index, solution.qualname].append(leak)
        for found in places.values():
            yield self._about(view, found)

    def _about(self, view: TaskView, found: list[Leak]) -> Finding:
        leak = max(found, key=lambda item: (item.sure, item.similarity))
        assert leak.solution is not None
        others = len(found) - 1
        percent = round(leak.similarity * 100)
        what = (
            f"{percent} % of the solution of {leak.solution.qualname} stands {leak.place}"
            if leak.sure
            else f"a look-alike of {leak.solution.qualname}, {percent} % the same, stands {leak.place}"
        )
        return self.finding(
            view,
            what + (f"; {counted(others, 'more place')} in this file" if others else ""),
            _advice(leak, found),
            implementation=leak.solution.implementation,
            path=place(view, leak),
            line=0 if leak.member else leak.line,
            severity=_severity(leak),
        )


def _severity(leak: Leak) -> Severity:
    if leak.sure:
        return Severity.ERROR
    return Severity.WARNING if leak.similarity >= WORRYING else Severity.NOTE


def _advice(leak: Leak, found: Sequence[Leak]) -> str:
    if leak.path.startswith("unit_test/"):
        return "compare with stored values instead of a copy"
    nodes = dict.fromkeys(item.node for item in found if item.node)
    command = "".join(f" --also {shlex.quote(node)}" for node in nodes)
    mask_it = f"mask it too (lmr-author mask{command})" if command else "take it out by hand"
    if not leak.sure:
        return f"read it: if it gives the solution away, {mask_it}; if not, accept the finding with a reason"
    if leak.member or is_generated(leak.path):
        return "delete the file"
    return f"{mask_it}, or delete the file"


_PART = 14
"""Characters, blanks not counted, from which a line is found inside of a longer one."""


class SolutionInComments(ImplementationCheck):
    code = "LMR404"
    title = "the goal file's comments and texts do not hold the solution"
    rationale = (
        "Commenting the body out instead of removing it masks nothing: the agent only has to remove the #."
    )
    failing = (
        Example(
            "the body is commented out",
            files={GOAL: HEAD + "".join(f"    #{line}\n" for line in BODY.splitlines()) + MASKED_BODY + TAIL},
        ),
        Example(
            "statements in one line, with words between them",
            files={
                GOAL: HEAD
                + "    # for each pair: difference = scores[first] - scores[second]; ordered += difference > 0\n"
                + "    # finally mean_penalty = sum(penalties) / len(penalties)\n"
                + MASKED_BODY
                + TAIL
            },
        ),
        Example(
            "what is computed, under other names",
            files={
                GOAL: HEAD
                + "    # for each pair with difference = scores[first] - scores[second]:\n"
                + "    #     p = math.log1p(math.exp(margin - difference)), and share = ordered / len(penalties)\n"
                + MASKED_BODY
                + TAIL
            },
        ),
        Example(
            "the body became a string",
            files={GOAL: HEAD + "    raise NotImplementedError\n    '''\n" + BODY + "    '''\n" + TAIL},
        ),
        Example(
            "at the file's end",
            files={GOAL: MASKED + "\n\n" + "".join(f"# {line}\n" for line in BODY.splitlines()[7:])},
            also=("LMR311",),
        ),
    )
    passing = (
        Example(
            "a comment in words",
            files={GOAL: HEAD + "    # Sum the penalties of all pairs, then divide.\n" + MASKED_BODY + TAIL},
        ),
    )

    def run_one(self, view: TaskView, implementation: Implementation) -> Iterator[Finding]:
        """One finding for each target."""
        one = pair(view, implementation)
        if one.goal is None or one.golden is None or one.goal_path is None:
            return
        added = text_lines.comment_lines(one.goal) - text_lines.comment_lines(one.golden)
        for item in solutions(view):
            if item.implementation is not implementation:
                continue
            told = (
                _in_comments(view, item, one.goal_path)
                or _in_added_lines(item, one.goal, added)
                or _in_added_formulas(item, one.goal, added)
            )
            if told is not None:
                message, line, severity = told
                yield self.finding(
                    view,
                    message,
                    "delete them",
                    implementation=implementation,
                    path=one.goal_path,
                    line=line,
                    severity=severity,
                )


def _in_comments(view: TaskView, item: Solution, goal: Path) -> tuple[str, int, Severity] | None:
    """(message, line, severity) for a copy in the goal file's comments and texts, old ones included."""
    for leak in scan(view).leaks:
        if (
            leak.kind == "comments"
            and leak.solution is item
            and place(view, leak) == goal
            and not leak.member
        ):
            what = "comments or texts hold" if leak.sure else "comments or texts hold a look-alike of"
            message = f"{what} the solution of {item.qualname} ({round(leak.similarity * 100)} % of it)"
            return message, leak.line, _severity(leak)
    return None


def _within(line: str, added: set[str]) -> bool:
    """Whether a line of the solution is part of a longer comment, beside words or other statements."""
    return len(line) >= _PART and any(line in longer for longer in added)


def _in_added_lines(item: Solution, goal: Module, added: set[str]) -> tuple[str, int, Severity] | None:
    """The same for a few lines of the solution in comments that the golden does not have."""
    found = {line for line in item.lines if line in added or _within(line, added)}
    if not found or (len(found) < 2 and len(item.lines) > 3):
        return None
    message = f"{counted(len(found), 'line')} of the solution of {item.qualname} stand in comments or texts"
    return message, _first_line(goal, found), Severity.ERROR


def _in_added_formulas(item: Solution, goal: Module, added: set[str]) -> tuple[str, int, Severity] | None:
    """The same for what is computed, given to other names: ``# slopes = [start * ratio**i for i in range(n)]``."""
    plain = {_unqualified(line): line for line in added if len(line) >= _PART and _COMPUTES.search(line)}
    if not plain:
        return None
    found = {
        formula: line
        for formula in _formulas(item)
        for short, line in plain.items()
        if _unqualified(formula) in short
    }
    if len(found) < 2:
        return None
    message = f"{len(found)} formulas of the solution of {item.qualname} stand in comments or texts"
    return message, _first_line(goal, set(found.values())), Severity.WARNING


def _formulas(item: Solution) -> set[str]:
    """What the solution assigns, adds or returns, without blanks, where it is long enough to tell something."""
    source = textwrap.dedent(item.source)
    try:
        tree = parse(source)
    except SyntaxError:  # a text in it stands further left than the function
        return set()
    values = [
        part
        for node in walk(tree)
        if isinstance(node, ast.Assign | ast.AugAssign | ast.Return) and node.value
        for part in (node.value.elts if isinstance(node.value, ast.Tuple) else [node.value])
    ]
    texts = {"".join((ast.get_source_segment(source, value) or "").split()) for value in values}
    return {text for text in texts if len(text) >= _PART}


def _unqualified(text: str) -> str:
    return _MODULE.sub("", text)


_COMPUTES = re.compile(r"[=(\[*+/]")
_MODULE = re.compile(r"\b(?:math|np|numpy|torch|nn|F|tf|jnp)\.")


def _first_line(goal: Module, found: set[str]) -> int:
    """The first line of a file that holds one of some texts without blanks; 0 for none."""
    numbers = range(1, goal.line_count + 1)
    return next(
        (n for n in numbers if any(line in text_lines.squeezed(goal.line_text(n)) for line in found)), 0
    )
