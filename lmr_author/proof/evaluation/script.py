"""Run a task's own test as LMR-Bench does, as a script in the repository, and read its verdict.

Hand-written tests report their verdict in many ways: an exit code, a line in a log or on the terminal, the summaries of
unittest and pytest; many exit with 0 even on failure. The golden's run defines a pass: another version passes if its
run gives all the evidence of the golden's run, and none to the contrary.
"""

from __future__ import annotations

import errno
import os
import posixpath
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from lmr_author.core import files
from lmr_author.core.errors import LmrError
from lmr_author.proof.evaluation.trees import TargetTrees
from lmr_author.runtime.environment.failures import Failure, explain
from lmr_author.runtime.replay.staging import PROBE_ROOT
from lmr_author.runtime.sandbox.base import Command, Limits, Mount

MAX_LOG = 1024 * 1024
"""Bytes read of a log."""
MAX_OUTPUT = 100_000
"""Characters kept from the end of stdout and of stderr."""
OUT, JOB = f"{PROBE_ROOT}/out", f"{PROBE_ROOT}/job"

_PASSED = re.compile(r"\bpass(?:ed|es)?\b", re.IGNORECASE)
_FAILED = re.compile(r"(?<!\b0 )\bfail(?:ed|s|ure|ures)?\b", re.IGNORECASE)
_UNITTEST = re.compile(r"^Ran (\d+) tests? in ", re.MULTILINE)
_UNITTEST_OK = re.compile(r"^OK(?: \((?!skipped).*\))?$", re.MULTILINE)
_PYTEST = re.compile(r"\b(\d+) passed\b.* in [\d.]+s")
_SKIPPED = re.compile(r"^OK \(skipped=(\d+)\)$|^(\d+) skipped in [\d.]+s", re.MULTILINE)
_ERROR = re.compile(r"^(?:[A-Za-z_][\w.]*\.)?([A-Za-z_]\w*(?:Error|Exception|Interrupt|Exit))\b(?::|$)")
_PRINTS_FAILED, _LOG_PASSED = "it prints Failed", "its log says Passed"
_NOT_IMPORTED = ("ImportError", "ModuleNotFoundError", "SyntaxError", "IndentationError", "TabError")
_FRAME = re.compile(r'^\s*File "([^"]+)", line (\d+), in (\S+)', re.MULTILINE)


@dataclass(frozen=True)
class ScriptRun:
    """A finished run of a test script.

    Attributes:
        log: text that the run wrote to the logs under ``unit_test/``.
        timed_out: killed at its time limit.
        out_of_memory: killed at its memory limit, if detectable.
        stopped: killed because it filled the disk, or because the evaluation was interrupted.
        logs: all files in ``unit_test/logs/`` afterwards, including those that the run did not write.
    """

    exit_code: int
    log: str
    stdout: str
    stderr: str
    timed_out: bool = False
    out_of_memory: bool = False
    stopped: bool = False
    logs: tuple[str, ...] = ()
    seconds: float = 0.0

    @property
    def output(self) -> str:
        return f"{self.stdout}\n{self.stderr}"

    @property
    def passes_by_log(self) -> bool:
        """The verdict of LMR-Bench's script: a log says Passed, and none says Failed."""
        logs = "\n".join(self.logs)
        return "Passed" in logs and "Failed" not in logs

    @property
    def denials(self) -> frozenset[str]:
        texts = {"its log says Failed": self.log, _PRINTS_FAILED: self.stdout}
        return frozenset(name for name, text in texts.items() if _FAILED.search(text))

    @cached_property
    def evidence(self) -> frozenset[str]:
        unittest = _UNITTEST.search(self.output) if _UNITTEST_OK.search(self.output) else None
        pytest = _PYTEST.search(self.output)
        texts = {
            _LOG_PASSED: _PASSED.search(self.log),
            "it prints Passed": _PASSED.search(self.stdout),
            f"unittest ran {unittest and unittest[1]} tests": unittest,
            f"pytest passed {pytest and pytest[1]} tests": pytest,
        }
        return frozenset(text for text, match in texts.items() if match)

    @property
    def cause(self) -> str:
        lines = [line.strip() for line in self.output.splitlines() if line.strip()]
        errors = [line for line in lines if _ERROR.match(line)]
        return (errors or lines or [""])[-1][:200]

    @property
    def error(self) -> str:
        match = _ERROR.match(self.cause)
        return match[1] if match else ""

    def blames_mask(self, goal_file: str, names: frozenset[str]) -> bool:
        """Return whether a failure comes from the mask, the only difference from the passing golden.

        It does unless an import failed outside of the masked functions (``names``).
        """
        text = f"{self.output}\n{self.log}"
        in_target = any(
            path.endswith("/" + goal_file) and name.rpartition(".")[2] in names
            for path, _, name in _FRAME.findall(text)
        )
        return in_target or "NotImplementedError" in text or self.error not in _NOT_IMPORTED


