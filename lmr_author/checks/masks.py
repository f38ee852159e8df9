"""LMR3xx: the goal file, the golden, and what masking left."""

from __future__ import annotations

import ast
import difflib
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pyflakes.checker import Checker
from pyflakes.messages import ImportStarUsage, UndefinedName

from lmr_author.checks import bodies
from lmr_author.checks.base import NOTE, WARNING, Problem, check, target_check
from lmr_author.checks.lookup import (
    candidates,
    clean_path,
    did_you_mean,
    function_names,
    goal_path,
    golden_files,
    leaves,
    misspelt,
    similar_path,
)
from lmr_author.checks.pairing import Pair, pair, pairs
from lmr_author.checks.view import MAX_PYTHON, TaskView
from lmr_author.code import Definition, FunctionNode, Module, form, is_same, outside, walk
from lmr_author.errors import LmrError
from lmr_author.task import Implementation, Severity, also_masked
from lmr_author.texts import listed


@target_check(
    "LMR301",
    "the goal file or the target in it is missing",
    rationale="The agent is told to implement a function in a file. Without the file, or without the function's header,"
    " there is nothing to do.",
    fixable=True,
)
def goal_has_target(task: TaskView, target: Implementation) -> Iterator[Problem]:
    pointer, named = f"/implementations/{task.position(target)}/goal_file", target.goal_file
    if task.is_empty and named:
        message = f"goal_file {named!r:.120} does not exist: the repository is empty"
        yield Problem(message, "copy the repository, and mask the target in it", "info.json", pointer=pointer)
    if task.repository is None or leaves(task, task.repository, named):
        return
    one, path = pair(task, target), goal_path(task, target)
    if path is None:
        meant = task.in_repository_path(one.goal_path)
        hint = f"did you mean {meant}?" if meant else similar_path(task, named)
        message = f"goal_file {named!r:.120} does not exist" if named else "goal_file is missing"
        yield Problem(message, hint, "info.json", pointer=pointer)
        return
    if one.goal_path != path:
        return  # the unit test: LMR510
    relative = task.in_repository_path(path)
    if wrong := misspelt(named):
        yield Problem(f"goal_file {wrong}", f"write {relative!r}", "info.json", pointer=pointer)
    elif clean_path(named) != relative:
        message = f"goal_file {named!r:.120} is not relative to the repository {task.repository.name}/"
        yield Problem(message, f"write {relative!r}", "info.json", pointer=pointer)
    for name in function_names(target):
        yield from _absent(one, name)


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
    hint, line = did_you_mean(name, names) or "name a function of the goal file", 0
    if original:
        message = f"{name} was removed from the goal file altogether"
        hint = "keep its header and docstring; mask only the body"
    elif inner:
        line = inner[0].line
        message += f": {name} is {listed([item.qualname for item in inner], 3)}"
        hint = f'write class_name "{inner[0].class_name}" and goal_function "{inner[0].function_name}"'
    yield Problem(message, hint, one.goal_path or "", line)


@target_check(
    "LMR302",
    "the golden or the target in it is missing",
    rationale="The golden is the reference solution: without it nothing can be verified, recorded or unmasked.",
    fixable=True,
)
def golden_has_target(task: TaskView, target: Implementation) -> Iterator[Problem]:
    one, named = pair(task, target), target.golden_file
    if leaves(task, task.task.root, named):
        return
    pointer = f"/implementations/{task.position(target)}/golden_file"
    if one.golden_path is None or one.golden_path != task.inside(task.task.root, clean_path(named)):
        meant = task.relative(one.golden_path) if one.golden_path else ""
        similar = did_you_mean(named, [task.relative(path) for path in golden_files(task)])
        hint = f"did you mean {meant}?" if meant else similar or "put the original file there"
        message = f"golden_file {named!r:.120} does not exist" if named else "golden_file is missing"
        yield Problem(message, hint, "info.json", pointer=pointer)
    elif wrong := misspelt(named):
        yield Problem(f"golden_file {wrong}", "separate with /, without blanks", "info.json", pointer=pointer)
    for name in function_names(target) if one.golden and one.goal else ():
        assert one.golden is not None and one.goal is not None
        if candidates(one.goal, name, target.class_name) and not candidates(
            one.golden, name, target.class_name
        ):
            hint = did_you_mean(name, [item.qualname for item in one.golden.definitions])
            message = f"the golden does not define {name}"
            yield Problem(message, hint or "is it the golden of another file?", one.golden_path or "")


