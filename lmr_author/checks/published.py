"""Under which names the code of a task is published: what an image must not install."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from pathlib import Path

from lmr_author.checks.installs import GENERIC, normalised
from lmr_author.checks.lookup import clean_path, is_folder
from lmr_author.checks.pairing import pairs
from lmr_author.checks.syntax import last_name
from lmr_author.checks.view import TaskView
from lmr_author.leaks.fragments import parse
from lmr_author.source import each

NOT_PACKAGED = frozenset(
    ["examples", "example", "scripts", "script", "tests", "test", "docs", "doc", "notebooks",
     "experiments", "benchmarks", "tools", "demo", "unit_test"]
)  # fmt: skip
"""Folders beside a package that are not installed with it, unless they are packages themselves."""
SOURCES = frozenset({"src", "lib", "python", "source"})
"""Folders whose packages are installed, or put on the path, by their own names."""


@dataclass(frozen=True)
class Published:
    """What is known about how the goal files are published.

    Attributes:
        sure: names that the repository gives itself in setup.py, setup.cfg or pyproject.toml.
        likely: names that follow from a package's or the repository's name.
        address: ``github.com/owner/name``, lower case; "" when unknown.
    """

    sure: frozenset[str]
    likely: frozenset[str]
    address: str

    @property
    def repository(self) -> str:
        """The repository's name, the last part of its address."""
        return self.address.rpartition("/")[2]


def published(view: TaskView) -> Published:
    """The names under which a goal file of the task may be installed."""
    return view.memo("published", lambda: _published(view))


def _published(view: TaskView) -> Published:
    sure: set[str] = set()
    likely: set[str] = set()
    address = re.sub(r"^(?:\w+\+)?(?:\w+://)?(?:www\.|[\w.-]+@)?", "", view.info.repo_url.strip().lower())
    address = re.sub(r"(?:\.git)?/*$", "", address.replace(":", "/", 1))
    address = "/".join(address.split("/")[:3]) if address.count("/") >= 2 else ""
    address = address.removesuffix(".git")
    owner, _, name = address.partition("/")[2].partition("/")
    for one in pairs(view):
        if view.is_empty:
            likely |= _names_of_missing(one.implementation.goal_file, name)
        if one.goal_path is None or view.repository is None:
            continue
        package = _package(view, view.repository, one.goal_path)
        if package and package not in GENERIC:
            base = normalised(package)
            likely |= {base, f"py{base}", f"{base}-pytorch", f"pytorch-{base}", f"{base}-torch"}
            likely |= {f"{owner}-{base}", f"{base}-{owner}"} if owner else set()
        found = _own_names(view, view.repository, one.goal_path)
        sure |= found
        if (package or found) and name and name not in GENERIC:
            likely.add(normalised(name))
    return Published(frozenset(sure), frozenset(likely - sure), address)


def _names_of_missing(goal_file: str, repository: str) -> set[str]:
    """Likely names where the repository is empty: the goal file's first folder, when it is the repository's name."""
    first, _, rest = clean_path(goal_file).partition("/")
    same = normalised(first) == normalised(repository)
    return {normalised(first)} if rest and same and normalised(first) not in GENERIC else set()


def _package(view: TaskView, repository: Path, goal: Path) -> str:
    """The top-level package that a goal file is in; "" for a script."""
    folder = repository
    for part in goal.relative_to(repository).parts[:-1]:
        folder = folder / part
        if (folder / "__init__.py").is_file():
            return part
    return ""


def _own_names(view: TaskView, repository: Path, goal: Path) -> set[str]:
    """Names of the distributions that include a goal file, of the repository or of a library inside it."""
    names = set()
    for folder in goal.parents:
        name = _name_in(view, folder)
        if name and (_included(folder, goal) or _is_listed(view, folder, goal)):
            names.add(normalised(name))
        if folder == repository:
            break
    return names


def _included(folder: Path, goal: Path) -> bool:
    """Whether what is built in a folder holds a file: one of a package below it, not a script beside it."""
    parts = [part for part in goal.relative_to(folder).parts[:-1] if part not in SOURCES]
    if not parts:
        return False
    first = next(
        (path for path in (folder / parts[0], *(folder / s / parts[0] for s in SOURCES)) if is_folder(path)),
        None,
    )
    return parts[0] not in NOT_PACKAGED or (first is not None and (first / "__init__.py").is_file())


def _is_listed(view: TaskView, folder: Path, goal: Path) -> bool:
    """Whether the build files name a single module: ``py_modules = ["goal"]``."""
    text = "\n".join(view.text(folder / file) or "" for file in ("setup.py", "setup.cfg", "pyproject.toml"))
    listed = re.search(r"py[_-]modules[\"']?\s*=\s*(\[[^\]]*\]|.*(?:\n[ \t]+.*)*)", text)
    name = re.escape(goal.relative_to(folder).with_suffix("").as_posix().replace("/", "."))
    return listed is not None and re.search(rf"(?<![\w.]){name}(?![\w.])", listed[1]) is not None


def _name_in(view: TaskView, folder: Path) -> str:
    """The name that a folder's build files give; "" when there is none."""
    name = _setup_name(view.text(folder / "setup.py") or "")
    if name:
        return name
    for file, section in (
        ("setup.cfg", "metadata"),
        ("pyproject.toml", "project"),
        ("pyproject.toml", r"tool\.poetry"),
    ):
        text = view.text(folder / file)
        body = re.search(rf"(?ms)^\[{section}\][ \t]*$(.*?)(?=^\[|\Z)", text) if text else None
        match = re.search(r"(?m)^name\s*=\s*[\"']?([\w.-]+)", body[1]) if body else None
        if match:
            return match[1]
    return ""


def _setup_name(text: str) -> str:
    """The name in the call of ``setup(…)``, of a constant of the file, too."""
    if not text:
        return ""
    module = parse(text.encode("utf-8", "replace"), "setup.py")
    if module is None:
        match = re.search(r"\bname\s*=\s*[\"']([\w.-]+)[\"']", text)
        return match[1] if match else ""
    constants = {
        target.id: node.value.value
        for node in each(module.tree, ast.Assign)
        if isinstance(node.value, ast.Constant)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in each(module.tree, ast.Call):
        if last_name(node.func) != "setup":
            continue
        for keyword in node.keywords:
            value = keyword.value
            found = value.value if isinstance(value, ast.Constant) else None
            found = constants.get(value.id) if isinstance(value, ast.Name) else found
            if keyword.arg == "name" and isinstance(found, str):
                return found
    return ""
