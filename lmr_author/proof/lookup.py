"""Find what ``info.json`` means, also where it is spelt loosely, so that one mistake hides no other.

A path or a name that does not fit is reported by one check; all the others, and whatever runs a task, then go on with
what was obviously meant (the only golden of that name, the only class with that method). Of a class, or of several
functions of one name, those are meant that differ between golden and goal file.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import filterfalse
from pathlib import Path, PurePosixPath
from typing import Any

from lmr_author.core.code import Definition, FunctionNode, Module, form, is_same
from lmr_author.core.task import CATEGORIES, GOLDEN, Implementation, Task, TaskInfo
from lmr_author.proof.view import TaskView, once

_GOLDEN_WORD = re.compile(
    r"(?i)[-_. ]*(?<![a-z])(?:golden|gold|original|orig)$|^(?:golden|gold|original|orig)[-_. ]+"
)
_TEST_NAME = re.compile(r"unit_test\w*\.py")
_LEAVES = re.compile(r"/|~|[A-Za-z]:|(?:.*/)?\.\.(?:/|\Z)", re.DOTALL)


# paths


def clean_path(text: str) -> str:
    """Return a path of info.json with ``/`` and without ``./`` and surrounding blanks."""
    return re.sub(r"/{2,}", "/", text.strip().replace("\\", "/")).removeprefix("./")


def leaves(view: TaskView, root: Path | None, text: str) -> bool:
    """Return True when a path is absolute, goes upwards, or leads outside through a symbolic link."""
    if not text.strip():
        return False
    path = str(PurePosixPath(clean_path(text)))
    if _LEAVES.match(path):
        return True
    return root is not None and view.inside(root, path) is None


def _repository_file(view: TaskView, text: str) -> Path | None:
    """Return a file of the repository, also when its path starts with the repository's folder."""
    named = clean_path(text)
    if view.repository is None or not named:
        return None
    for relative in (named, named.removeprefix(f"{view.repository.name}/")):
        path = view.inside(view.repository, relative)
        if path is not None and view.is_file(path):
            return path
    return None


def goal_path(view: TaskView, implementation: Implementation) -> Path | None:
    """Return the goal file, also when its path starts with the repository's folder."""
    return _repository_file(view, implementation.goal_file)


def names_unit_test(view: TaskView, implementation: Implementation) -> bool:
    """Return True when ``goal_file`` names the unit test, or a file beside it."""
    goal = clean_path(implementation.goal_file)
    inside = view.in_repository_path(goal_path(view, implementation)).startswith("unit_test/")
    own = goal == clean_path(implementation.unit_test_file)
    return bool(goal) and (own or inside or _TEST_NAME.fullmatch(goal.rpartition("/")[2]) is not None)


def _meant_goal_path(view: TaskView, implementation: Implementation) -> Path | None:
    """Return the goal file; where it is missing, or is the unit test, the one that is obviously meant.

    That is the only one of the golden's (or the named file's) name that defines the target.
    """
    named = goal_path(view, implementation)
    test = clean_path(implementation.unit_test_file)
    if named is not None and clean_path(implementation.goal_file) != test:
        return named
    golden = golden_path(view, implementation)
    file_names = {clean_path(implementation.goal_file).rpartition("/")[2]} - {"", test.rpartition("/")[2]}
    if golden is not None:
        file_names.add(f"{original_name(golden.name)}.py")
    paths = [view.path(entry) for entry in view.repository_files.values() if entry.name in file_names]
    meant = [path for path in paths if _defines(view.module(path), implementation)]
    return meant[0] if len(meant) == 1 else named


def _defines(module: Module | None, implementation: Implementation) -> bool:
    class_name, names = implementation.class_name.strip(), function_names(implementation)
    return any(candidates(module, name, class_name) for name in names)


@once
def unit_test_path(view: TaskView, implementation: Implementation) -> Path | None:
    """Return the unit test; where the named file is missing, the one that is obviously meant."""
    named = _repository_file(view, implementation.unit_test_file)
    if named is not None:
        return named
    own = view.repository_files.get(f"unit_test/unit_test_{implementation.index}.py")
    if own is not None:
        return view.path(own)
    tests = [entry for entry in view.repository_files.values() if _TEST_NAME.fullmatch(entry.name)]
    return view.path(tests[0]) if tests and len(view.implementations) == 1 else None


@once
def golden_path(view: TaskView, implementation: Implementation) -> Path | None:
    """Return the golden; where the named file is missing, the one of that name, or of the goal's name."""
    named = clean_path(implementation.golden_file)
    for path in (view.inside(view.task.root, named), _repository_file(view, named)):
        if path is not None and view.is_file(path):
            return path
    goldens = golden_files(view)
    for name in (Path(named).name, Path(clean_path(implementation.goal_file)).name):
        same = [path for path in goldens if original_name(path.name) == original_name(name)]
        if len(same) == 1:
            return same[0]
    return goldens[0] if len(goldens) == 1 and len(view.implementations) == 1 else None


