"""Put proven cases, their manifest, the unit test and its support file into the task."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from lmr_author import __version__, files, replaying
from lmr_author.code import FunctionNode
from lmr_author.recording.choose import Proven
from lmr_author.recording.drive import Drive, Recorded
from lmr_author.recording.page import support_file, write_page
from lmr_author.recording.prove import Proof
from lmr_author.task import Implementation, Task, TaskInfo
from lmr_author.task.recording import MANIFEST, SUPPORT, Case, Coverage, Recording, load

OLD_SUPPORT = "lmr_probe"
"""Folder beside the tests where older versions put what these needed."""


def put_aside(task: Task, info: TaskInfo, implementation: Implementation) -> tuple[str, ...]:
    """Move an earlier recording and test to ``authoring/removed/``; nothing is overwritten."""
    earlier = (
        task.recording(info, implementation.index),
        task.unit_test(info, implementation),
        task.unit_test_folder(info) / OLD_SUPPORT,
    )
    return tuple(task.put_aside(path) for path in earlier if path.exists())


def store(
    task: Task,
    info: TaskInfo,
    implementation: Implementation,
    plan: Drive,
    recorded: Recorded,
    proof: Proof,
    coverage: Coverage,
    helpers: Mapping[str, str],
    function: FunctionNode,
) -> Recording:
    """Write ``recordings/N/`` whole or not at all, then the test; neither must exist yet.

    Args:
        plan, recorded: how it was made.
        proof: the chosen calls, in order, and the versions of what ran them.
        coverage: what of the target the cases execute.
        helpers: digests of the annotator's own files that the cases need.
        function: the target in the golden.
    """
    folder = task.recording(info, implementation.index)
    with files.staged_folder(folder) as staging:
        module = recorded.summary.get("module")
        recording = Recording(
            goal_file=plan.goal_file,
            qualname=plan.qualname,
            line=plan.line,
            module=module if isinstance(module, str) and module != "__main__" else None,
            sys_path=tuple(str(item) for item in recorded.summary.get("sys_path", [""])) or ("",),
            command=plan.driver.shown,
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            tool=__version__,
            versions=proof.versions,
            calls=int(recorded.summary.get("calls", len(recorded.calls))),
            coverage=coverage,
            cases=tuple(_store_case(staging, number, item) for number, item in enumerate(proof.chosen, 1)),
            support={},
            helpers=helpers,
        )
        documents = [
            (
                replaying.load_document(staging / case.name, "inputs"),
                replaying.load_document(staging / case.name, "expected"),
            )
            for case in recording.cases
        ]
        page, needs_support = write_page(implementation, recording, function, documents, plan.nth)
        recording = replace(recording, support={SUPPORT: ""} if needs_support else {})
        files.write_json(staging / MANIFEST, recording.to_json())
    _renew_support(task.unit_test_folder(info))
    files.write_text(task.unit_test(info, implementation), page)
    return load(folder) or recording


def _store_case(staging: Path, number: int, item: Proven) -> Case:
    """Copy what belongs to a case, nothing else that lies in the recorder's folder."""
    target = staging / f"case_{number}"
    target.mkdir()
    for path in sorted(item.call.folder.iterdir()):
        if path.name.startswith(("inputs.", "expected.")) and path.is_file() and not path.is_symlink():
            files.write_bytes(target / path.name, path.read_bytes())
    stored = sorted(target.iterdir())
    return Case(
        name=target.name,
        call=item.call.number,
        bytes=sum(path.stat().st_size for path in stored),
        files={path.name: files.sha256_file(path) for path in stored},
        summary=item.call.summary,
        outcome=item.call.outcome,
        checkers=item.checkers,
        omitted=item.call.omitted,
        made=item.call.made,
    )


def _renew_support(unit_test: Path) -> None:
    """Write the support file anew, which all tests of a task share, or remove it where none needs it."""
    manifests = sorted((unit_test / "recordings").glob(f"*/{MANIFEST}"))
    needing = {
        path: recording
        for path in manifests
        if (recording := Recording.from_json(files.read_json(path))) and recording.support
    }
    if not needing:
        (unit_test / SUPPORT).unlink(missing_ok=True)
        return
    text = support_file(
        (
            case.checkers,
            replaying.load_document(path.parent / case.name, "inputs"),
            replaying.load_document(path.parent / case.name, "expected"),
        )
        for path, recording in needing.items()
        for case in recording.cases
    )
    files.write_text(unit_test / SUPPORT, text)
    digests = {SUPPORT: files.sha256_bytes(text.encode())}
    for path, recording in needing.items():
        files.write_json(path, replace(recording, support=digests).to_json())
