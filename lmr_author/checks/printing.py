"""Whether the verdict of a test is only printed."""

from __future__ import annotations

import ast
import re

from lmr_author.checks import dockerfile
from lmr_author.checks.reading import Reading, reading_of
from lmr_author.checks.syntax import argument, dotted, texts
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
    return _line_of_print(test, "Passed") if keeps_nothing(test) else 0


def keeps_nothing(test: Reading) -> bool:
    """Whether a test writes no file, logs nothing and runs no program: what it says is printed."""
    if test.log_files or any(use.writes for use in test.uses):
        return False
    if any(_KEEPS.search(name) and not _reads(node, name) for _, node, name in test.calls):
        return False
    return not any(dotted(node).startswith(("sys.stdout", "sys.stderr")) for node in _set_in(test))


def line_of(test: Reading, word: re.Pattern[str]) -> tuple[int, str]:
    """Where a test prints or logs a word, and the word; (0, "") where its texts are used for something else."""
    for module, node, name in test.calls:
        said = module is test.module and _SAYS.search(name) is not None
        for text in texts(node) if said else ():
            found = word.search(text)
            if found:
                return node.lineno, found[0]
    return 0, ""


def _line_of_print(test: Reading, word: str) -> int:
    prints = (node for _, node, name in test.calls if name == "print")
    return next(
        (node.lineno for node in prints if any(word in text for item in node.args for text in texts(item))), 0
    )


def _reads(node: ast.Call, name: str) -> bool:
    """Whether a call opens a file, and certainly only to read it."""
    if name.rpartition(".")[2] != "open" or name == "os.open":
        return False
    mode = argument(node, 1 if name in ("open", "io.open", "codecs.open", "gzip.open") else 0, "mode")
    return mode is None or (
        isinstance(mode, ast.Constant) and isinstance(mode.value, str) and not set(mode.value) & set("wax+")
    )


_KEEPS = re.compile(
    r"(?:^|\.)(?:basicConfig|getLogger|\w*Handler|debug|info|warning|error|critical|exception|open|write|system"
    r"|Popen|run|check_call|check_output|redirect_stdout|dup2|\w*Tee\w*)$"
)
"""Calls that may keep what is printed."""
_SAYS = re.compile(r"^print$|\.(?:debug|info|warning|error|critical|exception|write)$")


def _set_in(test: Reading) -> list[ast.expr]:
    """What a test and its helpers assign to."""
    return [
        target for module in test.modules for node in each(module.tree, ast.Assign) for target in node.targets
    ]
