"""LMR514: every test has a log file of its own."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from pathlib import Path

from lmr_author.checks.base import Check, Example
from lmr_author.checks.example_task import second_files, second_implementation
from lmr_author.checks.pairing import pairs
from lmr_author.checks.reading import Reading, reading_of
from lmr_author.checks.view import TaskView
from lmr_author.model import Finding, Implementation


class OwnLogFile(Check):
    code = "LMR514"
    title = "each test has a log file of its own"
    rationale = (
        'Two tests that write one log overwrite or mix their verdicts: one "Failed" fails both, or the last'
        ' "Passed" passes both.'
    )
    failing = (
        Example(
            "the second test was copied from the first",
            info={"implementations": second_implementation()},
            files={
                path: text.replace("unit_test_2.log", "unit_test_1.log")
                for path, text in second_files().items()
            },
        ),
    )
    passing = (
        Example(
            "another number in the name",
            info={"implementations": second_implementation()},
            files=second_files(),
        ),
    )

    def run(self, view: TaskView) -> Iterator[Finding]:
        """One finding for each test that writes a log of another one."""
        owners: dict[str, dict[Path, Implementation]] = {}
        for one in pairs(view):
            test = reading_of(view, one.implementation)
            if test is None:
                continue
            for log in _logs(test):
                owners.setdefault(log, {}).setdefault(test.path, one.implementation)
        for log, tests in sorted(owners.items()):
            for path, implementation in tests.items() if len(tests) > 1 else ():
                others = [str(other.index) for other in tests.values() if other is not implementation]
                yield self.finding(
                    view,
                    f"writes {log}, as the test of implementation {', '.join(others)} does",
                    f"name it unit_test/logs/unit_test_{implementation.index}.log",
                    implementation=implementation,
                    path=path,
                )


def _logs(test: Reading) -> set[str]:
    """The log files that a test writes, as far as they are certain, or that its texts name."""
    certain = {log.removeprefix("@/") for log in test.log_files if not any(char in log for char in "?*")}
    named = {posixpath.normpath(text) for text in test.constants if _LOG.fullmatch(text)}
    return certain | named


_LOG = re.compile(r"(?:\./)?unit_test/logs/[\w.-]+")
