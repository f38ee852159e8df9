"""LMR508, 513: the data that a unit test needs, and what it leaves behind."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from lmr_author.checks.base import Example, ImplementationCheck
from lmr_author.checks.example_texts import REPOSITORY, UNIT_TEST
from lmr_author.checks.file_uses import FileUse
from lmr_author.checks.json_keys import missing_keys
from lmr_author.checks.lookup import did_you_mean, is_folder
from lmr_author.checks.path_texts import HOME
from lmr_author.checks.reading import Reading, reading_of
from lmr_author.checks.view import TaskView
from lmr_author.model import Finding, Implementation

TEST = f"{REPOSITORY}/unit_test/unit_test_1.py"


def _loading(path: str, name: str = "EXPECTED") -> str:
    return UNIT_TEST.replace("import logging\n", "import json\nimport logging\n").replace(
        "LOGS = os", f"{name} = json.load(open({path}))\nLOGS = os"
    )


class FixturesExist(ImplementationCheck):
    code = "LMR508"
    title = "the files that the test reads are in the task"
    rationale = (
        "A fixture that stayed on the annotator's machine, or whose path holds only there, makes the test"
        " fail for everybody else."
    )
    failing = (
        Example("a missing fixture", files={TEST: _loading("os.path.join(HERE, 'expected.json')")}),
        Example(
            "a loop over a key that the file has not: nothing is compared",
            files={
                TEST: _loading("os.path.join(HERE, 'cases.json')", "CASES").replace(
                    "\n\nclass",
                    "\nfor case in CASES.get('test_cases', []):\n    assert pairwise_loss(*case)\n\n\nclass",
                    1,
                ),
                f"{REPOSITORY}/unit_test/cases.json": '{"cases": [[[1.0], [3]]]}\n',
            },
        ),
        Example(
            "the same, and the log goes by the name of the fixture's handle",
            files={
                TEST: UNIT_TEST.replace("import logging\n", "import json\nimport logging\n").replace(
                    "\n\nclass",
                    "\nwith open(os.path.join(HERE, 'cases.json')) as f:\n    CASES = json.load(f)\n"
                    "for case in CASES.get('test_cases', []):\n    assert pairwise_loss(*case)\n"
                    "with open(os.path.join(LOGS, 'unit_test_1.log'), 'w') as f:\n    f.write('started')\n\n\nclass",
                    1,
                ),
                f"{REPOSITORY}/unit_test/cases.json": '{"cases": [[[1.0], [3]]]}\n',
            },
        ),
        Example(
            "a path of another machine",
            files={TEST: _loading("'/home/me/margin-ranking/unit_test/expected.json'")},
        ),
    )
    passing = (
        Example(
            "it is there",
            files={
                TEST: _loading("os.path.join(HERE, 'expected.json')"),
                f"{REPOSITORY}/unit_test/expected.json": "[1.06]\n",
            },
        ),
        Example(
            "a key that may be missing",
            files={
                TEST: _loading("os.path.join(HERE, 'cases.json')", "CASES").replace(
                    "LOGS = os", "PLACES = CASES.get('places', 6)\nLOGS = os"
                ),
                f"{REPOSITORY}/unit_test/cases.json": '{"cases": [[[1.0], [3]]]}\n',
            },
        ),
        Example(
            "a log that a command writes before",
            files={
                TEST: UNIT_TEST.replace(
                    "LOGS = os",
                    "os.system('python -V > unit_test/version.log 2>&1')\n"
                    "VERSION = open('unit_test/version.log').read()\nLOGS = os",
                )
            },
        ),
        Example(
            "the path that the harness mounts",
            files={TEST: _loading("'/workspace/margin-ranking/paper.json'")},
        ),
    )

    def run_one(self, view: TaskView, implementation: Implementation) -> Iterator[Finding]:
        """One finding for each missing file."""
        test = reading_of(view, implementation)
        if test is not None and view.is_empty:
            yield from self._of_test_folder(view, implementation, test)
        if test is None or view.repository is None:
            return
        for use, shown in self._missing(view, test):
            files = [view.in_repository(entry) for entry in view.repository_entries if entry.kind == "file"]
            outside = shown.startswith(("/", ".."))
            yield self.finding(
                view,
                f"reads {shown}, which is {'outside of the task' if outside else 'not there'}",
                did_you_mean(shown, files, 0.75)
                or "store it in unit_test/, and name it relative to the test's own folder",
                implementation=implementation,
                path=test.path,
                line=use.line,
            )
        for line, folder in self._missing_folders(view, test):
            yield self.finding(
                view,
                f"lists {folder}, which is not there",
                "store the cases in a folder of unit_test/",
                implementation=implementation,
                path=test.path,
                line=line,
            )
        for line, key, name in missing_keys(view, test):
            yield self.finding(
                view,
                f"reads {key!r} from {name}, which has no such key",
                "store the cases under the name that the test reads",
                implementation=implementation,
                path=test.path,
                line=line,
            )

    def _of_test_folder(
        self, view: TaskView, implementation: Implementation, test: Reading
    ) -> Iterator[Finding]:
        """Without the repository: what is read from the test's own folder and lies nowhere in the task."""
        folder = f"{HOME}/{test.relative.rpartition('/')[0]}".rstrip("/")
        names = {entry.name for entry in view.entries} | {use.name for use in test.uses if use.writes}
        for path, use in {use.path: use for use in reversed(test.uses) if not use.writes}.items():
            if path.rpartition("/")[0] == folder and use.name not in names and _is_data(use.name):
                yield self.finding(
                    view,
                    f"reads {path.removeprefix(f'{HOME}/')}, which is not there",
                    "store it beside the test, in unit_test/ of the repository",
                    implementation=implementation,
                    path=test.path,
                    line=use.line,
                )

    def _missing(self, view: TaskView, test: Reading) -> Iterator[tuple[FileUse, str]]:
        """(where it is read, path as a message shows it) of each file that is not there and not written before."""
        written = {use.name for use in test.uses if use.writes}
        known = view.memo("names", lambda: {entry.name for entry in view.repository_entries})
        said: set[str] = set()
        for use in test.uses:
            if use.writes or use.name in written or use.path in said or not _is_data(use.name):
                continue
            if not self._there(view, test, use, known):
                said.add(use.path)
                yield use, use.path.removeprefix(f"{HOME}/").removeprefix("?/")

    @staticmethod
    def _missing_folders(view: TaskView, test: Reading) -> Iterator[tuple[int, str]]:
        """(line, folder) of each folder that is listed, certain as far as its path goes, and not there."""
        assert view.repository is not None
        if test.makes_folders:
            made = " ".join(
                ast.unparse(node) for _, node, name in test.calls if name.endswith(("makedirs", "mkdir"))
            )
        else:
            made = ""
        for module, node, name in test.calls:
            if module is not test.module or name not in (
                "os.listdir",
                "os.scandir",
                "glob.glob",
                "glob.iglob",
            ):
                continue
            path = test.path_of(node.args[0]) if node.args else None
            folder = (path or "").partition("*")[0].removesuffix("/")
            if "*" in (path or "") and not (path or "").partition("*")[0].endswith("/"):
                folder = folder.rpartition("/")[0]
            relative = folder.removeprefix(f"{HOME}/")
            if not folder.startswith(f"{HOME}/") or ".." in relative or relative.rpartition("/")[2] in made:
                continue
            if not any(is_folder(view.repository / start / relative) for start in ("", "unit_test")):
                yield node.lineno, relative

    @staticmethod
    def _there(view: TaskView, test: Reading, use: FileUse, known: set[str]) -> bool:
        assert view.repository is not None
        if use.path.startswith("?") or "*" in use.path:
            return use.name in known
        if use.path.startswith(("/tmp/", "/dev/", "/proc/", "/usr/", "/etc/")):
            return True
        relative = use.path.removeprefix(HOME).lstrip("/")
        for prefix in (
            f"workspace/{view.repository.name}/",
            "workspace/",
            f"{view.repository.name}/",
            "app/",
        ):
            if use.path.startswith("/") and relative.startswith(prefix):
                relative = relative.removeprefix(prefix)
                break
        else:
            if use.path.startswith("/"):
                return False
        if ".." in relative.split("/"):
            return (
                view.is_file(view.task.root / relative.removeprefix("../"))
                if relative.count("..") == 1
                else use.name in known
            )
        options = (
            *(view.repository / start / relative for start in test.starts),
            view.repository / "unit_test" / relative,
            view.task.root / relative,
        )
        return any(view.is_file(option) or is_folder(option) for option in options)


