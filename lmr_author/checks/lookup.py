"""Find what ``info.json`` means, also where it is spelt loosely, so that one mistake hides no other.

A path or a name that does not fit is reported by one check; all the others then go on with what was
obviously meant (the only golden of that name, the only class with that method).
"""

from __future__ import annotations

import ast
import difflib
import re
from dataclasses import dataclass
from pathlib import Path

from lmr_author.checks.bodies import statements
from lmr_author.checks.view import TaskView
from lmr_author.model import Implementation
from lmr_author.source import Definition, FunctionNode, Module, form
from lmr_author.taskdir import GOLDEN

_SPLIT = re.compile(r"\s*(?:[,;/&+]|\band\b|\s)\s*")
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")


def clean_path(text: str) -> str:
    """A path as info.json gives it, with ``/`` and without ``./`` and trailing blanks."""
    return re.sub(r"/{2,}", "/", text.strip().replace("\\", "/")).removeprefix("./")


def goal_path(view: TaskView, implementation: Implementation) -> Path | None:
    """The goal file, also when its path starts with the repository's folder."""
    key = ("goal path", implementation.goal_file)
    return view.memo(key, lambda: _repository_file(view, implementation.goal_file))


def meant_goal_path(view: TaskView, implementation: Implementation) -> Path | None:
    """The goal file; where it is missing, or is the unit test, the file that is obviously meant.

    That is the only one of the golden's (or the named file's) name that defines the target.
    """
    named = goal_path(view, implementation)
    test = clean_path(implementation.unit_test_file)
    if named is not None and clean_path(implementation.goal_file) != test:
        return named
    golden = golden_path(view, implementation)
    given = clean_path(implementation.goal_file).rpartition("/")[2]
    stem = golden.stem.removesuffix("_golden").removeprefix("golden_") if golden else ""
    wanted = {given, f"{stem}.py"} - {"", ".py", test.rpartition("/")[2]}
    names = function_names(implementation)
    found = [
        path
        for path in (view.path(entry) for entry in view.repository_entries if entry.kind == "file")
        if path.name in wanted and _defines(view.module(path), names, implementation.class_name.strip())
    ]
    return found[0] if len(found) == 1 else named


def _defines(module: Module | None, names: tuple[str, ...], class_name: str) -> bool:
    return module is not None and any(candidates(module, name, class_name) for name in names)


def unit_test_path(view: TaskView, implementation: Implementation) -> Path | None:
    """The unit test; where the named file is missing, the one that is obviously meant."""
    return view.memo(("unit test path", id(implementation)), lambda: _unit_test_path(view, implementation))


def _unit_test_path(view: TaskView, implementation: Implementation) -> Path | None:
    path = _repository_file(view, implementation.unit_test_file)
    if path is not None or view.repository is None:
        return path
    folder = view.repository / "unit_test"
    names = [f"unit_test_{implementation.index}.py"]
    if len(view.implementations) == 1:
        names += ["unit_test.py", "unit_test_1.py"]
    found = [folder / name for name in names if is_file(folder / name)]
    if not found and len(view.implementations) == 1:
        found = [
            view.path(entry)
            for entry in view.repository_entries
            if entry.kind == "file" and re.fullmatch(r"unit_test\w*\.py", entry.name)
        ][:1]
    return found[0] if found else None


def golden_path(view: TaskView, implementation: Implementation) -> Path | None:
    """The golden; where the named file is missing, the one of that name, or of the goal's name."""
    return view.memo(("golden path", id(implementation)), lambda: _golden_path(view, implementation))


def _golden_path(view: TaskView, implementation: Implementation) -> Path | None:
    named = clean_path(implementation.golden_file)
    exact = view.inside(view.task.root, named)
    if exact is not None and is_file(exact):
        return exact
    below = _repository_file(view, implementation.golden_file)
    if below is not None:
        return below
    goldens = golden_files(view)
    stem = Path(clean_path(implementation.goal_file)).stem
    wanted = [Path(named).name] if named else []
    wanted += [f"{stem}_golden.py", f"{stem}.py", f"golden_{stem}.py"] if stem else []
    for name in wanted:
        same = [path for path in goldens if path.name == name]
        if len(same) == 1:
            return same[0]
    return goldens[0] if len(goldens) == 1 and len(view.implementations) == 1 else None


def golden_files(view: TaskView) -> list[Path]:
    """Every Python file below ``golden_files/``."""
    return [
        view.path(entry)
        for entry in view.entries
        if entry.kind == "file" and entry.relative.startswith(f"{GOLDEN}/") and entry.suffix == ".py"
    ]


