"""LMR304, 311: what masking changed outside of the target."""

from __future__ import annotations

import ast
import difflib
import json
import re
from collections.abc import Iterator
from pathlib import Path

from lmr_author import also_masked
from lmr_author.checks import bodies
from lmr_author.checks.base import Check, Example
from lmr_author.checks.example_task import MASKED, REPOSITORY
from lmr_author.checks.lookup import Pair, function_names, pairs
from lmr_author.checks.view import TaskView
from lmr_author.errors import LmrError
from lmr_author.model import Finding, Implementation, Severity
from lmr_author.source import Definition, Module, form, outside, walk

GOAL = f"{REPOSITORY}/ranking/losses.py"


def _groups(view: TaskView) -> Iterator[tuple[Pair, list[Definition], list[Definition]]]:
    """(pair, targets in the golden, targets in the goal) for each pair of files, once.

    All functions that any implementation masks in that goal file count as targets: several
    implementations share one masked file.
    """
    everything = pairs(view)
    seen: set[tuple[Path, Path]] = set()
    for one in everything:
        if one.goal_path is None or one.golden_path is None or (one.goal_path, one.golden_path) in seen:
            continue
        if one.goal is None or one.golden is None:
            continue
        seen.add((one.goal_path, one.golden_path))
        names = {
            target.qualname
            for other in everything
            if other.goal_path == one.goal_path
            for target in other.targets
        }
        if not names:
            continue  # the target is not known (LMR301, LMR302): everything would count as outside
        along = _masked_along(view, one)
        yield one, _named(one.golden, names, along), _named(one.goal, names, along)


def _named(module: Module, names: set[str], along: set[tuple[str, int]]) -> list[Definition]:
    return [
        item
        for item in module.definitions
        if item.kind == "function" and (item.qualname in names or (item.qualname, item.nth) in along)
    ]


def _masked_along(view: TaskView, one: Pair) -> set[tuple[str, int]]:
    """(qualified name, number) of the look-alikes of a goal file that are recorded as masked, and are."""
    try:
        data = json.loads(view.text(view.task.also_masked_path) or "null")
    except (ValueError, RecursionError):
        return set()
    recorded = {
        (item.qualname, item.nth)
        for item in also_masked.read(data)
        if view.repository is not None and view.repository / item.path == one.goal_path
    }
    assert one.goal is not None
    return {
        (item.qualname, item.nth)
        for item in one.goal.definitions
        if (item.qualname, item.nth) in recorded
        and not isinstance(item.node, ast.ClassDef)
        and bodies.raises_not_implemented(item.node)
        and len(bodies.statements(item.node)) <= 2  # a raise, and a yield that keeps a generator one
    }


def _differences(
    view: TaskView, one: Pair, ours: list[Definition], theirs: list[Definition]
) -> list[tuple[str, int]]:
    assert one.golden is not None and one.goal is not None
    golden, goal = one.golden, one.goal
    key = ("differences", one.goal_path, one.golden_path)
    return view.memo(key, lambda: differences(golden, goal, ours, theirs))


def differences(
    golden: Module, goal: Module, ours: list[Definition], theirs: list[Definition]
) -> list[tuple[str, int]]:
    """(what differs, line in the goal file or 0) by structure, with the targets left out."""
    before = _units(golden, {id(item.node) for item in ours})
    after = _units(goal, {id(item.node) for item in theirs})
    found = []
    for name in before:
        if name in after and before[name][0] != after[name][0]:
            found.append((f"{name} changed", after[name][1]))
        elif name not in after:
            found.append((f"{name} was removed", 0))
    found += [(f"{name} was added", after[name][1]) for name in after if name not in before]
    return found


def _units(module: Module, targets: set[int]) -> dict[str, tuple[str, int]]:
    """Comparable parts of a module: each function, each class's own head and statements, the top level."""
    units: dict[str, tuple[str, int]] = {}
    _collect(module.tree.body, "", targets, units)
    return units