def problem(run: ScriptRun, golden: ScriptRun | None) -> str:
    """Return why a run does not pass, in one line; "" if it does.

    Args:
        golden: the golden's passing run, which defines a pass; None for that run itself.
    """
    if run.stopped:
        return "the test was killed: it filled the disk"
    if run.timed_out:
        return "the test script exceeded its time limit"
    if run.exit_code == 0 and _all_skipped(run):
        return "all tests are skipped"
    if run.exit_code != 0:
        contrary = f", although {_LOG_PASSED}" if _LOG_PASSED in run.evidence else ""
        return f"the test script exits {run.exit_code}{contrary}: {run.cause or 'no output'}"
    # Text that the golden prints as well ("0 errors, 1 failed attempt repeated") is not a failure.
    allowed = golden.denials if golden else frozenset({_PRINTS_FAILED} if run.evidence else ())
    if denied := sorted(run.denials - allowed):
        because = f" ({run.cause})" if run.error else ""
        return f"the test script exits 0, but {denied[-1]}{because}"
    if missing := sorted(golden.evidence - run.evidence if golden else ()):
        return f"the test script exits 0, but lacks signs of the golden's pass: {'; '.join(missing)}"
    return ""


def _all_skipped(run: ScriptRun) -> bool:
    ran, skipped = _UNITTEST.search(run.output), _SKIPPED.search(run.output)
    return skipped is not None and bool(skipped[2] or (ran and ran[1] == skipped[1]))


def obstacle(run: ScriptRun) -> tuple[str, str]:
    if run.timed_out or run.out_of_memory:
        limit = "time" if run.timed_out else "memory"
        return f"it exceeded its {limit} limit", "raise --timeout, or evaluate on a larger machine"
    if _all_skipped(run):
        return "all of its tests are skipped here", "evaluate on a machine where they run"
    # Search the error first: a warning above it may name another cause. A failed assertion is not an obstacle.
    places = (run.cause, "" if run.error == "AssertionError" else f"{run.output}{run.log}")
    for text in places:
        missing = re.search(r"No module named '([\w.]+)'", text)
        if missing:
            reason = f"this environment lacks {missing[1]}"
            make = f"lmr-author env local --with {missing[1].partition('.')[0]}"
            hint = f"use --sandbox docker or an interpreter that has it (--python), or create an environment: {make}"
            return reason, f"{reason}: {hint}"
        if explanation := explain(Failure("script", "", text)):
            return explanation.cause if explanation.about == "environment" else "", explanation.advice
    return "", ""


