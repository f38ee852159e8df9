"""LMR304: what masking changed outside of the target."""

from __future__ import annotations

import json
from collections.abc import Iterator

from lmr_author.checks.base import Check, Example
from lmr_author.checks.example_texts import GOAL, MASKED
from lmr_author.checks.outside import groups, has_nameless_target, owner, units_that_differ
from lmr_author.checks.view import TaskView
from lmr_author.model import Finding


class SameOutside(Check):
    code = "LMR304"
    title = "outside of the target the goal file is the golden"
    rationale = (
        "Another function gutted, logging added, an import dropped: the agent works in a repository that is"
        " not the paper's, and a right solution can fail for it."
    )
    failing = (
        Example(
            "another function was gutted",
            files={GOAL: MASKED.replace("    return 1.0 / (1.0 + math.exp(-value))", "    pass")},
        ),
        Example(
            "a line was added far below a function's header",
            files={
                GOAL: MASKED.replace(
                    "        found = self.normalise(scores)\n",
                    "        found = self.normalise(scores)\n        print(found)\n",
                )
            },
        ),
        Example(
            "logging was added",
            files={GOAL: MASKED.replace("import math\n", "import logging\nimport math\n")},
        ),
        Example("a constant was changed", files={GOAL: MASKED.replace("temperature=1.0", "temperature=2.0")}),
        Example("a method is gone", files={GOAL: MASKED.partition("    def forward")[0]}),
    )
    passing = (
        Example("only the target differs"),
        Example(
            "a look-alike was masked along with it",
            files={
                GOAL: MASKED.replace("return 1.0 / (1.0 + math.exp(-value))", "raise NotImplementedError"),
                "authoring/also-masked.json": json.dumps(
                    {
                        "also": [
                            {
                                "path": "ranking/losses.py",
                                "qualname": "sigmoid",
                                "nth": 1,
                                "target": "ranking/losses.py::pairwise_loss",
                                "original": "",
                            }
                        ]
                    }
                ),
            },
        ),
    )

    def run(self, view: TaskView) -> Iterator[Finding]:
        """One finding for each pair of files, naming what differs."""
        for one, ours, theirs in groups(view):
            assert one.golden is not None and one.goal is not None
            found = units_that_differ(view, one, ours, theirs)
            if found and not has_nameless_target(view, one):
                listed = "; ".join(text for text, _ in found[:5]) + (
                    f"; and {len(found) - 5} more" if len(found) > 5 else ""
                )
                line = next((line for _, line in found if line), 0)
                yield self.finding(
                    view,
                    f"differs from the golden outside of the target: {listed}",
                    "take these lines from the golden (or correct the golden)",
                    implementation=owner(view, one),
                    path=one.goal_path or "",
                    line=line,
                )