def _collect(body: list[ast.stmt], prefix: str, targets: set[int], units: dict[str, tuple[str, int]]) -> None:
    loose: dict[str, int] = {}
    for node in body:
        if id(node) in targets:
            continue
        if isinstance(node, ast.ClassDef):
            head = [form(item) for item in [*node.bases, *node.keywords, *node.decorator_list]]
            _add(units, f"the head of class {prefix}{node.name}", ";".join(head), node.lineno)
            _collect(node.body, f"{prefix}{node.name}.", targets, units)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            _add(units, f"{prefix}{node.name}", _dump_without(node, targets), node.lineno)
        else:
            text = _dump_without(node, targets)
            loose[text] = node.lineno
            _add(
                units, f"`{_first_line(node)}`" + (f" in {prefix[:-1]}" if prefix else ""), text, node.lineno
            )


def _add(units: dict[str, tuple[str, int]], name: str, text: str, line: int) -> None:
    number = 1
    key = name
    while key in units:
        number += 1
        key = f"{name} #{number}"
    units[key] = (text, line)


def _dump_without(node: ast.stmt, targets: set[int]) -> str:
    inner = [item for item in walk(node) if id(item) in targets]
    if not inner:
        return form(node)
    saved = [
        (item, item.body, item.args, item.decorator_list)
        for item in inner
        if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    empty = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
    try:
        for item, *_ in saved:
            item.body, item.args, item.decorator_list = [], empty, []
        return form(node)
    finally:
        for item, body, args, decorators in saved:
            item.body, item.args, item.decorator_list = body, args, decorators


def _first_line(node: ast.stmt) -> str:
    if (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    ):
        return "docstring"
    text = ast.unparse(node).partition("\n")[0]
    return text if len(text) <= 60 else text[:57] + "…"


class SameOutside(Check):
    """LMR304."""

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
        for one, ours, theirs in _groups(view):
            assert one.golden is not None and one.goal is not None
            found = _differences(view, one, ours, theirs)
            if found and not _has_nameless_target(view, one):
                listed = "; ".join(text for text, _ in found[:5]) + (
                    f"; and {len(found) - 5} more" if len(found) > 5 else ""
                )
                line = next((line for _, line in found if line), 0)
                yield self.finding(
                    view,
                    f"differs from the golden outside of the target: {listed}",
                    "take these lines from the golden (or correct the golden)",
                    implementation=_owner(view, one),
                    path=one.goal_path or "",
                    pointer=f"L{line}" if line else "",
                )


def _owner(view: TaskView, one: Pair) -> Implementation | None:
    """The implementation that a pair of files belongs to; None when several share it."""
    sharing = [other for other in pairs(view) if other.goal_path == one.goal_path]
    return one.implementation if len(sharing) == 1 else None


def _has_nameless_target(view: TaskView, one: Pair) -> bool:
    """Whether a target of this file is not named (LMR007): it may be what differs."""
    return any(
        not function_names(other.implementation) for other in pairs(view) if other.goal_path == one.goal_path
    )


class SameText(Check):
    """LMR311."""

    code = "LMR311"
    title = "line endings, indentation and comments outside of the target are the golden's"
    rationale = (
        "A file that was re-indented or saved with other line endings differs everywhere: patches and splices"
        " no longer apply."
    )
    severity = Severity.WARNING
    failing = (
        Example("saved with CRLF", files={GOAL: MASKED.replace("\n", "\r\n")}),
        Example(
            "saved with CRLF, and other code changed",
            files={GOAL: MASKED.replace("temperature=1.0", "temperature=2.0").replace("\n", "\r\n")},
            also=("LMR304",),
        ),
        Example(
            "re-indented", files={GOAL: re.sub(r"(?m)^    ", "  ", MASKED).replace("\n      ", "\n    ")}
        ),
        Example(
            "a comment was added",
            files={GOAL: MASKED.replace("class ListLoss", "# see the paper\nclass ListLoss")},
        ),
    )
    passing = (Example("byte for byte"),)

    def run(self, view: TaskView) -> Iterator[Finding]:
        """One finding for each pair of files whose text differs, in places that have the same code."""
        for one, ours, theirs in _groups(view):
            assert one.golden is not None and one.goal is not None
            if not theirs:
                continue
            changed = _differences(view, one, ours, theirs) or _headers(ours) != _headers(theirs)
            if changed:  # LMR304 or LMR306 says in which code
                message, severity, line = _change_everywhere(one.golden.data, one.goal.data)
            else:
                try:
                    before, after = (
                        outside(one.golden, _outermost(ours)),
                        outside(one.goal, _outermost(theirs)),
                    )
                except (LmrError, IndexError, ValueError):
                    continue
                message, severity, line = _text_change(before, after)
            if message:
                yield self.finding(
                    view,
                    f"outside of the target {message}",
                    "take everything but the target's body from the golden, byte for byte",
                    implementation=_owner(view, one),
                    path=one.goal_path or "",
                    severity=severity,
                    pointer=line,
                )


def _headers(items: list[Definition]) -> list[str]:
    return [
        ";".join(form(part) for part in [item.node.args, *item.node.decorator_list])
        for item in items
        if isinstance(item.node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]


def _outermost(items: list[Definition]) -> list[Definition]:
    return [
        item
        for item in items
        if not any(
            other.line < item.line and item.end_line <= other.end_line for other in items if other is not item
        )
    ]


def _text_change(before: bytes, after: bytes) -> tuple[str, Severity, str]:
    """(what changed, how bad, pointer) between two texts whose code is the same; "" when nothing did."""
    if _tidy(before) == _tidy(after):
        return "", Severity.NOTE, ""
    crlf_before, crlf_after = before.count(b"\r\n"), after.count(b"\r\n")
    ours, theirs = _tidy(before.replace(b"\r\n", b"\n")), _tidy(after.replace(b"\r\n", b"\n"))
    if ours == theirs:
        kind = "LF to CRLF" if crlf_after > crlf_before else "CRLF to LF"
        return f"the line endings changed from {kind}", Severity.WARNING, ""
    one = [line.rstrip() for line in ours.splitlines() if line.strip()]
    two = [line.rstrip() for line in theirs.splitlines() if line.strip()]
    if one == two:
        return "blank lines or trailing blanks changed", Severity.NOTE, ""
    if [line.split() for line in one] == [line.split() for line in two]:
        return "the indentation changed", Severity.WARNING, ""
    if b"".join(b"".join(one).split()) == b"".join(b"".join(two).split()):
        return "the code was re-formatted", Severity.WARNING, ""
    changed = (
        sum(
            tag != "equal"
            for tag, *_ in difflib.SequenceMatcher(None, one, two, autojunk=False).get_opcodes()
        )
        if len(one) < 3000
        else 1
    )
    return f"the text changed in {changed} place(s), by comments or formatting", Severity.NOTE, ""


def _change_everywhere(before: bytes, after: bytes) -> tuple[str, Severity, str]:
    """The same for two texts whose code differs, too: what was changed in nearly every line of it."""
    crlf_before, crlf_after = (data.count(b"\r\n") > data.count(b"\n") / 2 for data in (before, after))
    if crlf_before != crlf_after:
        kind = "LF to CRLF" if crlf_after else "CRLF to LF"
        return f"the line endings changed from {kind}", Severity.WARNING, ""
    indents: dict[bytes, set[bytes]] = {}
    for line in before.splitlines():
        indents.setdefault(line.strip(), set()).add(_indent(line))
    common = [line for line in after.splitlines() if _indent(line) and line.strip() in indents]
    moved = [line for line in common if _indent(line) not in indents[line.strip()]]
    if len(moved) > max(5, len(common) / 2):
        return "the indentation changed", Severity.WARNING, ""
    return "", Severity.NOTE, ""


def _indent(line: bytes) -> bytes:
    return line[: len(line) - len(line.lstrip())]


def _tidy(data: bytes) -> bytes:
    """Without blanks at the file's end."""
    return data.rstrip()
