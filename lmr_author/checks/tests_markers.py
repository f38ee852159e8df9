"""LMR507: whether the verdict of a unit test is seen."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from lmr_author.checks.base import Example, ImplementationCheck, Wrong
from lmr_author.checks.example_texts import DOCKERFILE, REPOSITORY, UNIT_TEST
from lmr_author.checks.messages import said_anyway
from lmr_author.checks.outcome import outcome
from lmr_author.checks.printing import keeps_nothing, line_of, logs_elsewhere, only_printed
from lmr_author.checks.reading import Reading, reading, reading_of
from lmr_author.checks.sites import is_assert_name, is_exit
from lmr_author.checks.syntax import dotted, texts
from lmr_author.checks.tests_outcome import TEST
from lmr_author.checks.view import TaskView
from lmr_author.model import Finding, Implementation, Severity
from lmr_author.source import walk

_PRINTS = (
    "import os\nimport sys\n\nHERE = os.path.dirname(os.path.abspath(__file__))\n"
    "sys.path.insert(0, os.path.dirname(HERE))\nfrom ranking.losses import pairwise_loss\n\n"
    "passed = pairwise_loss([0.5, 2.0], [0, 1])[1] == 1.0\n"
    "print('Passed' if passed else 'Failed')\nsys.exit(0 if passed else 1)\n"
)


class VerdictMarkers(ImplementationCheck):
    code = "LMR507"
    title = "the test logs Passed and Failed"
    rationale = (
        'LMR-Bench\'s scripts decide by the log: a pass is a log with "Passed" and without "Failed". "passed"'
        ' or "PASSED" is no pass. Where it is only printed, and the task has logs for it, or where nothing is said and'
        " the exit code tells, is a note."
    )
    severity = Severity.WARNING
    failing = (
        Example(
            "in lower case",
            files={
                TEST: UNIT_TEST.replace(
                    '"Passed" if passed else "Failed"', '"passed" if passed else "failed"'
                )
            },
        ),
        Example(
            "in another folder",
            files={
                TEST: UNIT_TEST.replace(
                    'LOGS = os.path.join(HERE, "logs")', 'LOGS = os.path.join(HERE, "output")'
                )
            },
        ),
        Example(
            "in a file of another folder, without logging",
            files={
                TEST: UNIT_TEST.replace(
                    'logging.info("Passed" if passed else "Failed")',
                    'with open(os.path.join(HERE, "result.txt"), "w") as file:\n'
                    '        file.write("Passed" if passed else "Failed")',
                ).replace("logging.basicConfig", "dict")
            },
        ),
        Example(
            "at a level that is not written",
            files={TEST: UNIT_TEST.replace("level=logging.INFO", "level=logging.WARNING")},
        ),
        Example("no marker", files={TEST: UNIT_TEST.replace('"Passed" if passed else "Failed"', '"done"')}),
        Example(
            "only printed",
            files={TEST: _PRINTS, f"{REPOSITORY}/unit_test/logs/.gitkeep": ""},
            also=("LMR515",),
        ),
        Example(
            "only printed, where the image has a folder for logs",
            files={TEST: _PRINTS, "Dockerfile": f"{DOCKERFILE}RUN mkdir -p unit_test/logs\n"},
            also=("LMR515",),
        ),
        Example(
            "Passed whatever the result",
            files={TEST: UNIT_TEST.replace('"Passed" if passed else "Failed"', 'f"Passed: {passed}"')},
        ),
        Example(
            "how many passed, whatever that is",
            files={
                TEST: UNIT_TEST.replace(
                    '"Passed" if passed else "Failed"', '"%d/%d tests Passed", int(passed), 1'
                )
            },
        ),
        Example("printed in lower case", files={TEST: _PRINTS.replace("Passed", "passed")}, also=("LMR515",)),
        Example(
            "Passed when the tests are over",
            files={
                TEST: UNIT_TEST.replace(
                    "    def test_no_pairs",
                    "    def tearDown(self):\n        logging.info('Passed')\n\n    def test_no_pairs",
                )
            },
        ),
        Example(
            "Passed before the comparison",
            files={
                TEST: UNIT_TEST.replace(
                    "        self.assertAlmostEqual(loss, 1",
                    "        logging.info('Passed')\n        self.assertAlmostEqual(loss, 1",
                )
            },
        ),
    )
    passing = (
        Example(
            "a program says it, and its output is kept",
            files={
                TEST: "import os\nimport sys\n\nHERE = os.path.dirname(os.path.abspath(__file__))\n"
                "os.makedirs(f'{HERE}/logs', exist_ok=True)\n"
                "sys.exit(os.system(f'{sys.executable} {HERE}/check.py > {HERE}/logs/unit_test_1.log') >> 8)\n",
                f"{REPOSITORY}/unit_test/check.py": _PRINTS,
            },
        ),
        Example("only printed, where nothing is logged", files={TEST: _PRINTS}),
        Example(
            "inside a sentence",
            files={TEST: UNIT_TEST.replace('"Passed" if passed', '"Test Passed." if passed')},
        ),
    )

    def run_one(self, view: TaskView, implementation: Implementation) -> Iterator[Finding]:
        """At most one finding."""
        test = reading_of(view, implementation)
        if test is None:
            return
        told = "Passed" in " ".join(test.constants) or _told_by_a_program(view, test)
        wrong = _told_wrongly(view, test) if told else _not_told(view, test)
        wrong = wrong or _misplaced_log(view, test)
        if wrong is not None:
            yield self.told(view, implementation, test.path, wrong)


def _misplaced_log(view: TaskView, test: Reading) -> Wrong | None:
    """What to say of a test that logs to another folder than LMR-Bench's: a script can be told where to look."""
    if not view.in_repository_path(test.path).startswith("unit_test/"):
        return None  # LMR511 says it
    logs = test.log_files or _written_by_hand(test)
    elsewhere = [log for log in sorted(logs) if log.startswith(("@/", "/")) and "*" not in log]
    if not elsewhere or any(log.startswith("@/unit_test/logs/") for log in logs):
        return None
    message = f"logs to {elsewhere[0].removeprefix('@/')}; the verdict is looked for in unit_test/logs/"
    return Wrong(message, f"log to unit_test/logs/{test.path.stem}.log", 0, Severity.NOTE)