def _repository_file(view: TaskView, text: str) -> Path | None:
    named = clean_path(text)
    if view.repository is None or not named:
        return None
    prefix = view.repository.name + "/"
    for relative in dict.fromkeys((named, named.removeprefix(prefix))):
        path = view.inside(view.repository, relative)
        if path is not None and is_file(path):
            return path
    return None


def is_file(path: Path) -> bool:
    """Whether a path is a file; False for names that no file can have."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def is_folder(path: Path) -> bool:
    """Whether a path is a folder; False for names that none can have."""
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def did_you_mean(wanted: str, names: list[str], cutoff: float = 0.6) -> str:
    """A hint with the closest of some names; "" when none is close."""
    close = difflib.get_close_matches(wanted, names, 2, cutoff)
    return f"did you mean {' or '.join(close)}?" if close else ""


def function_names(implementation: Implementation) -> tuple[str, ...]:
    """The names that goal_function holds: one in a good task, several or none in the wild."""
    text = re.sub(r"\([^)]*\)", "", implementation.goal_function.replace("::", ".").strip(" `'\":"))
    text = re.sub(r"\b(def|function|method|class)\s+", "", text)
    parts = [part.strip(" `'\"().") for part in _SPLIT.split(text)]
    return tuple(dict.fromkeys(part for part in parts if _IDENTIFIER.fullmatch(part)))


def candidates(module: Module, name: str, class_name: str) -> list[Definition]:
    """The definitions that a name can mean in a module, the best kind of match only.

    In this order: ``class_name.name``, the top-level ``name``, any definition that ends in it.
    """
    real = [item for item in module.definitions if not item.is_overload and not _is_accessor(item)]
    exact = [f"{class_name}.{name}"] if class_name else []
    for qualname in [*exact, name]:
        found = [item for item in real if item.qualname == qualname]
        if found:
            return found
    ending = "." + name
    if class_name and any(item.kind == "class" and item.qualname == class_name for item in real):
        return []  # the class is there, the method is not: no other class is meant
    if class_name:
        last = class_name.rpartition(".")[2]
        found = [item for item in real if item.qualname.endswith(f".{last}.{name}")]
        if found:
            return found
    return [item for item in real if item.qualname.endswith(ending)]


def _is_accessor(item: Definition) -> bool:
    """Whether it is the setter or deleter of a property: same name as the getter, another function."""
    return any(
        isinstance(decorator, ast.Attribute) and decorator.attr in ("setter", "deleter", "register")
        for decorator in item.node.decorator_list
    )


@dataclass(frozen=True)
class TargetPair:
    """A masked function: its definition in the golden and in the goal file, either may be missing."""

    qualname: str
    golden: Definition | None
    goal: Definition | None


@dataclass(frozen=True)
class Pair:
    """An implementation with its two files read, as far as they can be.

    Attributes:
        goal, golden: parsed files, None when absent or not Python 3.
        targets: the functions that are masked. For a class, those of its methods that differ, or all.
        classes: targets that are classes.
        ambiguous: names that mean several definitions.
    """

    implementation: Implementation
    goal_path: Path | None
    golden_path: Path | None
    goal: Module | None
    golden: Module | None
    targets: tuple[TargetPair, ...]
    classes: tuple[str, ...]
    ambiguous: tuple[str, ...]

    @property
    def complete(self) -> tuple[tuple[FunctionNode, FunctionNode, TargetPair], ...]:
        """(golden node, goal node, pair) of each target that both files define as a function."""
        return tuple(
            (one.golden.node, one.goal.node, one)
            for one in self.targets
            if one.golden
            and one.goal
            and not isinstance(one.golden.node, ast.ClassDef)
            and not isinstance(one.goal.node, ast.ClassDef)
        )


def pair(view: TaskView, implementation: Implementation) -> Pair:
    """The implementation's files and targets, read once."""
    return view.memo(("pair", id(implementation)), lambda: _pair(view, implementation))


def pairs(view: TaskView) -> list[Pair]:
    """All implementations' pairs."""
    return [pair(view, implementation) for implementation in view.implementations]


def _pair(view: TaskView, implementation: Implementation) -> Pair:
    goal_file, golden_file = meant_goal_path(view, implementation), golden_path(view, implementation)
    goal, golden = view.module(goal_file), view.module(golden_file)
    targets: dict[str, TargetPair] = {}
    classes: list[str] = []
    ambiguous: list[str] = []
    for name in function_names(implementation):
        qualnames = _qualnames(goal, golden, name, implementation.class_name)
        if not qualnames:
            qualnames = _misnamed(view, implementation, goal, golden, name)
        real = _expand(goal, golden, qualnames, classes)
        if len(qualnames) > 1:
            ambiguous.append(name)
            real = _probable(view, implementation, real)
        targets.update({one.qualname: one for one in real})
    return Pair(
        implementation,
        goal_file,
        golden_file,
        goal,
        golden,
        tuple(targets.values()),
        tuple(classes),
        tuple(ambiguous),
    )


