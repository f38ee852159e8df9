"""LMR505, 506: whether a unit test runs the function that the agent writes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from lmr_author.checks import dockerfile
from lmr_author.checks.base import Example, ImplementationCheck, TaskView, Where
from lmr_author.checks.docker_install import normalised, requirements
from lmr_author.checks.example_task import REPOSITORY, UNIT_TEST
from lmr_author.checks.lookup import is_file, pair, unit_test_path
from lmr_author.checks.reading import HOME, Reading, imported_modules, reading
from lmr_author.model import Finding, Implementation, Severity
from lmr_author.source import Module

TEST = f"{REPOSITORY}/unit_test/unit_test_1.py"
IMPORT = "from ranking.losses import pairwise_loss\n"
MAX_FILES = 250
_DYNAMIC = frozenset(
    [
        "import_module",
        "__import__",
        "spec_from_file_location",
        "exec",
        "execfile",
        "run_path",
        "run_module",
        "SourceFileLoader",
        "system",
        "Popen",
    ]
)


@dataclass(frozen=True)
class Imports:
    """How a test reaches the goal file.

    Attributes:
        golden: (line, module) of an import of the golden; (0, "") when there is none.
        reaches: the goal file is imported, directly or through other files.
        only_by_name: it was found only by looking for the module's name anywhere in the repository.
        dynamic: modules are loaded, or programs run, by means that cannot be followed.
        files: the repository's files that are imported, the goal file included.
        foreign: (line, module) that the target's own name is imported from and that the repository lacks.
    """

    golden: tuple[int, str]
    reaches: bool
    only_by_name: bool
    dynamic: bool
    files: tuple[Path, ...]
    foreign: tuple[int, str]


def imports(view: TaskView, implementation: Implementation) -> Imports | None:
    """Follow the imports of an implementation's test. None without a readable test or goal file."""
    return view.memo(("imports", id(implementation)), partial(_imports, view, implementation))


def _imports(view: TaskView, implementation: Implementation) -> Imports | None:
    path = unit_test_path(view, implementation)
    test = reading(view, path)
    goal = pair(view, implementation).goal_path
    if test is None or path is None or goal is None or view.repository is None:
        return None
    bases = _bases(test, view.repository, path)
    reached, by_name, files = _follow(view, test, path, goal, bases)
    dynamic = any(
        name.rpartition(".")[2] in _DYNAMIC or name.startswith("subprocess") for _, _, name in test.calls
    )
    return Imports(
        _golden(test), reached, by_name, dynamic, files, _foreign(view, test, path, bases, implementation)
    )


def _bases(test: Reading, repository: Path, path: Path) -> list[Path]:
    """Folders that Python searches: the test's own, the repository, and those the test adds."""
    found = [path.parent, repository]
    for _, node, name in test.calls:
        if (
            name in ("sys.path.insert", "sys.path.append", "path.insert", "path.append", "site.addsitedir")
            and node.args
        ):
            text = test.path_of(node.args[-1])
            if text is not None and (text == HOME or text.startswith(f"{HOME}/")) and ".." not in text:
                found.append(repository / text.removeprefix(HOME).strip("/"))
    return list(dict.fromkeys(found))


def _locate(view: TaskView, name: str, level: int, place: Path, bases: list[Path]) -> list[Path]:
    """The files that an import loads: packages on the way, then the module."""
    parts = [part for part in name.split(".") if part]
    above = [place.parents[level - 1]] if 0 < level <= len(place.parents) else []
    starts = above if level else bases
    for start in starts:
        found = [start.joinpath(*parts[:count], "__init__.py") for count in range(1, len(parts) + 1)]
        packages = [item for item in found if is_file(item)]
        module = start.joinpath(*parts).with_suffix(".py") if parts else start / "__init__.py"
        if parts and is_file(module):
            return [*packages, module]
        if len(packages) == len(parts) and packages:
            return packages
        if not parts and is_file(module):
            return [module]
    return []


