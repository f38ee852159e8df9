"""The manifest of a recording, ``unit_test/recordings/N/recording.json``: written by recording, read by all.

Format: ``schemas/recording.schema.json``.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from lmr_author import files
from lmr_author.errors import LmrError

FORMAT, OLD_FORMAT = "lmr-recording/2", "lmr-recording/1"
MANIFEST = "recording.json"
SUPPORT = "lmr_support.py"
"""File beside the tests with what those need whose values are more than tensors, arrays and plain containers."""
FIXTURES, CHECKERS = "fixtures.py", "checkers.py"
"""Files beside the tests that the annotator may write: what builds objects, and what compares parts."""


@dataclass(frozen=True)
class Case:
    """One recorded call.

    Attributes:
        name: its folder, ``case_1``.
        call: number of the call in the recorded run, from 1.
        bytes: size of its files together.
        files: file name → SHA-256.
        summary: parameter → what it was.
        outcome: ``"returned"`` or ``"raised"``.
        checkers: leaf path → ``{"kind": "allclose", "rtol", "atol"}``; what is not named is compared exactly.
        omitted: attributes of the inputs that could not be stored.
        made: its inputs are not from the run: they were made from recorded or described ones.
    """

    name: str
    call: int
    bytes: int
    files: Mapping[str, str]
    summary: Mapping[str, str]
    outcome: str
    checkers: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    omitted: tuple[Mapping[str, Any], ...] = ()
    made: bool = False


@dataclass(frozen=True)
class Coverage:
    """What of the target the cases execute, in lines of the golden.

    Attributes:
        lines: that are executed.
        missed: that are not.
        never_false: of ``if`` without ``else`` whose condition holds in every case.
    """

    lines: tuple[int, ...]
    missed: tuple[int, ...]
    never_false: tuple[int, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """As it is stored."""
        return {name: list(lines) for name, lines in asdict(self).items()}

    @classmethod
    def from_json(cls, data: Any) -> Coverage:
        """Read what :meth:`to_json` wrote; recordings of before have no ``never_false``."""
        read = (data["lines"], data["missed"], data.get("never_false", ()))
        return cls(*(tuple(int(line) for line in lines) for lines in read))


@dataclass(frozen=True)
class Recording:
    """All cases of one implementation, and how they came about.

    Attributes:
        helpers: of the annotator's own files beside the tests, those that the cases need → SHA-256.
        varied: variations of the recorded inputs were tried too.
    """

    goal_file: str
    qualname: str
    line: int
    module: str | None
    sys_path: tuple[str, ...]
    command: tuple[str, ...]
    created: str
    tool: str
    versions: Mapping[str, str]
    calls: int
    coverage: Coverage
    cases: tuple[Case, ...]
    support: Mapping[str, str]
    helpers: Mapping[str, str] = field(default_factory=dict)
    varied: bool = False

    def to_json(self) -> dict[str, Any]:
        """The document as stored."""
        return {
            "format": FORMAT,
            "target": {"goal_file": self.goal_file, "qualname": self.qualname, "line": self.line},
            "module": self.module,
            "sys_path": list(self.sys_path),
            "command": list(self.command),
            "created": self.created,
            "tool": self.tool,
            "versions": dict(self.versions),
            "calls": self.calls,
            "coverage": self.coverage.to_json(),
            "cases": [
                {**asdict(case), "omitted": [dict(item) for item in case.omitted]} for case in self.cases
            ],
            "support": dict(self.support),
            **({"helpers": dict(self.helpers)} if self.helpers else {}),
            **({"varied": True} if self.varied else {}),
        }

    @classmethod
    def from_json(cls, data: Any) -> Recording:
        """Read a manifest. Raises LmrError when it is not one, or of before."""
        if isinstance(data, dict) and data.get("format") == OLD_FORMAT:
            raise LmrError(f"the recording has the format of an older version ({OLD_FORMAT})", _again(data))
        try:
            target = data["target"]
            return cls(
                goal_file=str(target["goal_file"]),
                qualname=str(target["qualname"]),
                line=int(target["line"]),
                module=data["module"] if data["module"] is None else str(data["module"]),
                sys_path=tuple(str(item) for item in data["sys_path"]),
                command=tuple(str(item) for item in data["command"]),
                created=str(data["created"]),
                tool=str(data["tool"]),
                versions={str(key): str(value) for key, value in data["versions"].items()},
                calls=int(data["calls"]),
                coverage=Coverage.from_json(data["coverage"]),
                cases=tuple(_case(item) for item in data["cases"]),
                support={str(key): str(value) for key, value in data["support"].items()},
                helpers={str(key): str(value) for key, value in data.get("helpers", {}).items()},
                varied=data.get("varied") is True,
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise LmrError(f"{MANIFEST} is not a recording's manifest ({error!r})", "record again") from error


def load(folder: Path) -> Recording | None:
    """The manifest in a recording's folder; None when there is none. Raises LmrError when it is damaged."""
    path = folder / MANIFEST
    return Recording.from_json(files.read_json(path)) if path.is_file() else None


def tampered(folder: Path, recording: Recording) -> list[str]:
    """Files of a recording that are missing, changed or were not recorded, relative to its folder."""
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
    for name, digest in recording.support.items():
        path = folder.parent.parent / Path(name).name
        if not path.is_file() or files.sha256_file(path) != digest:
            problems.append(f"../../{name} was changed or is missing")
    for name, digest in recording.helpers.items():
        path = folder.parent.parent / Path(name).name
        if not path.is_file() or files.sha256_file(path) != digest:
            problems.append(f"../../{name} was changed or is missing; if it is meant to be so, record again")
    return problems


def helper(folder: Path, recording: Recording, name: str) -> Path | None:
    """One of the annotator's own files, None when the cases do not need it. Raises LmrError when it is missing.

    Args:
        folder: the recording's folder.
    """
    if name not in recording.helpers:
        return None
    path = folder.parent.parent / name
    if not path.is_file() or path.is_symlink():
        raise LmrError(
            f"unit_test/{name} is missing, which the recorded cases need",
            "put it back as it was when they were recorded, or record again: lmr-author record --force",
        )
    return path


def _again(manifest: Mapping[str, Any]) -> str:
    """Say how to record again what a manifest of before describes."""
    target, command = manifest.get("target"), manifest.get("command")
    name = f"{target.get('goal_file')}::{target.get('qualname')}" if isinstance(target, dict) else "TARGET"
    words = [str(word) for word in command] if isinstance(command, list) else []
    if words[:2] == ["lmr-author", "record"]:
        return f"record it again: {shlex.join(['lmr-author', 'record', name, '--force', *words[2:]])}"
    return f"record it again: {shlex.join(['lmr-author', 'record', name, '--force', '--', *words])}"


def _case(data: Mapping[str, Any]) -> Case:
    name = str(data["name"])
    if "/" in name or name in {"", ".", ".."}:
        raise ValueError(f"bad case name {name!r}")
    return Case(
        name=name,
        call=int(data["call"]),
        bytes=int(data["bytes"]),
        files={str(key): str(value) for key, value in data["files"].items()},
        summary={str(key): str(value) for key, value in data["summary"].items()},
        outcome=str(data["outcome"]),
        checkers={str(key): dict(value) for key, value in data["checkers"].items()},
        omitted=tuple(dict(item) for item in data["omitted"]),
        made=data.get("made") is True,
    )
