"""LMR301, LMR302, LMR304, LMR311 and LMR312: goal files and goldens, and their differences outside of the target."""

from __future__ import annotations

import ast
import difflib
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from lmr_author.core.code import Definition, Module, first_line
from lmr_author.core.errors import SourceError
from lmr_author.core.task import INFO, Implementation, Severity, golden_name
from lmr_author.core.texts import shortened
from lmr_author.proof.checks.base import (
    NOTE,
    WARNING,
    Problem,
    check,
    closest_names_hint,
    similar_path,
    target_check,
)
from lmr_author.proof.checks.masks import also_masked, head_form, is_emptied
from lmr_author.proof.contents import MAX_PYTHON, TOO_DEEP, TaskContents, deep_line, once
from lmr_author.proof.targets import Pair, candidates, golden_files, is_text, leaves, pair, pairs


@target_check(
    "LMR301",
    "the goal file or the target in it is missing",
    rationale="The agent has to implement a function in a file. Without the file or the function's header it cannot.",
)
def goal_has_target(task: TaskContents, target: Implementation) -> Iterator[Problem]:
    hint = similar_path(task, target.goal_file)
    yield from wrong_path(task, target, "goal_file", task.repository, hint)
    for name in target.function_names:
        yield from _absent(pair(task, target), name)


def wrong_path(
    task: TaskContents, target: Implementation, key: str, root: Path | None, hint: str
) -> Iterator[Problem]:
    path, named = str(getattr(target, key)), task.written(target, key)
    if root is None or leaves(task, root, path):
        return  # LMR103, LMR010
    exact = task.inside(root, path)
    if exact is None or not task.is_file(exact):
        message = f"{key} {named!r:.120} does not exist" if named else f"{key} is missing"
        yield Problem(message, hint, INFO, pointer=task.pointer(target, key if named else ""))
    elif "\\" in named or named != named.strip():
        message = f"{key} {named!r:.120} contains backslashes, or spaces around it"
        yield Problem(message, f"write {path!r}", INFO, pointer=task.pointer(target, key))


def _absent(files: Pair, name: str) -> Iterator[Problem]:
    goal, class_name = files.goal, files.implementation.class_name
    if goal is None:
        return
    names = [definition.qualname for definition in goal.definitions]
    originals = candidates(files.golden, name, class_name)
    if originals and not any(original.qualname in names for original in originals):
        message = f"{name} was removed completely from the goal file"
        hint = "keep its header and docstring; mask only the body"
        yield Problem(message, hint, files.goal_path or "")
    elif not candidates(goal, name, class_name):
        message = f"the goal file does not define {f'{class_name}.' if class_name else ''}{name}"
        hint = closest_names_hint(name, names) or "name a function of the goal file"
        yield Problem(message, hint, files.goal_path or "")


@target_check(
    "LMR302",
    "the golden or the target in it is missing",
    rationale="The golden is the reference solution: without it the task cannot be verified, recorded or unmasked.",
)
def golden_has_target(task: TaskContents, target: Implementation) -> Iterator[Problem]:
    files = pair(task, target)
    wanted = target.golden_file or golden_name(target.goal_file, {})
    similar = closest_names_hint(wanted, [task.relative(path) for path in golden_files(task)])
    hint = similar or "copy the original file there"
    yield from wrong_path(task, target, "golden_file", task.task.root, hint)
    if leaves(task, task.task.root, target.golden_file) or files.golden is None or files.goal is None:
        return
    for name in target.function_names:
        in_goal = candidates(files.goal, name, target.class_name)
        if in_goal and not candidates(files.golden, name, target.class_name):
            meant = closest_names_hint(name, [definition.qualname for definition in files.golden.definitions])
            hint = meant or "check that it is the golden of this goal file"
            yield Problem(f"the golden does not define {name}", hint, files.golden_path or "")


# outside of the targets


