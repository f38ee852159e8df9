"""A test that was written by hand, run as LMR-Bench runs it. It judges the code in whose process it runs.

So it detects mistakes, but not code that cheats. The golden's run defines a pass.
"""

import os
import re
import shutil
import stat
import subprocess

STDERR = subprocess.STDOUT
LARGEST_LOG = 2**20
LAST = 4000
_PASSED = re.compile(r"\bpass(?:ed|es)?\b", re.IGNORECASE)
_FAILED = re.compile(r"(?<!\b0 )\bfail(?:ed|s|ure|ures)?\b", re.IGNORECASE)
_COUNTS = re.compile(r"^Ran \d+ tests?|\b\d+ passed\b|\bskipped=\d+|\b\d+ skipped\b", re.MULTILINE)

_golden = []
"""Result of the golden's run, which is the first."""


def command(plan):
    return ["python", plan["script"]]


def environment(plan):
    return {"PYTHONPATH": plan["repository"], "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}


def names(plan):
    return [plan["script"]]


def lay_out(tests, plan, user):
    """Copy unit_test/ into the repository, for the user that runs the test. Returns the folder."""
    place = os.path.join(plan["repository"], "unit_test")
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(os.path.join(tests, "unit_test"), place)
    os.makedirs(os.path.join(place, "logs"), exist_ok=True)
    for folder, folders, names in os.walk(place):
        for name in [".", *folders, *names]:
            os.chown(os.path.join(folder, name), user, user)
    return place


def point_at(place, data, plan):
    """Nothing: the test finds the function by its name."""


def differences(tests, output, plan, code):
    """Return why the run is no pass, by the script's name: {} when it is one."""
    with open(output, "rb") as file:
        printed = file.read().decode("utf-8", "replace")
    print(printed[-LAST:])
    logs = "\n".join(_logs(os.path.join(plan["repository"], "unit_test", "logs")))
    said = {
        text
        for text, read in (("its log says Passed", logs), ("it prints Passed", printed))
        if _PASSED.search(read)
    }
    said.update(_COUNTS.findall(printed))
    denied = {
        text
        for text, read in (("its log says Failed", logs), ("it prints Failed", printed))
        if _FAILED.search(read)
    }
    if code != 0:
        return {plan["script"]: "the test exits with %s" % code}
    # What a golden prints beside a pass ("0 errors, 1 failed attempt repeated") is no failure.
    expected, allowed = _golden[0] if _golden else (set(), {"it prints Failed"} if said else set())
    problems = sorted(denied - allowed) + [
        "unlike with the golden, not: " + text for text in sorted(expected - said)
    ]
    if not _golden:
        _golden.append((said, denied))
    return {plan["script"]: "; ".join(problems)} if problems else {}


def _logs(folder):
    """Yield the logs; the code under test may have put anything there."""
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) and not os.path.islink(folder) else ():
        path = os.path.join(folder, name)
        found = os.lstat(path)
        if stat.S_ISREG(found.st_mode) and found.st_size <= LARGEST_LOG:
            with open(path, "rb") as file:
                yield file.read().decode("utf-8", "replace")
