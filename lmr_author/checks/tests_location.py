"""LMR501, 510, 511: where the unit test is."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from lmr_author.checks.base import Example, ImplementationCheck
from lmr_author.checks.example_texts import REPOSITORY, UNIT_TEST
from lmr_author.checks.lookup import clean_path, goal_path, test_outside, unit_test_path
from lmr_author.checks.reading import Reading, reading
from lmr_author.checks.target_files import syntax_error
from lmr_author.checks.view import TaskView
from lmr_author.checks.written_paths import PathCheck, leaves
from lmr_author.model import Finding, Implementation, Severity

TEST = f"{REPOSITORY}/unit_test/unit_test_1.py"
_LOGIC = re.compile(
    r"expected|golden|ground_?truth|reference|answer|\btest_?(?:data|cases?|inputs?)\b|\bunit_?test_?data\b|\bfixtures?\b|(?:^|[/_])cases?(?:_?\d+)?$",
    re.IGNORECASE,
)
"""Names of what is stored for a test. ``tests/`` of the repository itself is none of it."""


class TestExists(PathCheck):
    key = "unit_test_file"
    code = "LMR501"
    title = "the unit test exists and can be parsed"
    fixable = True
    rationale = (
        "Without its test an implementation cannot be scored. `unit_test.py` for `unit_test_1.py` is the"
        " usual slip."
    )
    failing = (
        Example("it has another name", files={TEST: None, f"{REPOSITORY}/unit_test/unit_test.py": UNIT_TEST}),
        Example("it is missing", files={TEST: None}),
        Example(
            "it lies beside the repository, and is read all the same",
            files={
                TEST: None,
                "tests/unit_test_1.py": UNIT_TEST.replace(
                    "LOGS = os", "import torch\nDEVICE = torch.zeros(1).cuda()\nLOGS = os"
                ),
            },
            implementation={"unit_test_file": "tests/unit_test_1.py"},
            also=("LMR509",),
        ),
        Example("unit_test_file is missing", implementation={"unit_test_file": None}),
        Example(
            "a syntax error",
            files={TEST: UNIT_TEST.replace("def test_no_pairs(self):", "def test_no_pairs(self)")},
        ),
    )
    passing = (Example("unit_test/unit_test_1.py"),)

    def run_one(self, view: TaskView, implementation: Implementation) -> Iterator[Finding]:
        """At most one finding."""
        outside = test_outside(view, implementation)
        if view.is_empty and outside is None:
            yield self.finding(
                view,
                f"unit_test_file {implementation.unit_test_file!r:.120} does not exist: nothing is in the repository",
                "`lmr-author record` makes one when the repository is there",
                implementation=implementation,
                path="info.json",
                pointer=f"/implementations/{view.position(implementation)}",
            )
        if view.repository is None or leaves(view, view.repository, implementation.unit_test_file):
            return
        exact = view.inside(view.repository, clean_path(implementation.unit_test_file))
        found = unit_test_path(view, implementation)
        if exact is None or not view.is_file(exact):
            meant = view.in_repository_path(found)
            hint = f"did you mean {meant}?" if meant else "`lmr-author record` makes one"
            if found is not None and found == outside:
                hint = f"move {view.relative(found)} to unit_test/ of the repository"
            message = self.said(implementation, "does not exist in the repository")
            where = self.where(view, implementation)
            if not implementation.unit_test_file:
                where["pointer"] = where["pointer"].removesuffix(f"/{self.key}")
            yield self.finding(view, message, hint, **where)
        else:
            yield from self.misspelt(view, implementation)
        if found is not None and found.suffix == ".py" and view.module(found) is None:
            line, cause = syntax_error(view, found)
            yield self.finding(
                view,
                f"cannot be parsed as Python 3: {cause}",
                "correct the syntax",
                implementation=implementation,
                path=found,
                line=line,
            )


class GoalIsNotTheTest(ImplementationCheck):
    code = "LMR510"
    title = "goal_file is a file of the repository, not the unit test"
    rationale = "With the test as goal file the agent is told to edit what judges it."
    failing = (
        Example(
            "goal_file is the unit test",
            implementation={"goal_file": "unit_test/unit_test_1.py"},
        ),
        Example(
            "a module of unit_test/",
            implementation={"goal_file": "unit_test/losses.py"},
            files={
                f"{REPOSITORY}/unit_test/losses.py": (
                    "def pairwise_loss(scores, labels, margin=1.0):\n    raise NotImplementedError\n"
                )
            },
            also=("LMR304", "LMR305", "LMR506"),
        ),
    )
    passing = (Example("ranking/losses.py"),)

    def run_one(self, view: TaskView, implementation: Implementation) -> Iterator[Finding]:
        """At most one finding."""
        goal, test = clean_path(implementation.goal_file), clean_path(implementation.unit_test_file)
        path = goal_path(view, implementation)
        inside = (
            path is not None
            and view.repository is not None
            and path.relative_to(view.repository).parts[0] == "unit_test"
        )
        if goal and (goal == test or inside or re.fullmatch(r"unit_test\w*\.py", goal.rpartition("/")[2])):
            position = view.position(implementation)
            yield self.finding(
                view,
                f"goal_file {goal!r:.120} is {'the unit test' if goal == test else 'part of the unit test'}",
                "name the file that holds the masked function",
                implementation=implementation,
                path="info.json",
                pointer=f"/implementations/{position}/goal_file",
            )


class TestInItsFolder(ImplementationCheck):
    code = "LMR511"
    title = "the unit test and its expected values are in unit_test/"
    rationale = (
        "Everything in unit_test/ is withheld from the agent, and nothing else is: a test or expected values"
        " elsewhere are part of what it is given. LMR-Bench's scripts run unit_test/unit_test_*.py only."
    )
    failing = (
        Example(
            "the test is at the top",
            implementation={"unit_test_file": "unit_test_1.py"},
            files={
                TEST: None,
                f"{REPOSITORY}/unit_test_1.py": UNIT_TEST.replace("os.path.dirname(HERE)", "HERE"),
            },
        ),
        Example(
            "expected values beside the code",
            files={
                f"{REPOSITORY}/data/expected_loss.json": "[1.0599649, 0.6666667]\n",
                TEST: (
                    UNIT_TEST.replace("import logging\n", "import json\nimport logging\n").replace(
                        "LOGS = os", 'EXPECTED = json.load(open("data/expected_loss.json"))\nLOGS = os'
                    )
                ),
            },
        ),
    )
    passing = (
        Example(
            "fixtures in unit_test/",
            files={
                f"{REPOSITORY}/unit_test/expected_loss.json": "[1.0599649, 0.6666667]\n",
                TEST: (
                    UNIT_TEST.replace("import logging\n", "import json\nimport logging\n").replace(
                        "LOGS = os",
                        'EXPECTED = json.load(open(os.path.join(HERE, "expected_loss.json")))\nLOGS = os',
                    )
                ),
            },
        ),
    )

    def run_one(self, view: TaskView, implementation: Implementation) -> Iterator[Finding]:
        """The test, then its fixtures."""
        path = unit_test_path(view, implementation)
        inside = view.in_repository_path(path)
        if path is None or view.repository is None or not inside:
            return  # LMR501 says what to do with one outside
        if inside.partition("/")[0] != "unit_test":
            yield self.finding(
                view,
                "the unit test lies outside of unit_test/",
                "move it there",
                implementation=implementation,
                path=path,
            )
        test = reading(view, path)
        for use in test.uses if test else ():
            if use.writes or not use.path.startswith("@/"):
                continue
            relative = self._fixture(view, test, use.path.removeprefix("@/"))
            if relative:
                yield self.finding(
                    view,
                    f"expected values are read from {relative}, outside of unit_test/",
                    "move the file to unit_test/",
                    implementation=implementation,
                    path=path,
                    line=use.line,
                    severity=Severity.WARNING,
                )

    @staticmethod
    def _fixture(view: TaskView, test: Reading | None, named: str) -> str:
        """The path of a file outside of ``unit_test/`` whose name says that it is stored for a test; or ""."""
        assert view.repository is not None
        for start in test.starts if test else ():
            relative = posixpath.normpath(posixpath.join(start, named))
            inside = relative.startswith(("unit_test/", "..", "tests/", "test/"))
            logic = not inside and _LOGIC.search(relative.rpartition(".")[0])
            if logic and view.is_file(view.repository / relative):
                return relative
        return ""