def _is_data(name: str) -> bool:
    return bool(re.search(r"\.[A-Za-z][A-Za-z0-9]{1,11}$", name)) and not any(
        char in name for char in "*{}?%$"
    )


class WritesNoExpectations(ImplementationCheck):
    code = "LMR513"
    title = "the test does not write the values it expects"
    rationale = (
        "A test that stores its expected values on the first run compares the agent's output with itself."
    )
    failing = (
        Example(
            "written when it is missing",
            files={
                TEST: (
                    UNIT_TEST.replace("import logging\n", "import json\nimport logging\n").replace(
                        "LOGS = os",
                        "EXPECTED = os.path.join(HERE, 'expected.json')\nif not os.path.exists(EXPECTED):\n  "
                        "  json.dump(pairwise_loss([1.0, 0.0], [1, 0]), open(EXPECTED, 'w'))\nVALUES ="
                        " json.load(open(EXPECTED))\nLOGS = os",
                    )
                )
            },
        ),
    )
    passing = (
        Example(
            "a result is stored elsewhere",
            files={
                TEST: (
                    UNIT_TEST.replace("import logging\n", "import json\nimport logging\n").replace(
                        "LOGS = os", "json.dump([1], open(os.path.join(HERE, 'result.json'), 'w'))\nLOGS = os"
                    )
                )
            },
        ),
    )

    def run_one(self, view: TaskView, implementation: Implementation) -> Iterator[Finding]:
        """One finding, at the first such file."""
        test = reading_of(view, implementation)
        if test is None:
            return
        read = {use.path for use in test.uses if not use.writes}
        for use in test.uses:
            if use.writes and not use.log and use.path in read and not use.path.startswith(("/tmp/", "?")):
                yield self.finding(
                    view,
                    f"writes {use.path.removeprefix(HOME + '/')}, which it reads expected values from",
                    "store the golden's values once; the test only reads them",
                    implementation=implementation,
                    path=test.path,
                    line=use.line,
                )
                return
