"""LMR517: whether Python finds the modules of the repository that a unit test imports."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from lmr_author.checks import dockerfile
from lmr_author.checks.base import Content, Example, ImplementationCheck, Wrong
from lmr_author.checks.example_texts import DOCKERFILE, MASKED, REPOSITORY, UNIT_TEST
from lmr_author.checks.follow import locate
from lmr_author.checks.installs import installs_a_folder, normalised, package_of, requirements
from lmr_author.checks.leak_package import is_own
from lmr_author.checks.pairing import pair
from lmr_author.checks.published import SOURCES, published
from lmr_author.checks.reading import Reading, reading_of
from lmr_author.checks.syntax import dotted
from lmr_author.checks.view import TaskView
from lmr_author.model import Finding, Implementation, Severity
from lmr_author.source import Module, bound_by, each, is_main_guard

TEST = f"{REPOSITORY}/unit_test/unit_test_1.py"
_INSERTS = "sys.path.insert(0, os.path.dirname(HERE))\n"
_ALONE = UNIT_TEST.replace(_INSERTS, "")
_IN_SOURCES: dict[str, Content] = {
    f"{REPOSITORY}/src/ranking/losses.py": MASKED,
    f"{REPOSITORY}/src/ranking/__init__.py": "",
    **{f"{REPOSITORY}/ranking/{name}.py": None for name in ("__init__", "data", "losses", "train")},
}


class FindsTheRepository(ImplementationCheck):
    code = "LMR517"
    title = "the test finds the repository's modules"
    rationale = (
        "Python looks for modules in the test's own folder, not in the one it is started from. LMR-Bench's scripts set"
        " PYTHONPATH to the repository's folder: a test that relies on it fails in any other harness, which is a note;"
        " what lies below src/ is not found even so."
    )
    severity = Severity.WARNING
    failing = (
        Example("it relies on PYTHONPATH", files={TEST: _ALONE}),
        Example(
            "it changes the folder, and Python does not look there",
            files={TEST: UNIT_TEST.replace(_INSERTS, "os.chdir(os.path.dirname(HERE))\n")},
        ),
        Example(
            "a module of the package",
            files={
                TEST: _ALONE.replace(
                    "from ranking.losses import", "from ranking import losses\n\npairwise_loss = losses."
                )
            },
        ),
        Example(
            "it says where to look when it is too late",
            files={TEST: _ALONE.replace("LOGS = os", f"{_INSERTS}LOGS = os")},
        ),
        Example(
            "the package is in src/",
            files={TEST: _ALONE, **_IN_SOURCES},
            implementation={"goal_file": "src/ranking/losses.py", "retrieval_context": []},
        ),
    )
    passing = (
        Example(
            "the image sets PYTHONPATH",
            files={TEST: _ALONE, "Dockerfile": f"{DOCKERFILE}ENV PYTHONPATH=/workspace/margin-ranking\n"},
        ),
        Example(
            "the image installs the repository",
            files={TEST: _ALONE, "Dockerfile": f"{DOCKERFILE}RUN cd margin-ranking && pip install -e .\n"},
        ),
        Example(
            "a helper says where to look",
            files={
                TEST: UNIT_TEST.replace(_INSERTS, "import paths\n"),
                f"{REPOSITORY}/unit_test/paths.py": "import os\nimport sys\n\n"
                "sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))\n",
            },
        ),
        Example(
            "pytest runs it, which looks in the folder of a conftest.py",
            files={
                TEST: "from ranking.losses import pairwise_loss\n\n\ndef test_no_pairs():\n"
                "    assert pairwise_loss([1.0], [3]) == (0.0, 1.0)\n",
                f"{REPOSITORY}/conftest.py": "",
                "Dockerfile": f'{DOCKERFILE}CMD ["pytest", "unit_test"]\n',
            },
        ),
    )

    def run_one(self, view: TaskView, implementation: Implementation) -> Iterator[Finding]:
        """At most one finding, at the first import that fails."""
        test = reading_of(view, implementation)
        if test is None or view.repository is None or test.path.parent == view.repository:
            return
        wrong = _not_found(view, implementation, test) if view.in_repository_path(test.path) else None
        if wrong is not None and not (_image_helps(view) or _pytest_helps(view, test)):
            yield self.told(view, implementation, test.path, wrong)


def _not_found(view: TaskView, implementation: Implementation, test: Reading) -> Wrong | None:
    """What to say of the first import that only another folder than the test's own can serve."""
    assert view.repository is not None
    if any(_first_change(module) for module in test.helpers):
        return None
    first = _first_change(test.module) or sys.maxsize
    goal = pair(view, implementation).goal_path
    folders = [view.repository / name for name in sorted(SOURCES)]
    folders += [goal.parent] if goal is not None and goal.parent != view.repository else []
    for node, name in _imported(test):
        if node.lineno > first:
            return None
        if _may_be_installed(view, name) or _is_there(view, test.path.parent, name):
            continue
        if _found(view, node, name, view.repository):
            message = (
                f"imports {name}, which only PYTHONPATH tells where to find: `python {test.relative}` alone ends in"
                " ModuleNotFoundError"
            )
            return Wrong(message, f"begin with {_inserted(test, '')}", node.lineno, Severity.NOTE)
        if _is_there(view, view.repository, name, ("/__init__.py", ".py", ".so")):
            continue
        folder = next((item for item in folders if _found(view, node, name, item)), None)
        if folder is not None:
            below = folder.relative_to(view.repository).as_posix()
            message = f"imports {name}, which is in {below}/, where Python does not look: ModuleNotFoundError"
            return Wrong(message, f"begin with {_inserted(test, below)}", node.lineno)
    return None


