"""What lies in a task after a recording: the manifest, the files that it vouches for, and what the tests need."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from lmr_author.core import files, resources
from lmr_author.core.errors import LmrError
from lmr_author.core.task import recording as recorded
from lmr_author.core.task.recording import Case, Coverage, RecordedTarget, Recording
from tests.support import write_files


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """``unit_test/recordings/1`` with one case, beside the support files and a fixture."""
    beside = {recorded.SUPPORT: resources.support_file(), "fixtures.py": "def tokenizer():\n    return 1\n"}
    stored = {
        f"recordings/1/case_1/{name}": name for name in ("inputs.json", "expected.json", "expected.0.npy")
    }
    return write_files(tmp_path / "unit_test", {**beside, **stored}) / "recordings/1"


@pytest.fixture
def recording(folder: Path) -> Recording:
    """The manifest of that folder, as it is stored."""
    digests = {path.name: files.sha256_file(path) for path in (folder / "case_1").iterdir()}
    made = Recording(
        target=RecordedTarget("a.py", "f", 3), module=None, sys_path=("",), command=("python", "run.py"),
        created="2024-01-01", tool="0", versions={"python": "3.11"}, calls=2, coverage=Coverage((3, 4), (5,), (4,)),
        cases=(Case("case_1", 1, 30, digests, {"x": "int"}, "returned", {"value": {"kind": "exact"}}),),
        support={recorded.SUPPORT: resources.support_digest()},
        helpers={"fixtures.py": files.sha256_file(folder.parent.parent / "fixtures.py")},
    )  # fmt: skip
    files.write_json(folder / recorded.MANIFEST, made.to_json())
    return made


def test_a_manifest_is_read_as_it_was_written(folder: Path, recording: Recording) -> None:
    assert recorded.load(folder) == recording
    assert recorded.load(folder.parent) is None


@pytest.mark.parametrize("part", ["target", "cases", "coverage", "support", "sys_path", "calls"])
def test_a_manifest_without_one_of_its_parts_is_none(part: str, folder: Path, recording: Recording) -> None:
    data = recording.to_json()
    del data[part]
    (folder / recorded.MANIFEST).write_text(json.dumps(data))
    with pytest.raises(LmrError, match="not a recording's manifest"):
        recorded.load(folder)


@pytest.mark.parametrize(
    ("changed", "text", "problem"),
    [
        ("case_1/expected.json", "1", "case_1/expected.json was changed"),
        ("case_1/inputs.json", "1", "case_1/inputs.json was changed"),
        ("case_1/expected.0.npy", None, "case_1/expected.0.npy is missing"),
        ("case_1/expected.1.npy", "", "case_1/expected.1.npy was not recorded"),
        ("../../lmr_support.py", "", "lmr_support.py was changed or is missing"),
        ("../../lmr_support.py", None, "lmr_support.py was changed or is missing"),
        ("../../fixtures.py", "", "../../fixtures.py was changed or is missing"),
        ("../../fixtures.py", None, "../../fixtures.py was changed or is missing"),
    ],
)
def test_every_change_of_what_was_recorded_is_found(
    changed: str, text: str | None, problem: str, folder: Path, recording: Recording
) -> None:
    assert recorded.tampered(folder, recording) == []
    if text is None:
        (folder / changed).unlink()
    else:
        (folder / changed).write_text(text)
    (found,) = recorded.tampered(folder, recording)
    assert problem in found


def test_a_case_that_is_gone_lacks_every_file(folder: Path, recording: Recording) -> None:
    shutil.rmtree(folder / "case_1")
    assert len(recorded.tampered(folder, recording)) == 3


def test_a_support_file_of_other_origin_is_found_although_the_manifest_vouches_for_it(
    folder: Path, recording: Recording
) -> None:
    edited = resources.support_file().replace("if problems:", "if False:")
    (folder / "../../lmr_support.py").write_text(edited)
    (problem,) = recorded.tampered(
        folder, replace(recording, support={recorded.SUPPORT: files.sha256_bytes(edited.encode())})
    )
    assert "not a version that lmr-author wrote" in problem


def test_the_support_file_stands_alone_and_is_listed() -> None:
    text = resources.support_file()
    compile(text, recorded.SUPPORT, "exec")
    assert "from ." not in text
    listed = (resources.folder("schemas") / "support.sha256").read_text().split()
    assert listed[-1] == resources.support_digest(), "run scripts/generate-docs"