@dataclass(frozen=True)
class _GoalFile:
    path: Path
    golden: Module
    goal: Module
    pairs: list[Pair]
    along: set[tuple[str, int]]
    """Look-alikes, and functions of LMR313, that are masked: (qualname, nth)."""

    @property
    def owner(self) -> Implementation | None:
        return self.pairs[0].implementation if len(self.pairs) == 1 else None

    def targets(self, module: Module) -> list[Definition]:
        masked: set[tuple[str, int | None]] = set(self.along)
        for files in self.pairs:
            # Without a number, it means every definition of the name.
            masked.update((target.qualname, files.implementation.nth) for target in files.targets)
        functions = [definition for definition in module.definitions if definition.kind == "function"]
        return [
            function
            for function in functions
            if not masked.isdisjoint({(function.qualname, None), (function.qualname, function.nth)})
        ]


@once
def _files(task: TaskContents) -> list[_GoalFile]:
    goal_files: dict[tuple[Path, Path | None], _GoalFile] = {}
    for files in pairs(task):
        if files.goal is None or files.golden is None or files.goal_path is None:
            continue
        sharing = [other for other in pairs(task) if other.goal_path == files.goal_path]
        key = files.goal_path, files.golden_path
        if key not in goal_files and any(other.targets for other in sharing):
            along = _masked_along(task, task.in_repository_path(files.goal_path), files.goal)
            goal_files[key] = _GoalFile(files.goal_path, files.golden, files.goal, sharing, along)
    return list(goal_files.values())


def _masked_along(task: TaskContents, path: str, goal: Module) -> set[tuple[str, int]]:
    emptied = {
        (function.qualname, function.nth) for function in goal.definitions if is_emptied(function.node)
    }
    return {(masked.qualname, masked.nth) for masked in also_masked(task) if masked.path == path} & emptied


@check(
    "LMR304",
    "the goal file differs from the golden outside of the target",
    rationale="With another function emptied, logging added or an import dropped, the agent works in a repository that"
    " is not the paper's, and a correct solution can fail.",
)
def same_outside(task: TaskContents) -> Iterator[Problem]:
    for file in _files(task):
        differences = _differences(task, file)
        nameless = any(not files.implementation.function_names for files in file.pairs)
        if not differences or nameless:  # LMR007: the nameless target may be what differs
            continue
        line = next((line for _, line in differences if line), 0)
        shown = "; ".join(text for text, _ in differences[:5])
        more = f"; and {len(differences) - 5} more" if len(differences) > 5 else ""
        message = f"differs from the golden outside of the target: {shown}{more}"
        hint = "copy these lines from the golden (or correct the golden)"
        yield Problem(message, hint, file.path, line, target=file.owner)


@once
def _differences(task: TaskContents, file: _GoalFile) -> list[tuple[str, int]]:
    before, after = _statements_outside(file, file.golden), _statements_outside(file, file.goal)
    matcher = difflib.SequenceMatcher(None, [text for text, _ in before], [text for text, _ in after], False)
    differences = []
    for kind, first, last, start, end in matcher.get_opcodes():
        if kind == "equal":
            continue
        line = after[min(start, len(after) - 1)][1].lineno if after else 0
        differences += [(f"`{_shown(node)}` was removed", line) for _, node in before[first:last]]
        differences += [(f"`{_shown(node)}` was added", node.lineno) for _, node in after[start:end]]
    return differences


def _statements_outside(file: _GoalFile, module: Module) -> list[tuple[str, ast.stmt]]:
    return list(_statements(module.tree, {target.node for target in file.targets(module)}))


def _statements(node: ast.AST, targets: set[ast.AST], depth: int = 0) -> Iterator[tuple[str, ast.stmt]]:
    for child in ast.iter_child_nodes(node):
        match child:
            case _ if child in targets:
                continue
            case ast.Expr(value=ast.Constant(value=str(text))) if text.strip():
                # LMR311 reports a docstring that is only re-indented.
                yield f"{depth} {' '.join(text.split())}", child
            case ast.stmt():
                yield f"{depth} {head_form(child)}", child
            case ast.expr():
                continue
        yield from _statements(child, targets, depth + 1)


def _shown(node: ast.stmt) -> str:
    return "docstring" if is_text(node) else shortened(ast.unparse(node).lstrip().partition("\n")[0], 60)


