"""LMR512: recordings are untouched."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from lmr_author.checks.base import Check, Example
from lmr_author.checks.example_texts import REPOSITORY
from lmr_author.checks.view import TaskView
from lmr_author.files import sha256_bytes, sha256_file
from lmr_author.model import Finding
from lmr_author.recorded import SUPPORT

RECORDING = f"{REPOSITORY}/unit_test/recordings/1"


def _manifest(digest: str | None) -> str:
    data: dict[str, Any] = {
        "format": "lmr-recording/1",
        "target": {"goal_file": "ranking/losses.py", "qualname": "pairwise_loss", "line": 11},
        "module": "ranking.losses",
        "sys_path": [""],
        "command": ["python", "driver.py"],
        "created": "2025-01-01T00:00:00Z",
        "tool": "0.1.0",
        "versions": {"python": "3.11.10"},
        "calls": 1,
        "coverage": {"lines": [20], "missed": []},
        "cases": [
            {
                "name": "case_1",
                "call": 1,
                "bytes": 3,
                "files": {"inputs.json": digest} if digest else {},
                "summary": {"scores": "list [3]"},
                "outcome": "returned",
                "checkers": {"": {"kind": "exact"}},
                "omitted": [],
            }
        ],
        "support": {},
    }
    return json.dumps(data, indent=2) + "\n"


class RecordingsUntouched(Check):
    code = "LMR512"
    title = "recordings are what recording.json says"
    rationale = (
        "Expected values that were edited by hand, or half of a recording, make a test that no golden run"
        " ever confirmed."
    )
    failing = (
        Example(
            "a case was edited",
            files={
                f"{RECORDING}/recording.json": _manifest("0" * 64),
                f"{RECORDING}/case_1/inputs.json": "{}\n",
            },
        ),
        Example("a file is missing", files={f"{RECORDING}/recording.json": _manifest("0" * 64)}),
        Example("the manifest is no JSON", files={f"{RECORDING}/recording.json": "{"}),
        Example(
            "the manifest is missing",
            files={
                f"{RECORDING}/case_1/inputs.json": "{}\n",
                f"{REPOSITORY}/unit_test/{SUPPORT}/replay.py": "",
            },
        ),
    )
    passing = (
        Example("somebody's own folder of that name", files={f"{RECORDING}/case_1/inputs.json": "{}\n"}),
        Example(
            "as recorded",
            files={
                f"{RECORDING}/recording.json": _manifest(sha256_bytes(b"{}\n")),
                f"{RECORDING}/case_1/inputs.json": "{}\n",
            },
        ),
    )

    def run(self, view: TaskView) -> Iterator[Finding]:
        """One finding for each file that differs, and for each manifest that cannot be used."""
        if view.repository is None:
            return
        folder = view.repository / "unit_test" / "recordings"
        prefix = view.relative_raw(folder) + "/"
        ours = bool(view.below(view.relative_raw(folder.parent / SUPPORT)))
        recorded = view.below(view.relative_raw(folder))
        numbers = sorted({entry.relative[len(prefix) :].partition("/")[0] for entry in recorded})
        for number in numbers:
            place = folder / number / "recording.json"
            data = view.read_bytes(place)
            inside = any(entry.relative.startswith(f"{prefix}{number}/case_") for entry in recorded)
            if data is None:
                if inside and ours:
                    yield self.finding(
                        view,
                        "recording.json is missing",
                        "record again: `lmr-author record`",
                        path=folder / number,
                    )
                continue
            yield from self._manifest(view, place, data)

    def _manifest(self, view: TaskView, place: Any, data: bytes) -> Iterator[Finding]:
        try:
            manifest = json.loads(data)
            cases = [(str(case["name"]), dict(case["files"])) for case in manifest["cases"]]
            support = dict(manifest.get("support") or {})
            helpers = dict(manifest.get("helpers") or {})
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            yield self.finding(
                view, "recording.json cannot be read", "record again: `lmr-author record`", path=place
            )
            return
        wanted = [
            (place.parent / name / file, digest) for name, files in cases for file, digest in files.items()
        ]
        wanted += [
            (place.parent.parent.parent / SUPPORT / str(file), digest) for file, digest in support.items()
        ]
        wanted += [(place.parent.parent.parent / str(file), digest) for file, digest in helpers.items()]
        for path, digest in wanted:
            if ".." in path.parts or view.inside(view.task.root, view.relative_raw(path)) is None:
                yield self.finding(
                    view, "recording.json names a file outside of the recording", "record again", path=place
                )
            elif not view.is_file(path):
                yield self.finding(
                    view, f"{view.relative(path)} is missing", "record again: `lmr-author record`", path=place
                )
            elif sha256_file(path) != digest:
                yield self.finding(
                    view, "differs from what was recorded", "record again: `lmr-author record`", path=path
                )