@dataclass(frozen=True)
class _Masked:
    """A masked function, as far as it is known.

    Attributes:
        same: whether the body is the golden's.
        kept: statements of the golden that are left; ``total`` counts all that tell something.
        undefined: names that nothing defines, with the line of the first.
        silent: whether the body computes nothing; ``raises``: whether it always ends in a raise.
    """

    qualname: str
    node: FunctionNode
    same: bool
    kept: list[ast.stmt]
    total: int
    undefined: dict[str, int]
    silent: bool
    raises: bool

    @property
    def pointer(self) -> str:
        """Return the lines of the function."""
        return f"L{self.node.lineno}-L{self.node.end_lineno}"


def _masked(task: TaskView, target: Implementation) -> list[_Masked]:
    """Return the functions of an implementation that both files define."""

    def read() -> list[_Masked]:
        one = pair(task, target)
        return [_body(one, golden, goal, item.qualname) for golden, goal, item in one.complete]

    return task.memo(("masked", id(target)), read)


def _body(one: Pair, golden: FunctionNode, goal: FunctionNode, qualname: str) -> _Masked:
    assert one.goal is not None and one.golden is not None
    kept, total = bodies.kept_pieces(golden, goal)
    body = bodies.statements(goal)
    undefined = _undefined(one.goal, goal)
    if undefined:  # names that the golden takes from a star import, or misses itself, are not the mask's
        known = _undefined(one.golden, golden)
        undefined = {name: line for name, line in undefined.items() if name not in known}
    computing = [
        node
        for node in bodies.parts(body)
        if not any(node is item for item in kept)
        and not isinstance(node, ast.Raise)
        and not bodies.is_trivial(node)
        and not _returns_nothing_new(node)
    ]
    return _Masked(
        qualname,
        goal,
        bodies.are_same(bodies.statements(golden), body),
        kept,
        max(total, len(kept)),
        undefined,
        not computing and not undefined,
        bodies.always_raises(goal.body),
    )


