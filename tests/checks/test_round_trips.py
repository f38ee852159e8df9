"""Comparisons of a value with itself by way of text or a measure, and those that ask something."""

from __future__ import annotations

from pathlib import Path

import pytest

from lmr_author.checks import example_task
from lmr_author.checks.tests_outcome import START, TEST
from lmr_author.validation.run import select_checks, validate

RESULT = "import json, pickle\nimport numpy as np\nimport torch\nr = pairwise_loss([0.5, 2.0], [0, 1])\n"
ITSELF = {
    "sum": "assert r.sum() == r.sum()\n",
    "along a dimension": "assert r.mean(dim=0) == r.mean(dim=0)\n",
    "mean of both": "assert np.allclose(np.mean(r), np.mean(r))\n",
    "json": "assert r == json.loads(json.dumps(r))\n",
    "pickle": "again = pickle.loads(pickle.dumps(r))\nassert again == r\n",
}
SOMETHING = {
    "two measures": "assert r.max() == r.min()\n",
    "measures of two": "assert r.sum() == wanted.sum()\n",
    "a stored value": "expected = torch.load('x.pt')\nassert torch.equal(r, expected)\n",
    "stored afterwards": "expected = torch.load('x.pt')\ntorch.save(r, 'x.pt')\nassert torch.equal(r, expected)\n",
    "stored the first time": "if not os.path.exists('x.pt'):\n    torch.save(r, 'x.pt')\n"
    "expected = torch.load('x.pt')\nassert torch.equal(r, expected)\n",
    "another file": "torch.save(r, 'y.pt')\nexpected = torch.load('x.pt')\nassert torch.equal(r, expected)\n",
    "another value": "torch.save(s, 'x.pt')\nexpected = torch.load('x.pt')\nassert torch.equal(r, expected)\n",
    "changed since": "torch.save(r, 'x.pt')\nstep(r)\nexpected = torch.load('x.pt')\nassert torch.equal(r, expected)\n",
    "wanted to differ": "assert r != json.loads(json.dumps(r))\n",
    "besides": "assert r == json.loads(json.dumps(r))\nassert r == (2.7, 0.0)\n",
    "of its own": "assert r == decode(encode(r))\n",
    "random numbers": "assert rng.random() == rng.random()\n",
    "a measure with an argument": "assert model.norm(r) == model.norm(r)\n",
}


def _said(folder: Path, lines: str) -> list[str]:
    task = example_task.write(folder)
    (task.root / TEST).write_text(START + RESULT + lines + "logging.info('Passed')\n", "utf-8")
    return [one.message for one in validate([task], select_checks(select=["LMR504"])).findings]


@pytest.mark.parametrize("lines", ITSELF.values(), ids=ITSELF)
def test_it_is_found(lines: str, tmp_path: Path) -> None:
    (said,) = _said(tmp_path, lines)
    assert "itself" in said


@pytest.mark.parametrize("lines", SOMETHING.values(), ids=SOMETHING)
def test_it_is_left_alone(lines: str, tmp_path: Path) -> None:
    assert _said(tmp_path, lines) == []
