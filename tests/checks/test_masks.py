"""What the checks find in goal files that were masked by hand: one target, several, classes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lmr_author.core.task import Task
from lmr_author.proof.validation.run import validate
from tests import example

GOLDEN = '''\
import torch
import torch.nn as nn
import torch.nn.functional as F
from helpers import *


def cosine(a, b):
    return F.cosine_similarity(a, b, dim=-1)


class Encoder(nn.Module):
    """Encoder."""

    def __init__(self, size):
        super().__init__()
        self.linear = nn.Linear(size, size)

    def forward(self, tokens):
        return self.linear(tokens)


class ContrastiveLoss(nn.Module):
    """Loss."""

    def __init__(self, temperature=0.05):
        super().__init__()
        self.temperature = temperature

    @torch.no_grad()
    def forward(self, anchors, positives, reduction="mean"):
        """In-batch contrastive loss."""
        similarity = cosine(anchors.unsqueeze(1), positives.unsqueeze(0)) / self.temperature
        targets = torch.arange(similarity.size(0), device=similarity.device)
        losses = F.cross_entropy(similarity, targets, reduction="none")
        if reduction == "mean":
            return losses.mean()
        return losses, similarity
'''


TEST = """\
import sys, os, torch
sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from ranking.losses import ContrastiveLoss

loss = ContrastiveLoss()(torch.ones(2, 3), torch.ones(2, 3))
assert abs(float(loss) - 0.6931) < 1e-3
print("Passed")
"""


BODY = GOLDEN.partition('loss."""\n')[2]


def body(text: str) -> str:
    """The golden with another body of ContrastiveLoss.forward."""
    lines = "".join(f"        {line}\n" if line else "\n" for line in text.splitlines())
    return GOLDEN.replace(BODY, lines)


def write(folder: Path, goal: str, **implementation: object) -> Task:
    """Write a task with this goal file, and other keys of its implementation."""
    task = example.write(folder)
    repository = task.root / example.REPOSITORY
    (repository / "ranking" / "losses.py").write_bytes(goal.encode())
    (repository / "ranking" / "train.py").write_text("from ranking.losses import ContrastiveLoss\n")
    (repository / "unit_test" / "unit_test_1.py").write_text(TEST)
    (task.root / "golden_files" / "losses_golden.py").write_text(GOLDEN)
    info = task.load_raw()
    info["implementations"][0] |= {
        "goal_function": "forward",
        "class_name": "ContrastiveLoss",
        "instruction": "Implement `ContrastiveLoss.forward` in `ranking/losses.py`, section 3 of the paper; return it.",
        **implementation,
    }
    task.info_path.write_text(json.dumps(info))
    return task


MASKED = body("raise NotImplementedError")

GOALS = {
    "zeros_like": (body("return torch.zeros_like(anchors)"), ["LMR308"]),
    "zero set": (body("loss = 0\nreturn loss"), ["LMR308"]),
    "assert False": (body("assert False, 'implement me'"), ["LMR310"]),
    "error made": (body("NotImplementedError('forward')"), ["LMR308"]),
    "raise NotImplemented": (body("raise NotImplemented"), ["LMR310"]),
    "if pass else pass": (body("if reduction == 'mean':\n    pass\nelse:\n    pass"), ["LMR308", "LMR309"]),
    "TODO name": (body("TODO"), ["LMR307"]),
    "zero times an attribute": (
        body("loss, size = 0.0, 1\nreturn -loss * self.temperature / size"),
        ["LMR310"],
    ),
    "warn": (body("import warnings\nwarnings.warn('not implemented')"), ["LMR308"]),
    "super": (body("return super().forward(anchors)"), ["LMR310"]),
    "with no_grad pass": (body("with torch.no_grad():\n    pass"), ["LMR308"]),
    "a set and an undefined name": (body("losses = None\nreturn losses, similarity"), ["LMR307"]),
    "an attribute": (body("return self.temperature"), ["LMR308"]),
    "ending kept": (
        body('# TODO\nif reduction == "mean":\n    return losses.mean()\nreturn losses, similarity'),
        ["LMR307", "LMR309"],
    ),
    "decorator lost": (MASKED.replace("    @torch.no_grad()\n", ""), ["LMR306"]),
    "renamed parameter": (
        MASKED.replace("positives, reduction", "others, reduction"),
        ["LMR306"],
    ),
    "import removed": (
        MASKED.replace("import torch.nn as nn\n", "nn = torch.nn\n"),
        ["LMR304"],
    ),
    "class bases changed": (
        MASKED.replace("class Encoder(nn.Module)", "class Encoder(nn.Sequential)"),
        ["LMR304"],
    ),
    "no newline at the end": (MASKED.rstrip("\n"), []),
    "nested copy": (
        MASKED
        + "\n\ndef contrastive(self, anchors, positives, reduction):\n"
        + BODY.replace("        ", "    ").replace("\n        return", "\n        return"),
        ["LMR304", "LMR403"],
    ),
}