def original_name(name: str) -> str:
    """Return the stem of the file that a golden is of: ``losses`` for ``losses-gold.py`` and ``golden_losses.py``."""
    stem = name.removesuffix(".py")
    return _GOLDEN_WORD.sub("", stem) or stem


def golden_files(view: TaskView) -> list[Path]:
    return [view.path(entry) for entry in view.files_below(GOLDEN) if entry.suffix == ".py"]


def context_key(entry: dict[str, Any]) -> str:
    """Return the spelling under which an entry has the files of the prompt."""
    old = "retrieval_content" in entry and "retrieval_context" not in entry
    return "retrieval_content" if old else "retrieval_context"


# functions


def function_names(implementation: Implementation) -> tuple[str, ...]:
    """Return the names that goal_function holds: one in a good task, several or none in the wild."""
    text = re.sub(r"\([^)]*\)", "", implementation.goal_function.replace("::", ".").strip(" `'\":"))
    text = re.sub(r"\b(def|function|method|class)\s+", "", text)
    parts = [part.strip(" `'\"().") for part in re.split(r"\s*(?:[,;/&+]|\band\b|\s)\s*", text)]
    return tuple(dict.fromkeys(part for part in parts if re.fullmatch(r"[^\W\d]\w*(\.[^\W\d]\w*)*", part)))


def candidates(module: Module | None, name: str, class_name: str) -> list[Definition]:
    """Return the definitions that a name can mean in a module, the best kind of match only; none without a module.

    In this order: ``class_name.name``, the top-level ``name``, any definition that ends in it.
    """
    definitions = list(filterfalse(_is_second_part, definitions_of(module)))
    for qualname in (f"{class_name}.{name}", name):
        if meant := [definition for definition in definitions if definition.qualname == qualname]:
            return meant
    if ("class", class_name) in {(definition.kind, definition.qualname) for definition in definitions}:
        return []  # the class is there and the method is not: no other class is meant
    for ending in (f".{class_name.rpartition('.')[2]}.{name}", f".{name}"):
        if meant := [definition for definition in definitions if definition.qualname.endswith(ending)]:
            return meant
    return []


def _is_second_part(definition: Definition) -> bool:
    """Return True for the setter or deleter of a property, and for an overload: same name, another function."""
    decorators = definition.node.decorator_list
    attributes = {decorator.attr for decorator in decorators if isinstance(decorator, ast.Attribute)}
    return definition.is_overload or not attributes.isdisjoint({"setter", "deleter", "register"})


def statements(node: FunctionNode | ast.ClassDef) -> list[ast.stmt]:
    """Return the body of a function or a class without its docstring."""
    return list(node.body[1:] if node.body and is_text(node.body[0]) else node.body)


def is_text(node: ast.stmt) -> bool:
    """Return True for a bare string: a docstring, or a comment written as one."""
    match node:
        case ast.Expr(value=ast.Constant(value=str())):
            return True
    return False


def body_form(node: FunctionNode | ast.ClassDef) -> str:
    """Return a body in a form that is equal for equal code: texts and places do not count."""
    return ";".join(form(statement) for statement in statements(node) if not is_text(statement))