def _follow(
    view: TaskView, test: Reading, path: Path, goal: Path, bases: list[Path]
) -> tuple[bool, bool, tuple[Path, ...]]:
    assert view.repository is not None
    suffixes = view.memo("suffixes", lambda: _suffixes(view))
    seen: dict[Path, None] = {path: None}
    waiting: list[tuple[Module, Path]] = [(test.module, path)]
    loose = False
    while waiting and len(seen) < MAX_FILES:
        module, place = waiting.pop(0)
        for name, level in imported_modules(module.tree):
            found = _locate(view, name, level, place, bases)
            if not found and not level and place == path and "." in name:
                option = suffixes.get(name)
                if option is not None:
                    found, loose = [option], loose or option == goal
            for item in found:
                if item == goal:
                    return True, loose, (*seen, goal)
                if item not in seen and view.repository in item.parents:
                    seen[item] = None
                    inner = view.module(item)
                    if inner is not None:
                        waiting.append((inner, item))
    if len(seen) >= MAX_FILES:
        return True, False, tuple(seen)  # too many to follow: nothing is claimed
    stem = goal.stem
    if any(
        name.rpartition(".")[2] == stem and not level for name, level in imported_modules(test.module.tree)
    ):
        exact = [item for item in view.repository_files if item.name == goal.name]
        if len(exact) == 1:
            return True, True, (*seen, goal)
    return False, loose, tuple(seen)


def _suffixes(view: TaskView) -> dict[str, Path]:
    """Dotted module names, with all their endings, of the repository's files."""
    found: dict[str, Path] = {}
    for entry in view.repository_entries:
        if entry.kind == "file" and entry.suffix == ".py":
            parts = view.in_repository(entry).removesuffix(".py").removesuffix("/__init__").split("/")
            for start in range(len(parts)):
                found.setdefault(".".join(parts[start:]), view.path(entry))
    return found


def _in_repository(view: TaskView, name: str) -> bool:
    """Whether a folder or a Python file of the repository has a name."""
    return any(
        entry.name in (name, f"{name}.py") and entry.kind in ("file", "folder")
        for entry in view.repository_entries
    )


def _golden(test: Reading) -> tuple[int, str]:
    """An import of the golden, by statement or by the path of its file."""
    for module in test.modules:
        for node in ast.walk(module.tree):
            names: list[str] = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)]
            for name in names:
                if any(
                    part == "golden_files" or re.search(r"(^|_)golden$|^golden_", part)
                    for part in name.split(".")[:-1] or [name]
                ) or name.endswith("_golden"):
                    return getattr(node, "lineno", 0), name
    for _, node, name in test.calls:
        last = name.rpartition(".")[2]
        texts = [
            item.value
            for argument in node.args
            for item in ast.walk(argument)
            if isinstance(item, ast.Constant) and isinstance(item.value, str)
        ]
        if last in (
            "spec_from_file_location",
            "run_path",
            "SourceFileLoader",
            "import_module",
            "__import__",
        ) or name.startswith("sys.path"):
            for text in texts:
                if "golden_files" in text or re.search(r"_golden(\.py)?$", text):
                    return node.lineno, text
    return 0, ""


def _foreign(
    view: TaskView, test: Reading, path: Path, bases: list[Path], implementation: Implementation
) -> tuple[int, str]:
    """A module that is not in the repository and from which the target's own name comes."""
    wanted = {implementation.goal_function.strip(), implementation.class_name.strip().partition(".")[0]} - {
        ""
    }
    suffixes = view.memo("suffixes", lambda: _suffixes(view))
    for node in ast.walk(test.module.tree):
        if not isinstance(node, ast.ImportFrom) or node.level or not node.module:
            continue
        if not wanted & {alias.name for alias in node.names}:
            continue
        local = _locate(view, node.module, 0, path, bases) or node.module in suffixes
        if not local and not _in_repository(view, node.module.partition(".")[0]):
            return node.lineno, node.module
    return 0, ""


