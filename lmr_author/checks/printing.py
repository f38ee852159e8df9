"""Whether the verdict of a test is only printed."""

from __future__ import annotations

import ast
import re

from lmr_author.checks import dockerfile
from lmr_author.checks.reading import Reading, reading_of
from lmr_author.checks.syntax import dotted, texts
from lmr_author.checks.view import TaskView
from lmr_author.source import each


def logs_elsewhere(view: TaskView, test: Reading) -> bool:
    """Whether verdicts are looked for in logs: another test has one, or the task or its image a folder for them."""
    others = (reading_of(view, one) for one in view.implementations)
    logs = f"{view.relative_raw(view.repository)}/unit_test/logs" if view.repository else ""
    parsed = dockerfile.read(view)
    made = any(
        "mkdir" in text and "unit_test/logs" in text for _, text in (parsed.commands if parsed else ())
    )
    return (
        made
        or logs in view.by_path
        or any(one is not None and one is not test and one.log_files for one in others)
    )


def only_printed(test: Reading) -> int:
    """The line of a print of "Passed" in a test that writes no file and logs nothing; 0 when there is none."""
    names = [name for _, _, name in test.calls]
    if test.log_files or any(use.writes for use in test.uses) or any(_KEEPS.search(name) for name in names):
        return 0
    if any(dotted(node).startswith(("sys.stdout", "sys.stderr")) for node in _set_in(test)):
        return 0
    lines = [
        node.lineno
        for _, node, name in test.calls
        if name == "print" and any("Passed" in text for item in node.args for text in texts(item))
    ]
    return lines[0] if lines else 0


_KEEPS = re.compile(
    r"(?:^|\.)(?:basicConfig|getLogger|\w*Handler|debug|info|warning|error|critical|exception|open|write|system"
    r"|Popen|run|check_call|check_output|redirect_stdout|dup2|\w*Tee\w*)$"
)
"""Calls that may keep what is printed."""


def _set_in(test: Reading) -> list[ast.expr]:
    """What a test and its helpers assign to."""
    return [
        target for module in test.modules for node in each(module.tree, ast.Assign) for target in node.targets
    ]
