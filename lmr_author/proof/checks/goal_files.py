"""LMR301, LMR302, LMR304, LMR311 and LMR312: goal files and goldens, and what differs outside of the target."""

from __future__ import annotations

import ast
import difflib
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lmr_author.core.code import Definition, FunctionNode, Module, form
from lmr_author.core.errors import LmrError
from lmr_author.core.task import AUTHORING, INFO, Implementation, Severity
from lmr_author.core.task.also_masked import AlsoMaskedList
from lmr_author.core.texts import shortened
from lmr_author.proof.checks.base import NOTE, WARNING, Problem, check, target_check
from lmr_author.proof.checks.lookup import (
    Pair,
    body_form,
    candidates,
    clean_path,
    did_you_mean,
    function_names,
    goal_path,
    golden_files,
    is_text,
    leaves,
    pair,
    pairs,
    similar_path,
    statements,
)
from lmr_author.proof.checks.masks import head_form, is_emptied
from lmr_author.proof.checks.strays import strays
from lmr_author.proof.checks.view import MAX_PYTHON, TOO_DEEP, TaskView, deep_line, once, readable


@target_check(
    "LMR301",
    "the goal file or the target in it is missing",
    rationale="The agent is told to implement a function in a file. Without the file, or without the function's header,"
    " there is nothing to do.",
    fixable=True,
)
def goal_has_target(task: TaskView, target: Implementation) -> Iterator[Problem]:
    one, path = pair(task, target), goal_path(task, target)
    hint = similar_path(task, target.goal_file)
    yield from wrong_path(task, target, "goal_file", task.repository, one.goal_path, hint)
    for name in function_names(target) if path and path == one.goal_path else ():  # the unit test: LMR510
        yield from _absent(one, name)


def wrong_path(
    task: TaskView, target: Implementation, key: str, root: Path | None, meant: Path | None, otherwise: str
) -> Iterator[Problem]:
    """Yield a problem for a path of info.json that does not exist or is misspelt.

    Args:
        root: the folder that it is relative to.
        meant: the file that is obviously meant; None when there is none.
        otherwise: the hint where none is.
    """
    named = str(getattr(target, key))
    exact = task.inside(root, clean_path(named))
    relative = meant.relative_to(root).as_posix() if meant and root and meant.is_relative_to(root) else ""
    if root is None or leaves(task, root, named):
        return  # LMR103, LMR010
    if exact is None or not task.is_file(exact):
        message = f"{key} {named!r:.120} does not exist" if named else f"{key} is missing"
        hint = f"did you mean {readable(relative)}?" if relative else otherwise
    elif "\\" in named or named != named.strip():
        message = f"{key} {named!r:.120} contains backslashes or blanks around it"
        hint = f"write {relative!r}"
    else:
        return
    yield Problem(message, hint, INFO, pointer=task.pointer(target, key if named else ""))


def _absent(one: Pair, name: str) -> Iterator[Problem]:
    """Yield a problem for a name that the goal file does not define, or no longer where the golden does."""
    goal, class_name = one.goal, one.implementation.class_name.strip()
    if goal is None:
        return
    original = candidates(one.golden, name, class_name) if one.golden else []
    names = [item.qualname for item in goal.definitions]
    gone = bool(original) and all(item.qualname not in names for item in original)
    if candidates(goal, name, class_name) and not gone:
        return
    inner = [item for item in goal.definitions if f".{item.qualname}".endswith(f".{name}")]
    message = f"the goal file does not define {f'{class_name}.' if class_name else ''}{name}"
    hint = did_you_mean(name, names) or "name a function of the goal file"
    if original:
        message = f"{name} was removed from the goal file altogether"
        hint = "keep its header and docstring; mask only the body"
    elif inner:
        hint = f'write class_name "{inner[0].class_name}" and goal_function "{inner[0].function_name}"'
    yield Problem(message, hint, one.goal_path or "", inner[0].line if inner else 0)


@target_check(
    "LMR302",
    "the golden or the target in it is missing",
    rationale="The golden is the reference solution: without it nothing can be verified, recorded or unmasked.",
    fixable=True,
)
def golden_has_target(task: TaskView, target: Implementation) -> Iterator[Problem]:
    one = pair(task, target)
    similar = did_you_mean(target.golden_file, [task.relative(path) for path in golden_files(task)])
    hint = similar or "put the original file there"
    yield from wrong_path(task, target, "golden_file", task.task.root, one.golden_path, hint)
    if leaves(task, task.task.root, target.golden_file):
        return
    for name in function_names(target) if one.golden and one.goal else ():
        assert one.golden is not None and one.goal is not None
        if candidates(one.goal, name, target.class_name) and not candidates(
            one.golden, name, target.class_name
        ):
            hint = did_you_mean(name, [item.qualname for item in one.golden.definitions])
            message = f"the golden does not define {name}"
            yield Problem(message, hint or "is it the golden of another file?", one.golden_path or "")


# outside of the targets


