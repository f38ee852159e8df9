"""Find what ``info.json`` means, also where it is spelt loosely, so that one mistake hides no other.

A path or a name that does not fit is reported by one check; all the others then go on with what was
obviously meant (the only golden of that name, the only class with that method).
"""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from lmr_author.checks.view import TaskView
from lmr_author.code import Definition, Module
from lmr_author.task import GOLDEN, Implementation

_SPLIT = re.compile(r"\s*(?:[,;/&+]|\band\b|\s)\s*")
_GOLDEN_WORD = re.compile(
    r"(?i)[-_. ]*(?<![a-z])(?:golden|gold|original|orig)$|^(?:golden|gold|original|orig)[-_. ]+"
)
_TEST_NAME = re.compile(r"unit_test\w*\.py")
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
    original = original_name(golden.name) if golden else ""
    wanted = {given, original and f"{original}.py"} - {"", ".py", test.rpartition("/")[2]}
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
    if view.is_empty:
        return test_outside(view, implementation)
    if path is not None or view.repository is None:
        return path
    folder = view.repository / "unit_test"
    names = [f"unit_test_{implementation.index}.py"]
    if len(view.implementations) == 1:
        names += ["unit_test.py", "unit_test_1.py"]
    found = [folder / name for name in names if view.is_file(folder / name)]
    outside = test_outside(view, implementation)
    if not found and outside is not None:
        return outside
    if not found and len(view.implementations) == 1:
        found = [
            view.path(entry)
            for entry in view.repository_entries
            if entry.kind == "file" and _TEST_NAME.fullmatch(entry.name)
        ][:1]
    return found[0] if found else None


def test_outside(view: TaskView, implementation: Implementation) -> Path | None:
    """The unit test that lies beside the repository; None when there is none.

    Where nothing is in the repository and the task has one implementation, its name need not be the right one.
    """
    named = re.sub(r"^(?:\.\./)+", "", clean_path(implementation.unit_test_file))
    path = view.inside(view.task.root, named)
    if path is not None and named.endswith(".py") and view.is_file(path):
        return path
    if not view.is_empty or len(view.implementations) != 1:
        return None
    own = [entry for entry in view.entries if entry.kind == "file" and _TEST_NAME.fullmatch(entry.name)]
    return view.path(own[0]) if len(own) == 1 else None


def golden_path(view: TaskView, implementation: Implementation) -> Path | None:
    """The golden; where the named file is missing, the one of that name, or of the goal's name."""
    return view.memo(("golden path", id(implementation)), lambda: _golden_path(view, implementation))


def _golden_path(view: TaskView, implementation: Implementation) -> Path | None:
    named = clean_path(implementation.golden_file)
    exact = view.inside(view.task.root, named)
    if exact is not None and view.is_file(exact):
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
    for name in wanted:
        same = [path for path in goldens if original_name(path.name) == original_name(name)]
        if len(same) == 1:
            return same[0]
    return goldens[0] if len(goldens) == 1 and len(view.implementations) == 1 else None


def original_name(name: str) -> str:
    """The stem of the file that a golden is of: ``losses`` for ``losses-gold.py`` and ``golden_losses.py``."""
    stem = name.removesuffix(".py")
    return _GOLDEN_WORD.sub("", stem) or stem


def golden_files(view: TaskView) -> list[Path]:
    """Every Python file below ``golden_files/``."""
    return [
        view.path(entry) for entry in view.below(GOLDEN) if entry.kind == "file" and entry.suffix == ".py"
    ]


def _repository_file(view: TaskView, text: str) -> Path | None:
    named = clean_path(text)
    if view.repository is None or not named:
        return None
    prefix = view.repository.name + "/"
    for relative in dict.fromkeys((named, named.removeprefix(prefix))):
        path = view.inside(view.repository, relative)
        if path is not None and view.is_file(path):
            return path
    return None


def did_you_mean(wanted: str, names: list[str], cutoff: float = 0.6) -> str:
    """A hint with the closest of some names; "" when none is close."""
    name = wanted.rpartition("/")[2]
    like = [one for one in dict.fromkeys(names) if "/" not in wanted or _alike(name, one.rpartition("/")[2])]
    close = difflib.get_close_matches(wanted, like, 2, cutoff)
    return f"did you mean {' or '.join(close)}?" if close else ""


def _alike(one: str, other: str) -> bool:
    """Whether two names of files may be meant for each other, in whatever folders they are."""
    return difflib.SequenceMatcher(None, one, other).ratio() >= 0.6


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


def raw_implementations(view: TaskView) -> Iterator[tuple[int, Implementation, dict[str, Any]]]:
    """Yield (position in the file, implementation, entry as written) of each implementation that is an object."""
    entries = view.raw.get("implementations") if view.raw else None
    listed = enumerate(entries if isinstance(entries, list) else ())
    objects = [(at, entry) for at, entry in listed if isinstance(entry, dict)]
    for (position, entry), implementation in zip(objects, view.implementations, strict=True):
        yield position, implementation, entry


def context_key(entry: dict[str, Any]) -> str:
    """Return the spelling under which an entry has the files of the prompt."""
    old = "retrieval_content" in entry and "retrieval_context" not in entry
    return "retrieval_content" if old else "retrieval_context"


def leaves(view: TaskView, root: Path | None, text: str) -> bool:
    """Return whether a path is absolute, goes upwards, or leads outside through a symbolic link."""
    if not text.strip():
        return False
    pure = PurePosixPath(clean_path(text))
    if pure.is_absolute() or ".." in pure.parts or re.match(r"^[A-Za-z]:|^~", str(pure)):
        return True
    return root is not None and view.inside(root, str(pure)) is None


def misspelt(text: str) -> str:
    """Return what is wrong with a path that can be understood all the same; "" when nothing is."""
    if "\\" in text:
        return f"{text!r:.120} contains backslashes: only Windows finds it"
    return f"{text!r:.120} has blanks around it" if text != text.strip() else ""


def similar_path(view: TaskView, text: str, suffix: str = ".py") -> str:
    """Return a hint with the repository's files that a wrong path may mean, among those with an ending."""
    files = (entry for entry in view.repository_entries if entry.kind == "file")
    names = [view.in_repository(entry) for entry in files if entry.name.endswith(suffix)]
    name = clean_path(text).rpartition("/")[2]
    same = [path for path in names if name and path.rpartition("/")[2] == name]
    if same:
        return f"did you mean {' or '.join(same[:3])}?"
    return did_you_mean(clean_path(text), names) or "name a file of the repository, relative to it"


def short(text: str) -> str:
    """Return at most 160 characters of a message."""
    return text if len(text) <= 160 else text[:157] + "…"