def _probable(view: TaskView, implementation: Implementation, found: list[TargetPair]) -> list[TargetPair]:
    """Of several functions of a name those that are meant, as far as that can be told.

    They differ from the golden, no other implementation names them with their class, and the instruction names
    theirs.
    """
    taken = _claimed(view, implementation)
    for likely in (
        _differs,
        lambda one: one.qualname not in taken,
        lambda one: _tells_of(implementation.instruction, one.qualname),
    ):
        found = [one for one in found if likely(one)] or found
    return found


def _tells_of(instruction: str, qualname: str) -> bool:
    """Whether an instruction names the class of a method."""
    owner = qualname.rpartition(".")[0].rpartition(".")[2]
    return bool(owner) and re.search(rf"(?<!\w){re.escape(owner)}(?!\w)", instruction) is not None


def _claimed(view: TaskView, implementation: Implementation) -> frozenset[str]:
    """What other implementations name without doubt in the same goal file."""
    path = meant_goal_path(view, implementation)
    goal, golden = view.module(path), view.module(golden_path(view, implementation))
    found = [
        _qualnames(goal, golden, name, other.class_name)
        for other in view.implementations
        if other is not implementation and meant_goal_path(view, other) == path
        for name in function_names(other)
    ]
    return frozenset(names[0] for names in found if len(names) == 1)


def _misnamed(
    view: TaskView, implementation: Implementation, goal: Module | None, golden: Module | None, name: str
) -> list[str]:
    """The function that is meant by a name that nothing has: much like it, masked, and nobody else's target."""
    if goal is None or golden is None:
        return []
    known = {item.qualname for item in goal.definitions if item.kind == "function"}
    names = {item.qualname for item in golden.definitions if item.kind == "function"} & known
    names -= _claimed(view, implementation)
    differing = [one for one in sorted(names) if _differs(_definitions(goal, golden, one))]
    close = difflib.get_close_matches(
        name.rpartition(".")[2], [one.rpartition(".")[2] for one in differing], 1
    )
    return [one for one in differing if close and one.rpartition(".")[2] == close[0]][:1]


def _qualnames(goal: Module | None, golden: Module | None, name: str, class_name: str) -> list[str]:
    for module in (golden, goal):
        if module is not None:
            found = candidates(module, name, class_name.strip())
            if found:
                return list(dict.fromkeys(item.qualname for item in found))
    return []


def _expand(
    goal: Module | None, golden: Module | None, names: list[str], classes: list[str]
) -> list[TargetPair]:
    """Pairs of functions; a class stands for those of its methods that differ, or for all of them."""
    result: list[TargetPair] = []
    for qualname in names:
        one = _definitions(goal, golden, qualname)
        if not any(item is not None and item.kind == "class" for item in (one.golden, one.goal)):
            result.append(one)
            continue
        classes.append(qualname)
        modules = [module for module in (golden, goal) if module is not None]
        methods = dict.fromkeys(
            item.qualname
            for module in modules
            for item in module.definitions
            if item.kind == "function" and item.qualname.rpartition(".")[0] == qualname
        )
        inner = [_definitions(goal, golden, name) for name in methods]
        result += [item for item in inner if _differs(item)] or inner
    return result


def _definitions(goal: Module | None, golden: Module | None, qualname: str) -> TargetPair:
    ours = _all(golden, qualname)
    theirs = _all(goal, qualname)
    options = [TargetPair(qualname, one, other) for one, other in zip(ours, theirs, strict=False)]
    differing = [option for option in options if _differs(option)]
    if differing or options:
        return (differing or options)[-1]
    return TargetPair(qualname, ours[-1] if ours else None, theirs[-1] if theirs else None)


def _all(module: Module | None, qualname: str) -> list[Definition]:
    if module is None:
        return []
    return [item for item in module.definitions if item.qualname == qualname and not item.is_overload]


def _differs(one: TargetPair) -> bool:
    if one.golden is None or one.goal is None:
        return True
    return _code(one.golden.node) != _code(one.goal.node)


def _code(node: FunctionNode | ast.ClassDef) -> str:
    """A function's code in a form that compares equal, whatever its docstring."""
    return form(type(node)(**{**dict(ast.iter_fields(node)), "body": statements(node)}))