@dataclass(frozen=True)
class _GoalFile:
    """A goal file with its golden, both parsed, and the implementations that share it."""

    path: Path
    golden: Module
    goal: Module
    pairs: list[Pair]
    along: set[tuple[str, int]]
    """Look-alikes, and functions of LMR313, that are masked: (qualname, nth)."""

    @property
    def owner(self) -> Implementation | None:
        """Return the implementation that the file belongs to; None when several share it."""
        return self.pairs[0].implementation if len(self.pairs) == 1 else None

    def targets(self, module: Module) -> list[Definition]:
        """Return the functions of a file that any implementation masks, and look-alikes masked along."""
        names = {(item.qualname, one.implementation.nth) for one in self.pairs for item in one.targets}
        return [
            item
            for item in module.definitions
            if item.kind == "function"
            and ((item.qualname, None) in names or (item.qualname, item.nth) in names | self.along)
        ]


@once
def _files(task: TaskView) -> list[_GoalFile]:
    """Return each goal file with its golden once, if both can be parsed and a target is known."""
    found: dict[tuple[Path, Path | None], _GoalFile] = {}
    record = task.inside(task.task.root, f"{AUTHORING}/also-masked.json")
    listed = AlsoMaskedList.read_if_valid(record) if record else None
    records = listed.also if listed else ()
    for one in pairs(task):
        sharing = [other for other in pairs(task) if other.goal_path == one.goal_path]
        if one.goal is None or one.golden is None or one.goal_path is None:
            continue
        if (one.goal_path, one.golden_path) in found or not any(other.targets for other in sharing):
            continue
        path = task.in_repository_path(one.goal_path)
        recorded = {(item.qualname, item.nth) for item in records if item.path == path}
        masked = {(item.qualname, item.nth) for item in one.goal.definitions if is_emptied(item.node)}
        unnamed = {  # LMR313
            (item.qualname, item.nth)
            for stray in strays(task)
            if stray.path == path
            for item in stray.functions
        }
        files = _GoalFile(one.goal_path, one.golden, one.goal, sharing, recorded & masked | unnamed)
        found[one.goal_path, one.golden_path] = files
    return list(found.values())


@check(
    "LMR304",
    "the goal file differs from the golden outside of the target",
    rationale="Another function gutted, logging added, an import dropped: the agent works in a repository that is not"
    " the paper's, and a right solution can fail for it.",
)
def same_outside(task: TaskView) -> Iterator[Problem]:
    for one in _files(task):
        found = _differences(task, one)
        nameless = any(not function_names(other.implementation) for other in one.pairs)
        if found and not nameless:  # LMR007: the nameless target may be what differs
            line = next((line for _, line in found if line), 0)
            shown = "; ".join(text for text, _ in found[:5])
            more = f"; and {len(found) - 5} more" if len(found) > 5 else ""
            message = f"differs from the golden outside of the target: {shown}{more}"
            hint = "take these lines from the golden (or correct the golden)"
            if emptied := _emptied(one):  # its lines may be a second copy of the solution
                node = shlex.quote(f"{task.in_repository_path(one.path)}::{emptied}")
                hint += f"; then, if {emptied} gives the solution away, `lmr-author mask --also {node}`"
            yield Problem(message, hint, one.path, line, target=one.owner)


def _emptied(one: _GoalFile) -> str:
    """Return the first function beside the targets whose body was taken out of the goal file; "" for none."""
    targets = {id(item.node) for item in one.targets(one.goal)}
    originals = {(item.qualname, item.nth): item.node for item in one.golden.definitions}
    for item in one.goal.definitions:
        original = originals.get((item.qualname, item.nth))
        if not isinstance(item.node, FunctionNode) or original is None or id(item.node) in targets:
            continue
        empty = all(isinstance(part, ast.Pass | ast.Raise | ast.Expr) for part in statements(item.node))
        if empty and body_form(item.node) != body_form(original):
            return item.label
    return ""


@once
def _differences(task: TaskView, one: _GoalFile) -> list[tuple[str, int]]:
    """Return (what differs, line in the goal file or 0) by statements, targets left out."""
    before, after = (
        list(_statements(module.tree, {id(item.node) for item in one.targets(module)}))
        for module in (one.golden, one.goal)
    )
    found = []
    old, new = [text for text, _ in before], [text for text, _ in after]
    for kind, first, last, start, end in difflib.SequenceMatcher(None, old, new, False).get_opcodes():
        if kind != "equal":
            line = after[min(start, len(after) - 1)][1].lineno if after else 0
            found += [(f"`{_shown(node)}` was removed", line) for _, node in before[first:last]]
            found += [(f"`{_shown(node)}` was added", node.lineno) for _, node in after[start:end]]
    return found