@pytest.mark.parametrize("name", GOALS)
def test_exactly_what_is_expected_is_found(name: str, tmp_path: Path) -> None:
    goal, expected = GOALS[name]

    findings = validate([write(tmp_path, goal)]).findings

    assert sorted(one.code for one in findings) == expected, [f"{one.code} {one.message}" for one in findings]


def test_a_class_as_target_is_named_and_its_masked_method_still_checked(tmp_path: Path) -> None:
    task = write(tmp_path, body("return losses"), goal_function="ContrastiveLoss", class_name="")

    assert sorted(one.code for one in validate([task]).findings) == ["LMR007", "LMR307"]


def test_two_implementations_of_one_file_are_each_others_target(tmp_path: Path) -> None:
    goal = MASKED.replace("        return self.linear(tokens)", "        raise NotImplementedError")
    task = write(tmp_path, goal)
    repository = task.root / example.REPOSITORY
    info = task.load_raw()
    second = info["implementations"][0] | {
        "index": 2,
        "class_name": "Encoder",
        "instruction": "Implement `Encoder.forward` in `ranking/losses.py`, section 2 of the paper; return it.",
        "unit_test_file": "unit_test/unit_test_2.py",
        "golden_file": "golden_files/losses_2_golden.py",
    }
    info["implementations"].append(second)
    task.info_path.write_text(json.dumps(info))
    (repository / "unit_test" / "unit_test_2.py").write_text(
        TEST.replace("ContrastiveLoss()", "Encoder(3)").replace("ContrastiveLoss", "Encoder")
    )
    # The second golden was saved when the first target was masked already.
    (task.root / "golden_files" / "losses_2_golden.py").write_text(MASKED)

    assert validate([task]).findings == ()


def test_names_that_a_star_import_may_bring_are_not_called_undefined(tmp_path: Path) -> None:
    goal = body("return loss_of_the_helpers(anchors, positives)")

    assert [one.code for one in validate([write(tmp_path, goal)]).findings] == ["LMR310"]


def test_a_function_that_shares_a_third_of_the_statements_is_no_copy(tmp_path: Path) -> None:
    task = write(tmp_path, MASKED)
    other = task.root / example.REPOSITORY / "ranking" / "other.py"
    other.write_text(
        "import torch\nimport torch.nn.functional as F\nfrom ranking.losses import cosine\n\n\n"
        "def retrieval_accuracy(anchors, positives, temperature):\n"
        "    similarity = cosine(anchors.unsqueeze(1), positives.unsqueeze(0)) / temperature\n"
        "    targets = torch.arange(similarity.size(0), device=similarity.device)\n"
        "    return (similarity.argmax(1) == targets).float().mean()\n"
    )

    assert validate([task]).findings == ()


def test_python_2_is_only_noted(tmp_path: Path) -> None:
    old = 'def loss(a, b):\n    print "loss", a\n    return a - b\n'
    task = write(
        tmp_path,
        old.replace("    return a - b", "    raise NotImplementedError"),
        goal_function="loss",
        class_name="",
        instruction="Implement the function `loss` in `ranking/losses.py` of the paper.",
    )
    (task.root / "golden_files" / "losses_golden.py").write_text(old)

    findings = validate([task]).findings

    assert {(one.code, one.severity.value) for one in findings} == {("LMR312", "note")}
