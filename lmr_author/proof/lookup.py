"""Find what ``info.json`` means, also where it is spelt loosely, so that one mistake hides no other.

A path or a name that does not fit is reported by one check; all the others then go on with what was
obviously meant (the only golden of that name, the only class with that method). Of a class, or of several
functions of one name, those are meant that differ between golden and goal file.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from lmr_author.core.code import Definition, FunctionNode, Module, form, is_same
from lmr_author.core.task import CATEGORIES, GOLDEN, Implementation
from lmr_author.proof.view import TaskView, once

_GOLDEN_WORD = re.compile(
    r"(?i)[-_. ]*(?<![a-z])(?:golden|gold|original|orig)$|^(?:golden|gold|original|orig)[-_. ]+"
)
_TEST_NAME = re.compile(r"unit_test\w*\.py")


# paths


def clean_path(text: str) -> str:
    """Return a path of info.json with ``/`` and without ``./`` and surrounding blanks."""
    return re.sub(r"/{2,}", "/", text.strip().replace("\\", "/")).removeprefix("./")


def leaves(view: TaskView, root: Path | None, text: str) -> bool:
    """Return True when a path is absolute, goes upwards, or leads outside through a symbolic link."""
    if not text.strip():
        return False
    pure = PurePosixPath(clean_path(text))
    if pure.is_absolute() or ".." in pure.parts or re.match(r"^[A-Za-z]:|^~", str(pure)):
        return True
    return root is not None and view.inside(root, str(pure)) is None


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
    meant = []
    for entry in view.repository_files.values():
        module = view.module(view.path(entry)) if entry.name in file_names else None
        if module is not None and _definitions_of(implementation, module):
            meant.append(view.path(entry))
    return meant[0] if len(meant) == 1 else named


def _definitions_of(implementation: Implementation, module: Module) -> list[Definition]:
    """Return what the names of an implementation can mean in a module."""
    class_name = implementation.class_name.strip()
    names = function_names(implementation)
    return [definition for name in names for definition in candidates(module, name, class_name)]


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
    """Return every Python file below ``golden_files/``."""
    code = (entry for entry in view.below(GOLDEN) if entry.kind == "file" and entry.suffix == ".py")
    return [view.path(entry) for entry in code]


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


def candidates(module: Module, name: str, class_name: str) -> list[Definition]:
    """Return the definitions that a name can mean in a module, the best kind of match only.

    In this order: ``class_name.name``, the top-level ``name``, any definition that ends in it.
    """
    wanted = [f"{class_name}.{name}", name, f".{class_name.rpartition('.')[2]}.{name}", f".{name}"]
    if not class_name:
        wanted = [name, f".{name}"]
    definitions = [definition for definition in module.definitions if not _is_second_part(definition)]
    has_class = any(
        definition.qualname == class_name and definition.kind == "class" for definition in definitions
    )
    for qualname in wanted:
        if qualname.startswith("."):
            meant = [definition for definition in definitions if definition.qualname.endswith(qualname)]
        else:
            meant = [definition for definition in definitions if definition.qualname == qualname]
        # If the class is there and the method is not, no other class is meant.
        if meant and not (has_class and qualname.startswith(".")):
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
    return isinstance(node, ast.Expr) and isinstance(getattr(node.value, "value", None), str)


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
            golden = target.golden.node if target.golden else None
            goal = target.goal.node if target.goal else None
            if isinstance(golden, FunctionNode) and isinstance(goal, FunctionNode):
                both.append((golden, goal, target))
        return both

    def definitions(self, qualname: str, nth: int | None = None) -> TargetPair:
        """Return what a name means in both files: of several definitions the ``nth``, else the last that differs."""
        originals, goals = _called(self.golden, qualname), _called(self.goal, qualname)
        options = [TargetPair(qualname, *both) for both in zip(originals, goals, strict=False)]
        if not options:
            return TargetPair(qualname, originals[-1] if originals else None, goals[-1] if goals else None)
        numbered = [option for option in options if option.golden and option.golden.nth == nth]
        return ([option for option in numbered or options if option.differs] or numbered or options)[-1]


def _called(module: Module | None, qualname: str) -> list[Definition]:
    return [
        definition
        for definition in _all(module)
        if definition.qualname == qualname and not definition.is_overload
    ]


def _all(module: Module | None) -> tuple[Definition, ...]:
    return module.definitions if module else ()


@once
def pair(task: TaskView, implementation: Implementation) -> Pair:
    """Return an implementation's files and targets."""
    goal_file, golden_file = _meant_goal_path(task, implementation), golden_path(task, implementation)
    goal, golden = task.module(goal_file), task.module(golden_file)
    files = Pair(implementation, goal_file, golden_file, goal, golden, ())
    targets = tuple({target.qualname: target for target in _targets(task, files)}.values())
    return replace(files, targets=targets)


def pairs(task: TaskView) -> list[Pair]:
    """Return all implementations' pairs."""
    return [pair(task, implementation) for implementation in task.implementations]


def _targets(task: TaskView, files: Pair) -> Iterator[TargetPair]:
    mine = files.implementation
    for name in function_names(mine):
        targets: list[TargetPair] = []
        for qualname in _qualnames(files, name, mine):
            targets += _expand(files, qualname, mine.nth)
        if len(targets) > 1:
            # Of several functions those that differ are meant, and no other implementation names.
            taken = _named_by_others(task, files)
            targets = [target for target in targets if target.differs] or targets
            targets = [target for target in targets if target.qualname not in taken] or targets
        yield from targets


def _named_by_others(task: TaskView, files: Pair) -> set[str]:
    """Return the functions of a goal file that other implementations name without a doubt."""
    names: set[str] = set()
    for other in task.implementations:
        if other is not files.implementation and other.goal_file == files.implementation.goal_file:
            for name in function_names(other):
                meant = _qualnames(files, name, other)
                names |= set(meant) if len(meant) == 1 else set()
    return names


def _qualnames(files: Pair, name: str, implementation: Implementation) -> list[str]:
    class_name = implementation.class_name.strip()
    for module in (files.golden, files.goal):
        meant = candidates(module, name, class_name) if module else []
        if meant:
            return list(dict.fromkeys(definition.qualname for definition in meant))
    return []


def _expand(files: Pair, qualname: str, nth: int | None) -> list[TargetPair]:
    """Return the function of a name; for a class its methods."""
    target = files.definitions(qualname, nth)
    if "class" not in {definition.kind for definition in (target.golden, target.goal) if definition}:
        return [target]
    every = [*_all(files.golden), *_all(files.goal)]
    methods = [
        definition.qualname
        for definition in every
        if definition.kind == "function" and _owner(definition) == qualname
    ]
    return [files.definitions(name) for name in dict.fromkeys(methods)]


def _owner(definition: Definition) -> str:
    return definition.qualname.rpartition(".")[0]


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
