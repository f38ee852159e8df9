"""Recording and replaying real PyTorch code."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.probe.scenarios import make

pytestmark = pytest.mark.torch

GOAL = '''\
from __future__ import annotations

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


def bump(view):
    view += 1
    return view.sum()
'''

DRIVER = """\
import torch
from pkg import goal

torch.manual_seed(0)
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
base = torch.zeros(6)
goal.bump(base[2:4])
hidden = torch.ones(2, requires_grad=True) * 2
goal.bump(hidden)
"""

CLOSE = {"*": {"kind": "allclose", "rtol": 1e-5, "atol": 1e-7}}


@pytest.mark.parametrize(
    ("qualname", "changed"),
    [
        ("SGD.step", [["self"], ["self"]]),
        ("Net.forward", [["self"], ["self"], []]),
        ("bump", [["view"], ["view"]]),
    ],
)
def test_torch_code_replays_exactly(tmp_path: Path, qualname: str, changed: list[list[str]]) -> None:
    repository = make(tmp_path, qualname, GOAL, DRIVER, with_torch=True)
    done = repository.record("driver.py")
    assert done.returncode == 0, done.stderr.decode()
    assert repository.summary["not_stored"] == []
    assert [repository.mutated(call) for call in repository.calls] == changed
    repository.replay(preload=["numpy", "torch"]).assert_same(checkers=CLOSE)


def test_wrong_versions_are_told_apart(tmp_path: Path) -> None:
    repository = make(tmp_path, "preference_loss", GOAL, DRIVER, with_torch=True)
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
    replayed.assert_same("golden", CLOSE)
    found = {name: replayed.differences(name, CLOSE) for name in variants}
    assert any("value[1]: expected requires_grad False, got True" in item for item in found["no detach"])
    assert [item[:6] for item in found["no reference"]] == ["000001", "000003"]
    assert any("value[0]: expected shape [4], got []" in item for item in found["sum"])
    assert any("value[0]: expected element type float32, got float64" in item for item in found["double"])
    assert len(found["beta"]) == 3
    assert "value: expected a tuple of 2, got None" in found["none"][0]


def test_a_call_in_a_process_group_of_one_replays_in_one(tmp_path: Path) -> None:
    """The script made the group, which is no argument of the function."""
    goal = """\
import torch
import torch.distributed as dist


def everywhere(x):
    \"\"\"All processes' rows.\"\"\"
    parts = [torch.zeros_like(x) for _ in range(dist.get_world_size())]
    dist.all_gather(parts, x)
    return torch.cat(parts), dist.get_rank()
"""
    driver = """\
import torch
import torch.distributed as dist
from pkg import goal

dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
for size in (2, 3):
    goal.everywhere(torch.arange(float(size)))
dist.destroy_process_group()
"""
    repository = make(tmp_path, "everywhere", goal, driver, with_torch=True)
    done = repository.record("driver.py")
    assert done.returncode == 0, done.stderr.decode()
    variants: dict[str, str | None] = {
        "golden": goal,
        "twice": goal.replace("torch.cat(parts)", "torch.cat(parts * 2)"),
    }
    replayed = repository.replay(variants, preload=["numpy", "torch"])
    replayed.assert_same("golden", CLOSE)
    assert len(replayed.differences("twice", CLOSE)) == 2


def test_tensors_without_numpy_are_refused(tmp_path: Path) -> None:
    """PyTorch does not install numpy, and tensors are compared by it."""
    driver = (
        "import sys, warnings\nwarnings.simplefilter('ignore')\n"
        "class Blocked:\n    def find_spec(self, name, path=None, target=None):\n"
        "        if name.split('.')[0] == 'numpy':\n"
        "            raise ModuleNotFoundError(\"No module named 'numpy'\")\n"
        "sys.meta_path.insert(0, Blocked())\nimport torch\nfrom pkg.goal import double\ndouble(torch.ones(3))\n"
    )
    repository = make(tmp_path, "double", "def double(x):\n    return 2 * x\n", driver)
    assert repository.record("driver.py").returncode == 0
    assert not repository.calls
    (refused,) = repository.summary["not_stored"]
    assert "No module named 'numpy'" in refused["reason"]
