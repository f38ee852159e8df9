"""The masked functions of an implementation, in its golden and in its goal file.

Some published tasks name a path that does not exist. One check reports it; all others use the only file of that name,
so that one mistake does not hide others. For a class, or several functions of one name, the targets are the functions
that differ between the two files.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import filterfalse
from pathlib import Path, PurePosixPath

from lmr_author.core.code import Definition, FunctionNode, Module, form, is_same
from lmr_author.core.errors import LmrError
from lmr_author.core.task import GOLDEN, Implementation, Task, TaskInfo
from lmr_author.proof.contents import TaskContents, once

_GOLDEN_WORD = re.compile(
    r"(?i)[-_. ]*(?<![a-z])(?:golden|gold|original|orig)$|^(?:golden|gold|original|orig)[-_. ]+"
)
_TEST_NAME = re.compile(r"unit_test\w*\.py")
_LEAVES = re.compile(r"/|~|[A-Za-z]:|(?:.*/)?\.\.(?:/|\Z)", re.DOTALL)


# files


def leaves(contents: TaskContents, root: Path | None, path: str) -> bool:
    """Return whether a path is absolute, contains ``..``, or leads outside through a symbolic link."""
    if not path:
        return False
    path = str(PurePosixPath(path))
    return _LEAVES.match(path) is not None or (root is not None and contents.inside(root, path) is None)


@once
def goal_path(contents: TaskContents, implementation: Implementation) -> Path | None:
    """Return the goal file (never the unit test), or the only file with its name or the golden's."""
    named, test = implementation.goal_file, implementation.unit_test_file
    found = _file(contents, contents.repository, named)
    if found is not None and named != test:
        return found
    golden = golden_path(contents, implementation)
    names = {named.rpartition("/")[2]} - {"", test.rpartition("/")[2]}
    names |= {f"{original_name(golden.name)}.py"} if golden else set()
    return _only(path for path in _code(contents) if path.name in names)


@once
def golden_path(contents: TaskContents, implementation: Implementation) -> Path | None:
    """Return the golden, or the only one with its name or the goal file's."""
    named = implementation.golden_file
    found = _file(contents, contents.task.root, named) or _file(contents, contents.repository, named)
    if found is not None:
        return found
    stems = {original_name(path.rpartition("/")[2]) for path in (named, implementation.goal_file)}
    goldens = golden_files(contents)
    return _only(goldens) or _only(path for path in goldens if original_name(path.name) in stems)


@once
def unit_test_path(contents: TaskContents, implementation: Implementation) -> Path | None:
    """Return the unit test, or the one with its number, or the only one."""
    found = _file(contents, contents.repository, implementation.unit_test_file)
    tests = [path for path in _code(contents) if _TEST_NAME.fullmatch(path.name)]
    own = (path for path in tests if path.name == f"unit_test_{implementation.index}.py")
    return found or _only(own) or _only(tests)


def original_name(name: str) -> str:
    """Return the stem of a golden's original file: ``losses`` for ``losses-gold.py`` and ``golden_losses.py``."""
    stem = name.removesuffix(".py")
    return _GOLDEN_WORD.sub("", stem) or stem


def _file(contents: TaskContents, root: Path | None, named: str) -> Path | None:
    for relative in (named, named.removeprefix(f"{root.name}/") if root else named):
        path = contents.inside(root, relative)
        if path is not None and contents.is_file(path):
            return path
    return None


def _code(contents: TaskContents) -> list[Path]:
    return [contents.path(entry) for entry in contents.repository_files.values() if entry.suffix == ".py"]


def _only(paths: Iterable[Path]) -> Path | None:
    found = list(paths)
    return found[0] if len(found) == 1 else None


def names_unit_test(contents: TaskContents, implementation: Implementation) -> bool:
    """Return whether ``goal_file`` names the unit test, or a file beside it."""
    goal = implementation.goal_file
    inside = contents.in_repository_path(goal_path(contents, implementation)).startswith("unit_test/")
    own = goal == implementation.unit_test_file
    return bool(goal) and (own or inside or _TEST_NAME.fullmatch(goal.rpartition("/")[2]) is not None)