def run(
    trees: TargetTrees,
    name: str,
    overlay: dict[str, bytes],
    seed: int = 0,
    *,
    goldens: bool = False,
    limits: Limits | None = None,
    stop: Callable[[], bool] | None = None,
) -> ScriptRun:
    """Run ``python <unit_test_file>`` from the repository's root, as LMR-Bench does.

    Args:
        name: name of the private copy of the tree, kept until it is removed or replaced.
        goldens: mount ``golden_files/`` beside the repository, as LMR-Bench does; never with a candidate.
        stop: polled while the test runs; True ends it, as does a full disk.

    Raises LmrError when the task has no such file.
    """
    test = trees.implementation.unit_test_file
    tree = trees.fresh_tree(name, overlay)
    if not test or not files.inside(tree, test).is_file():
        raise LmrError(
            f"{trees.task.name}: {test or 'the unit test'} is missing", "create it with `lmr-author record`"
        )
    _make_logs_folder(tree, test)
    before, disk_is_full = read_logs(tree), DiskWatch(tree)
    mounts, folder = [Mount(tree, trees.inside, writable=True)], trees.task.golden_folder
    if goldens and folder.is_dir():
        mounts.append(Mount(folder, posixpath.join(posixpath.dirname(trees.inside), folder.name)))
    result = trees.sandbox.run(
        Command(
            argv=("python", test),
            mounts=tuple(mounts),
            cwd=trees.inside,
            env={"PYTHONPATH": trees.inside, "PYTHONHASHSEED": str(seed), **_older_pytorch(trees)},
            limits=limits or Limits(seconds=60 + 4 * trees.seconds),
            stop=lambda: (stop is not None and stop()) or disk_is_full(),
        )
    )
    after = read_logs(tree)
    return ScriptRun(
        exit_code=result.exit_code,
        log="\n".join(text for path, text in after.items() if before.get(path) != text),
        stdout=result.stdout.decode("utf-8", "replace")[-MAX_OUTPUT:],
        stderr=result.stderr.decode("utf-8", "replace")[-MAX_OUTPUT:],
        timed_out=result.timed_out,
        out_of_memory=result.out_of_memory,
        stopped=result.stopped,
        logs=tuple(text for path, text in after.items() if path.startswith("unit_test/logs/")),
        seconds=result.seconds,
    )


_ENDLESS = 1_000_000
"""Files for which a path counts that is too long for the system."""


class DiskWatch:
    """Detects a run that fills the disk through its writable tree; polls slow trees less often."""

    def __init__(self, tree: Path, most_bytes: int = 512 * 2**20, most_files: int = 50_000) -> None:
        self._tree, self._most, self._first, self._next = tree, (most_bytes, most_files), _size_of(tree), 0.0

    def __call__(self) -> bool:
        now = time.monotonic()
        if now < self._next:
            return False
        size = _size_of(self._tree)
        self._next = time.monotonic() + 10 * (time.monotonic() - now)
        return any(now - first > most for now, first, most in zip(size, self._first, self._most, strict=True))


def _size_of(tree: Path) -> tuple[int, int]:
    total = count = 0
    waiting = [str(tree)]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    count += 1
                    total += entry.stat(follow_symlinks=False).st_blocks * 512
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
        except OSError as error:
            if error.errno == errno.ENAMETOOLONG:  # folders in folders without an end
                count += _ENDLESS
    return total, count


def _older_pytorch(trees: TargetTrees) -> dict[str, str]:
    """Let ``torch.load`` read pickles as before PyTorch 2.6, unless the task's own image runs.

    The image has the version that the task chose; this machine's may be newer than the hand-written test expects.
    Unpickling runs in the sandbox anyway.
    """
    return {} if trees.sandbox.name == "docker" else {"TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD": "1"}


def _make_logs_folder(tree: Path, test: str) -> None:
    """Create the folder for logs if the test writes there without creating it: git does not store empty folders."""
    text = files.inside(tree, test).read_bytes()
    if b"logs" in text and not re.search(b"mkdir|makedirs", text):
        files.inside(tree, posixpath.join(posixpath.dirname(test), "logs")).mkdir(exist_ok=True)


def read_logs(tree: Path) -> dict[str, str]:
    """Return the text of the tests' logs: ``unit_test/logs/*``, and ``*.log`` and ``*.txt`` beside the tests."""
    logs = {}
    for path in files.walk(tree / "unit_test"):
        parts = path.relative_to(tree).parts
        if "recordings" in parts or not (path.suffix in {".log", ".txt"} or "logs" in parts):
            continue
        with path.open("rb") as file:
            logs["/".join(parts)] = file.read(MAX_LOG).decode("utf-8", "replace")
    return logs