@check(
    "LMR311",
    "line endings, indentation or comments changed outside of the target",
    rationale="A file that was re-indented or saved with other line endings differs in every line, and patches no"
    " longer apply.",
    severity=WARNING,
)
def same_text(task: TaskContents) -> Iterator[Problem]:
    for file in _files(task):
        change, severity = _text_change(task, file)
        if change:
            hint = "copy everything except the target's body from the golden, byte for byte"
            message = f"outside of the target {change}"
            yield Problem(message, hint, file.path, target=file.owner, severity=severity)


def _text_change(task: TaskContents, file: _GoalFile) -> tuple[str, Severity]:
    had_crlf, has_crlf = _is_crlf(file.golden.data), _is_crlf(file.goal.data)
    if had_crlf != has_crlf:
        return f"the line endings changed from {'LF to CRLF' if has_crlf else 'CRLF to LF'}", WARNING
    before, after = _lines_outside(file, file.golden), _lines_outside(file, file.goal)
    if before == after or _differences(task, file):
        return "", NOTE
    if list(map(bytes.strip, before)) == list(map(bytes.strip, after)):
        return "the indentation changed", WARNING
    return "comments or formatting changed", NOTE


def _is_crlf(data: bytes) -> bool:
    return data.count(b"\r\n") > data.count(b"\n") / 2


def _lines_outside(file: _GoalFile, module: Module) -> list[bytes]:
    lines = module.data.splitlines()
    hidden: set[int] = set()
    for target in file.targets(module):
        hidden.update(range(first_line(target.node) - 1, _end(target, lines)))
    return [line.rstrip() for number, line in enumerate(lines) if number not in hidden and line.strip()]


def _end(target: Definition, lines: list[bytes]) -> int:
    first = lines[target.line - 1] if target.line <= len(lines) else b""
    indent = first[: len(first) - len(first.lstrip())]
    end = target.end_line
    for number, line in enumerate(lines[end:], end + 1):
        if line.startswith((indent + b" ", indent + b"\t")) and line.strip():
            end = number
        elif line.strip():
            break
    return end


@target_check(
    "LMR312",
    "the goal file or the golden cannot be parsed",
    rationale="A goal file with a syntax error fails every test for the wrong reason, and candidates cannot be spliced"
    " into it. If both files are Python 2, the mask cannot be checked statically; that is a note.",
)
def python_parses(task: TaskContents, target: Implementation) -> Iterator[Problem]:
    files = pair(task, target)
    both = ((files.goal_path, files.goal), (files.golden_path, files.golden))
    broken = [path for path, module in both if path is not None and path.suffix == ".py" and module is None]
    is_old = len(broken) == 2
    for path in broken:
        line, cause, too_deep = syntax_error(task, path)
        if too_deep:  # and so is the other file
            names = [task.relative(path) for path in (files.golden_path, files.goal_path) if path]
            hint = f"review the masking by hand: `diff {shlex.join(names)}`"
            yield Problem(f"not checked: {cause}", hint, path, line, severity=WARNING)
            return
        hint = "the mask cannot be checked; is it Python 2?" if is_old else "correct the syntax"
        severity = NOTE if is_old else None
        yield Problem(f"cannot be parsed as Python 3: {cause}", hint, path, line, severity=severity)


class ParseProblem(NamedTuple):
    """Reason why a file does not parse; ``too_deep``: it may be Python, but exceeds the nesting limit."""

    line: int
    cause: str
    too_deep: bool = False


def syntax_error(task: TaskContents, path: Path) -> ParseProblem:
    data = task.read_bytes(path)
    if data is None:
        return ParseProblem(0, "the file cannot be read")
    if len(data) > MAX_PYTHON:
        return ParseProblem(0, f"the file is larger than {MAX_PYTHON // 2**20} MB")
    try:
        return ParseProblem(deep_line(Module.parse(data, path.name).tree), TOO_DEEP, too_deep=True)
    except (RecursionError, MemoryError):
        return ParseProblem(0, TOO_DEEP, too_deep=True)
    except SourceError as error:
        match error.__cause__:
            case RecursionError() | MemoryError():
                return ParseProblem(0, TOO_DEEP, too_deep=True)
            case SyntaxError() as cause:
                return ParseProblem(cause.lineno or 0, str(cause.msg))
            case None:
                return ParseProblem(0, "the file contains null bytes")
            case cause:
                return ParseProblem(0, str(cause))
