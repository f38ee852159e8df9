"""Who asks for gradients is told when no case has any."""

from __future__ import annotations

from pathlib import Path

import pytest

from lmr_author.masking import MaskOptions, mask
from lmr_author.recording.record import NO_GRADIENTS, RecordOptions, record
from tests.evaluation.foreign import PLAIN_PYTHON
from tests.support import make_task, write_files
from tests.workflow.pipeline.running import HINGE, only_hinge, quiet

pytestmark = pytest.mark.bwrap


def test_no_case_has_any(tmp_path: Path) -> None:
    told: list[str] = []
    task = only_hinge(tmp_path)
    options = RecordOptions(HINGE, ("python", "run.py"), python=PLAIN_PYTHON, gradients=True)
    record(task, options, task.root, quiet, tell=told.append)
    assert NO_GRADIENTS in told
    assert all(line.startswith(("note: ", "recording ")) for line in told), "they are shown as they are"

    told.clear()
    record(task, RecordOptions(HINGE, ("python", "run.py"), python=PLAIN_PYTHON, force=True), task.root, quiet,
           tell=told.append)  # fmt: skip
    assert NO_GRADIENTS not in told, "nobody asked"


@pytest.mark.torch
@pytest.mark.timeout(300)
def test_a_case_has_some(tmp_path: Path) -> None:
    task = make_task(tmp_path / "tasks")
    driver = (
        "import torch\nfrom pkg.losses import hinge\n"
        "for x in (0.5, 3.0):\n    hinge(torch.tensor(x, requires_grad=True))\n"
    )
    write_files(tmp_path, {"driver.py": driver})
    mask(task, MaskOptions((HINGE,), category="Evaluation Metrics"), task.root)
    told: list[str] = []
    options = RecordOptions(HINGE, ("python", "driver.py"), gradients=True)
    record(task, options, tmp_path, quiet, tell=told.append)
    assert told[0].startswith("recording with ") and NO_GRADIENTS not in told