def parts(nodes: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield each simple statement, and each compound one before what is in it; no bare text, and no bare ``try``."""
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
    """Return the node of a definition that is a function; None for a class, and for none."""
    match definition:
        case Definition(node=ast.FunctionDef() | ast.AsyncFunctionDef() as node):
            return node
    return None


@dataclass(frozen=True)
class TargetPair:
    """A masked function: its definition in the golden and in the goal file; either may be missing."""

    qualname: str
    golden: Definition | None
    goal: Definition | None

    @property
    def differs(self) -> bool:
        """Return True when the code differs, docstrings left out."""
        if self.golden is None or self.goal is None:
            return True
        golden, goal = self.golden.node, self.goal.node
        for head in ("args", "decorator_list"):
            if not is_same(getattr(golden, head, None), getattr(goal, head, None)):
                return True
        return body_form(golden) != body_form(goal)


@dataclass(frozen=True)
class Pair:
    """An implementation with its two files parsed, as far as they can be.

    Attributes:
        goal, golden: None when absent or not Python 3.
        targets: the masked functions. A class stands for those of its methods that differ, or for all.
    """

    implementation: Implementation
    goal_path: Path | None
    golden_path: Path | None
    goal: Module | None
    golden: Module | None
    targets: tuple[TargetPair, ...]

    @property
    def complete(self) -> list[tuple[FunctionNode, FunctionNode, TargetPair]]:
        """Return (golden node, goal node, pair) of each target that both files define as a function."""
        both = []
        for target in self.targets:
            golden, goal = function_of(target.golden), function_of(target.goal)
            if golden and goal:
                both.append((golden, goal, target))
        return both

    def definitions(self, qualname: str, nth: int | None = None) -> TargetPair:
        """Return what a name means in both files: of several definitions the ``nth``, else the last that differs."""
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
def pair(task: TaskView, implementation: Implementation) -> Pair:
    goal_file, golden_file = _meant_goal_path(task, implementation), golden_path(task, implementation)
    goal, golden = task.module(goal_file), task.module(golden_file)
    files = Pair(implementation, goal_file, golden_file, goal, golden, ())
    targets = tuple({target.qualname: target for target in _targets(files)}.values())
    return replace(files, targets=targets)


def pairs(task: TaskView) -> list[Pair]:
    return [pair(task, implementation) for implementation in task.implementations]


def _targets(files: Pair) -> Iterator[TargetPair]:
    mine = files.implementation
    for name in function_names(mine):
        targets: list[TargetPair] = []
        for qualname in _qualnames(files, name, mine):
            targets += _expand(files, qualname, mine.nth)
        if len(targets) > 1:
            targets = [target for target in targets if target.differs] or targets
        yield from targets


def _qualnames(files: Pair, name: str, implementation: Implementation) -> list[str]:
    class_name = implementation.class_name.strip()
    for module in (files.golden, files.goal):
        if meant := candidates(module, name, class_name):
            return list(dict.fromkeys(definition.qualname for definition in meant))
    return []


def _expand(files: Pair, qualname: str, nth: int | None) -> list[TargetPair]:
    """Return the function of a name; for a class its methods."""
    target = files.definitions(qualname, nth)
    if not any(definition and definition.kind == "class" for definition in (target.golden, target.goal)):
        return [target]
    methods: dict[str, None] = {}
    for definition in (*definitions_of(files.golden), *definitions_of(files.goal)):
        if definition.kind == "function" and definition.qualname.rpartition(".")[0] == qualname:
            methods[definition.qualname] = None
    return list(map(files.definitions, methods))


# an implementation as it was intended


@dataclass(frozen=True)
class Resolved:
    """An implementation as it was intended, where ``info.json`` is written loosely.

    Attributes:
        implementation: with paths that exist and a target that its files define.
        qualnames: the functions that are masked; several when a class stands for its methods.
        notes: the corrections, one sentence each.
    """

    implementation: Implementation
    qualnames: tuple[str, ...]
    notes: tuple[str, ...]


def resolve(task: Task) -> tuple[TaskInfo, tuple[Resolved, ...]]:
    """Return the task's ``info.json`` and its implementations as they were intended; unclear parts stay.

    ``validate`` reports each fault. To run a hand-made task, the obvious reading is taken (the only golden of that
    name, the only class with that method), and a note says so. Raises LmrError when there is no ``info.json``.
    """
    task.load()
    view = TaskView(task)
    resolved = tuple(_resolve(view, written) for written in view.implementations)
    intended = tuple(each.implementation for each in resolved)
    return replace(view.info, implementations=intended), resolved


def _resolve(view: TaskView, written: Implementation) -> Resolved:
    files_of = pair(view, written)
    names = tuple(target.qualname for target in files_of.targets if target.golden and target.goal)
    golden = view.relative_raw(files_of.golden_path) if files_of.golden_path else ""
    taken = replace(
        written,
        category=canonical_category(written.category) or written.category,
        goal_file=view.in_repository_path(files_of.goal_path) or written.goal_file,
        golden_file=golden or written.golden_file,
        unit_test_file=view.in_repository_path(unit_test_path(view, written)) or written.unit_test_file,
    )
    if len(names) == 1:
        owner, _, name = names[0].rpartition(".")
        taken = replace(taken, goal_function=name, class_name=owner)
    notes = []
    for key in ("goal_file", "golden_file", "unit_test_file"):
        before, after = getattr(written, key), getattr(taken, key)
        if before != after:
            notes.append(f"{key} {before or 'is missing'}: took {after}")
    if written.qualname != taken.qualname or len(names) > 1:
        notes.append(f"the target {written.qualname}: took {', '.join(names)}")
    return Resolved(taken, names or (written.qualname,), tuple(notes))


# categories


def canonical_category(text: str) -> str | None:
    """Return the category that a longer or differently written form means; None when that is unclear.

    All significant words of the canonical name have to occur: "Training Objectives and Optimization Techniques" is
    one, "loss function" is not.
    """
    meant = [category for category in CATEGORIES if category_words(category) <= category_words(text)]
    return meant[0] if len(meant) == 1 else None


_FILLER = frozenset(
    """
    and or of for the in a an with technique method approach design computation computing task module
    """.split()  # noqa: SIM905
)


def category_words(text: str) -> set[str]:
    words = re.findall(r"[a-z]+", text.lower().replace("isation", "ization"))
    return {re.sub("ies$", "y", word).removesuffix("s") for word in words} - _FILLER