def golden_files(contents: TaskContents) -> list[Path]:
    return [contents.path(entry) for entry in contents.files_below(GOLDEN) if entry.suffix == ".py"]


# functions


def candidates(module: Module | None, name: str, class_name: str) -> list[Definition]:
    """Return a name's definitions in a module, only of the best kind of match; none without a module.

    From best: ``class_name.name``, the top-level ``name``, any definition whose name ends in it.
    """
    definitions = list(filterfalse(_is_second_part, definitions_of(module)))
    for qualname in (f"{class_name}.{name}", name):
        if meant := [definition for definition in definitions if definition.qualname == qualname]:
            return meant
    if ("class", class_name) in {(definition.kind, definition.qualname) for definition in definitions}:
        return []  # the class lacks the method: do not search other classes
    for ending in (f".{class_name.rpartition('.')[2]}.{name}", f".{name}"):
        if meant := [definition for definition in definitions if definition.qualname.endswith(ending)]:
            return meant
    return []


def _is_second_part(definition: Definition) -> bool:
    """Return whether a definition is a setter, deleter or overload: same name, other function."""
    decorators = definition.node.decorator_list
    attributes = {decorator.attr for decorator in decorators if isinstance(decorator, ast.Attribute)}
    return definition.is_overload or not attributes.isdisjoint({"setter", "deleter", "register"})


def statements(node: FunctionNode | ast.ClassDef) -> list[ast.stmt]:
    return list(node.body[1:] if node.body and is_text(node.body[0]) else node.body)


def is_text(node: ast.stmt) -> bool:
    match node:
        case ast.Expr(value=ast.Constant(value=str())):
            return True
    return False


def body_form(node: FunctionNode | ast.ClassDef) -> str:
    """Return a canonical form of a body, without string statements and positions."""
    return ";".join(form(statement) for statement in statements(node) if not is_text(statement))