def _imported(test: Reading) -> Iterator[tuple[ast.Import | ast.ImportFrom, str]]:
    """(statement, module) of each import that runs in any case: on top, or below ``__name__ == "__main__"``."""
    waiting = list(test.module.tree.body)
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, ast.With) or is_main_guard(node):
            waiting = [*node.body, *waiting]
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            yield node, node.module
        elif isinstance(node, ast.Import):
            yield from ((node, alias.name) for alias in node.names)


def _found(view: TaskView, node: ast.Import | ast.ImportFrom, name: str, folder: Path) -> bool:
    """Whether a folder has a module, and what is imported from it where its name alone may be a library's."""
    located = locate(view, name, 0, folder / "test.py", [folder])
    if not located or located[-1].with_suffix("") not in (_of(folder, name), _of(folder, name) / "__init__"):
        return False
    module = view.module(located[-1])
    if "." in name or module is None or not isinstance(node, ast.ImportFrom):
        return "." in name
    held = {item.name for item in module.definitions}
    held |= {given for item in each(module.tree, ast.Import, ast.ImportFrom) for given in bound_by(item)}
    return all(
        alias.name in held or view.is_file(_of(folder, f"{name}.{alias.name}").with_suffix(".py"))
        for alias in node.names
    )


def _of(folder: Path, name: str) -> Path:
    """Where a module of a folder is, without its ending."""
    return folder.joinpath(*name.split("."))


def _is_there(
    view: TaskView, folder: Path, name: str, endings: Sequence[str] = ("", ".py", ".pyc", ".so")
) -> bool:
    """Whether a folder has something that an import may mean."""
    first = f"{folder}/{name.partition('.')[0]}"
    return any(view.seen(f"{first}{ending}") != "" for ending in endings)


def _may_be_installed(view: TaskView, name: str) -> bool:
    """Whether a module may come from elsewhere: with Python, or from a package that the image installs."""
    top = name.partition(".")[0]
    parsed = dockerfile.read(view)
    own = published(view)
    return top in sys.stdlib_module_names or any(
        package_of(text) == normalised(top) or is_own(own, text) is not None
        for _, text in (requirements(view, parsed) if parsed else ())
    )


def _inserted(test: Reading, below: str) -> str:
    """The call that makes a test find a folder of the repository."""
    up = test.relative.count("/")
    inner = f"{'os.path.dirname(' * (up + 1)}os.path.abspath(__file__){')' * (up + 1)}"
    return f"sys.path.insert(0, {f'os.path.join({inner}, {below!r})' if below else inner})"


