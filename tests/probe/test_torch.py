"""Recording and replaying real PyTorch code."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.probe.harness import Repository
from tests.probe.scenarios import make

pytestmark = pytest.mark.torch

GOAL = '''\
from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F


def preference_loss(chosen, rejected, ref_chosen, ref_rejected, beta, reference_free=False):
    """The DPO loss and the rewards."""
    logits = chosen - rejected
    if not reference_free:
        logits = logits - (ref_chosen - ref_rejected)
    losses = -F.logsigmoid(beta * logits)
    return losses, (beta * (chosen - ref_chosen)).detach()


class SGD(torch.optim.Optimizer):
    def __init__(self, params, lr=0.1, momentum=0.9):
        super().__init__(params, dict(lr=lr, momentum=momentum))

    @torch.no_grad()
    def step(self, closure=None):
        """One step."""
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                state = self.state[p]
                buffer = state.setdefault("buffer", torch.zeros_like(p))
                buffer.mul_(group["momentum"]).add_(p.grad)
                p.add_(buffer, alpha=-group["lr"])


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(4, 3)
        self.norm = torch.nn.BatchNorm1d(3)
        self.tied = self.first
        self.drop = torch.nn.Dropout(0.5)

    def forward(self, x, mask=None):
        y = self.drop(self.norm(self.first(x)))
        return {"out": y if mask is None else y * mask, "last": y[-1]}


def noise(x):
    return x + torch.randn(3) + np.random.rand(3).sum()


@torch.no_grad()
def average(models, weights):
    """In place under no_grad."""
    for k, p in enumerate(models[0].parameters()):
        p.mul_(weights[0])
        for m, w in zip(models[1:], weights[1:]):
            p.add_(list(m.parameters())[k], alpha=w)
    return models[0]


def bump(view):
    view += 1
    return view.sum()
'''

DRIVER = """\
import numpy as np
import torch
from pkg import goal

torch.manual_seed(0)
np.random.seed(0)
for k in range(3):
    a = [torch.randn(4, requires_grad=j < 2) * 1 for j in range(4)]
    losses, rewards = goal.preference_loss(*a, 0.1, reference_free=k == 1)
net = goal.Net()
optimizer = goal.SGD(net.parameters())
for k in range(2):
    optimizer.zero_grad()
    out = net(torch.randn(5, 4), mask=torch.ones(3) if k else None)
    out["out"].sum().backward()
    optimizer.step()
net.eval()
with torch.no_grad():
    net(torch.randn(2, 4))
goal.noise(torch.zeros(3))
goal.average([torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)], (0.5, 0.5))
base = torch.zeros(6)
goal.bump(base[2:4])
hidden = torch.ones(2, requires_grad=True) * 2
goal.bump(hidden)
"""

ALL = ("preference_loss", "SGD.step", "Net.forward", "noise", "average", "bump")


@pytest.fixture(scope="module")
def plain_output(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("torch")


@pytest.mark.parametrize("qualname", ALL)
def test_torch_code_replays_exactly(tmp_path: Path, qualname: str) -> None:
    repository = make(tmp_path, qualname, GOAL, DRIVER)
    done = repository.record("driver.py")
    assert done.returncode == 0, done.stderr.decode()
    assert repository.summary["not_stored"] == []
    assert len(repository.calls) == {"preference_loss": 3, "SGD.step": 2, "Net.forward": 3, "bump": 2}.get(
        qualname, 1
    )
    checkers = {"*": {"kind": "allclose", "rtol": 1e-6, "atol": 1e-7}}
    repository.replay(preload=["numpy", "torch"]).assert_same(checkers=checkers)
    _check_meta(repository, qualname)


def _check_meta(repository: Repository, qualname: str) -> None:
    mutated = repository.mutated(repository.calls[0])
    if qualname == "SGD.step":
        assert mutated == ["self"]
    if qualname == "Net.forward":
        assert mutated == ["self"]
        assert repository.mutated(repository.calls[2]) == []
    if qualname == "noise":
        assert sorted(repository.load(repository.calls[0], "inputs").tree["@random"]) == ["numpy", "torch"]
    if qualname == "bump":
        assert mutated == ["view"]


def test_wrong_versions_are_told_apart(tmp_path: Path) -> None:
    repository = make(tmp_path, "preference_loss", GOAL, DRIVER)
    repository.record("driver.py")
    variants: dict[str, str | None] = {
        "no detach": GOAL.replace(".detach()", ""),
        "no reference": GOAL.replace("if not reference_free:", "if False:"),
        "sum": GOAL.replace("return losses, ", "return losses.sum(), "),
        "double": GOAL.replace("return losses, ", "return losses.double(), "),
        "beta": GOAL.replace("beta * logits", "beta * 1.01 * logits"),
        "none": GOAL.replace("    return losses, (beta", "    return None\n    return losses, (beta"),
        "golden": GOAL,
    }
    replayed = repository.replay(variants, preload=["numpy", "torch"])
    checkers = {"*": {"kind": "allclose", "rtol": 1e-5, "atol": 1e-7}}
    replayed.assert_same("golden", checkers)
    found = {name: replayed.differences(name, checkers) for name in variants}
    assert any("value[1]: expected requires_grad False, got True" in item for item in found["no detach"])
    assert [item[:6] for item in found["no reference"]] == ["000001", "000003"]
    assert any("value[0]: expected shape [4], got []" in item for item in found["sum"])
    assert any("value[0]: expected element type float32, got float64" in item for item in found["double"])
    assert len(found["beta"]) == 3
    assert "value: expected a tuple of 2, got None" in found["none"][0]


def test_recording_leaves_results_and_random_numbers_alone(tmp_path: Path) -> None:
    import subprocess
    import sys

    driver = (
        DRIVER
        + "print([p.sum().item() for p in net.parameters()], torch.rand(2).tolist(), np.random.rand())\n"
    )
    repository = make(tmp_path, "Net.forward", GOAL, driver)
    plain = subprocess.run([sys.executable, "driver.py"], cwd=repository.root, capture_output=True)
    assert repository.record("driver.py").stdout == plain.stdout
    assert plain.stdout.startswith(b"[")
