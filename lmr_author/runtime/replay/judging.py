"""Judge outcomes with the annotator's checkers, in a sandbox that no candidate has run in.

The host runs no code of a task, and nothing that runs beside a candidate can be trusted to judge it. So a
candidate's outcome leaves its sandbox as data, and enters another one together with the expected outcome and
``unit_test/checkers.py``.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lmr_author.core import files, resources
from lmr_author.runtime.probe import checking
from lmr_author.runtime.probe.document import Document
from lmr_author.runtime.replay.staging import PROBE_ROOT, probe_mount
from lmr_author.runtime.sandbox.base import Command, Limits, Mount, Sandbox

PLACE = f"{PROBE_ROOT}/judge"
SECONDS, SECONDS_EACH = 120.0, 2.0
"""Time limit of judging: a fixed part, and one for each outcome."""
NOT_JUDGED = "the checker did not answer"

Checkers = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Judging:
    """The parts of outcomes that checkers of the annotator judge.

    Attributes:
        file: ``unit_test/checkers.py``.
        recording: folder that holds ``<case>/expected.*``.
        functions: case → path in the outcome → function.
    """

    file: Path
    recording: Path
    functions: Mapping[str, Mapping[str, str]]


def functions_of(checkers: Checkers) -> dict[str, str]:
    """Return path → function, for the parts that a function judges."""
    return {
        path: str(checker["function"])
        for path, checker in checkers.items()
        if checker.get("kind") == "custom"
    }


def judge(
    sandbox: Sandbox, judging: Judging, outcomes: Sequence[tuple[str, Document]]
) -> list[dict[str, str]]:
    """Return path → objection of its checker ("" for none), for each outcome, given as (case, document).

    A part whose checker did not answer counts as different.

    Raises:
        SandboxError: the sandbox failed.
    """
    objections = [dict.fromkeys(judging.functions.get(case, {}), NOT_JUDGED) for case, _ in outcomes]
    with files.temporary_folder("lmr-author-judge-") as job:
        job.chmod(0o755)
        requests = []
        for index, (case, document) in enumerate(outcomes):
            expected, actual = job / "cases" / case, job / f"outcome_{index}.bin"
            expected.mkdir(parents=True, exist_ok=True)
            for file in (judging.recording / case).glob("expected.*"):
                shutil.copyfile(file, expected / file.name)
            actual.write_bytes(checking.to_bytes(document))
            paths = dict(judging.functions.get(case, {}))
            requests.append({"expected": f"cases/{case}", "actual": actual.name, "paths": paths})
        shutil.copyfile(judging.file, job / judging.file.name)
        request = {"checkers": judging.file.name, "items": requests}
        (job / "request.json").write_text(json.dumps(request), encoding="utf-8")
        for file in job.rglob("*"):  # for the user that the sandbox runs as
            file.chmod(0o755 if file.is_dir() else 0o644)
        command = Command(
            argv=("python", "-m", "lmr_probe", "judge", f"{PLACE}/request.json"),
            mounts=(probe_mount(resources.probe_folder()), Mount(job, PLACE)),
            cwd=PLACE,
            env={"PYTHONPATH": PROBE_ROOT, "PYTHONHASHSEED": "0"},
            limits=Limits(seconds=SECONDS + SECONDS_EACH * len(requests)),
        )
        result = sandbox.run(command)
    for frame in checking.read_frames(result.stdout):
        number, path = frame.header.get("item"), frame.header.get("path")
        of_outcome = objections[number] if isinstance(number, int) and 0 <= number < len(objections) else {}
        if isinstance(path, str) and path in of_outcome:
            of_outcome[path] = str(frame.header.get("message"))
    return objections
