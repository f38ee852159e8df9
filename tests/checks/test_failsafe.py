"""Tests that swallow what is raised: their verdict is bad until the end of what is tried, or good from the start."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from lmr_author.checks import example_task
from lmr_author.checks.example_texts import GOAL, GOLDEN, MASKED
from lmr_author.checks.tests_outcome import START, TEST
from lmr_author.taskdir import TaskDir
from lmr_author.validation.run import select_checks, validate

HEAD = START.replace("import logging\n", "import contextlib\nimport logging\n")
CHECK = "assert abs(pairwise_loss([0.5, 2.0, -1.0], [0, 2, 1], margin=1.0)[0] - 1.0599649) < 1e-6"
FAILS = {
    "a flag": """\
ok = False
try:
    CHECK
    ok = True
except Exception as error:
    print(error)
if not ok:
    sys.exit(1)
""",
    "a flag as a code": """\
ok = False
try:
    CHECK
    ok = True
except Exception as error:
    print(error)
sys.exit(0 if ok else 1)
""",
    "a flag that is asserted": """\
ok = False
try:
    CHECK
    ok = True
except Exception as error:
    print(error)
assert ok
""",
    "suppressed": """\
result = 'Failed'
with contextlib.suppress(Exception):
    CHECK
    result = 'Passed'
if result != 'Passed':
    raise SystemExit(1)
""",
    "counted": """\
passed = 0
try:
    CHECK
    passed += 1
except Exception as error:
    print(error)
assert passed == 1
""",
    "counted, and at least one": """\
passed = 0
try:
    CHECK
    passed += 1
except Exception as error:
    print(error)
sys.exit(0 if passed > 0 else 1)
""",
    "a result of nothing": """\
found = None
try:
    found = pairwise_loss([1.0], [3])
except Exception as error:
    print(error)
assert found == (0.0, 1.0)
""",
    "no result": """\
try:
    found = pairwise_loss([1.0], [3])
except Exception as error:
    print(error)
assert found == (0.0, 1.0)
""",
    "an exit in what is tried": """\
try:
    CHECK
    code = 0
except Exception as error:
    code = 1
sys.exit(code)
""",
    "an exit behind it": """\
try:
    CHECK
    sys.exit(0)
except Exception as error:
    print(error)
sys.exit(1)
""",
    "a function's flag": """\
def main():
    ok = False
    try:
        CHECK
        ok = True
    except Exception:
        print('Failed')
    return ok


sys.exit(0 if main() else 1)
""",
    "a function's flag, kept": """\
def main():
    ok = False
    try:
        CHECK
        ok = True
    except Exception:
        print('Failed')
    return ok


good = main()
if not good:
    sys.exit(1)
""",
    "a function's code": """\
def main():
    try:
        CHECK
        return 0
    except Exception:
        print('Failed')
    return 1


sys.exit(main())
""",
    "several functions": """\
def main():
    ok = False
    try:
        CHECK
        ok = True
    except Exception:
        print('Failed')
    return ok


results = [run() for run in [main]]
results.append(main())
sys.exit(0 if all(results) else 1)
""",
    "an attribute": """\
class Run:
    def __init__(self):
        self.ok = False

    def run(self):
        try:
            CHECK
            self.ok = True
        except Exception as error:
            print(error)


run = Run()
run.run()
sys.exit(not run.ok)
""",
    "a context manager that asserts in the end": """\
class Soft:
    def __enter__(self):
        self.failures = []
        return self

    def check(self, ok):
        if not ok:
            self.failures.append(ok)

    def __exit__(self, kind, error, trace):
        assert kind is None and not self.failures


with Soft() as soft:
    soft.check(abs(pairwise_loss([0.5, 2.0, -1.0], [0, 2, 1], margin=1.0)[0] - 1.0599649) < 1e-6)
""",
    "an object that is called": """\
class Close:
    def __call__(self, found, wanted):
        assert abs(found - wanted) < 1e-6


close = Close()
close(pairwise_loss([0.5, 2.0, -1.0], [0, 2, 1], margin=1.0)[0], 1.0599649)
""",
    "a context manager that remembers": """\
failures = []


class Check:
    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if kind is not None:
            failures.append(error)
        return True


with Check():
    CHECK
sys.exit(1 if failures else 0)
""",
    "another script": """\
import runpy

with open(os.path.join(HERE, "check.py"), "w") as file:
    file.write("from ranking.losses import pairwise_loss\\nassert pairwise_loss([1.0], [3]) == (0.0, 1.0)\\n")
runpy.run_path(os.path.join(HERE, "check.py"), run_name="__main__")
""",
    "what is counted hangs on it": """\
