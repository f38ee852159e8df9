"""LMR404: the solution stands in the goal file's comments and texts."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path

from lmr_author.checks.base import Example, ImplementationCheck
from lmr_author.checks.example_texts import BODY, GOAL, HEAD, MASKED, MASKED_BODY, TAIL
from lmr_author.checks.leak_files import place
from lmr_author.checks.leaks import severity_of
from lmr_author.checks.pairing import pair
from lmr_author.checks.scan import scan, solutions
from lmr_author.checks.view import TaskView
from lmr_author.leaks import Solution
from lmr_author.leaks import lines as text_lines
from lmr_author.model import Finding, Implementation, Severity
from lmr_author.source import Module, parse, walk
from lmr_author.texts import counted

_PART = 14
"""Characters, blanks not counted, from which a line is found inside of a longer one."""

_COMPUTES = re.compile(r"[=(\[*+/]")
_MODULE = re.compile(r"\b(?:math|np|numpy|torch|nn|F|tf|jnp)\.")


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
        added = text_lines.added_comments(one.goal, one.golden)
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
            return message, leak.line, severity_of(leak)
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


def _first_line(goal: Module, found: set[str]) -> int:
    """The first line of a file that holds one of some texts without blanks; 0 for none."""
    numbers = range(1, goal.line_count + 1)
    return next(
        (n for n in numbers if any(line in text_lines.squeezed(goal.line_text(n)) for line in found)), 0
    )
