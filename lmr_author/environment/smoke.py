"""The smoke test: what an environment holds, and whether files of the repository can be imported in it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lmr_author import resources
from lmr_author.environment.failures import Explanation, Failure, explain
from lmr_author.errors import SandboxBuildError
from lmr_author.replay.staging import PROBE_ROOT, probe_mount
from lmr_author.sandbox.base import Command, ExecResult, Limits, Mount, Sandbox
from lmr_author.task.environment import ImportedFile

SECONDS = 120.0
"""Time limit of importing one file: importing torch and transformers from a cold disk takes half a minute."""
_LAST_LINES = 12


@dataclass(frozen=True)
class Imported:
    """An imported file as it is stored, and what is likely wrong: None when it is imported, or nobody knows."""

    result: ImportedFile
    explanation: Explanation | None = None


def ask_inventory(sandbox: Sandbox) -> dict[str, Any]:
    """Return ``python``, ``platform``, ``packages`` and, where installed, ``torch``, ``cuda`` and ``numpy``.

    Raises SandboxBuildError when the environment's Python cannot run the probe.
    """
    result = sandbox.run(
        Command(
            argv=("python", "-m", "lmr_probe", "facts"),
            mounts=(probe_mount(resources.probe_folder()),),
            env={"PYTHONPATH": PROBE_ROOT},
            limits=Limits(seconds=SECONDS),
        )
    )
    try:
        return dict(json.loads(result.stdout))
    except ValueError as error:
        said = result.stderr.decode("utf-8", "replace")[-300:]
        raise SandboxBuildError(
            f"the environment's Python cannot run the probe: {said}", "it needs Python 3.7 or newer"
        ) from error


def import_files(
    sandbox: Sandbox,
    tree: str,
    paths: Sequence[str],
    *,
    seconds: float = SECONDS,
    mounts: Sequence[Mount] = (),
    lock: str = "",
) -> list[Imported]:
    """Import each file by itself: without network, not as root, nothing writable, within the time limit.

    Args:
        sandbox: prepared.
        tree: the repository's place inside.
        paths: files in it.
        mounts: what the sandbox does not show by itself.
        lock: the text of the lock, for advice.

    Raises SandboxError when the sandbox itself fails.
    """
    results = []
    for path in paths:
        command = Command(
            argv=("python", f"{PROBE_ROOT}/lmr_probe", "import", tree, path, str(seconds)),
            mounts=(probe_mount(resources.probe_folder()), *mounts),
            cwd=tree,
            limits=Limits(seconds=seconds),
        )
        results.append(_imported(path, sandbox.run(command), seconds, lock))
    return results


def _imported(path: str, result: ExecResult, seconds: float, lock: str) -> Imported:
    try:
        report = json.loads(result.stdout)  # the probe's one line; the repository's code is not to be trusted
    except ValueError:
        report = None
    report = report if isinstance(report, dict) else {}
    module = str(report.get("module", ""))
    if report.get("ok") is True:
        return Imported(ImportedFile(path, True, module, seconds=round(float(report.get("seconds", 0.0)), 3)))
    text = report["error"] if isinstance(report.get("error"), str) else _text(result, seconds)
    listed = report.get("missing")
    missing = tuple(name for name in listed if isinstance(name, str)) if isinstance(listed, list) else ()
    lines = [line for line in text.splitlines() if line.strip()]
    # The code's own output matters where the exception says little (argparse, a C library's own message).
    everything = result.stderr.decode("utf-8", "replace")[-4000:] + "\n" + text
    failures = (Failure("import", path, said, missing, lock) for said in (text, everything))
    found = next(filter(None, map(explain, failures)), None)
    cause, advice = (found.cause, found.advice) if found else ("", "")
    last, took = tuple(lines[-_LAST_LINES:]), round(result.seconds, 3)
    return Imported(ImportedFile(path, False, module, last, missing, took, cause, advice), found)


def _text(result: ExecResult, seconds: float) -> str:
    said = result.stderr.decode("utf-8", "replace")[-4000:]
    if result.timed_out:
        return f"{said}\nstill running after {seconds:.0f} s"
    if result.out_of_memory:
        return f"{said}\nKilled"
    signal = -result.exit_code if result.exit_code < 0 else result.exit_code - 128
    if signal > 0:
        return f"{said}\ndied of signal {signal}"
    return said or f"exit code {result.exit_code}"