passed = failed = 0
try:
    ok = abs(pairwise_loss([0.5, 2.0, -1.0], [0, 2, 1], margin=1.0)[0] - 1.0599649) < 1e-6
except Exception as error:
    print(error)
    ok = False
if ok:
    passed += 1
else:
    failed += 1
sys.exit(1 if failed else 0)
""",
    "what is skipped hangs on it": """\
failed = 0
for margin in (1.0,):
    try:
        ok = abs(pairwise_loss([0.5, 2.0, -1.0], [0, 2, 1], margin=margin)[0] - 1.0599649) < 1e-6
    except Exception as error:
        ok = False
    if ok:
        continue
    failed += 1
sys.exit(1 if failed else 0)
""",
    "what is listed hangs on it": """\
errors = []
try:
    found = pairwise_loss([1.0], [3])
except Exception as error:
    found = None
if found is None:
    errors.append("it raised")
elif found != (0.0, 1.0):
    errors.append("another value")
assert not errors, errors
""",
    "checks that are looked for by their names": """\
def check_loss():
    CHECK


for name, function in sorted(globals().items()):
    if name.startswith("check_"):
        function()
""",
    "a dictionary": """\
results = {}
try:
    CHECK
    results['loss'] = True
except Exception:
    results['loss'] = False
sys.exit(0 if all(results.values()) else 1)
""",
}
HIDES = {
    "good until something is found": """\
ok = True
try:
    CHECK
    ok = True
except Exception as error:
    print(error)
sys.exit(0 if ok else 1)
""",
    "failures that are counted": """\
failures = 0
try:
    CHECK
    failures += 0
except Exception as error:
    print(error)
if failures:
    sys.exit(1)
""",
    "nobody looks": """\
ok = False
try:
    CHECK
    ok = True
except Exception as error:
    print(error)
print(ok)
""",
    "only logged": """\
ok = False
try:
    CHECK
    ok = True
except Exception as error:
    print(error)
print('Passed' if ok else 'Failed')
""",
    "it goes on": """\
for _ in range(1):
    try:
        found = pairwise_loss([1.0], [3])
    except Exception:
        continue
    assert found == (0.0, 1.0)
""",
    "it is compared where nothing was raised": """\
try:
    found = pairwise_loss([1.0], [3])
except Exception as error:
    print(error)
else:
    assert found == (0.0, 1.0)
""",
    "a context manager that only prints": """\
class Check:
    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        print("Failed" if kind else "Passed")
        return True


with Check():
    CHECK
""",
    "a generator that catches": """\
@contextlib.contextmanager
def check(name):
    try:
        yield
        print(name, "Passed")
    except Exception as error:
        print(name, "Failed", error)


with check("loss"):
    CHECK
""",
    "what hangs on it is only printed": """\
lines = []
try:
    ok = pairwise_loss([1.0], [3]) == (0.0, 1.0)
except Exception as error:
    ok = False
if ok:
    lines.append("Passed")
print(lines)
""",
    "it ends well": """\
ok = False
try:
    CHECK
    ok = True
except Exception:
    sys.exit(0)
assert ok
""",
    "nobody asks the function": """\
def main():
    ok = False
    try:
        CHECK
        ok = True
    except Exception:
        print('Failed')
    return ok


main()
""",
    "the list may be empty": """\
results = []
try:
    CHECK
    results.append(1)
except Exception as error:
    print(error)
assert all(results)
""",
}


def _task(folder: Path, lines: str) -> TaskDir:
    task = example_task.write(folder)
    (task.root / TEST).write_text(HEAD + lines.replace("CHECK", CHECK), "utf-8")
    return task


def _exit_code(task: TaskDir, goal: str) -> int:
    (task.root / GOAL).write_text(goal, "utf-8")
    command = [sys.executable, "-B", "unit_test/unit_test_1.py"]
    return subprocess.run(
        command, cwd=(task.root / TEST).parents[1], capture_output=True, check=False
    ).returncode


def _said(task: TaskDir) -> list[str]:
    found = validate([task], select_checks(select=["LMR502", "LMR503"])).findings
    return [f"{one.code} {one.message}" for one in found]


@pytest.mark.parametrize("lines", FAILS.values(), ids=FAILS)
def test_a_failure_that_is_told_later_is_not_hidden(lines: str, tmp_path: Path) -> None:
    task = _task(tmp_path, lines)
    assert _said(task) == []
    assert (_exit_code(task, GOLDEN), _exit_code(task, MASKED)) == (0, 1)


@pytest.mark.parametrize("lines", HIDES.values(), ids=HIDES)
def test_one_that_is_not_is(lines: str, tmp_path: Path) -> None:
    task = _task(tmp_path, lines)
    assert _said(task) != []
    assert (_exit_code(task, GOLDEN), _exit_code(task, MASKED)) == (0, 0)
