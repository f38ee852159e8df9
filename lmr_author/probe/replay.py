"""What a generated unit test uses: load recorded cases, call the target, check the outcome.

A generated test is short::

    TARGET = replay.Target(ROOT, "trainers.py", "preference_loss", module="trainers")

    def test_preference_loss():
        replay.run(TARGET, HERE / "recordings" / "1", CHECKERS, log=HERE / "logs" / "unit_test_1.log")
"""

from __future__ import annotations

import os
import re
import sys
import traceback
from typing import Any, Callable, List, Mapping, NamedTuple, Optional, Tuple

from .codec import DEFAULT_LIMIT
from .compare import Difference, compare
from .custom import load_checkers, verdict
from .document import Document
from .storage import load
from .target import LoadError, Result, Target

__all__ = ["Case", "Target", "call_target", "check", "load_case", "main", "run"]

_NO_COMPILER = re.compile(r"InvalidCxxCompiler|No working C\+\+ compiler|Failed to find C compiler")
"""What PyTorch says where it compiles by way of a C compiler that is not there: no fault of what is tested."""

Checkers = Mapping[str, Mapping[str, Mapping[str, Any]]]


class Case(NamedTuple):
    """A recorded call: its inputs and its expected outcome."""

    name: str
    inputs: Document
    expected: Document


def load_case(folder: Any) -> Case:
    """Read a case's folder. Raises BadDocument."""
    folder = str(folder)
    return Case(os.path.basename(folder), load(folder, "inputs"), load(folder, "expected"))


def call_target(target: Target, case: Case) -> Result:
    """Call the target of the repository with a case's inputs; imports the goal file at the first call.

    Raises LoadError when the file cannot be imported.
    """
    if target.hook.found is None:
        target.load()
        print("target: %s in %s" % (target.qualname, target.path))
    return target.call(case.inputs, DEFAULT_LIMIT)


def check(
    case: Case,
    result: Result,
    checkers: Optional[Mapping[str, Mapping[str, Any]]] = None,
    functions: Optional[Mapping[str, Any]] = None,
) -> None:
    """Compare an outcome with the recorded one. Raises AssertionError with every difference.

    Args:
        functions: checkers of the annotator, by name.
    """
    custom = {path: item["function"] for path, item in (checkers or {}).items() if item["kind"] == "custom"}
    plain = {path: {"kind": "ignore"} if path in custom else item for path, item in (checkers or {}).items()}
    problems: List[str] = []
    if result.document is None:
        problems.append("%s: %s" % (result.status, _error(result)))
    else:
        found: List[Difference] = compare(case.expected, result.document, plain)
        for path, name in custom.items():
            said = verdict(functions or {}, name, case.expected, result.document, path)
            found += [Difference(path, said)] if said else []
        problems.extend(str(item) for item in found)
        if found and result.error:
            problems.append("raised %s" % _error(result))
    if not result.entered:
        problems.append("the body of the function was not executed")
    if problems:
        raise AssertionError("%s:\n  %s" % (case.name, "\n  ".join(problems)))


def _error(result: Result) -> str:
    return "%s: %s\n%s" % (
        result.error.get("type"),
        result.error.get("message"),
        result.error.get("traceback", ""),
    )


def run(
    target: Target,
    recordings: Any,
    checkers: Checkers,
    log: Any = None,
    custom: Any = None,
    compiled: str = "",
) -> None:
    """Replay every case below ``recordings`` and check it; write Passed or Failed to the log.

    Args:
        checkers: case name → leaf path → checker.
        custom: file with checkers of the annotator, when one of the checkers names its function.
        compiled: a case that is also run with the target as its decorators compile it; "" for none.

    Raises AssertionError when a case differs, when the file cannot be imported, or when there are no cases.
    """
    failures: List[str] = []
    names = sorted(checkers, key=_number)
    functions = load_checkers(custom) if custom else {}
    for name in names:
        try:
            case = load_case(os.path.join(str(recordings), name))
            check(case, call_target(target, case), checkers[name], functions)
        except AssertionError as error:
            failures.append(str(error))
        except LoadError as error:
            failures.append(
                "%s cannot be imported: %s\n%s" % (target.path, error, error.error.get("traceback", ""))
            )
            break
        except Exception:
            failures.append("%s: %s" % (name, traceback.format_exc()))
    if not names:
        failures.append("there are no recorded cases")
    if compiled and not failures:
        failures += _refused(target, os.path.join(str(recordings), compiled))
    _write_log(log, target.qualname, len(names), failures)
    if failures:
        raise AssertionError("\n".join(failures))


def _refused(target: Target, folder: str) -> List[str]:
    """What keeps the target from being run as its decorators compile it: one message, or none."""
    twin = target.as_compiled()
    try:
        twin.load()
        result = twin.call(load(folder, "inputs"), DEFAULT_LIMIT)
    except LoadError as error:
        return ["%s cannot be imported: %s" % (target.path, error)]
    if result.status == "returned":
        return []
    if _NO_COMPILER.search("%s %s" % (result.error.get("type"), result.error.get("message"))):
        print("not run as compiled, which needs a C compiler here", file=sys.stderr)
        return []
    return ["%s, compiled as its decorators say: %s" % (os.path.basename(folder), _error(result))]


def _number(name: str) -> Tuple[int, str]:
    digits = name.rpartition("_")[2]
    return (int(digits) if digits.isdigit() else 0, name)


def _write_log(path: Any, name: str, cases: int, failures: List[str]) -> None:
    """One line that says Passed or Failed; a read-only tree has no log, and its exit code decides."""
    if path is None:
        return
    verdict = "Failed" if failures else "Passed"
    detail = (
        "%d of %d recorded calls differ" % (len(failures), cases) if failures else "%d recorded calls" % cases
    )
    try:
        os.makedirs(os.path.dirname(str(path)), exist_ok=True)
        with open(str(path), "w", encoding="utf-8") as file:
            file.write("%s: %s (%s)\n" % (verdict, name, detail))
    except OSError as error:
        print("no log was written: %s" % error, file=sys.stderr)


def main(*tests: Callable[[], None]) -> int:
    """Run test functions as a script. Returns the exit code: 0 when all passed, else 1."""
    code = 0
    for test in tests:
        try:
            test()
            print("Passed: %s" % test.__name__)
        except AssertionError as error:
            print("Failed: %s\n%s" % (test.__name__, error), file=sys.stderr)
            code = 1
    return code
