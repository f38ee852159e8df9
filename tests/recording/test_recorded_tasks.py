"""Commands that record refuses, recordings that it replaces, and drivers from elsewhere."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lmr_author.errors import LmrError
from lmr_author.masking import MaskOptions, mask
from lmr_author.recording.record import RecordOptions, record
from tests.pipeline import HINGE, only_hinge, quiet, recorded, run_gates
from tests.support import make_task, write_files

pytestmark = pytest.mark.bwrap


@pytest.mark.parametrize(
    ("driver", "message", "hint"),
    [
        ("import pkg\n", "never called pkg/losses.py::hinge", "pkg/__init__.py"),
        ("raise ValueError('no data')\n", "failed before it called", "ValueError: no data"),
        (
            "raise ValueError('numpy.dtype size changed, may indicate binary')\n",
            "numpy.dtype size changed",
            "`lmr-author env local '--with=numpy<2'`",
        ),
        ("import helper\n", "No module named 'helper'", "helper lies in tools/ of the repository"),
        (
            "from pkg.losses import hinge\ntry:\n    hinge(lambda: 1)\nexcept TypeError: pass\n",
            "could be stored",
            "unit_test/fixtures.py",
        ),
    ],
    ids=["not called", "died", "environment", "import", "not stored"],
)
def test_a_command_that_cannot_be_recorded(tmp_path: Path, driver: str, message: str, hint: str) -> None:
    task = only_hinge(tmp_path)
    root = task.root / "small-repo"
    write_files(root, {"drive.py": driver, "tools/helper.py": ""})
    with pytest.raises(LmrError) as caught:
        record(task, RecordOptions(HINGE, ("python", "drive.py")), task.root, quiet)
    assert message in caught.value.message
    assert hint in caught.value.hint + caught.value.message
    assert list((root / "unit_test").iterdir()) == []


def test_a_recording_is_not_replaced_without_force(tmp_path: Path) -> None:
    task = only_hinge(tmp_path)
    recorded(task)
    manifest = task.root / "small-repo/unit_test/recordings/1/recording.json"
    before = manifest.read_bytes()
    with pytest.raises(LmrError, match="has a recording already"):
        recorded(task)
    assert manifest.read_bytes() == before
    again = recorded(task, HINGE, cases=2, force=True)
    assert len(again.recording.cases) == 2
    assert (
        task.authoring / "removed/small-repo/unit_test/recordings/1/recording.json"
    ).read_bytes() == before
    assert run_gates(task).passed


def test_a_function_whose_result_its_inputs_do_not_determine(tmp_path: Path) -> None:
    task = make_task(tmp_path)
    losses = task.root / "small-repo/pkg/losses.py"
    losses.write_bytes(
        losses.read_bytes().replace(
            b"    gap = margin",
            b"    import time\n    margin += time.perf_counter_ns() % 9973\n    gap = margin",
        )
    )
    mask(task, MaskOptions((HINGE,)), task.root)
    with pytest.raises(LmrError, match="no recorded call of hinge reproduces") as caught:
        recorded(task)
    assert "no argument" in caught.value.hint


def test_a_driver_outside_the_repository_and_its_arguments(tmp_path: Path) -> None:
    task = only_hinge(tmp_path)
    outside = tmp_path / "scratch"
    outside.mkdir()
    (outside / "helper.py").write_text("VALUES = (0.25, 4.0)\n")
    (outside / "driver.py").write_text(
        "import sys\nfrom helper import VALUES\nfrom pkg.losses import hinge\n"
        "for x in VALUES:\n    hinge(x, margin=float(sys.argv[1]))\n"
    )
    result = record(task, RecordOptions(HINGE, ("python", "driver.py", "2.5")), outside, quiet)
    assert result.recording.command == ("python", "driver.py", "2.5")
    assert str(tmp_path) not in (task.root / "small-repo/unit_test/recordings/1/recording.json").read_text()
    values = json.loads((task.root / "small-repo/unit_test/recordings/1/case_1/inputs.json").read_text())
    assert "2.5" in json.dumps(values)
