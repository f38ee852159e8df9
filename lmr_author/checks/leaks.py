"""LMR403: the solution stands a second time, in whatever kind of file."""

from __future__ import annotations

import json
import shlex
from collections import defaultdict
from collections.abc import Iterator, Sequence, Set
from pathlib import Path

from lmr_author.checks.base import Check, Example
from lmr_author.checks.example_texts import BODY, GOAL, GOLDEN, MASKED, REPOSITORY, TAIL
from lmr_author.checks.leak_files import place
from lmr_author.checks.pairing import pair
from lmr_author.checks.scan import scan
from lmr_author.checks.view import TaskView
from lmr_author.leaks import Leak, is_generated
from lmr_author.model import Finding, Severity
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
            yield self._about(view, found, frozenset(goals.values()))

    def _about(self, view: TaskView, found: list[Leak], goals: Set[Path | None]) -> Finding:
        leak = max(found, key=lambda item: (item.sure, item.similarity))
        assert leak.solution is not None
        others = len(found) - 1
        percent = round(leak.similarity * 100)
        what = (
            f"{percent} % of the solution of {leak.solution.qualname} stands {leak.place}"
            if leak.sure
            else f"a look-alike of {leak.solution.qualname}, {_likeness(percent)}, stands {leak.place}"
        )
        return self.finding(
            view,
            what + (f"; {counted(others, 'more place')} in this file" if others else ""),
            _advice(leak, found, own=place(view, leak) in goals),
            implementation=leak.solution.implementation,
            path=place(view, leak),
            line=0 if leak.member else leak.line,
            severity=severity_of(leak),
        )


def severity_of(leak: Leak) -> Severity:
    """How bad a copy, or what only looks like one, is."""
    if leak.sure:
        return Severity.ERROR
    return Severity.WARNING if leak.similarity >= WORRYING else Severity.NOTE


def _likeness(percent: int) -> str:
    return f"{percent} % the same" if percent < 100 else "made of the same parts"


def _advice(leak: Leak, found: Sequence[Leak], *, own: bool) -> str:
    """What to do about a copy.

    Args:
        own: it stands in a goal file, which stays.
    """
    if leak.path.startswith("unit_test/"):
        return "compare with stored values instead of a copy"
    nodes = dict.fromkeys(item.node for item in found if item.node)
    command = "".join(f" --also {shlex.quote(node)}" for node in nodes)
    mask_it = f"mask it too (lmr-author mask{command})" if command else "take it out by hand"
    if not leak.sure:
        return f"read it: if it gives the solution away, {mask_it}; if not, accept the finding with a reason"
    if leak.member or is_generated(leak.path):
        return "delete the file"
    return mask_it if own else f"{mask_it}, or delete the file if nothing needs it"
