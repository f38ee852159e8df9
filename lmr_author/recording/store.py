"""Put proven cases, their manifest and the test's support files into the task."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from lmr_author import __version__, files, resources
from lmr_author.recorded import MANIFEST, Case, Coverage, Recording, load
from lmr_author.recording.choose import Proven
from lmr_author.recording.drive import Drive, Recorded
from lmr_author.recording.prove import Proof

ONLY_FOR_RUNNING = frozenset(
    {"__main__.py", "calling.py", "child.py", "children.py", "driver.py", "examples.py", "facts.py", "frames.py",
     "given.py", "importing.py", "judge.py", "near.py", "pool.py", "recorder.py", "replayer.py", "suite.py",
     "summary.py", "watching.py", "wrapping.py"}
)  # fmt: skip
"""Parts of the probe that record or serve a replay; a test needs the others."""


def store(
    folder: Path,
    plan: Drive,
    recorded: Recorded,
    proof: Proof,
    coverage: Coverage,
    support: Mapping[str, str],
    helpers: Mapping[str, str],
) -> Recording:
    """Write ``recordings/N/`` whole or not at all; it must not exist yet.

    Args:
        folder: the recording's folder.
        plan, recorded: how it was made.
        proof: the chosen calls, in order, and the versions of what ran them.
        coverage: what of the target the cases execute.
        support: digests of the support files (see :func:`install_support`).
        helpers: digests of the annotator's own files that the cases need.
    """
    with files.staged_folder(folder) as staging:
        cases = tuple(_store_case(staging, number, item) for number, item in enumerate(proof.chosen, 1))
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
            cases=cases,
            support=support,
            helpers=helpers,
        )
        files.write_json(staging / MANIFEST, recording.to_json())
    return recording


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


def install_support(folder: Path) -> dict[str, str]:
    """Copy the probe beside the tests, which then need nothing of ours installed; returns digests by name."""
    source = resources.probe_folder()
    folder.mkdir(parents=True, exist_ok=True)
    digests = {}
    for path in sorted(source.glob("*.py")):
        if path.name in ONLY_FOR_RUNNING:
            continue
        data = path.read_bytes()
        target = folder / path.name
        if not target.is_file() or target.read_bytes() != data:
            files.write_bytes(target, data)
        digests[path.name] = files.sha256_bytes(data)
    shutil.rmtree(folder / "__pycache__", ignore_errors=True)
    return digests


def renew_support(recordings: Path, support: Mapping[str, str]) -> None:
    """Write the digests of newly installed support files into every recording of a task.

    All tests of a task share one support folder: one made by a newer version of this tool serves the
    older recordings too, whose format it reads.
    """
    for path in sorted(recordings.glob(f"*/{MANIFEST}")):
        recording = load(path.parent)
        if recording is not None and dict(recording.support) != dict(support):
            files.write_json(path, replace(recording, support=support).to_json())