def _undefined(module: Module, function: FunctionNode) -> dict[str, int]:
    """Return the names that a function reads and nothing defines, each with its first line.

    What is called may come from a star import.
    """
    called = {
        node.func.id
        for node in walk(function)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    messages = Checker(module.tree, filename="").messages
    lines = range(function.lineno, (function.end_lineno or function.lineno) + 1)
    return {
        str(one.message_args[0]): one.lineno
        for one in reversed(messages)
        if one.lineno in lines
        and (
            isinstance(one, UndefinedName)
            or (isinstance(one, ImportStarUsage) and one.message_args[0] not in called)
        )
    }


def _returns_nothing_new(node: ast.AST) -> bool:
    """Return whether a return gives back constants, names and attributes of ``self``."""
    if not isinstance(node, ast.Return):
        return False
    values = node.value.elts if isinstance(node.value, ast.Tuple | ast.List) else [node.value]
    own = "self"
    return all(
        value is None
        or isinstance(value, ast.Name)
        or bodies.is_constant(value)
        or (isinstance(value, ast.Attribute) and getattr(value.value, "id", "") == own)
        for value in values
    )


@target_check(
    "LMR303",
    "the target is not masked",
    rationale="An unmasked target hands the solution over with the task; every agent and every null agent solves it.",
)
def really_masked(task: TaskView, target: Implementation) -> Iterator[Problem]:
    one, found = pair(task, target), _masked(task, target)
    for masked in found:
        if masked.same:
            hint = f"mask it: `lmr-author mask {target.goal_file}::{masked.qualname}`"
            copy = _masked_copy(task, one, masked.qualname)
            if copy is not None and one.goal_path is not None:
                found_at, wanted = task.relative(copy), task.relative(one.goal_path)
                hint = f"{found_at} is masked: move it to {wanted}, or name it in goal_file"
            message = f"{masked.qualname} is not masked: its body is the golden's"
            yield Problem(message, hint, one.goal_path or "", pointer=masked.pointer)
    if not found and one.goal is None:
        data, golden = task.read_bytes(one.goal_path), task.read_bytes(one.golden_path)
        if data and golden and data.strip() == golden.strip():
            yield Problem("not masked: the goal file is the golden", "mask the target", one.goal_path or "")


def _masked_copy(task: TaskView, one: Pair, qualname: str) -> Path | None:
    """Return another file in which the target is masked, by a name like the goal file's; None when there is none."""
    for path in task.repository_files:
        alike = one.goal_path is not None and path.name.endswith(".py") and one.goal_path.stem in path.stem
        module = task.module(path) if alike and path != one.goal_path else None
        for item in module.definitions if module else ():
            node = item.node
            if (
                item.qualname == qualname
                and isinstance(node, FunctionNode)
                and bodies.raises_not_implemented(node)
            ):
                return path
    return None


@check(
    "LMR304",
    "the goal file differs from the golden outside of the target",
    rationale="Another function gutted, logging added, an import dropped: the agent works in a repository that is not"
    " the paper's, and a right solution can fail for it.",
)
def same_outside(task: TaskView) -> Iterator[Problem]:
    for one in _file_pairs(task):
        found = _differences(task, one)
        nameless = any(not function_names(other.implementation) for other in _sharing(task, one))
        if found and not nameless:  # LMR007: the nameless target may be what differs
            line = next((line for _, line in found if line), 0)
            message = f"differs from the golden outside of the target: {_joined([text for text, _ in found])}"
            hint = "take these lines from the golden (or correct the golden)"
            yield Problem(message, hint, one.goal_path or "", line, target=_owner(task, one))


def _joined(texts: list[str]) -> str:
    return "; ".join(texts[:5]) + (f"; and {len(texts) - 5} more" if len(texts) > 5 else "")


def _file_pairs(task: TaskView) -> Iterator[Pair]:
    """Yield each goal file with its golden once, if both can be parsed and a target is known."""
    seen = set()
    for one in pairs(task):
        files = (one.goal_path, one.golden_path)
        if (
            files not in seen
            and one.goal
            and one.golden
            and any(other.targets for other in _sharing(task, one))
        ):
            seen.add(files)
            yield one


def _sharing(task: TaskView, one: Pair) -> list[Pair]:
    return [other for other in pairs(task) if other.goal_path == one.goal_path]


def _owner(task: TaskView, one: Pair) -> Implementation | None:
    """Return the implementation that a goal file belongs to; None when several share it."""
    return one.implementation if len(_sharing(task, one)) == 1 else None


def _targets(task: TaskView, one: Pair, module: Module) -> list[Definition]:
    """Return the functions of a file that any implementation masks, and recorded look-alikes that are masked."""
    names = {
        (item.qualname, other.implementation.nth) for other in _sharing(task, one) for item in other.targets
    }
    try:
        records = also_masked.read(json.loads(task.text(task.task.also_masked_path) or "null"))
    except (ValueError, RecursionError):
        records = ()
    along = {
        (item.qualname, item.nth) for item in records if item.path == task.in_repository_path(one.goal_path)
    }
    goal = one.goal.definitions if one.goal else ()
    along &= {
        (item.qualname, item.nth)
        for item in goal
        if isinstance(item.node, FunctionNode)
        and bodies.raises_not_implemented(item.node)
        and len(bodies.statements(item.node)) <= 2  # a raise, and a yield that keeps a generator one
    }
    functions = (item for item in module.definitions if item.kind == "function")
    return [
        item
        for item in functions
        if (item.qualname, None) in names or (item.qualname, item.nth) in names | along
    ]


def _differences(task: TaskView, one: Pair) -> list[tuple[str, int]]:
    """Return (what differs, line in the goal file or 0) by structure, targets left out."""
    assert one.golden is not None and one.goal is not None
    golden, goal = one.golden, one.goal

    def compare() -> list[tuple[str, int]]:
        before, after = (_units(module, _targets(task, one, module)) for module in (golden, goal))
        found = [(f"{name} was removed", 0) for name in before if name not in after]
        found += [
            (f"{name} changed", line)
            for name, (text, line) in after.items()
            if before.get(name, ("", 0))[0] != text and name in before
        ]
        return found + [
            (f"{name} was added", line) for name, (_, line) in after.items() if name not in before
        ]

    return task.memo(("differences", one.goal_path, one.golden_path), compare)


def _units(module: Module, targets: list[Definition]) -> dict[str, tuple[str, int]]:
    """Return (comparable form, line) of each function, class head and top-level statement of a module."""
    found: dict[str, tuple[str, int]] = {}
    hidden = {(item.node.name, item.node.lineno) for item in targets}
    tree = ast.parse(module.data)  # a copy of our own: targets are emptied in it
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [  # type: ignore[attr-defined]
                item for item in body if (getattr(item, "name", ""), getattr(item, "lineno", 0)) not in hidden
            ]

    def collect(body: list[ast.stmt], prefix: str) -> None:
        for node in body:
            if isinstance(node, ast.ClassDef):
                head = [*node.bases, *node.keywords, *node.decorator_list]
                add(f"the head of class {prefix}{node.name}", ";".join(map(form, head)), node)
                collect(node.body, f"{prefix}{node.name}.")
            elif isinstance(node, FunctionNode):
                add(f"{prefix}{node.name}", form(node), node)
            else:
                text = "docstring" if bodies.is_text(node) else ast.unparse(node).partition("\n")[0]
                text = text if len(text) <= 60 else text[:57] + "…"
                add(f"`{text}`" + (f" in {prefix[:-1]}" if prefix else ""), form(node), node)

    def add(name: str, text: str, node: ast.stmt) -> None:
        number, key = 1, name
        while key in found:
            number += 1
            key = f"{name} #{number}"
        found[key] = (text, node.lineno)

    collect(tree.body, "")
    return found


@target_check(
    "LMR305",
    "the target's docstring was lost",
    rationale="The docstring is the interface that the agent has to meet: shapes, units and order of what is returned."
    " Where less than half of it is left that may be on purpose, as some docstrings tell the steps: that is a"
    " note.",
    severity=WARNING,
)
def docstring_kept(task: TaskView, target: Implementation) -> Iterator[Problem]:
    one = pair(task, target)
    for golden, goal, item in one.complete:
        words, left = (Counter((ast.get_docstring(node) or "").split()) for node in (golden, goal))
        if words and (words & left).total() < words.total() / 2:
            message = f"{'most of ' if left else ''}the docstring of {item.qualname} was lost"
            hint = "put the golden's docstring back below the header"
            yield Problem(message, hint, one.goal_path or "", goal.lineno, severity=NOTE if left else None)


@target_check(
    "LMR306",
    "the target's signature or decorators changed",
    rationale="The rest of the repository and the unit test call the function as it was; another signature makes a"
    " right solution fail.",
)
def signature_kept(task: TaskView, target: Implementation) -> Iterator[Problem]:
    one = pair(task, target)
    for golden, goal, item in one.complete:
        changes = [] if type(golden) is type(goal) else ["async was added or removed"]
        if not is_same(golden.args, goal.args):
            changes.append(f"({ast.unparse(golden.args)}) became ({ast.unparse(goal.args)})")
        if not is_same(golden.returns, goal.returns):
            changes.append("the return annotation changed")
        if not is_same(golden.decorator_list, goal.decorator_list):
            changes.append("the decorators changed")
        if changes:
            message = f"the signature of {item.qualname} differs from the golden's: {'; '.join(changes)}"
            yield Problem(message, "restore the golden's header", one.goal_path or "", goal.lineno)


@target_check(
    "LMR307",
    "the masked body uses undefined names",
    rationale="A bare `return losses, rewards` gives the names of the solution's variables away, and fails with a"
    " NameError that looks like a broken repository rather than like something to implement.",
    severity=WARNING,
)
def no_undefined_names(task: TaskView, target: Implementation) -> Iterator[Problem]:
    for masked in _masked(task, target):
        if masked.undefined and not masked.same:
            names = ", ".join(list(masked.undefined)[:8])
            message = f"the masked body of {masked.qualname} uses names that nothing defines: {names}"
            hint = "end the masked body with `raise NotImplementedError` and drop the return"
            yield Problem(message, hint, pair(task, target).goal_path or "", min(masked.undefined.values()))


@target_check(
    "LMR308",
    "the masked body runs through silently",
    rationale="`pass` or `loss = None; return loss` runs without an error, and a weak test passes it: nothing was"
    " implemented, and nothing fails.",
)
def not_silent(task: TaskView, target: Implementation) -> Iterator[Problem]:
    for masked in _masked(task, target):
        if masked.silent and not masked.same and not masked.raises:
            does = "runs to its end" if masked.kept else "does nothing"
            message = f"the masked body of {masked.qualname} {does}, silently"
            hint = "end it with `raise NotImplementedError`"
            yield Problem(message, hint, pair(task, target).goal_path or "", pointer=masked.pointer)


@target_check(
    "LMR309",
    "part of the original body is left",
    rationale="What is left of the body is part of the solution; how much the agent had to find out differs from task"
    " to task. Where only initial values are left (`losses = []`) that is little, and a note.",
    severity=WARNING,
)
def nothing_kept(task: TaskView, target: Implementation) -> Iterator[Problem]:
    for masked in _masked(task, target):
        if masked.kept and not masked.same:
            first = ast.unparse(masked.kept[0]).partition("\n")[0]
            message = (
                f"{len(masked.kept)} of {masked.total} statements of {masked.qualname} (returns not counted) are left,"
                f" the first is `{first[:80]}`"
            )
            telling = any(map(bodies.is_telling, masked.kept))
            where = pair(task, target).goal_path or ""
            yield Problem(
                message,
                "mask the whole body",
                where,
                masked.kept[0].lineno,
                severity=None if telling else NOTE,
            )


@target_check(
    "LMR310",
    "the masked body does not raise NotImplementedError",
    rationale="It is the one failure that says what it is: the gates tell a missing implementation from a broken"
    " environment by it.",
    severity=NOTE,
)
def raises_not_implemented(task: TaskView, target: Implementation) -> Iterator[Problem]:
    for masked in _masked(task, target):
        reported = masked.same or masked.undefined or masked.kept or (masked.silent and not masked.raises)
        if not reported and not bodies.raises_not_implemented(masked.node):
            message = f"the masked body of {masked.qualname} does not raise NotImplementedError"
            hint = "end it with `raise NotImplementedError`"
            yield Problem(message, hint, pair(task, target).goal_path or "", pointer=masked.pointer)


@check(
    "LMR311",
    "line ends, indentation or comments changed outside of the target",
    rationale="A file that was re-indented or saved with other line endings differs everywhere: patches and splices no"
    " longer apply.",
    severity=WARNING,
)
def same_text(task: TaskView) -> Iterator[Problem]:
    for one in _file_pairs(task):
        assert one.golden is not None and one.goal is not None
        message, severity = "", WARNING
        crlf = [data.count(b"\r\n") > data.count(b"\n") / 2 for data in (one.golden.data, one.goal.data)]
        if crlf[0] != crlf[1]:
            message = f"the line endings changed from {'LF to CRLF' if crlf[1] else 'CRLF to LF'}"
        elif not _differences(task, one) and _headers(task, one, one.golden) == _headers(task, one, one.goal):
            texts = [_text_outside(task, one, module) for module in (one.golden, one.goal)]
            message, severity = _text_change(*texts) if None not in texts else ("", NOTE)
        if message:
            hint = "take everything but the target's body from the golden, byte for byte"
            where, owner = one.goal_path or "", _owner(task, one)
            yield Problem(f"outside of the target {message}", hint, where, target=owner, severity=severity)


def _headers(task: TaskView, one: Pair, module: Module) -> list[str]:
    """Return the headers of a file's targets in comparable form: LMR304 and LMR306 report changed code."""
    nodes = (item.node for item in _targets(task, one, module) if isinstance(item.node, FunctionNode))
    return [";".join(map(form, (node.args, *node.decorator_list))) for node in nodes]


def _text_outside(task: TaskView, one: Pair, module: Module) -> bytes | None:
    """Return what a file holds outside of its targets' bodies; None when they cannot be cut out."""
    items = _targets(task, one, module)
    inner = [item for item in items if any(o.line < item.line and item.end_line <= o.end_line for o in items)]
    try:
        return outside(module, [item for item in items if item not in inner])
    except (LmrError, IndexError, ValueError):
        return None


def _text_change(before: bytes | None, after: bytes | None) -> tuple[str, Severity]:
    """Return (what changed, how bad) between two texts whose code is the same; "" when nothing did."""
    assert before is not None and after is not None
    if before.rstrip() == after.rstrip():
        return "", NOTE
    one, two = ([line.rstrip() for line in data.splitlines() if line.strip()] for data in (before, after))
    if one == two:
        return "blank lines, trailing blanks or line ends changed", NOTE
    if [line.split() for line in one] == [line.split() for line in two]:
        return "the indentation changed", WARNING
    if b"".join(b"".join(one).split()) == b"".join(b"".join(two).split()):
        return "the code was re-formatted", WARNING
    changes = difflib.SequenceMatcher(None, one, two, autojunk=False).get_opcodes() if len(one) < 3000 else []
    count = sum(tag != "equal" for tag, *_ in changes) or 1
    return f"comments or formatting changed in {count} place(s)", NOTE


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
        hint = "the mask cannot be checked; is it Python 2?" if old else "correct the syntax"
        yield Problem(
            f"cannot be parsed as Python 3: {cause}", hint, path, line, severity=NOTE if old else None
        )


def syntax_error(task: TaskView, path: Path) -> tuple[int, str]:
    """Return (line, cause) of why a file does not parse; line 0 when there is none."""
    data = task.read_bytes(path)
    if data is None or len(data) > MAX_PYTHON:
        return 0, "it is too large"
    try:
        Module.parse(data, path.name)
    except Exception as error:  # any reason is a reason; nothing is run
        cause = error.__cause__ if isinstance(error.__cause__, SyntaxError) else None
        return (cause.lineno or 0, str(cause.msg)) if cause else (0, type(error.__cause__ or error).__name__)
    return 0, "unknown"
