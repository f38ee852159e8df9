"""LMR505: whether a unit test imports the file that the agent writes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from lmr_author.checks import dockerfile
from lmr_author.checks.base import Example, ImplementationCheck, Wrong
from lmr_author.checks.example_texts import DOCKERFILE, INFO, MASKED, REPOSITORY, UNIT_TEST
from lmr_author.checks.follow import Imports, imports, locate, suffixes
from lmr_author.checks.installs import copies_a_folder, normalised, package_of, requirements
from lmr_author.checks.leak_package import is_own
from lmr_author.checks.published import published
from lmr_author.checks.reading import Reading, reading_of
from lmr_author.checks.view import TaskView
from lmr_author.model import Finding, Implementation, Severity
from lmr_author.source import each

TEST = f"{REPOSITORY}/unit_test/unit_test_1.py"

IMPORT = "from ranking.losses import pairwise_loss\n"


class ImportsTheGoalFile(ImplementationCheck):
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
            "it imports the published repository, which the image installs",
            files={
                f"{REPOSITORY}/src/ranking/losses.py": MASKED,
                f"{REPOSITORY}/ranking/losses.py": None,
                TEST: UNIT_TEST,
                "Dockerfile": DOCKERFILE + f"RUN pip install git+{INFO['repo_url']}@8d3e7b0\n",
            },
            implementation={"goal_file": "src/ranking/losses.py"},
            also=("LMR406",),
        ),
        Example(
            "it imports the published package, as it is nowhere told of the repository's folder",
            files={
                TEST: UNIT_TEST.replace("sys.path.insert(0, os.path.dirname(HERE))\n", ""),
                "Dockerfile": DOCKERFILE + "RUN pip install ranking==1.2.2\n",
            },
            also=("LMR406",),
        ),
        Example(
            "it imports the published package as a whole",
            files={
                TEST: UNIT_TEST.replace("sys.path.insert(0, os.path.dirname(HERE))\n", "").replace(
                    IMPORT, "import ranking.losses as losses\n\npairwise_loss = losses.pairwise_loss\n"
                ),
                "Dockerfile": DOCKERFILE + "RUN pip install ranking==1.2.2\n",
            },
            also=("LMR406",),
        ),
        Example(
            "it puts the repository behind the published package, which the image installs",
            files={
                TEST: UNIT_TEST.replace("sys.path.insert(0, ", "sys.path.append("),
                "Dockerfile": DOCKERFILE + "RUN pip install ranking==1.2.2\n",
            },
            also=("LMR406",),
        ),
        Example(
            "it imports what pip copied from the repository",
            files={
                f"{REPOSITORY}/src/ranking/losses.py": MASKED,
                f"{REPOSITORY}/src/ranking/__init__.py": "",
                f"{REPOSITORY}/ranking/losses.py": None,
                TEST: UNIT_TEST.replace("sys.path.insert(0, os.path.dirname(HERE))\n", "").replace(
                    IMPORT, "from ranking import losses\npairwise_loss = losses.pairwise_loss\n"
                ),
                "Dockerfile": DOCKERFILE + "RUN pip install --no-deps ./ranking\n",
            },
            implementation={"goal_file": "src/ranking/losses.py"},
        ),
        Example(
            "it imports an installed package",
            files={TEST: UNIT_TEST.replace(IMPORT, "from learning_to_rank.losses import pairwise_loss\n")},
        ),
    )
    passing = (
        Example(
            "the repository is installed as it lies there",
            files={
                f"{REPOSITORY}/src/ranking/losses.py": MASKED,
                f"{REPOSITORY}/src/ranking/__init__.py": "",
                f"{REPOSITORY}/ranking/losses.py": None,
                TEST: UNIT_TEST.replace("sys.path.insert(0, os.path.dirname(HERE))\n", ""),
                "Dockerfile": DOCKERFILE + "RUN pip install --no-deps -e ./ranking\n",
            },
            implementation={"goal_file": "src/ranking/losses.py"},
        ),
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
        test, found = reading_of(view, implementation), imports(view, implementation)
        if test is None or found is None:
            return
        wrong = _golden(implementation, found) or _elsewhere(view, implementation, test, found)
        if wrong is not None:
            yield self.told(view, implementation, test.path, wrong)


def _golden(implementation: Implementation, found: Imports) -> Wrong | None:
    """What to say of a test that imports the golden."""
    line, name = found.golden
    if not line:
        return None
    if found.reaches:
        message = f"needs the golden ({name}) when it runs"
        return Wrong(message, "store expected values in unit_test/", line, Severity.WARNING)
    message = f"tests the golden ({name}), not the agent's file"
    return Wrong(message, f"import from {implementation.goal_file}", line)


def _elsewhere(view: TaskView, implementation: Implementation, test: Reading, found: Imports) -> Wrong | None:
    """What to say of a test that imports an installed package."""
    line, name = found.foreign
    told = _finds_folders(view, test)
    weak = found.only_by_name or _appends_only(test)
    installed = _installed(view, test) if weak or not told else (0, "")
    if weak and not line and installed[0]:
        return _behind(test, *installed)
    if line:
        message = f"imports the target from {name}, which is not a file of the repository"
        return Wrong(message, f"import it from {implementation.goal_file}", line)
    if found.only_by_name or not told:
        line = _copied(view, test)
    if line:
        message = "imports the copy of the repository that the image installs, not the agent's file"
        return Wrong(
            message, "install it with `pip install -e`, or put the repository first in sys.path", line
        )
    line, name = installed
    if line and not told:
        message = f"imports {name}, which the image installs, too: the repository's own is found with PYTHONPATH only"
        return Wrong(message, "put the repository first in sys.path", line, Severity.WARNING)
    return None


def _behind(test: Reading, line: int, name: str) -> Wrong:
    """What to say of a test that finds an installed package before the repository."""
    message = f"imports {name} from the package that the image installs, not from the repository"
    if _appends_only(test):
        message += ": `sys.path.append` puts its folder behind the installed packages"
        return Wrong(message, "write sys.path.insert(0, …) in place of sys.path.append(…)", line)
    return Wrong(message, "put the folder that has it first: sys.path.insert(0, …)", line)


def _installed(view: TaskView, test: Reading) -> tuple[int, str]:
    """An imported package that the image installs, too: from an index, or from the published repository."""
    parsed = dockerfile.read(view)
    if parsed is None or "PYTHONPATH" in parsed.arguments:
        return 0, ""
    wanted = [text for _, text in requirements(view, parsed)]
    names = {package_of(text) for text in wanted}
    own = published(view)
    upstream = any("://" in text and is_own(own, text) for text in wanted)
    for line, module, _ in _imported(test):
        known = upstream or normalised(module.partition(".")[0]) in names
        if known and module in suffixes(view) and not _beside(view, test, module):
            return line, module
    return 0, ""


def _copied(view: TaskView, test: Reading) -> int:
    """The line of an import that takes what pip copied from the repository; 0 when there is none."""
    parsed = dockerfile.read(view)
    if parsed is None or "PYTHONPATH" in parsed.arguments or not copies_a_folder(parsed):
        return 0
    if any(view.in_repository(entry) == "conftest.py" for entry in view.repository_entries):
        return 0  # pytest puts its folder first
    for line, module, imported in _imported(test):
        names = [module, *(f"{module}.{name}" for name in imported)]
        if not suffixes(view).keys().isdisjoint(names):
            return 0 if any(_beside(view, test, name) for name in names) else line
    return 0


def _imported(test: Reading) -> Iterator[tuple[int, str, list[str]]]:
    """Line, module and names of each import that is not relative; no names for ``import module``."""
    for node in each(test.module.tree, ast.Import, ast.ImportFrom):
        if isinstance(node, ast.ImportFrom) and not node.level and node.module:
            yield node.lineno, node.module, [alias.name for alias in node.names]
        elif isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name, []) for alias in node.names)


def _beside(view: TaskView, test: Reading, module: str) -> bool:
    """Whether Python finds a module in the test's own folder, which comes before what is installed."""
    return bool(locate(view, module, 0, test.path, [test.path.parent]))


_LOOKED_FOR = re.compile(r"\b(?:sys\.path|path\.(?:insert|append)|addsitedir|PYTHONPATH|chdir)\b")


def _finds_folders(view: TaskView, test: Reading) -> bool:
    """Whether a test says where modules are looked for, or where it is run."""
    return _LOOKED_FOR.search(view.text(test.path) or "") is not None


def _appends_only(test: Reading) -> bool:
    """Whether a test puts folders behind the installed packages, and none before them."""
    called = {name for _, _, name in test.calls}
    return "sys.path.append" in called and "sys.path.insert" not in called