def parts(nodes: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield each simple statement, and each compound one before its contents; skip strings and bare ``try``."""
    for node in nodes:
        if is_text(node):
            continue
        if not isinstance(node, ast.Try):
            yield node
        for name in ("body", "orelse", "finalbody"):
            yield from parts(getattr(node, name, []))
        for handler in getattr(node, "handlers", []):
            yield from parts(handler.body)


def function_of(definition: Definition | None) -> FunctionNode | None:
    match definition:
        case Definition(node=ast.FunctionDef() | ast.AsyncFunctionDef() as node):
            return node
    return None


@dataclass(frozen=True)
class TargetPair:
    qualname: str
    golden: Definition | None
    goal: Definition | None

    @property
    def differs(self) -> bool:
        if self.golden is None or self.goal is None:
            return True
        golden, goal = self.golden.node, self.goal.node
        for head in ("args", "decorator_list"):
            if not is_same(getattr(golden, head, None), getattr(goal, head, None)):
                return True
        return body_form(golden) != body_form(goal)


@dataclass(frozen=True)
class Pair:
    """An implementation with its two files, parsed if possible.

    Attributes:
        goal, golden: None if missing or not Python 3.
        targets: the masked functions. A class means its methods that differ, or all of them.
    """

    implementation: Implementation
    goal_path: Path | None
    golden_path: Path | None
    goal: Module | None
    golden: Module | None
    targets: tuple[TargetPair, ...]

    @property
    def complete(self) -> list[tuple[FunctionNode, FunctionNode, TargetPair]]:
        both = []
        for target in self.targets:
            golden, goal = function_of(target.golden), function_of(target.goal)
            if golden and goal:
                both.append((golden, goal, target))
        return both

    def definitions(self, qualname: str, nth: int | None = None) -> TargetPair:
        """Return a name's definitions in both files: of several the ``nth``, else the last that differs."""
        originals, goals = _called(self.golden, qualname), _called(self.goal, qualname)
        options = [TargetPair(qualname, *both) for both in zip(originals, goals, strict=False)]
        if not options:
            return TargetPair(qualname, originals[-1] if originals else None, goals[-1] if goals else None)
        options = [option for option in options if option.golden and option.golden.nth == nth] or options
        return ([option for option in options if option.differs] or options)[-1]


def _called(module: Module | None, qualname: str) -> list[Definition]:
    return [
        definition
        for definition in definitions_of(module)
        if definition.qualname == qualname and not definition.is_overload
    ]


def definitions_of(module: Module | None) -> tuple[Definition, ...]:
    return module.definitions if module else ()


@once
def pair(task: TaskContents, implementation: Implementation) -> Pair:
    goal_file, golden_file = goal_path(task, implementation), golden_path(task, implementation)
    goal, golden = task.module(goal_file), task.module(golden_file)
    files = Pair(implementation, goal_file, golden_file, goal, golden, ())
    targets = tuple({target.qualname: target for target in _targets(files)}.values())
    return replace(files, targets=targets)


def pairs(task: TaskContents) -> list[Pair]:
    return [pair(task, implementation) for implementation in task.implementations]


def _targets(files: Pair) -> Iterator[TargetPair]:
    mine = files.implementation
    for name in mine.function_names:
        targets: list[TargetPair] = []
        for qualname in _qualnames(files, name, mine):
            targets += _expand(files, qualname, mine.nth)
        if len(targets) > 1:
            targets = [target for target in targets if target.differs] or targets
        yield from targets


def _qualnames(files: Pair, name: str, implementation: Implementation) -> list[str]:
    for module in (files.golden, files.goal):
        if meant := candidates(module, name, implementation.class_name):
            return list(dict.fromkeys(definition.qualname for definition in meant))
    return []


def _expand(files: Pair, qualname: str, nth: int | None) -> list[TargetPair]:
    target = files.definitions(qualname, nth)
    if not any(definition and definition.kind == "class" for definition in (target.golden, target.goal)):
        return [target]
    methods: dict[str, None] = {}
    for definition in (*definitions_of(files.golden), *definitions_of(files.goal)):
        if definition.kind == "function" and definition.qualname.rpartition(".")[0] == qualname:
            methods[definition.qualname] = None
    return list(map(files.definitions, methods))


# functions to run


@dataclass(frozen=True)
class MaskedFunctions:
    """The functions that an implementation masks, by qualified name; several if it names a class."""

    implementation: Implementation
    qualnames: tuple[str, ...]


def masked_functions(task: Task) -> tuple[TaskInfo, tuple[MaskedFunctions, ...]]:
    """Return a task's ``info.json`` and the masked functions of each implementation.

    If class and function do not name a definition but only one is possible (``forward`` of the only class that has
    it), that one is used; ``validate`` reports the name. Raises LmrError if ``info.json``, or a file that it names,
    does not exist.
    """
    task.load()
    contents = TaskContents(task)
    functions = tuple(_masked(contents, implementation) for implementation in contents.implementations)
    intended = tuple(each.implementation for each in functions)
    return replace(contents.info, implementations=intended), functions


def _masked(contents: TaskContents, implementation: Implementation) -> MaskedFunctions:
    files = pair(contents, implementation)
    for key, path in (("goal_file", files.goal_path), ("golden_file", files.golden_path)):
        if path is None:
            raise LmrError(
                f"implementation {implementation.index}: {key} {getattr(implementation, key)!r} does not exist",
                "`lmr-author validate` shows what is wrong with info.json",
            )
    names = tuple(target.qualname for target in files.targets if target.golden and target.goal)
    test = unit_test_path(contents, implementation)
    assert files.goal_path is not None and files.golden_path is not None
    implementation = replace(
        implementation,
        goal_file=contents.in_repository_path(files.goal_path),
        golden_file=contents.relative_raw(files.golden_path),
        unit_test_file=contents.in_repository_path(test) or implementation.unit_test_file,
    )
    if len(names) == 1:
        owner, _, name = names[0].rpartition(".")
        implementation = replace(implementation, goal_function=name, class_name=owner)
    return MaskedFunctions(implementation, names or (implementation.qualname,))