_HELPERS = re.compile(
    r"(?!pathlib)(?:importlib|imp|runpy|subprocess|site|pkgutil|pexpect|sh|multiprocessing|.*(?:root|path).*)"
)
"""Modules that change where others are looked for, or run programs."""
_CALLS = re.compile(
    r"exec\w*|eval|compile|__import__|(?:os\.)?(?:system|popen|exec\w+|spawn\w+)|(?:.*\.)?discover"
)
_OF_SYS = frozenset({"path", "modules", "meta_path", "path_hooks"})


def _first_change(module: Module) -> int:
    """The line at which a module first changes where others are looked for; 0 for none."""
    at = module.text.find("sys.path")  # what nearly all say who change it; looking closer takes longer
    return module.text.count("\n", 0, at) + 1 if at >= 0 else min(_changes(module.tree), default=0)


def _changes(tree: ast.Module) -> Iterator[int]:
    """The lines of whatever may change where modules are looked for."""
    for node in each(tree, ast.Import, ast.ImportFrom, ast.Attribute, ast.Call):
        if isinstance(node, ast.Attribute):
            found = node.attr in _OF_SYS and dotted(node.value) != "os"
        elif isinstance(node, ast.Call):
            found = _CALLS.fullmatch(dotted(node.func)) is not None
        else:
            names = [alias.name for alias in node.names]
            if isinstance(node, ast.ImportFrom):
                names = [node.module or "", *(names if node.module == "sys" else ())]
            found = any(_HELPERS.fullmatch(name.partition(".")[0]) for name in names if name != "os.path")
        if found:
            yield node.lineno
    for text in each(tree, ast.Constant):
        if isinstance(text.value, str) and ("PYTHONPATH" in text.value or "sys.path" in text.value):
            yield text.lineno


_IN_IMAGE = re.compile(
    r"PYTHONPATH|(?:site|dist)-packages|\.pth\b|sitecustomize|setup\.py"
    r"|\b(?:develop|poetry|pdm|uv sync|hatch|flit|make)\b|\w\.sh\b|\benv (?:create|update)\b"
)
"""What an image may make the repository's modules known by."""
_MOVES_TESTS = re.compile(r"\b(?:cp|mv|ln|rsync)\b[^&|;]*unit_test")
_OTHER_WAYS = re.compile(r"pytest|unittest\b|\s-m\b|\"-m\"|\.sh\b|\b(?:make|tox|nox)\b")


def _image_helps(view: TaskView) -> bool:
    """Whether an image may make the modules of the repository known, or runs something else, or there is none."""
    return view.memo("image helps", lambda: _helps(view))


def _helps(view: TaskView) -> bool:
    parsed = dockerfile.read(view)
    if parsed is None or installs_a_folder(view, parsed):
        return True
    texts = {item: parsed.expand(item.text) for item in parsed.instructions}
    return any(
        _IN_IMAGE.search(text)
        or (item.name in ("COPY", "ADD") and "unit_test" in text)
        or (item.name == "RUN" and _MOVES_TESTS.search(text))
        or (item.name in ("CMD", "ENTRYPOINT") and _OTHER_WAYS.search(text))
        for item, text in texts.items()
    )


def _pytest_helps(view: TaskView, test: Reading) -> bool:
    """Whether only pytest runs a test, and it is told by a file where modules are."""
    assert view.repository is not None
    runs = any(name in ("unittest.main", "main") or "Runner" in name for _, _, name in test.calls)
    if runs or not any(item.name.startswith("test") for item in each(test.module.tree, ast.FunctionDef)):
        return False
    folder = test.path.parent
    if any(
        view.is_file(item)
        for item in (view.repository / "conftest.py", folder / "conftest.py", folder / "__init__.py")
    ):
        return True
    configured = (view.text(view.repository / name) or "" for name in _CONFIGURATIONS)
    return any("pythonpath" in text for text in configured)


_CONFIGURATIONS = ("pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg")
