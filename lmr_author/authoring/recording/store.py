"""Put proven cases, their manifest, the unit test and its support file into the task."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from lmr_author import __version__
from lmr_author.authoring.recording.calls import RecordedCall, also_covered, coverage
from lmr_author.authoring.recording.checkers import compact, digests
from lmr_author.authoring.recording.page import write_page
from lmr_author.authoring.recording.prove import Proof
from lmr_author.authoring.recording.run import Recorded, Run
from lmr_author.authoring.recording.uncompared import Uncompared
from lmr_author.core import files, resources
from lmr_author.core.code import FunctionNode
from lmr_author.core.task import Implementation, Task, TaskInfo
from lmr_author.core.task.recording import (
    MANIFEST,
    SUPPORT,
    Case,
    Coverage,
    RecordedTarget,
    Recording,
    load,
)
from lmr_author.runtime.probe.document import Document
from lmr_author.runtime.replay import replaying


def put_aside(task: Task, info: TaskInfo, implementation: Implementation) -> tuple[str, ...]:
    """Move an earlier recording and test to ``authoring/removed/``; nothing is overwritten."""
    earlier = (task.recording(info, implementation.index), task.unit_test(info, implementation))
    return tuple(task.put_aside(path) for path in earlier if path.exists())


def store(
    task: Task,
    info: TaskInfo,
    implementation: Implementation,
    plan: Run,
    recorded: Recorded,
    proof: Proof,
    function: FunctionNode,
    uncompared: Sequence[Uncompared] = (),
    options: Mapping[str, object] | None = None,
) -> Recording:
    """Write ``recordings/N/`` whole or not at all, then the test; neither must exist yet.

    Args:
        plan, recorded: the run that made it.
        proof: the chosen calls, in order, and the versions of what ran them.
        function: the target in the golden.
        uncompared: effects of the golden that no case compares.
        options: those of ``record`` that were not as usual.
    """
    folder = task.recording(info, implementation.index)
    with files.staged_folder(folder) as staging:
        cases = [
            _store_case(staging, number, call, proof.adds.get(call.number, ""))
            for number, call in enumerate(proof.chosen, 1)
        ]
        hits = set[int]().union(*(call.hits for call in proof.chosen))
        covered = coverage(hits, recorded.blocks, recorded.absent)
        recording = _recording(staging, plan, recorded, cases, covered, proof.versions, options or {})
        page = _write_manifest(staging, implementation, recording, function, plan.nth, uncompared)
    _renew_support(task.unit_test_folder(info))
    files.write_text(task.unit_test(info, implementation), page)
    return load(folder) or recording


def write_calls(
    unit_test: Path, index: int, plan: Run, recorded: Recorded, calls: Sequence[RecordedCall], of: Recording
) -> Recording:
    """Write calls as a recording of their own into an empty folder of ours, which is laid out like ``unit_test/``.

    Args:
        of: the recording that they were made anew for, whose versions and options they have.
    """
    folder = unit_test / "recordings" / str(index)
    folder.mkdir(parents=True)
    plan.helpers.copy_into(unit_test)
    cases = [_store_case(folder, number, call) for number, call in enumerate(calls, 1)]
    recording = _recording(folder, plan, recorded, cases, of.coverage, of.versions, of.options)
    files.write_json(folder / MANIFEST, recording.to_json())
    return recording


def write_extended(
    unit_test: Path,
    index: int,
    plan: Run,
    recorded: Recorded,
    calls: Sequence[tuple[RecordedCall, str]],
    of: tuple[Path, Recording],
) -> Recording:
    """Write a recording with more cases into an empty folder of ours, which is laid out like ``unit_test/``.

    Args:
        calls: new cases, and what each adds.
        of: the folder of the recording, and its manifest; its cases stay as they are.
    """
    known, before = of
    folder = unit_test / "recordings" / str(index)
    folder.mkdir(parents=True)
    plan.helpers.copy_into(unit_test)
    for case in before.cases:
        shutil.copytree(known / case.name, folder / case.name)
    taken = max((int(case.name.removeprefix("case_")) for case in before.cases), default=0)
    new = [_store_case(folder, number, call, adds) for number, (call, adds) in enumerate(calls, taken + 1)]
    hits = set[int]().union(*(call.hits for call, _ in calls))
    covered = also_covered(before.coverage, hits, recorded.blocks, recorded.absent)
    cases = (*before.cases, *new)
    recording = _recording(folder, plan, recorded, cases, covered, before.versions, before.options)
    recording = replace(recording, command=before.command, created=before.created, calls=before.calls)
    files.write_json(folder / MANIFEST, recording.to_json())
    return recording


def put_in_place(
    task: Task,
    info: TaskInfo,
    implementation: Implementation,
    made: tuple[Path, Recording],
    function: FunctionNode,
    nth: int,
    uncompared: Sequence[Uncompared],
) -> Recording:
    """Put a recording that was written elsewhere in the place of the task's own, which is kept, with its test.

    Args:
        made: the folder that it was written into, and its manifest.
    """
    folder = task.recording(info, implementation.index)
    source, recording = made
    with files.temporary_folder("lmr-author-store-") as work, files.HeldInterrupts():
        staging = work / "recording"
        shutil.copytree(source, staging)
        page = _write_manifest(staging, implementation, recording, function, nth, uncompared)
        put_aside(task, info, implementation)
        with files.staged_folder(folder) as place:
            shutil.copytree(staging, place, dirs_exist_ok=True)
        _renew_support(task.unit_test_folder(info))
        files.write_text(task.unit_test(info, implementation), page)
    return load(folder) or recording


def _recording(
    folder: Path,
    plan: Run,
    recorded: Recorded,
    cases: Sequence[Case],
    covered: Coverage,
    versions: Mapping[str, str],
    options: Mapping[str, object],
) -> Recording:
    """Return the manifest of cases that lie in a folder; nothing says yet whether its test needs the support file."""
    documents = _documents(folder, cases)
    checkers = [case.checkers for case in cases]
    return Recording(
        target=RecordedTarget(plan.goal_file, plan.qualname, plan.line),
        module=recorded.module,
        sys_path=recorded.sys_path,
        command=plan.driver.shown,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        tool=__version__,
        versions=versions,
        calls=int(recorded.summary.get("calls", len(recorded.calls))),
        coverage=covered,
        cases=tuple(cases),
        support={},
        helpers=digests(plan.helpers, [item for pair in documents for item in pair], checkers),
        cuda_as_cpu=plan.cuda_as_cpu,
        options=options,
    )


def _write_manifest(
    folder: Path,
    implementation: Implementation,
    recording: Recording,
    function: FunctionNode,
    nth: int,
    uncompared: Sequence[Uncompared],
) -> str:
    """Write the manifest of cases that lie in a folder; return the text of their unit test."""
    effects = [effect.text for effect in uncompared]
    documents = _documents(folder, recording.cases)
    page, needs_support = write_page(implementation, recording, function, documents, nth, effects)
    recording = replace(recording, support={SUPPORT: ""} if needs_support else {})
    files.write_json(folder / MANIFEST, recording.to_json())
    return page


def _documents(folder: Path, cases: Sequence[Case]) -> list[tuple[Document, Document]]:
    places = [folder / case.name for case in cases]
    return [
        (replaying.load_document(place, "inputs"), replaying.load_document(place, "expected"))
        for place in places
    ]


def _store_case(staging: Path, number: int, call: RecordedCall, adds: str = "") -> Case:
    """Copy what belongs to a case, nothing else that lies in the recorder's folder."""
    target = staging / f"case_{number}"
    target.mkdir()
    for path in call.folder.iterdir():
        if path.name.startswith(("inputs.", "expected.")) and path.is_file() and not path.is_symlink():
            files.write_bytes(target / path.name, path.read_bytes())
    stored = sorted(target.iterdir())
    return Case(
        name=target.name,
        call=call.number,
        bytes=sum(path.stat().st_size for path in stored),
        files={path.name: files.sha256_file(path) for path in stored},
        summary=call.summary,
        outcome=call.outcome,
        checkers=compact(call.checkers),
        omitted=call.omitted,
        adds=adds,
    )


def _renew_support(unit_test: Path) -> None:
    """Write the support file, which all tests of a task share, or remove it where none needs it."""
    manifests = sorted((unit_test / "recordings").glob(f"*/{MANIFEST}"))
    recordings = {path: Recording.from_json(files.read_json(path)) for path in manifests}
    needing = {path: recording for path, recording in recordings.items() if recording.support}
    if not needing:
        (unit_test / SUPPORT).unlink(missing_ok=True)
        return
    files.write_text(unit_test / SUPPORT, resources.support_file())
    for path, recording in needing.items():
        support = {SUPPORT: resources.support_digest()}
        files.write_json(path, replace(recording, support=support).to_json())
