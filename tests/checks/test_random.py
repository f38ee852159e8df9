"""Tests that give the target other numbers in each run, and compare what comes of them with stored values."""

from __future__ import annotations

from pathlib import Path

import pytest

from lmr_author.checks import example_task
from lmr_author.checks.tests_outcome import START, TEST
from lmr_author.validation.run import select_checks, validate

HEAD = START + "import random\nimport torch\n\n"
CALL = "scores = torch.randn(3).tolist()\nloss, share = pairwise_loss(scores, [0, 2, 1])\n"
DRAWN = {
    "a list": f"{CALL}assert [loss, share] == [0.51, 0.25]\n",
    "a name": f"{CALL}WANTED = [0.51, 0.25]\nassert [loss, share] == WANTED\n",
    "a file": f"{CALL}assert torch.allclose(torch.tensor(loss), torch.load('loss.pt'))\n",
    "in a function": f"def test():\n    {CALL.replace(chr(10), chr(10) + '    ')}"
    "assert [loss, share] == [0.51, 0.25]\n\n\ntest()\n",
    "a seed": "loss, share = pairwise_loss([1.0, 2.0], [1, 0], seed=random.randrange(99))\n"
    "assert 0.75 <= share <= 0.85\n",
}
STABLE = {
    "it is seeded": f"torch.manual_seed(0)\n{CALL}assert [loss, share] == [0.51, 0.25]\n",
    "a generator": f"{CALL.replace('(3)', '(3, generator=made)')}assert [loss, share] == [0.51, 0.25]\n",
    "another way to compute it": f"{CALL}assert abs(loss - sum(scores) * 0.25) < 0.05\n",
    "a property": f"{CALL}assert 0.25 <= share <= 0.75\n",
    "its form": f"{CALL}assert torch.tensor(loss).shape == torch.load('loss.pt').shape\n",
    "a shift": "shift = random.random()\nloss, share = pairwise_loss([1.0 + shift, shift], [1, 0])\n"
    "assert [loss, share] == [0.51, 0.25]\n",
    "an order": "order = random.sample(range(3), 3)\nloss, share = pairwise_loss(order, order)\n"
    "assert [loss, share] == [0.51, 0.25]\n",
    "nothing of it is left": f"{CALL.replace('torch.randn(3)', 'torch.zeros_like(torch.randn(3))')}"
    "assert [loss, share] == [0.51, 0.25]\n",
    "an error for any seed": "loss, share = pairwise_loss([1.0], [1], seed=random.randrange(99))\n"
    "assert share > 0.75\n",
    "a stand-in": "from unittest.mock import patch\n\nwith patch('torch.randn'):\n"
    f"    {CALL.replace(chr(10), chr(10) + '    ')}assert [loss, share] == [0.51, 0.25]\n",
}


def _said(folder: Path, lines: str) -> list[str]:
    task = example_task.write(folder)
    (task.root / TEST).write_text(HEAD + lines, "utf-8")
    return [one.message for one in validate([task], select_checks(select=["LMR518"])).findings]


@pytest.mark.parametrize("lines", DRAWN.values(), ids=DRAWN)
def test_its_verdict_is_drawn(lines: str, tmp_path: Path) -> None:
    assert len(_said(tmp_path, lines)) == 1


@pytest.mark.parametrize("lines", STABLE.values(), ids=STABLE)
def test_its_verdict_is_the_same(lines: str, tmp_path: Path) -> None:
    assert _said(tmp_path, lines) == []


@pytest.mark.parametrize(("seeded", "found"), [("torch", 0), ("torch.Generator()", 1)])
def test_the_target_may_seed_all(seeded: str, found: int, tmp_path: Path) -> None:
    task = example_task.write(tmp_path)
    goal = task.root / "margin-ranking/ranking/losses.py"
    goal.write_text(f"import torch\n\nmade = {seeded}.manual_seed(0)\n" + goal.read_text("utf-8"), "utf-8")
    (task.root / TEST).write_text(HEAD + DRAWN["a list"], "utf-8")
    assert len(validate([task], select_checks(select=["LMR518"])).findings) == found
