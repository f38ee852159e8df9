"""Put proven cases, their manifest, the unit test and its support file into the task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from lmr_author import __version__
from lmr_author.authoring.recording.calls import RecordedCall, coverage
from lmr_author.authoring.recording.checkers import compact, digests
from lmr_author.authoring.recording.page import write_page
from lmr_author.authoring.recording.prove import Proof
from lmr_author.authoring.recording.run import Recorded, Run
from lmr_author.authoring.recording.uncompared import Uncompared
from lmr_author.core import files, resources
from lmr_author.core.code import FunctionNode
from lmr_author.core.task import Implementation, Task, TaskInfo
from lmr_author.core.task.recording import MANIFEST, SUPPORT, Case, RecordedTarget, Recording, load
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
    documents = [
        (
            replaying.load_document(call.folder, "inputs"),
            replaying.load_document(call.folder, "expected"),
        )
        for call in proof.chosen
    ]
    checkers = [call.checkers for call in proof.chosen]
    hits = set[int]().union(*(call.hits for call in proof.chosen))
    with files.staged_folder(folder) as staging:
        recording = Recording(
            target=RecordedTarget(plan.goal_file, plan.qualname, plan.line),
            module=recorded.module,
            sys_path=recorded.sys_path,
            command=plan.driver.shown,
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            tool=__version__,
            versions=proof.versions,
            calls=int(recorded.summary.get("calls", len(recorded.calls))),
            coverage=coverage(hits, recorded.blocks, recorded.absent),
            cases=tuple(
                _store_case(staging, number, call, proof.adds.get(call.number, ""))
                for number, call in enumerate(proof.chosen, 1)
            ),
            support={},
            helpers=digests(plan.helpers, [item for pair in documents for item in pair], checkers),
            cuda_as_cpu=plan.cuda_as_cpu,
            options=options or {},
        )
        effects = [effect.text for effect in uncompared]
        page, needs_support = write_page(implementation, recording, function, documents, plan.nth, effects)
        recording = replace(recording, support={SUPPORT: ""} if needs_support else {})
        files.write_json(staging / MANIFEST, recording.to_json())
    _renew_support(task.unit_test_folder(info))
    files.write_text(task.unit_test(info, implementation), page)
    return load(folder) or recording


def _store_case(staging: Path, number: int, call: RecordedCall, adds: str) -> Case:
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
