"""Files that a test opens by way of functions of its own: what they are given is no path by itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from lmr_author.checks import example_task
from lmr_author.checks.tests_outcome import CALL, START, TEST
from lmr_author.validation.run import select_checks, validate

LOAD = (
    "import json\n\n\ndef load(name):\n    with open(os.path.join(HERE, 'data', name)) as file:\n"
    "        return json.load(file)\n\n\n"
)
BY_STEPS = LOAD.replace(
    "    with open(os.path.join(HERE, 'data', name)) as file:\n",
    "    path = os.path.join(HERE, 'data')\n    path_of_it = os.path.join(path, name + '.json')\n"
    "    with open(path_of_it) as file:\n",
)
METHOD = (
    "class Files:\n    def load(self, name):\n        return open(os.path.join(HERE, 'data', name)).read()\n\n"
    "    def both(self):\n        return self.load('expected.json')\n\n\n"
)
USE = "def main():\n" + CALL + "    assert (loss, share) == {read}\n\n\nmain()\n"
SAID = {
    "a function": (LOAD, "load('expected.json')"),
    "by its keyword": (LOAD, "load(name='expected.json')"),
    "in steps": (BY_STEPS, "load('expected')"),
    "a method": (METHOD, "Files().both()"),
    "a library's function of that name": (
        "from torch import load\n",
        "load(os.path.join(HERE, 'data', 'expected.json'))",
    ),
}


def _missing(folder: Path, test: str, *, there: bool) -> list[str]:
    task = example_task.write(folder)
    (task.root / TEST).write_text(START + test, "utf-8")
    data = (task.root / TEST).parent / "data"
    data.mkdir()
    (data / ("expected.json" if there else "other.json")).write_text("[1.0599649, 0.6666667]", "utf-8")
    return [one.message for one in validate([task], select_checks(select=["LMR508"])).findings]


@pytest.mark.parametrize(("before", "read"), SAID.values(), ids=SAID)
def test_a_file_that_is_there_is_not_missed(before: str, read: str, tmp_path: Path) -> None:
    assert _missing(tmp_path, before + USE.format(read=read), there=True) == []


@pytest.mark.parametrize(("before", "read"), SAID.values(), ids=SAID)
def test_one_that_is_not_there_is(before: str, read: str, tmp_path: Path) -> None:
    found = _missing(tmp_path, before + USE.format(read=read), there=False)
    assert [one for one in found if "expected.json" in one], found
