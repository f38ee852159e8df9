"""Put proven cases, their manifest, the unit test and its support file into the task.

The unit test is a page that a reviewer reads, and that fails when it should.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from lmr_author import __version__
from lmr_author.authoring.recording.checkers import compact, digests
from lmr_author.authoring.recording.job import RecordJob
from lmr_author.authoring.recording.run import RecordedCall, RecordedRun
from lmr_author.authoring.recording.selection import SelectedCases
from lmr_author.core import files, resources
from lmr_author.core.task import Implementation
from lmr_author.core.task.recording import (
    FIXTURES,
    MANIFEST,
    SUPPORT,
    Case,
    Coverage,
    RecordedTarget,
    Recording,
    load,
)
from lmr_author.core.texts import printable
from lmr_author.runtime.probe import compare
from lmr_author.runtime.probe.document import Document
from lmr_author.runtime.replay import replaying

TEMPLATE = "unit_test.py.j2"
LINE = 116

Checkers = Mapping[str, Mapping[str, Any]]


def move_to_removed(job: RecordJob) -> tuple[str, ...]:
    """Move an earlier recording and test to ``authoring/removed/``; nothing is overwritten."""
    earlier = (job.recording_folder, job.task.unit_test(job.info, job.implementation))
    return tuple(job.task.move_to_removed(path) for path in earlier if path.exists())


def store(
    job: RecordJob, recorded: RecordedRun, selected: SelectedCases, uncompared: Sequence[str]
) -> Recording:
    """Write ``recordings/N/`` whole or not at all, then the test; neither must exist yet."""
    task, info = job.task, job.info
    with files.staged_folder(job.recording_folder) as staging:
        cases = [
            store_case(staging, number, call, selected.adds[call.number])
            for number, call in enumerate(selected.calls, 1)
        ]
        covered = recorded.coverage(frozenset().union(*(call.hits for call in selected.calls)))
        options = job.options.unusual
        recording = recording_of(staging, job, recorded, cases, covered, selected.versions, options)
        page = write_manifest(staging, job, recording, uncompared)
    renew_support(task.unit_test_folder(info))
    files.write_text(task.unit_test(info, job.implementation), page)
    return load(job.recording_folder) or recording


def recording_of(
    folder: Path,
    job: RecordJob,
    recorded: RecordedRun,
    cases: Sequence[Case],
    covered: Coverage,
    versions: Mapping[str, str],
    options: Mapping[str, object],
) -> Recording:
    """Return the manifest of cases that lie in a folder."""
    documents = _documents(folder, cases)
    return Recording(
        target=RecordedTarget(job.goal_file, job.qualname, job.definition.line),
        module=recorded.summary.module,
        sys_path=recorded.summary.sys_path,
        command=job.driver.shown,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        tool=__version__,
        versions=versions,
        calls=recorded.summary.calls,
        coverage=covered,
        cases=tuple(cases),
        support={SUPPORT: resources.support_digest()},
        helpers=digests(job.helpers, [document for pair in documents for document in pair]),
        cuda_as_cpu=job.options.cuda_as_cpu,
        options=options,
    )


def write_manifest(folder: Path, job: RecordJob, recording: Recording, uncompared: Sequence[str]) -> str:
    """Write the manifest of cases that lie in a folder; return the text of their unit test."""
    files.write_json(folder / MANIFEST, recording.to_json())
    return write_page(job.implementation, recording, job.nth, uncompared)


def _documents(folder: Path, cases: Sequence[Case]) -> list[tuple[Document, Document]]:
    load_document, folders = replaying.load_document, [folder / case.name for case in cases]
    return [(load_document(path, "inputs"), load_document(path, "expected")) for path in folders]


def store_case(staging: Path, number: int, call: RecordedCall, adds: str = "") -> Case:
    """Copy what belongs to a case, nothing else that lies in the recorder's folder."""
    target = staging / f"case_{number}"
    target.mkdir()
    for path in [*call.folder.glob("inputs.*"), *call.folder.glob("expected.*")]:
        if path.is_file() and not path.is_symlink():
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
        made_of=call.made_of,
    )


def renew_support(unit_test: Path) -> None:
    """Write the support file, which all tests of a task share, or remove it where no recording is left."""
    recordings = sorted((unit_test / "recordings").glob(f"*/{MANIFEST}"))
    for path in recordings:
        recording = Recording.from_json(files.read_json(path))
        files.write_json(path, replace(recording, support={SUPPORT: resources.support_digest()}).to_json())
    if recordings:
        files.write_text(unit_test / SUPPORT, resources.support_file())
    else:
        (unit_test / SUPPORT).unlink(missing_ok=True)


# the unit test


def write_page(
    implementation: Implementation, recording: Recording, nth: int = 0, uncompared: Sequence[str] = ()
) -> str:
    """Return the text of an implementation's unit test, of one form in all tasks.

    The same recording gives the same text. The test runs under pytest and as a script from the repository's root, exits
    with 1 when a case differs, and writes the ``Passed``/``Failed`` line that LMR-Bench's scripts look for.

    Args:
        nth: number of the definition among those of the target's name, where the file has several; else 0. A line would
            not do: it moves when another function of the file is masked.
    """
    import jinja2

    environment = jinja2.Environment(
        undefined=jinja2.StrictUndefined, keep_trailing_newline=True, autoescape=False, trim_blocks=True
    )
    environment.filters["repr"] = repr
    common = _common_checkers(recording.cases)
    cases = []
    for case in recording.cases:
        own = {path: checker for path, checker in case.checkers.items() if path not in common}
        cases.append((case.name, _comment(case), _lines(own)))
    return environment.from_string(resources.template(TEMPLATE)).render(
        index=implementation.index,
        target=str(implementation.target),
        goal_file=recording.target.goal_file,
        qualname=recording.target.qualname,
        name=recording.target.qualname.rpartition(".")[2].strip("_") or "target",
        module=recording.module,
        sys_path=list(recording.sys_path),
        nth=nth,
        command=_in_docstring(" ".join(recording.command)),
        uncompared=[_in_docstring(printable(effect)) for effect in uncompared],
        everywhere=_lines(common),
        cases=cases,
        support=SUPPORT.removesuffix(".py"),
        fixtures=FIXTURES if FIXTURES in recording.helpers else "",
        cuda_as_cpu=recording.cuda_as_cpu,
    )


def _common_checkers(cases: Sequence[Case]) -> dict[str, Any]:
    first, *others = [case.checkers for case in cases]
    common = dict(first) if others else {}
    for other in others:
        common = {path: checker for path, checker in common.items() if other.get(path) == checker}
    return common


def _lines(checkers: Checkers) -> list[str]:
    lines = []
    for path, checker in checkers.items():
        shown = {**checker}
        reason = shown.pop("reason", "")
        words = ("not compared" if checker["kind"] == "ignore" else "", _IN_WORDS.get(path, ""), reason)
        lines.append(f"{path!r}: {shown!r},{_comment_after(': '.join(filter(None, words)))}")
    return lines


_IN_WORDS = {compare.DEFAULT: "every float that is not named", compare.GRADS: ".grad of every tensor"}


def _in_docstring(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"""', "'''")


def _comment(case: Case) -> str:
    adds = f": {case.adds}" if case.adds else ""
    return _comment_after(f"{case.origin}{adds}")


def _comment_after(text: str) -> str:
    return f"  # {textwrap.shorten(printable(text), LINE - 16, placeholder=' …')}" if text else ""
