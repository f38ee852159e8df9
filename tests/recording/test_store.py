"""What lies in a task after a recording: the manifest, the files that it vouches for, and what the tests need."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from lmr_author import files, recorded, resources
from lmr_author.errors import LmrError
from lmr_author.recorded import Case, Coverage, Recording
from lmr_author.recording.store import ONLY_FOR_RUNNING, install_support, renew_support


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """``unit_test/recordings/1`` with one case, beside the support files and a fixture."""
    place = tmp_path / "unit_test" / "recordings" / "1"
    (place / "case_1").mkdir(parents=True)
    for name in ("inputs.json", "expected.json", "expected.safetensors"):
        (place / "case_1" / name).write_text(name)
    (tmp_path / "unit_test" / "fixtures.py").write_text("def tokenizer():\n    return 1\n")
    return place


@pytest.fixture
def recording(folder: Path) -> Recording:
    """The manifest of that folder, as it is stored."""
    digests = {path.name: files.sha256_file(path) for path in (folder / "case_1").iterdir()}
    made = Recording(
        goal_file="a.py",
        qualname="f",
        line=3,
        module=None,
        sys_path=("",),
        command=("python", "run.py"),
        created="2024-01-01",
        tool="0",
        versions={"python": "3.11"},
        calls=2,
        coverage=Coverage((3, 4), (5,), (4,)),
        cases=(Case("case_1", 1, 30, digests, {"x": "int"}, "returned", {"value": {"kind": "exact"}}),),
        support=install_support(folder.parent.parent / recorded.SUPPORT),
        helpers={"fixtures.py": files.sha256_file(folder.parent.parent / "fixtures.py")},
    )
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
    ("change", "problem"),
    [
        (lambda place: None, None),
        (lambda place: (place / "case_1/expected.json").write_text("1"), "case_1/expected.json was changed"),
        (lambda place: (place / "case_1/inputs.json").write_text("1"), "case_1/inputs.json was changed"),
        (lambda place: (place / "case_1/expected.safetensors").unlink(), "case_1/expected.safetensors is missing"),
        (lambda place: (place / "case_1/expected.1.npy").write_text(""), "case_1/expected.1.npy was not recorded"),
        (lambda place: (place.parent.parent / "lmr_probe/keys.py").write_text(""), "lmr_probe/keys.py was changed"),
        (lambda place: (place.parent.parent / "lmr_probe/codec.py").unlink(), "lmr_probe/codec.py was changed or is"),
        (lambda place: (place.parent.parent / "fixtures.py").write_text(""), "../../fixtures.py was changed or is"),
        (lambda place: (place.parent.parent / "fixtures.py").unlink(), "../../fixtures.py was changed or is missing"),
    ],
)  # fmt: skip
def test_every_change_of_what_was_recorded_is_found(
    change: Callable[[Path], object], problem: str | None, folder: Path, recording: Recording
) -> None:
    change(folder)
    found = recorded.tampered(folder, recording)
    assert len(found) == (problem is not None)
    assert problem is None or problem in found[0]


def test_a_case_that_is_gone_lacks_every_file(folder: Path, recording: Recording) -> None:
    shutil.rmtree(folder / "case_1")
    assert len(recorded.tampered(folder, recording)) == 3


def test_the_support_files_are_those_that_a_test_needs_and_no_others(tmp_path: Path) -> None:
    place = tmp_path / "lmr_probe"
    (place / "__pycache__").mkdir(parents=True)
    (place / "codec.py").write_text("of another version")
    digests = install_support(place)
    source = {path.name: path.read_bytes() for path in resources.probe_folder().glob("*.py")}
    assert digests.keys() == source.keys() - ONLY_FOR_RUNNING
    assert source.keys() > ONLY_FOR_RUNNING
    assert {path.name: path.read_bytes() for path in place.iterdir()} == {
        name: source[name] for name in digests
    }
    assert digests == {name: files.sha256_bytes(source[name]) for name in digests}
    assert install_support(place) == digests


def test_newer_support_files_are_those_of_every_recording(folder: Path, recording: Recording) -> None:
    other = folder.parent / "2"
    shutil.copytree(folder, other)
    files.write_json(other / recorded.MANIFEST, replace(recording, support={"codec.py": "old"}).to_json())
    (folder.parent / "3").mkdir()
    before = (folder / recorded.MANIFEST).stat().st_mtime_ns
    renew_support(folder.parent, recording.support)
    assert recorded.load(other) == recording
    assert (folder / recorded.MANIFEST).stat().st_mtime_ns == before, "it was right already"