class ImportsTheGoalFile(ImplementationCheck):
    """LMR505."""

    code = "LMR505"
    title = "the test imports the agent's file, not the golden or an installed package"
    rationale = (
        "A test of the golden passes whatever the agent writes; so does a test of the package in"
        " site-packages."
    )
    failing = (
        Example(
            "it imports the golden",
            files={
                TEST: (
                    UNIT_TEST.replace(
                        "os.path.dirname(HERE))", "os.path.join(HERE, '..', '..', 'golden_files'))"
                    ).replace(IMPORT, "from losses_golden import pairwise_loss\n")
                )
            },
        ),
        Example(
            "the golden computes the expected values",
            files={
                TEST: UNIT_TEST.replace(
                    IMPORT, IMPORT + "from golden_files.losses_golden import pairwise_loss as expected\n"
                )
            },
        ),
        Example(
            "it imports an installed package",
            files={TEST: UNIT_TEST.replace(IMPORT, "from learning_to_rank.losses import pairwise_loss\n")},
        ),
    )
    passing = (
        Example(
            "through the package",
            files={
                TEST: UNIT_TEST.replace(
                    IMPORT, "from ranking import losses\npairwise_loss = losses.pairwise_loss\n"
                )
            },
        ),
        Example(
            "through another module",
            files={TEST: UNIT_TEST.replace(IMPORT, "from ranking.train import pairwise_loss\n")},
        ),
    )

    def run_one(self, view: TaskView, implementation: Implementation) -> Iterator[Finding]:
        """At most one finding."""
        path = unit_test_path(view, implementation)
        found = imports(view, implementation)
        if found is None or path is None:
            return
        line, name = found.golden
        if line:
            severity = Severity.WARNING if found.reaches else Severity.ERROR
            message = (
                f"needs the golden ({name}) when it runs"
                if found.reaches
                else f"tests the golden ({name}), not the agent's file"
            )
            hint = (
                "store expected values in unit_test/"
                if found.reaches
                else f"import from {implementation.goal_file}"
            )
            yield self._at(view, implementation, path, line, message, hint, severity)
            return
        line, name = found.foreign
        if not line and found.only_by_name:
            line, name = self._installed(view, path)
        if line:
            message = f"imports the target from {name}, which is not a file of the repository"
            yield self._at(
                view,
                implementation,
                path,
                line,
                message,
                f"import it from {implementation.goal_file}",
                Severity.ERROR,
            )

    def _at(
        self,
        view: TaskView,
        implementation: Implementation,
        path: Path,
        line: int,
        message: str,
        hint: str,
        severity: Severity,
    ) -> Finding:
        return self.finding(
            view,
            message,
            hint,
            implementation=implementation,
            path=path,
            pointer=f"L{line}" if line else "",
            severity=severity,
        )

    @staticmethod
    def _installed(view: TaskView, path: Path) -> tuple[int, str]:
        """An imported package that the image installs from an index although the repository has it, too."""
        parsed, test = dockerfile.read(view), reading(view, path)
        if parsed is None or test is None:
            return 0, ""
        names = {
            normalised(re.split(r"[\s=<>!~\[;@#]", text, maxsplit=1)[0])
            for _, text in requirements(view, parsed)
        }
        suffixes = view.memo("suffixes", lambda: _suffixes(view))
        for node in ast.walk(test.module.tree):
            if not isinstance(node, ast.ImportFrom) or node.level or not node.module:
                continue
            if normalised(node.module.partition(".")[0]) in names and node.module in suffixes:
                return node.lineno, node.module
        return 0, ""


