"""Code that insists on a GPU, recorded, evaluated and tested without one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lmr_author.authoring.masking import MaskOptions, mask
from lmr_author.core.errors import LmrError
from lmr_author.core.task import GateStatus
from lmr_author.runtime.environment.where import HERE, Where
from tests.pipeline import recorded, run_gates
from tests.support import make_task, write_files

pytestmark = [pytest.mark.bwrap, pytest.mark.torch]

SCALE = '''\
import torch

DEVICE = torch.device("cuda", torch.cuda.current_device())
STEPS = torch.cuda.FloatTensor([1.0, 2.0, 3.0])


def to_gpu(x):
    return x.cuda()


def scale(model, x):
    """Scale the model's outputs by their distance from the end."""
    assert torch.cuda.is_available(), "this needs a GPU"
    model = model.to("cuda")
    noise = torch.rand(3, device="cuda:0", generator=None)
    weights = torch.linspace(0.5, 1.0, 3, device=DEVICE) + STEPS.type("torch.cuda.FloatTensor")
    torch.cuda.synchronize()
    with torch.cuda.device(0), torch.autocast("cuda"):
        return model(to_gpu(x)).to(DEVICE) * weights - noise.to(0)
'''
DRIVER = """\
import torch
from pkg.scale import scale

torch.cuda.manual_seed(0)
model = torch.nn.DataParallel(torch.nn.Linear(4, 3).cuda())
for rows in (1, 2, 5):
    scale(model.module, torch.randn(rows, 4).cuda())
    model(torch.randn(rows, 4).cuda())
"""


@pytest.mark.timeout(400)
def test_code_that_insists_on_a_gpu(tmp_path: Path) -> None:
    task = make_task(tmp_path / "tasks")
    write_files(task.root / "small-repo", {"pkg/scale.py": SCALE})
    write_files(tmp_path, {"driver.py": DRIVER})
    target = "pkg/scale.py::scale"
    mask(task, MaskOptions((target,), category="Evaluation Metrics"), task.root)

    with pytest.raises(LmrError, match="not compiled with CUDA") as caught:
        recorded(task, target, "python", "driver.py", here=tmp_path, where=HERE)
    assert "--cuda-as-cpu" in caught.value.hint
    command = ("python", "driver.py")
    result = recorded(task, target, *command, here=tmp_path, where=HERE, cuda_as_cpu=True, quick=True)

    assert result.recording.cuda_as_cpu and len(result.recording.cases) == 3
    test = task.root / "small-repo/unit_test/unit_test_1.py"
    (line,) = (text for text in test.read_text().splitlines() if "cpu_for_cuda" in text)
    assert "CUDA means the CPU" in line
    here = Where(python=Path(sys.executable))
    gates = run_gates(task, "golden-passes", "masked-fails", where=here, repeats=1).gates
    assert [gate.status for gate in gates] == [GateStatus.PASSED] * 3, gates
    golden = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    (task.root / "small-repo/pkg/scale.py").write_text(SCALE)
    done = subprocess.run([sys.executable, test], capture_output=True, text=True, env=golden)
    assert done.returncode == 0 and "Passed" in done.stdout, done.stderr
