"""Run a task's test file as LMR-Bench runs it: as a script, from the repository, its log read afterwards."""

from __future__ import annotations

import json
import posixpath
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lmr_author import files, resources
from lmr_author.code import Definition
from lmr_author.errors import LmrError
from lmr_author.evaluation.bench import Bench
from lmr_author.evaluation.evidence import ScriptRun
from lmr_author.evaluation.verdict import Verdict
from lmr_author.replay.staging import PROBE_ROOT, probe_mount
from lmr_author.sandbox.base import Command, ExecResult, Limits, Mount

MAX_LOG = 1024 * 1024
"""Bytes of a log that are read."""

MAX_OUTPUT = 100_000
"""Characters of stdout and of stderr each that are kept, the last ones."""

OUT = f"{PROBE_ROOT}/out"
JOB = f"{PROBE_ROOT}/job"


def run(
    bench: Bench,
    name: str,
    overlay: dict[str, bytes],
    seed: int,
    *,
    limits: Limits | None = None,
    stop: Callable[[Path], bool] | None = None,
) -> ScriptRun:
    """Run ``python <unit_test_file>`` from the repository's root, as LMR-Bench does.

    Args:
        name: of the private copy of the tree; it stays until it is removed, or made anew.
        stop: given that copy, asked while the test runs; True ends it.

    Raises LmrError when the task has no such file.
    """
    test = bench.implementation.unit_test_file
    tree = bench.fresh_tree(name, overlay)
    if not test or not files.inside(tree, test).is_file():
        raise LmrError(
            f"{test or 'the unit test'} is missing in {bench.task.name}", "make it with `lmr-author record`"
        )
    _make_logs_folder(tree, test)
    before = logs(tree)
    result = bench.sandbox.run(
        Command(
            argv=("python", test),
            mounts=(Mount(tree, bench.inside, writable=True),),
            cwd=bench.inside,
            env={"PYTHONPATH": bench.inside, "PYTHONHASHSEED": str(seed), **_older_pytorch(bench)},
            limits=limits or Limits(seconds=60 + 4 * bench.seconds),
            stop=None if stop is None else lambda: stop(tree),
        )
    )
    return _script_run(result, before, logs(tree))


def _script_run(result: ExecResult, before: dict[str, str], after: dict[str, str]) -> ScriptRun:
    """What a run came to, with the logs that it has written: those that are not as they were ``before``."""
    written = (text for path, text in after.items() if before.get(path) != text)
    return ScriptRun(
        exit_code=result.exit_code,
        log="\n".join(written),
        stdout=result.stdout.decode("utf-8", "replace")[-MAX_OUTPUT:],
        stderr=result.stderr.decode("utf-8", "replace")[-MAX_OUTPUT:],
        timed_out=result.timed_out,
        out_of_memory=result.out_of_memory,
        stopped=result.stopped,
        seconds=result.seconds,
        all_logs="\n".join(after.values()),
    )


def _older_pytorch(bench: Bench) -> dict[str, str]:
    """Let ``torch.load`` read what it read before PyTorch 2.6, unless it is the task's own image that runs.

    There the version is the task's choice. Here it may be newer than what a hand-made test was written for,
    and whatever unpickling runs is in the sandbox anyway.
    """
    return {} if bench.sandbox.name == "docker" else {"TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD": "1"}


def _make_logs_folder(tree: Path, test: str) -> None:
    """Make the folder for logs when the test writes there without making it: git does not keep empty ones."""
    text = files.inside(tree, test).read_bytes()
    if b"logs" in text and b"mkdir" not in text and b"makedirs" not in text:
        files.inside(tree, posixpath.join(posixpath.dirname(test), "logs")).mkdir(exist_ok=True)


def watch(bench: Bench) -> Verdict:
    """Run the test script on the golden under the recorder, to see whether it enters the target's body."""
    verdict = Verdict(False, "the target cannot be told in golden and goal file", entered=False)
    for definition, _ in bench.pairs:
        verdict = _watch(bench, definition)
        if verdict.entered:
            break
    return verdict


def _watch(bench: Bench, definition: Definition) -> Verdict:
    tree = bench.fresh_tree("watched", bench.golden_overlay)
    out, job = tree.parent / "watched_out", tree.parent / "watched_job"
    _make_logs_folder(tree, bench.implementation.unit_test_file)
    for folder in (out, job):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(exist_ok=True)
    config = {
        "tree": posixpath.relpath(bench.inside, JOB),
        "goal_file": bench.implementation.goal_file,
        "qualname": definition.qualname,
        "line": definition.line,
        "out": posixpath.relpath(OUT, JOB),
        "pool": 1,
    }
    (job / "config.json").write_text(json.dumps(config), "utf-8")
    result = bench.sandbox.run(_under_the_recorder(bench, tree, job, out))
    calls = _summary(out).get("calls", 0)
    entered = isinstance(calls, int) and calls > 0
    goal_file = bench.implementation.goal_file
    return Verdict(
        passed=entered,
        reason="" if entered else f"the test never calls {definition.qualname} of {goal_file}",
        entered=entered,
        file=goal_file if entered else "",
        log=result.stderr.decode("utf-8", "replace")[-20_000:],
    )


def _under_the_recorder(bench: Bench, tree: Path, job: Path, out: Path) -> Command:
    """The test script, run by the probe as its driver."""
    test = bench.implementation.unit_test_file
    return Command(
        argv=("python", "-m", "lmr_probe", "record", f"{JOB}/config.json", "--", test),
        mounts=(
            Mount(tree, bench.inside, writable=True),
            probe_mount(resources.probe_folder()),
            Mount(job, JOB),
            Mount(out, OUT, writable=True),
        ),
        cwd=bench.inside,
        env={"PYTHONPATH": f"{PROBE_ROOT}:{bench.inside}", **_older_pytorch(bench)},
        limits=Limits(seconds=60 + 4 * bench.seconds),
    )


def _summary(out: Path) -> dict[str, Any]:
    path = out / "summary.json"
    if not path.is_file():
        return {}
    data = files.read_json(path)
    return data if isinstance(data, dict) else {}


def logs(tree: Path) -> dict[str, str]:
    """Text of the logs that tests write: ``unit_test/logs/*`` and ``*.log``, ``*.txt`` beside the tests."""
    found = {}
    for path in files.walk(tree / "unit_test"):
        parts = path.relative_to(tree).parts
        if "recordings" in parts or not (path.suffix in {".log", ".txt"} or "logs" in parts):
            continue
        with path.open("rb") as file:
            found["/".join(parts)] = file.read(MAX_LOG).decode("utf-8", "replace")
    return found