class CallsTheTarget(ImplementationCheck):
    """LMR506."""

    code = "LMR506"
    title = "the test imports the goal file and calls the target"
    rationale = "A test that never runs the target says nothing about it, and passes with the masked code."
    failing = (
        Example(
            "it tests another function",
            files={
                TEST: (
                    UNIT_TEST.replace("import pairwise_loss", "import sigmoid").replace(
                        "pairwise_loss(", "sigmoid("
                    )
                )
            },
        ),
        Example(
            "imported and never called",
            files={
                TEST: (
                    UNIT_TEST.replace(
                        "pairwise_loss([0.5, 2.0, -1.0], [0, 2, 1], margin=1.0)", "1.0599649, 0.6666667"
                    ).replace("pairwise_loss([1.0], [3])", "(0.0, 1.0)")
                )
            },
        ),
        Example(
            "it has a copy of its own",
            files={
                TEST: UNIT_TEST.replace(
                    IMPORT,
                    "\n\ndef pairwise_loss(scores, labels, margin=1.0):\n    return 1.0599649, 0.6666667\n\n",
                )
            },
        ),
        Example(
            "it imports nothing",
            files={TEST: UNIT_TEST.replace(IMPORT, "from math import exp as pairwise_loss\n")},
        ),
    )
    passing = (
        Example(
            "through another function",
            files={
                TEST: (
                    UNIT_TEST.replace(IMPORT, "from ranking.train import epoch\n").replace(
                        "pairwise_loss(", "epoch("
                    )
                )
            },
        ),
    )

    def run_one(self, view: TaskView, implementation: Implementation) -> Iterator[Finding]:
        """At most one finding; none when LMR505 has said where the function comes from instead."""
        path = unit_test_path(view, implementation)
        test, found = reading(view, path), imports(view, implementation)
        if (
            test is None
            or found is None
            or path is None
            or found.golden[0]
            or found.foreign[0]
            or path == pair(view, implementation).goal_path
        ):
            return
        where: Where = {"implementation": implementation, "path": path}
        if _defines(test, implementation):
            message = f"tests a definition of {implementation.qualname} of its own, not the goal file's"
            yield self.finding(view, message, f"import it from {implementation.goal_file}", **where)
        elif not found.reaches:
            if not found.dynamic:
                yield self.finding(
                    view,
                    f"never imports {implementation.goal_file}",
                    "import the target from the goal file and call it",
                    **where,
                )
        elif (
            not found.dynamic
            and pair(view, implementation).targets
            and not _mentions(view, test, found, implementation)
        ):
            yield self.finding(
                view,
                f"never calls {implementation.qualname}",
                "call the target and compare what it returns",
                **where,
            )


def _defines(test: Reading, implementation: Implementation) -> bool:
    name = (implementation.class_name or implementation.goal_function).strip().partition(".")[0]
    defined = any(
        isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == name
        for node in test.module.tree.body
    )
    imported = any(
        isinstance(node, ast.Import | ast.ImportFrom)
        and any((alias.asname or alias.name) == name for alias in node.names)
        for node in ast.walk(test.module.tree)
    )
    return bool(name) and defined and not imported


def _mentions(view: TaskView, test: Reading, found: Imports, implementation: Implementation) -> bool:
    """Whether the target may be run, directly or through what the test uses: by names alone, generously."""
    one = pair(view, implementation)
    wanted = {target.qualname.rpartition(".")[2] for target in one.targets} | {
        implementation.goal_function.strip().rpartition(".")[2]
    }
    implicit = {name for name in wanted if name.startswith("__") or name in ("forward", "training_step")}
    owners = {target.qualname.rpartition(".")[0].rpartition(".")[2] for target in one.targets} - {""}
    if implicit or not wanted - {""}:
        wanted |= owners
    used = set().union(*(_used(module.tree) for module in test.modules))
    aliases = _aliases(test.module.tree)
    used |= {aliases[name] for name in used if name in aliases}
    definitions: dict[str, set[str]] = {}
    for path in [*found.files, *([one.golden_path] if one.golden_path else [])]:
        module = view.module(path)
        for item in module.definitions if module else ():
            definitions.setdefault(item.name, set()).update(_used(item.node))
    waiting = list(used)
    while waiting:
        for name in definitions.get(waiting.pop(), set()) - used:
            used.add(name)
            waiting.append(name)
    return bool(used & wanted)


def _used(tree: ast.AST) -> set[str]:
    """Names and attributes that code reads, and texts that look like names (getattr, registries)."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            found.add(node.id)
        elif isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isidentifier():
            found.add(node.value)
        elif isinstance(node, ast.keyword) and node.arg:
            found.add(node.arg)
        elif isinstance(node, ast.ImportFrom) and any(alias.name == "*" for alias in node.names):
            found.add("*")
    return found


def _aliases(tree: ast.AST) -> dict[str, str]:
    return {
        alias.asname: alias.name.rpartition(".")[2]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
        if alias.asname
    }
