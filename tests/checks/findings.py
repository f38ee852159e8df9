"""Every finding of the failing examples, as ``findings.txt`` has them: where it points, and what it says.

After a change that is meant: ``python -m tests.checks.findings`` writes the file anew; its diff is what changed.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from pathlib import Path

from lmr_author.checks import example_task
from lmr_author.checks.base import Check, Example, TreeCheck
from lmr_author.checks.registry import ALL_CHECKS
from lmr_author.model import Finding
from lmr_author.validation.report import Report
from lmr_author.validation.run import validate

KEPT = Path(__file__).with_name("findings.txt")
FAILING = [(check, example) for check in ALL_CHECKS for example in check.failing]
INDENT = "    "


def name(pair: tuple[Check, Example]) -> str:
    """An example, as tests name it."""
    return f"{pair[0].code}-{pair[1].title}"


def report_of(folder: Path, check: Check, example: Example) -> Report:
    """What is found in the good task, or in the second of two, changed as the example says."""
    first = example_task.write(folder)
    if not isinstance(check, TreeCheck):
        example_task.apply(first, example)
        return validate([first])
    second = example_task.write(folder, 2)
    example_task.apply(second, example)
    return validate([first, second])


def lines(findings: Iterable[Finding]) -> list[str]:
    """A line for each finding: code, severity, task, implementation, place, and the message."""
    found = []
    for one in findings:
        task = f"{one.task}#{one.implementation}" if one.implementation else one.task
        where = " ".join(filter(None, (one.code, one.severity, task, one.path, one.pointer)))
        told = f"{where}{' (fixable)' if one.fixable else ''}: {one.message}"
        found.append(told.replace("\n", "\\n"))  # a path may hold one
    return found


def kept() -> dict[str, list[str]]:
    """By example, the lines of the file."""
    found: dict[str, list[str]] = {}
    for block in KEPT.read_text("utf-8").split("\n\n"):
        example, *below = block.strip("\n").split("\n")
        found[example] = [line.removeprefix(INDENT) for line in below]
    return found


def main() -> None:
    """Write the file anew."""
    written = []
    for pair in FAILING:
        with tempfile.TemporaryDirectory() as folder:
            found = lines(report_of(Path(folder), *pair).findings)
        written.append("\n".join([name(pair), *(INDENT + line for line in found)]))
    KEPT.write_text("\n\n".join(written) + "\n", "utf-8")


if __name__ == "__main__":
    main()