def _statements(node: ast.AST, targets: set[int], depth: int = 0) -> Iterator[tuple[str, ast.stmt]]:
    """Yield (comparable form, node) of each statement, compound ones without what is in them."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt) and id(child) not in targets:
            # A docstring that is only indented anew says the same: LMR311.
            text = " ".join(child.value.value.split()) if is_text(child) else ""  # type: ignore[attr-defined]
            yield f"{depth} {text or head_form(child)}", child
        if not isinstance(child, ast.expr) and id(child) not in targets:
            yield from _statements(child, targets, depth + 1)


def _shown(node: ast.stmt) -> str:
    return "docstring" if is_text(node) else shortened(ast.unparse(node).lstrip().partition("\n")[0], 60)


@check(
    "LMR311",
    "line ends, indentation or comments changed outside of the target",
    rationale="A file that was re-indented or saved with other line endings differs everywhere: patches and splices no"
    " longer apply.",
    severity=WARNING,
)
def same_text(task: TaskView) -> Iterator[Problem]:
    for one in _files(task):
        message, severity = "", WARNING
        crlf = [data.count(b"\r\n") > data.count(b"\n") / 2 for data in (one.golden.data, one.goal.data)]
        before, after = _outside(one, one.golden), _outside(one, one.goal)
        if crlf[0] != crlf[1]:
            message = f"the line endings changed from {'LF to CRLF' if crlf[1] else 'CRLF to LF'}"
        elif before[0] == after[0] and not _differences(task, one):
            message, severity = _text_change(before[1], after[1])
        if message:
            hint = "take everything but the target's body from the golden, byte for byte"
            message = f"outside of the target {message}"
            yield Problem(message, hint, one.path, target=one.owner, severity=severity)


def _outside(one: _GoalFile, module: Module) -> tuple[list[str], bytes]:
    """Return the headers of a file's targets in comparable form, and its lines without its targets."""
    lines = module.data.splitlines(keepends=True)
    headers, hidden = [], set()
    for item in one.targets(module):
        headers.append(form([item.function.args, *item.node.decorator_list]))
        end = item.end_line
        first = lines[item.line - 1] if item.line <= len(lines) else b""
        indent = first[: len(first) - len(first.lstrip())]
        # Comments at the end of a body, which no node of the tree covers.
        for number, line in enumerate(lines[end:], end + 1):
            if line.strip() and not line.startswith((indent + b" ", indent + b"\t")):
                break
            end = number if line.strip() else end
        hidden |= set(range(item.line - 1, end))
    return headers, b"".join(line for number, line in enumerate(lines) if number not in hidden)


def _text_change(before: bytes, after: bytes) -> tuple[str, Severity]:
    """Return (what changed, how bad) between two texts whose code is the same; "" when nothing did."""
    one, two = ([line.rstrip() for line in data.splitlines() if line.strip()] for data in (before, after))
    if before.rstrip() == after.rstrip():
        return "", NOTE
    if one == two:
        return "blank lines, trailing blanks or line ends changed", NOTE
    if b"".join(before.split()) == b"".join(after.split()):
        return "indentation or line breaks changed", WARNING
    return "comments or formatting changed", NOTE


@target_check(
    "LMR312",
    "the goal file or the golden cannot be parsed",
    rationale="A goal file with a syntax error fails every test for the wrong reason, and a candidate cannot be spliced"
    " into it. Where both files are Python 2, static checks of the mask are impossible; that is only noted.",
)
def python_parses(task: TaskView, target: Implementation) -> Iterator[Problem]:
    one = pair(task, target)
    files = ((one.goal_path, one.goal), (one.golden_path, one.golden))
    broken = [path for path, module in files if path is not None and path.suffix == ".py" and module is None]
    old = len(broken) == 2
    for path in broken:
        line, cause = syntax_error(task, path)
        if cause == TOO_DEEP:  # and so is the other file
            names = [shlex.quote(task.relative(file)) for file, _ in reversed(files) if file]
            hint = f"read what masking changed: `diff {' '.join(names)}`"
            yield Problem(f"not checked: {cause}", hint, path, line, severity=WARNING)
            return
        hint = "the mask cannot be checked; is it Python 2?" if old else "correct the syntax"
        yield Problem(
            f"cannot be parsed as Python 3: {cause}", hint, path, line, severity=NOTE if old else None
        )


def syntax_error(task: TaskView, path: Path) -> tuple[int, str]:
    """Return (line, cause) of why a file does not parse; line 0 when there is none."""
    data = task.read_bytes(path)
    if data is None:
        return 0, "the file cannot be read"
    if len(data) > MAX_PYTHON:
        return 0, f"it is larger than {MAX_PYTHON // 2**20} MB"
    try:
        module = Module.parse(data, path.name)
    except (RecursionError, MemoryError):
        return 0, TOO_DEEP
    except LmrError as error:
        cause = error.__cause__
        if isinstance(cause, RecursionError | MemoryError):
            return 0, TOO_DEEP
        if isinstance(cause, SyntaxError):
            return cause.lineno or 0, str(cause.msg)
        return 0, error.message.rpartition(": ")[2]
    line = deep_line(module.tree)
    return line, TOO_DEEP if line else "unknown"
