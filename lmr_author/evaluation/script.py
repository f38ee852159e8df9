"""Run a task's test file as LMR-Bench runs it: as a script, from the repository, its log read afterwards."""

from __future__ import annotations

import json
import posixpath
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lmr_author import files, resources
from lmr_author.errors import LmrError
from lmr_author.evaluation.bench import Bench
from lmr_author.evaluation.verdict import Verdict
from lmr_author.sandbox.base import Command, Limits, Mount
from lmr_author.staging import PROBE_ROOT, probe_mount

MAX_LOG = 1024 * 1024
"""Bytes of a log that are read."""

OUT = f"{PROBE_ROOT}/out"
JOB = f"{PROBE_ROOT}/job"


@dataclass(frozen=True)
class ScriptRun:
    """A finished run of a test script.

    Attributes:
        exit_code: of the script.
        logged_pass, logged_fail: whether a log under ``unit_test/`` says so, by LMR-Bench's markers.
        timed_out: killed at its limit.
        output: stdout and stderr, the end of them.
    """

    exit_code: int
    logged_pass: bool
    logged_fail: bool
    timed_out: bool
    output: str

    @property
    def passed(self) -> bool:
        """Exit code 0, and no log that says otherwise."""
        return self.exit_code == 0 and not self.timed_out and not self.logged_fail

    @property
    def reason(self) -> str:
        """Why it did not pass; "" when it did."""
        if self.passed:
            return ""
        if self.timed_out:
            return "the test script ran into its time limit"
        if self.exit_code == 0:
            return "the test script exits 0, but its log says Failed"
        last = [line for line in self.output.strip().splitlines() if line.strip()]
        return f"the test script exits {self.exit_code}: {last[-1].strip()[:200] if last else 'no output'}"


def run(bench: Bench, name: str, overlay: dict[str, bytes], seed: int) -> ScriptRun:
    """Run ``python <unit_test_file>`` from the repository's root, as LMR-Bench does.

    Raises LmrError when the task has no such file.
    """
    test = bench.implementation.unit_test_file
    tree = bench.fresh_tree(name, overlay)
    if not test or not files.inside(tree, test).is_file():
        raise LmrError(
            f"{test or 'the unit test'} is missing in {bench.task.name}", "make it with `lmr-author record`"
        )
    before = _logs(tree)
    result = bench.sandbox.run(
        Command(
            argv=("python", test),
            mounts=(Mount(tree, bench.inside, writable=True),),
            cwd=bench.inside,
            env={"PYTHONPATH": bench.inside, "PYTHONHASHSEED": str(seed)},
            limits=Limits(seconds=60 + 4 * bench.seconds),
        )
    )
    logs = {path: text for path, text in _logs(tree).items() if before.get(path) != text}
    text = "\n".join(logs.values())
    output = (result.stdout + b"\n" + result.stderr).decode("utf-8", "replace")
    return ScriptRun(
        exit_code=result.exit_code,
        logged_pass=bool(re.search(r"\bPassed\b", text)),
        logged_fail=bool(re.search(r"\bFailed\b", text)),
        timed_out=result.timed_out,
        output=output[-20_000:],
    )


def watch(bench: Bench) -> Verdict:
    """Run the test script on the golden under the recorder, to see whether it enters the target's body."""
    pair = bench.definitions
    if pair is None:
        return Verdict(False, "the target cannot be told in golden and goal file", entered=False)
    tree = bench.fresh_tree("watched", bench.golden_overlay)
    out, job = tree.parent / "watched_out", tree.parent / "watched_job"
    for folder in (out, job):
        folder.mkdir(exist_ok=True)
    config: dict[str, Any] = {
        "tree": posixpath.relpath(bench.inside, JOB),
        "goal_file": bench.implementation.goal_file,
        "qualname": pair[0].qualname,
        "line": pair[0].line,
        "out": posixpath.relpath(OUT, JOB),
        "pool": 1,
    }
    (job / "config.json").write_text(json.dumps(config), "utf-8")
    result = bench.sandbox.run(
        Command(
            argv=(
                "python",
                "-m",
                "lmr_probe",
                "record",
                f"{JOB}/config.json",
                "--",
                bench.implementation.unit_test_file,
            ),
            mounts=(
                Mount(tree, bench.inside, writable=True),
                probe_mount(resources.probe_folder()),
                Mount(job, JOB),
                Mount(out, OUT, writable=True),
            ),
            cwd=bench.inside,
            env={"PYTHONPATH": f"{PROBE_ROOT}:{bench.inside}"},
            limits=Limits(seconds=60 + 4 * bench.seconds),
        )
    )
    summary = _summary(out)
    calls = summary.get("calls", 0)
    entered = isinstance(calls, int) and calls > 0
    reason = "" if entered else f"the test never calls {pair[0].qualname} of {bench.implementation.goal_file}"
    return Verdict(
        passed=entered,
        reason=reason,
        entered=entered,
        file=bench.implementation.goal_file if entered else "",
        log=result.stderr.decode("utf-8", "replace")[-20_000:],
    )


def _summary(out: Path) -> dict[str, Any]:
    path = out / "summary.json"
    if not path.is_file():
        return {}
    data = files.read_json(path)
    return data if isinstance(data, dict) else {}


def _logs(tree: Path) -> dict[str, str]:
    """Text of the logs that tests write: ``unit_test/logs/*`` and ``*.log``, ``*.txt`` beside the tests."""
    found = {}
    for path in files.walk(tree / "unit_test"):
        parts = path.relative_to(tree).parts
        if "recordings" in parts or not (path.suffix in {".log", ".txt"} or "logs" in parts):
            continue
        with path.open("rb") as file:
            found["/".join(parts)] = file.read(MAX_LOG).decode("utf-8", "replace")
    return found
