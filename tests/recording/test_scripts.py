"""Goal files that are scripts: they read a command line, or run a program, while they are imported."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from lmr_author import resources
from lmr_author.errors import LmrError
from lmr_author.masking import MaskOptions, mask
from lmr_author.recording.record import RecordOptions, record
from tests.support import make_task, write_files

PARSES = """\
import argparse

parser = argparse.ArgumentParser()
parser.add_argument("--rate", type=float, default=2.0)
args = parser.parse_args()


def scale(x):
    return x * args.rate
"""
RUNS = """\
import sys


def scale(x):
    return x * 2


rate = float(sys.argv[1])
for x in (1.0, rate):
    print(scale(x))
"""


@pytest.mark.parametrize(
    ("module", "request_of"),
    [
        ("examples", {"examples": ["scale(3)"]}),
        ("calls", {"qualname": "scale", "nth": 0, "module": "train", "sys_path": [""], "cases": []}),
    ],
)
def test_a_file_that_parses_the_command_line_sees_none_of_ours(
    module: str, request_of: dict[str, object], tmp_path: Path
) -> None:
    (tmp_path / "train.py").write_text(PARSES)
    (tmp_path / "request.json").write_text(json.dumps({"goal_file": "train.py", **request_of}))

    run = subprocess.run(
        [sys.executable, "-m", f"{resources.probe_folder().name}.drivers", module, "request.json"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(resources.probe_folder().parent)},
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert (run.returncode, run.stderr) == (0, "")


@pytest.mark.bwrap
def test_a_file_that_cannot_be_imported_is_no_matter_of_inputs(tmp_path: Path) -> None:
    """Its calls are recorded; nothing that the driver passes makes them replay."""
    task = make_task(tmp_path)
    (task.root / "small-repo" / "train.py").write_text(RUNS)
    mask(task, MaskOptions(("train.py::scale",)), task.root)
    options = RecordOptions("train.py::scale", ("python", "train.py", "3"))

    with pytest.raises(LmrError, match=r"scale was called, but no test can do that.*IndexError") as caught:
        record(task, options, task.root, lambda _: None)

    assert "choose a function of a file that does not run a program" in caught.value.hint


@pytest.mark.bwrap
@pytest.mark.parametrize(
    ("folder", "words"), [("src", ()), ("code", ("PYTHONPATH=code",))], ids=["src", "told by the command"]
)
def test_a_package_that_lies_in_a_folder_of_its_own_is_found(
    folder: str, words: tuple[str, ...], tmp_path: Path
) -> None:
    """As it is where the package is installed: drivers and tests import it by its name."""
    task = make_task(tmp_path)
    files = {
        f"{folder}/apart/__init__.py": "",
        f"{folder}/apart/sizes.py": "def twice(x):\n    return x * 2\n",
    }
    write_files(task.root / "small-repo", files)
    write_files(tmp_path, {"driver.py": "from apart.sizes import twice\n\nfor x in (1, -2):\n    twice(x)\n"})
    target = f"{folder}/apart/sizes.py::twice"
    mask(task, MaskOptions((target,)), task.root)

    made = record(task, RecordOptions(target, (*words, "python", "driver.py")), tmp_path, lambda _: None)

    assert len(made.recording.cases) == 2
