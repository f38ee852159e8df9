"""Unit tests as people write them: each file of hand_made/ says in its first line what has to be found.

`# expect: LMR502 LMR507` (or `# expect: nothing`). Drop a file in, and it is a test. A second line
`# files: unit_test/data.pt ranking/x.py` names files that exist besides the good task's. Most look at one of the two
values that the target returns: LMR515 runs only where it is named.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from lmr_author.checks import example_task, example_texts
from lmr_author.checks.registry import ALL_CHECKS
from lmr_author.validation.run import select_checks, validate

FOLDER = Path(__file__).parent / "hand_made"
OF_TESTS = select_checks(select=["LMR5"], ignore=["LMR515"])
WITHOUT_515 = select_checks(ignore=["LMR515"])
CASES = sorted(FOLDER.glob("*.py.txt"))


def _header(text: str, name: str) -> list[str]:
    lines = [line for line in text.splitlines()[:2] if line.startswith(f"# {name}:")]
    words = lines[0].partition(":")[2].split() if lines else []
    return [] if words == ["nothing"] else words


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.name.removesuffix(".py.txt"))
def test_exactly_what_is_expected_is_found(case: Path, tmp_path: Path) -> None:
    text = case.read_text("utf-8")
    task = example_task.write(tmp_path)
    repository = task.root / example_texts.REPOSITORY
    for name in _header(text, "files"):
        (repository / name).parent.mkdir(parents=True, exist_ok=True)
        (repository / name).write_bytes(b"data\n")
    (repository / "unit_test" / "unit_test_1.py").write_text(text, "utf-8")

    expected = _header(text, "expect")

    found = validate([task], ALL_CHECKS if "LMR515" in text else WITHOUT_515).findings

    assert sorted(one.code for one in found) == sorted(expected), [
        f"{one.code} {one.pointer} {one.message}" for one in found
    ]


KNOWN_ALONE = {"LMR502", "LMR503", "LMR504", "LMR513"}
"""What a test says of itself, whatever it tests."""


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.name.removesuffix(".py.txt"))
def test_beside_a_repository_that_is_missing_a_test_is_read_and_nothing_is_invented(
    case: Path, tmp_path: Path
) -> None:
    text = case.read_text("utf-8")
    task = example_task.write(tmp_path)
    shutil.rmtree(task.root / example_texts.REPOSITORY)
    (task.root / example_texts.REPOSITORY).mkdir()
    (task.root / "unit_test").mkdir()
    (task.root / "unit_test" / "unit_test_1.py").write_text(text, "utf-8")
    for name in _header(text, "files"):
        if name.startswith("unit_test/"):
            (task.root / name).parent.mkdir(parents=True, exist_ok=True)
            (task.root / name).write_bytes(b"data\n")

    found = {one.code for one in validate([task], OF_TESTS).findings}

    expected = set(_header(text, "expect"))
    assert found <= expected and expected & KNOWN_ALONE <= found


def test_without_the_repository_what_lies_beside_the_test_is_looked_for(tmp_path: Path) -> None:
    task = example_task.write(tmp_path)
    shutil.rmtree(task.root / example_texts.REPOSITORY)
    (task.root / example_texts.REPOSITORY).mkdir()
    place = task.root / "unit_test" / "unit_test.py"  # not the name that info.json gives
    place.parent.mkdir()
    place.write_text(
        "import json, os\nHERE = os.path.dirname(os.path.abspath(__file__))\n"
        "WANTED = json.load(open(os.path.join(HERE, 'wanted.json')))\n"
        "DATA = json.load(open('data/train.json'))\n"
        "assert DATA == WANTED, 'the repository may have data/'\n"
    )
    (found,) = validate([task], select_checks(select=["LMR508"])).findings
    assert (found.path, found.pointer) == ("unit_test/unit_test.py", "L3") and "wanted.json" in found.message
    (place.parent / "wanted.json").write_text("[1]")
    assert not validate([task], select_checks(select=["LMR508"])).findings


HELPER_TEST = """\
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from helper import check
from ranking.losses import pairwise_loss

result, share = pairwise_loss([0.5, 2.0], [0, 1])
check(abs(result - 0.2014) < 1e-4)
print("Passed")
"""
SWALLOWS = """\
def check(good):
    try:
        assert good
    except AssertionError:
        print('Failed')
"""
SWALLOWS_SOMETHING_ELSE = """\
import json


def version(text):
    try:
        return json.loads(text)
    except Exception:
        return None


def check(good):
    if not good:
        raise SystemExit(1)
"""
HELPERS = {
    "asserts": ("def check(good):\n    assert good\n", []),
    "swallows": (SWALLOWS, ["LMR502"]),
    "swallows something else": (SWALLOWS_SOMETHING_ELSE, []),
}


@pytest.mark.parametrize("name", HELPERS)
def test_helper_modules_are_followed(name: str, tmp_path: Path) -> None:
    text, expected = HELPERS[name]
    task = example_task.write(tmp_path)
    folder = task.root / example_texts.REPOSITORY / "unit_test"
    (folder / "unit_test_1.py").write_text(HELPER_TEST)
    (folder / "helper.py").write_text(text)

    assert [one.code for one in validate([task], WITHOUT_515).findings] == expected


def test_there_are_cases() -> None:
    assert len(CASES) >= 30
