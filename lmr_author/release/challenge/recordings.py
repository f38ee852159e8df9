"""Recordings with calls that were made once more: beside the task's own, or with its cases, and in its place."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from lmr_author.authoring.recording import store
from lmr_author.authoring.recording.calls import RecordedCall, coverage
from lmr_author.authoring.recording.remarks import Uncompared
from lmr_author.authoring.recording.run import Recorded, Run
from lmr_author.core import files
from lmr_author.core.code import FunctionNode
from lmr_author.core.task import Implementation, Task, TaskInfo
from lmr_author.core.task.recording import MANIFEST, Coverage, Recording, load


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
    cases = [store.store_case(folder, number, call) for number, call in enumerate(calls, 1)]
    recording = store.recording_of(folder, plan, recorded, cases, of.coverage, of.versions, of.options)
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
    new = [
        store.store_case(folder, number, call, adds) for number, (call, adds) in enumerate(calls, taken + 1)
    ]
    hits = set[int]().union(*(call.hits for call, _ in calls))
    covered = _also_covered(before.coverage, hits, recorded.blocks, recorded.absent)
    cases = (*before.cases, *new)
    recording = store.recording_of(folder, plan, recorded, cases, covered, before.versions, before.options)
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
        page = store.write_manifest(staging, implementation, recording, function, nth, uncompared)
        store.put_aside(task, info, implementation)
        with files.staged_folder(folder) as place:
            shutil.copytree(staging, place, dirs_exist_ok=True)
        store.renew_support(task.unit_test_folder(info))
        files.write_text(task.unit_test(info, implementation), page)
    return load(folder) or recording


def _also_covered(
    before: Coverage, hits: set[int], blocks: Mapping[int, int], absent: Mapping[int, int]
) -> Coverage:
    """Return what some cases execute together with more of them.

    Args:
        before: of the cases; the others as in :func:`coverage`, of those that come to them.
    """
    more = coverage(hits, blocks, absent)
    false = {blocks[block] for block in absent if block in hits}
    return Coverage(
        lines=tuple(sorted({*before.lines, *more.lines})),
        missed=tuple(sorted(set(before.missed) - set(more.lines))),
        never_false=tuple(sorted(set(before.never_false) - false)),
    )
