"""The smoke test: files of the repository are imported in the task's environment, as tests will be run."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lmr_author import resources
from lmr_author.environment.failures import Explanation, Failure, explain
from lmr_author.sandbox.base import Command, ExecResult, Limits, Mount, Sandbox
from lmr_author.staging import PROBE_ROOT, probe_mount

SECONDS = 120.0
"""Time limit of importing one file: importing torch and transformers from a cold disk takes half a minute."""

_LAST_LINES = 12


@dataclass(frozen=True)
class Imported:
    """How importing one file ended.

    Attributes:
        file: path in the repository.
        ok: whether it can be imported.
        module: the name by which it was.
        said: the last lines of the traceback.
        missing: modules that it needs and the environment lacks.
        seconds: how long it took.
        explanation: what is likely wrong; None when it is imported, or nobody knows.
    """

    file: str
    ok: bool
    module: str = ""
    said: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    seconds: float = 0.0
    explanation: Explanation | None = None

    def to_json(self) -> dict[str, Any]:
        """As stored in ``authoring/environment.json``."""
        return {
            "file": self.file,
            "ok": self.ok,
            "module": self.module,
            "said": list(self.said),
            "missing": list(self.missing),
            "seconds": round(self.seconds, 3),
            "cause": self.explanation.cause if self.explanation else "",
            "advice": self.explanation.advice if self.explanation else "",
        }


def import_files(
    sandbox: Sandbox,
    tree: str,
    paths: Sequence[str],
    *,
    seconds: float = SECONDS,
    mounts: Sequence[Mount] = (),
) -> list[Imported]:
    """Import each file by itself: without network, not as root, nothing writable, within the time limit.

    Args:
        sandbox: prepared.
        tree: the repository's place inside.
        paths: files in it.
        mounts: what the sandbox does not show by itself.

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
        results.append(_imported(path, sandbox.run(command), seconds))
    return results


def first_explained(imported: Sequence[Imported]) -> Explanation | None:
    """Of the first file that can be put right, else of the first that cannot be imported."""
    failed = [item.explanation for item in imported if not item.ok]
    return next((item for item in failed if item and item.change), failed[0] if failed else None)


def _imported(path: str, result: ExecResult, seconds: float) -> Imported:
    report = _report(result)
    if report is not None and report.get("ok") is True:
        return Imported(path, True, str(report.get("module", "")), seconds=float(report.get("seconds", 0.0)))
    text = _text(report, result, seconds)
    missing = report.get("missing", []) if report else []
    missing = (
        tuple(str(name) for name in missing if isinstance(name, str)) if isinstance(missing, list) else ()
    )
    lines = [line for line in text.splitlines() if line.strip()]
    # What the code itself wrote matters where the exception says little (argparse, a C library's own message).
    everything = result.stderr.decode("utf-8", "replace")[-4000:] + "\n" + text
    found = explain(Failure("import", path, text, missing=missing)) or explain(
        Failure("import", path, everything, missing=missing)
    )
    module = str(report.get("module", "")) if report else ""
    return Imported(path, False, module, tuple(lines[-_LAST_LINES:]), missing, result.seconds, found)


def _report(result: ExecResult) -> dict[str, Any] | None:
    """The probe's one line. The repository's code cannot write to its standard output, but is not to be trusted."""
    try:
        data = json.loads(result.stdout)
    except ValueError:
        return None
    return data if isinstance(data, dict) else None


def _text(report: dict[str, Any] | None, result: ExecResult, seconds: float) -> str:
    if report is not None and isinstance(report.get("error"), str):
        return str(report["error"])
    said = result.stderr.decode("utf-8", "replace")[-4000:]
    if result.timed_out:
        return f"{said}\nstill running after {seconds:.0f} s"
    if result.out_of_memory:
        return f"{said}\nKilled"
    if result.exit_code < 0:
        return f"{said}\ndied of signal {-result.exit_code}"
    return said or f"exit code {result.exit_code}"