def _written_by_hand(test: Reading) -> frozenset[str]:
    """The one file that a test writes, where "Passed" is written by a call of ``write``."""
    written = frozenset(use.path for use in test.uses if use.writes)
    calls = (node for _, node, name in test.calls if name.endswith(".write"))
    says = any("Passed" in text for node in calls for item in node.args for text in texts(item))
    return written if says and len(written) == 1 else frozenset()


def _told_wrongly(view: TaskView, test: Reading) -> Wrong | None:
    """What to say of a test whose "Passed" is not written, or written whatever the result is."""
    line = _unwritten(test)
    if line:
        message = 'logs "Passed" as information, and only warnings are written'
        return Wrong(message, "pass level=logging.INFO to basicConfig", line)
    message, line = said_anyway(test)
    if message:
        return Wrong(message, 'log "Passed" or "Failed", nothing else', line)
    where, line = misplaced(test)
    if where and outcome(view, test).reached:
        message = f'logs "Passed" {where}: it is there whatever the result is'
        return Wrong(message, 'log "Passed" behind the last assertion', line)
    line = only_printed(test) if logs_elsewhere(view, test) else 0
    if line:
        message = 'only prints "Passed": the task has logs for verdicts, and none of this test is found'
        return Wrong(message, "log it to a file in unit_test/logs/ as well", line, Severity.NOTE)
    return None


def _told_by_a_program(view: TaskView, test: Reading) -> bool:
    """Whether "Passed" is in a script beside the test that it runs, and whose output it keeps in a file."""
    runs = any(name.startswith(("subprocess.", "os.system", "os.popen")) for _, _, name in test.calls)
    if not runs or not any(use.writes for use in test.uses):
        return False
    named = (found for text in test.constants for found in _SCRIPT.findall(text))
    scripts = (reading(view, test.path.parent / name) for name in dict.fromkeys(named))
    return any(one is not None and "Passed" in " ".join(one.constants) for one in scripts)


