"""The manifest of a recording, ``unit_test/recordings/N/recording.json``: written by recording, read by all.

Format: ``schemas/recording.schema.json``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal

import msgspec

from lmr_author.core import files, resources
from lmr_author.core.errors import LmrError
from lmr_author.core.task.record import Count, Digest, Index, Record, Text, Time

MANIFEST = "recording.json"
SUPPORT = "lmr_support.py"
"""File beside the tests with what those need whose values are more than tensors, arrays and plain containers."""
FIXTURES = "fixtures.py"
"""File beside the tests that the annotator may write: what builds objects."""
FIXTURE_FILES = "fixture_files"
"""The folder beside them with what the fixtures read."""

_HELPERS = {"propertyNames": {"pattern": rf"^(fixtures\.py|{FIXTURE_FILES}/.+)$"}}
_CHECKER = {
    "required": ["kind"],
    "properties": {
        "kind": {
            "title": "Kind",
            "minLength": 1,
            "description": "exact, allclose, set or ignore.",
        },
        "rtol": {
            "title": "Relative tolerance",
            "type": "number",
            "minimum": 0,
            "description": "allowed relative difference (allclose).",
        },
        "atol": {
            "title": "Absolute tolerance",
            "type": "number",
            "minimum": 0,
            "description": "allowed absolute difference (allclose).",
        },
        "reason": {
            "title": "Reason",
            "type": "string",
            "description": "why the part is compared like this, or not at all.",
        },
    },
}


def call_in_words(call: int, made_of: str) -> str:
    """Return ``call 3``, or what a generated call was made of."""
    return f"made of {made_of}" if made_of else f"call {call}"


@dataclass(frozen=True)
class Case(Record):
    """One recorded call, or one that was generated.

    Attributes:
        name: its folder, ``case_1``.
        call: number of the call in the recorded run, from 1; generated ones are numbered on.
        bytes: size of its files together.
        files: SHA-256 of each of its files, by name.
        summary: description of each argument, by parameter, as in "tensor float32 [4]".
        outcome: "returned" or "raised".
        checkers: comparison of each leaf of the result, by its path; a leaf without one is compared exactly.
        omitted: attributes of the inputs that could not be stored.
        adds: what sets the case apart from the others.
        made_of: the recorded calls that a generated one was made of, in words; "" for a recorded one.
    """

    name: Annotated[str, msgspec.Meta(pattern="^case_[0-9]+$")]
    call: Count
    bytes: Count
    files: Mapping[str, Digest]
    summary: Mapping[str, str]
    outcome: Annotated[str, msgspec.Meta(pattern="^(returned|raised)$")]
    checkers: Mapping[str, Annotated[Mapping[str, Any], msgspec.Meta(extra_json_schema=_CHECKER)]] = field(
        default_factory=dict
    )
    omitted: tuple[Mapping[str, Any], ...] = ()
    adds: str = ""
    made_of: str = ""

    @property
    def origin(self) -> str:
        return call_in_words(self.call, self.made_of)


@dataclass(frozen=True)
class Coverage(Record):
    """Lines of the golden that the cases execute.

    Attributes:
        lines: executed lines of the target.
        missed: lines of the target that no case executes.
        never_false: lines of an ``if`` without ``else`` whose condition holds in every case.
    """

    lines: tuple[Index, ...]
    missed: tuple[Index, ...]
    never_false: tuple[Index, ...] = ()


@dataclass(frozen=True)
class RecordedTarget:
    """The recorded function.

    Attributes:
        goal_file: its file, relative to the repository.
        qualname: function or Class.method.
        line: line of its definition in the golden.
    """

    goal_file: Text
    qualname: Text
    line: Index


@dataclass(frozen=True, kw_only=True)
class Recording(Record):
    """All cases of one implementation, and their origin: ``unit_test/recordings/<index>/recording.json``.

    Attributes:
        format: version of this document.
        target: the recorded function.
        module: name under which the driver imported the goal file; null when it was run as a script.
        sys_path: folders in which the driver's imports were found, relative to the repository.
        command: program and arguments of the driver.
        created: time of the recording (RFC 3339).
        tool: version of lmr-author.
        versions: versions of the interpreter and of the packages in use.
        calls: number of calls of the target that the driver made.
        coverage: lines of the golden that the cases execute.
        cases: the stored calls.
        support: SHA-256 of each file of ``unit_test/`` that replays the cases.
        helpers: SHA-256 of the annotator's own files in ``unit_test/`` that the cases need.
        cuda_as_cpu: true if code that requires a GPU runs on the CPU.
        options: options of `record` with unusual values, by name.
    """

    format: Literal["lmr-recording/2"] = "lmr-recording/2"
    target: RecordedTarget
    module: str | None
    sys_path: tuple[str, ...]
    command: tuple[str, ...]
    created: Time
    tool: Text
    versions: Mapping[str, str]
    calls: Count
    coverage: Coverage
    cases: tuple[Case, ...]
    support: Mapping[str, Annotated[str, msgspec.Meta(pattern="^([0-9a-f]{64})?$")]]
    helpers: Annotated[Mapping[str, Digest], msgspec.Meta(extra_json_schema=_HELPERS)] = field(
        default_factory=dict
    )
    cuda_as_cpu: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def from_json(cls, data: object) -> Recording:
        try:
            return super().from_json(data)
        except LmrError as error:
            raise LmrError(
                f"{MANIFEST} is not a recording's manifest: {error.message}",
                "record again: lmr-author record --force",
            ) from error


def load(folder: Path) -> Recording | None:
    """Read the manifest in a recording's folder; None without one. Raises LmrError when it is damaged."""
    path = folder / MANIFEST
    return Recording.from_json(files.read_json(path)) if path.is_file() else None


def tampered(folder: Path, recording: Recording) -> list[str]:
    """List the files of a recording that are missing, changed or were not recorded, relative to its folder."""
    problems = []
    for case in recording.cases:
        here = folder / case.name
        for name, digest in case.files.items():
            path = here / Path(name).name
            if not path.is_file():
                problems.append(f"{case.name}/{name} is missing")
            elif files.sha256_file(path) != digest:
                problems.append(f"{case.name}/{name} was changed")
        present = {path.name for path in here.iterdir()} if here.is_dir() else set()
        problems += [f"{case.name}/{name} was not recorded" for name in sorted(present - set(case.files))]
    if not all(map(resources.is_known_support, recording.support.values())):
        problems.append(f"../../{SUPPORT} is not a version that lmr-author wrote; record again")
    beside = {**recording.support, **recording.helpers}
    for name, digest in beside.items():
        path = folder.parent.parent.joinpath(
            *(part for part in PurePosixPath(name).parts if part not in ("..", "/"))
        )
        if not path.is_file() or files.sha256_file(path) != digest:
            advice = "; if that was intended, record again" if name in recording.helpers else ""
            problems.append(f"../../{name} was changed or is missing{advice}")
    return problems


def helper(folder: Path, recording: Recording, name: str) -> Path | None:
    """Return one of the annotator's own files, None if the cases do not need it. Raises LmrError when it is missing."""
    if name not in recording.helpers:
        return None
    path = folder.parent.parent / name
    if not path.is_file() or path.is_symlink():
        raise LmrError(
            f"unit_test/{name} is missing, but the recorded cases need it",
            "restore the recorded version, or record again: lmr-author record --force",
        )
    return path
