"""Gradients of the values that a call returned."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lmr_author.runtime.probe.calling import _weights, gradients
from tests.probe.scenarios import make

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

GOAL = '''\
import torch


def attend(x, weight, keep=None):
    """Softmax attention; a softmax's plain sum has no gradient."""
    scores = (x @ weight).softmax(dim=-1)
    return {"scores": scores, "count": 3, "kept": keep}
'''
DRIVER = """\
import torch
from pkg.goal import attend

torch.manual_seed(0)
weight = torch.randn(3, 4, requires_grad=True)
for k in range(2):
    x = torch.randn(2, 3, requires_grad=k == 1)
    loss = attend(x, weight)["scores"].pow(2).sum()
    loss.backward()
    print(weight.grad.sum().item())
"""


def test_gradients_are_compared_and_the_driver_does_not_notice(tmp_path: Path) -> None:
    plain = make(tmp_path / "a", "attend", GOAL, DRIVER, with_torch=True)
    without = plain.record("driver.py")
    assert not any(name.startswith("@") for name in plain.load(plain.calls[0], "expected").tree)
    repository = make(tmp_path / "b", "attend", GOAL, DRIVER, with_torch=True)
    done = repository.record("driver.py", gradients=True)
    assert done.stdout == without.stdout
    expected = repository.load(repository.calls[1], "expected").tree
    assert list(expected["@gradients"]) == ["x", "weight"]
    detached = GOAL.replace("x @ weight", "x.detach() @ weight + 0 * x[:, :1].repeat(1, 4)")
    no_grad = GOAL.replace("    scores = ", "    weight = weight.detach()\n    scores = ")
    replayed = repository.replay({"golden": None, "detached": detached, "no_grad": no_grad})
    replayed.assert_same("golden")
    assert any("@gradients['x']" in item for item in replayed.differences("detached"))
    assert not any("value" in item for item in replayed.differences("detached")), "the values are the same"
    assert any("requires_grad" in item for item in replayed.differences("no_grad"))


LEARNS = """\
import torch


def learn(x):
    '''Parallel work, and a backward pass of its own.'''
    weight = torch.ones(300, 300, requires_grad=True)
    loss = torch.softmax(x @ weight, dim=-1).square().sum() * 1000
    loss.backward()
    return loss.detach(), weight.grad.sum(dim=0)
"""


def test_a_function_that_learns_is_replayed(tmp_path: Path) -> None:
    """A forked process must not wait for threads that only its parent has."""
    driver = "import torch\nfrom pkg.goal import learn\nlearn(torch.randn(400, 300))\n"
    repository = make(tmp_path, "learn", LEARNS, driver)
    repository.record("driver.py")
    close = {"value": {"kind": "allclose", "rtol": 1e-4, "atol": 1e-4}}
    replayed = repository.replay(preload=("numpy", "torch"), threads=2, case_seconds=20)
    replayed.assert_same(checkers=close)


def test_what_has_a_gradient() -> None:
    x = torch.ones(2, requires_grad=True)
    found = gradients({"x": x, "y": [x, {"k": torch.ones(1)}], "n": 3}, (x * 2, "text"))
    assert list(found) == ["x"], "one tensor under two names is one"
    assert found["x"].tolist() == pytest.approx([2 * w for w in _weights(torch, x).tolist()])
    assert x.grad is None
    assert gradients({"x": torch.ones(2)}, x) == {}
    assert gradients({"x": x}, x.detach()) == {}
    assert gradients({"x": x}, x.softmax(dim=0))["x"].abs().sum() > 0.01, "its plain sum has none"


def test_gradients_stop_at_the_inputs() -> None:
    """One input was computed from another before the call; where it is replayed, they are two tensors."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y, unused = 3 * x, torch.ones(2, requires_grad=True)
    found = gradients({"x": x, "y": y, "unused": unused}, x + y * y)
    apart = y.detach().requires_grad_()
    assert list(found) == ["x", "y"], "the result does not depend on the third"
    expected = gradients({"x": x, "y": apart}, x + apart * apart)
    assert all(torch.equal(found[name], expected[name]) for name in expected)
    assert x.grad is None and torch.equal(torch.autograd.grad(y.sum(), x)[0], torch.full((2,), 3.0))


def test_a_pytorch_that_runs_no_hook_of_a_leaf_gives_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """PyTorch 1 runs the hook of a computed tensor in ``autograd.grad`` and none of a leaf."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = 3 * x
    expected = gradients({"x": x, "y": y}, x * y * y)
    plain, nothing = torch.Tensor.register_hook, torch.ones(1, requires_grad=True)

    def register_hook(tensor: Any, hook: Any) -> Any:
        return plain(nothing if tensor.is_leaf else tensor, hook)

    monkeypatch.setattr(torch.Tensor, "register_hook", register_hook)
    found = gradients({"x": x, "y": y}, x * y * y)
    assert list(found) == ["x", "y"]
    assert all(torch.equal(found[name], expected[name]) for name in expected)


SCORES = """\
import torch


class Scorer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.table = torch.nn.Parameter(torch.arange(8.0).reshape(4, 2))
        self.scale = torch.nn.Parameter(torch.ones(1))

    def score(self, head, tail):
        return self.scale * (head - tail).norm(dim=-1)

    def forward(self, pairs):
        return self.score(*self.table[pairs].unbind(1))
"""


def test_inputs_that_were_computed_from_a_parameter_of_self(tmp_path: Path) -> None:
    """The replayed call gets embeddings as data: the table that they came from has no gradient there."""
    driver = "import torch\nfrom pkg.goal import Scorer\nScorer()(torch.tensor([[0, 1], [2, 1]]))\n"
    repository = make(tmp_path, "Scorer.score", SCORES, driver, with_torch=True)
    repository.record("driver.py", gradients=True)
    expected = repository.load(repository.calls[0], "expected").tree
    assert set(expected["@gradients"]) == {"self.scale", "head", "tail"}
    detached = SCORES.replace("(head - tail)", "(head - tail.detach())")
    replayed = repository.replay({"golden": None, "detached": detached})
    replayed.assert_same("golden")
    assert any("@gradients['tail']" in item for item in replayed.differences("detached"))