_SCRIPT = re.compile(r"([\w-]+\.py)\b")


def _not_told(view: TaskView, test: Reading) -> Wrong:
    """What to say of a test that never logs "Passed": a note where it says nothing, and its exit code tells."""
    line, word = line_of(test, _OTHER_WORDS)
    if not word:
        found = _OTHER_WORDS.search(" ".join(test.constants))
        word = found[0] if found else ""
    hint = 'log "Passed" or "Failed" to a file in unit_test/logs/'
    if line and keeps_nothing(test):
        return Wrong(f'only prints {word!r} where "Passed" is looked for', hint, line, Severity.NOTE)
    if word:
        return Wrong(f'logs {word!r} where "Passed" is looked for', hint, line)
    severity = Severity.NOTE if outcome(view, test).reached else None
    return Wrong('logs no verdict ("Passed" or "Failed")', hint, 0, severity)


_OTHER_WORDS = re.compile(r"\b(passed|PASSED|PASS|pass|success|Success|SUCCESS|succeeded)\b")


def _unwritten(test: Reading) -> int:
    """The line of a basicConfig whose level lets no "Passed" through; 0 when there is none."""
    configured = [node for _, node, name in test.calls if name == "logging.basicConfig"]
    if len(configured) != 1 or any(name.endswith("setLevel") for _, _, name in test.calls):
        return 0
    level = next((item.value for item in configured[0].keywords if item.arg == "level"), None)
    if level is not None and dotted(level).rpartition(".")[2] not in ("WARNING", "WARN", "ERROR", "CRITICAL"):
        return 0
    saying = [
        name.rpartition(".")[2]
        for _, node, name in test.calls
        if any("Passed" in str(item.value) for item in walk(node) if isinstance(item, ast.Constant))
    ]
    return configured[0].lineno if saying and set(saying) <= {"info", "debug"} else 0


def misplaced(test: Reading) -> tuple[str, int]:
    """Where "Passed" is written although nothing has been compared yet: (where, line), or ("", 0)."""
    for node in walk(test.module.tree):
        if isinstance(node, ast.FunctionDef) and node.name in _AFTERWARDS:
            line = _marker(node.body)
            if line:
                return f"in {node.name}", line
        if isinstance(node, ast.Try) and _marker(node.finalbody):
            return "in a `finally`", _marker(node.finalbody)
        if isinstance(node, ast.Module | ast.FunctionDef | ast.AsyncFunctionDef):
            line = _too_early(node.body)
            if line:
                return "before the comparison", line
    return "", 0


_AFTERWARDS = frozenset({"tearDown", "tearDownClass", "tearDownModule", "teardown_module", "teardown_method"})


def _marker(body: list[ast.stmt]) -> int:
    """The line of the first statement of a block that writes "Passed" and not "Failed"; 0 if none does."""
    for node in body:
        if isinstance(node, ast.With):
            line = _marker(node.body)
            if line:
                return line
        if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)):
            continue
        texts = [item.value for item in node.value.args if isinstance(item, ast.Constant)]
        said = " ".join(text for text in texts if isinstance(text, str))
        if len(texts) == len(node.value.args) and "Passed" in said and "Failed" not in said:
            return node.lineno
    return 0


def _too_early(body: list[ast.stmt]) -> int:
    """The line of a "Passed" that comes before the first assertion of a straight piece of code."""
    marker = 0
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        calls = [item for item in walk(node) if isinstance(item, ast.Call)]
        asserts = isinstance(node, ast.Assert) or any(
            is_assert_name(dotted(call.func)) or is_exit(call) for call in calls
        )
        if asserts or not isinstance(node, ast.Expr | ast.Assign | ast.Import | ast.ImportFrom | ast.With):
            return marker if isinstance(node, ast.Assert) or (asserts and isinstance(node, ast.Expr)) else 0
        marker = marker or _marker([node])
    return 0
