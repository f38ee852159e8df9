"""Goal files as people mask them, against one golden: exactly what has to be found."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lmr_author.checks import example_task, example_texts
from lmr_author.taskdir import TaskDir
from lmr_author.validation.run import validate

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


def write(folder: Path, goal: str, **implementation: object) -> TaskDir:
    task = example_task.write(folder)
    repository = task.root / example_texts.REPOSITORY
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


GOALS = {
    "zeros_like": (body("return torch.zeros_like(anchors)"), ["LMR308"]),
    "zeros of a shape": (body("return torch.zeros(anchors.shape[0])"), ["LMR308"]),
    "new_zeros": (body("return anchors.new_zeros(1)"), ["LMR308"]),
    "zero set": (body("loss = 0\nreturn loss"), ["LMR308"]),
    "empty dict": (body("return {}"), ["LMR308"]),
    "two args": (body("return anchors, positives"), ["LMR308"]),
    "random": (body("return torch.rand(1)"), ["LMR308"]),
    "ellipsis var": (body("similarity = ...\nreturn similarity"), ["LMR308"]),
    "tensor with device": (
        body("loss = torch.tensor(0.0, requires_grad=True, device=anchors.device)\nreturn loss"),
        ["LMR308"],
    ),
    "two nones": (body("# implement\nlogits = None\nloss = None\nreturn loss, logits"), ["LMR308"]),
    "annotated": (body("loss: torch.Tensor = None\nreturn loss"), ["LMR308"]),
    "assert False": (body("assert False, 'implement me'"), ["LMR310"]),
    "NotImplemented returned": (body("return NotImplemented"), ["LMR308"]),
    "error returned": (body("return NotImplementedError"), ["LMR308"]),
    "error made": (body("NotImplementedError('forward')"), ["LMR308"]),
    "raise NotImplemented": (body("raise NotImplemented"), ["LMR310"]),
    "if pass else pass": (body("if reduction == 'mean':\n    pass\nelse:\n    pass"), ["LMR308", "LMR309"]),
    "blank to fill": (body("similarity = ______\nreturn similarity"), ["LMR307"]),
    "TODO name": (body("TODO"), ["LMR307"]),
    "bare return attr of undefined": (body("return losses.mean()"), ["LMR307"]),
    "bare return dict": (body("return {'loss': loss, 'logits': logits}"), ["LMR307"]),
    "bare return branch": (
        body("if reduction == 'mean':\n    return loss\nreturn loss, sim"),
        ["LMR307", "LMR309"],
    ),
    "bare return call": (body("return self.wrap(losses)"), ["LMR307"]),
    "a raise that is never reached": (body("if False:\n    raise NotImplementedError"), ["LMR308"]),
    "zero times an attribute": (
        body("loss, size = 0.0, 1\nreturn -loss * self.temperature / size"),
        ["LMR308"],
    ),
    "zero plus what is computed": (body("loss = 0.0\nreturn loss + anchors.mean()"), ["LMR310"]),
    "an argument times a number": (body("return anchors * 2"), ["LMR310"]),
    "a number that is counted up": (
        body("loss = 0.0\nfor one in anchors:\n    loss += 1\nreturn loss / self.temperature"),
        ["LMR310"],
    ),
    "warn": (body("import warnings\nwarnings.warn('not implemented')"), ["LMR308"]),
    "super": (body("return super().forward(anchors)"), ["LMR310"]),
    "loop noop": (body("for _ in range(1):\n    pass\nreturn anchors"), ["LMR308"]),
    "string todo": (body("'TODO: implement'\nreturn None"), ["LMR308"]),
    "a raise that is caught": (
        body("try:\n    raise NotImplementedError\nexcept NotImplementedError:\n    pass"),
        ["LMR308"],
    ),
    "exit": (body("import sys\nsys.exit('implement forward')"), ["LMR310"]),
    "kept docstring then pass": (body("'''In-batch loss.'''\npass"), ["LMR308"]),
    "tokens copy": (body("x = anchors\nreturn x"), ["LMR308"]),
    "with no_grad pass": (body("with torch.no_grad():\n    pass"), ["LMR308"]),
    "mean of arg": (body("return anchors.mean()"), ["LMR310"]),
    "raise": (body("raise NotImplementedError"), []),
    "raise with a message": (body("# TODO\nraise NotImplementedError('forward')"), []),
    "raise and an unreachable return": (body("raise NotImplementedError\nreturn None"), []),
    "bare return of one name": (body("return losses"), ["LMR307"]),
    "bare return of two names": (body("# TODO: implement\nreturn losses, similarity"), ["LMR307"]),
    "a set and an undefined name": (body("losses = None\nreturn losses, similarity"), ["LMR307"]),
    "pass": (body("pass"), ["LMR308"]),
    "ellipsis": (body("..."), ["LMR308"]),
    "todo printed": (body("print('TODO')\nreturn None"), ["LMR308"]),
    "zeros": (body("loss = torch.tensor(0.0)\nreturn loss"), ["LMR308"]),
    "an argument": (body("return anchors"), ["LMR308"]),
    "an attribute": (body("return self.temperature"), ["LMR308"]),
    "first line kept": (
        body(BODY.splitlines()[0].strip() + "\n# TODO: the rest\nraise NotImplementedError"),
        ["LMR309"],
    ),
    "ending kept": (
        body('# TODO\nif reduction == "mean":\n    return losses.mean()\nreturn losses, similarity'),
        ["LMR307", "LMR309"],
    ),
    "another exception": (body("raise RuntimeError('TODO')"), ["LMR310"]),
    "a wrong implementation": (body("return (anchors - positives).pow(2).sum()"), ["LMR310"]),
    "not masked": (GOLDEN, ["LMR303"]),
    "not masked, re-formatted": (
        GOLDEN.replace('"mean":\n            return', '"mean":\n\n            return'),
        ["LMR303"],
    ),
    "decorator lost": (body("raise NotImplementedError").replace("    @torch.no_grad()\n", ""), ["LMR306"]),
    "renamed parameter": (
        body("raise NotImplementedError").replace("positives, reduction", "others, reduction"),
        ["LMR306"],
    ),
    "docstring lost": (
        body("raise NotImplementedError").replace('        """In-batch contrastive loss."""\n', ""),
        ["LMR305"],
    ),
    "docstring extended": (
        body("raise NotImplementedError").replace("contrastive loss.", "contrastive loss. TODO"),
        [],
    ),
    "other method gutted": (
        body("raise NotImplementedError").replace("        return self.linear(tokens)", "        pass"),
        ["LMR304"],
    ),
    "logging added": (
        body("raise NotImplementedError").replace(
            "        self.temperature = temperature",
            "        self.temperature = temperature\n        print(temperature)",
        ),
        ["LMR304"],
    ),
    "import removed": (
        body("raise NotImplementedError").replace("import torch.nn as nn\n", "nn = torch.nn\n"),
        ["LMR304"],
    ),
    "class bases changed": (
        body("raise NotImplementedError").replace("class Encoder(nn.Module)", "class Encoder(nn.Sequential)"),
        ["LMR304"],
    ),
    "windows line ends": (body("raise NotImplementedError").replace("\n", "\r\n"), ["LMR311"]),
    "tabs": (body("raise NotImplementedError").replace("    ", "\t"), ["LMR311"]),
    "trailing blanks": (
        body("raise NotImplementedError").replace("import torch\n", "import torch  \n"),
        ["LMR311"],
    ),
    "no newline at the end": (body("raise NotImplementedError").rstrip("\n"), []),
    "method removed": (
        GOLDEN.replace("    @torch.no_grad()\n" + GOLDEN.partition("@torch.no_grad()\n")[2], ""),
        ["LMR301"],
    ),
    "syntax error": (body("return ("), ["LMR312"]),
    "solution in comments": (
        body("# " + "\n# ".join(line.strip() for line in BODY.splitlines()) + "\nraise NotImplementedError"),
        ["LMR404"],
    ),
    "solution in a string": (body("raise NotImplementedError\n'''\n" + BODY + "'''"), ["LMR404"]),
    "steps in words": (
        body(
            "# 1. cosine similarity divided by self.temperature\n# 2. cross entropy with the diagonal\nraise"
            " NotImplementedError"
        ),
        [],
    ),
    "nested copy": (
        body("raise NotImplementedError")
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


def test_a_class_without_a_class_name_is_ambiguous(tmp_path: Path) -> None:
    task = write(tmp_path, body("raise NotImplementedError"), class_name="")

    findings = validate([task]).findings

    assert [one.code for one in findings] == ["LMR007"]
    assert "Encoder" in findings[0].message and "ContrastiveLoss" in findings[0].message


def test_a_class_as_target_is_named_and_its_masked_method_still_checked(tmp_path: Path) -> None:
    task = write(tmp_path, body("return losses"), goal_function="ContrastiveLoss", class_name="")

    assert sorted(one.code for one in validate([task]).findings) == ["LMR007", "LMR307"]


def test_two_implementations_of_one_file_are_each_others_target(tmp_path: Path) -> None:
    goal = body("raise NotImplementedError").replace(
        "        return self.linear(tokens)", "        raise NotImplementedError"
    )
    task = write(tmp_path, goal)
    repository = task.root / example_texts.REPOSITORY
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
    (task.root / "golden_files" / "losses_2_golden.py").write_text(body("raise NotImplementedError"))

    assert validate([task]).findings == ()


def test_the_masked_copy_elsewhere_is_named(tmp_path: Path) -> None:
    task = write(tmp_path, GOLDEN)
    other = task.root / example_texts.REPOSITORY / "legacy" / "losses.py"
    other.parent.mkdir()
    other.write_text(body("raise NotImplementedError"))

    (finding,) = validate([task]).findings

    assert finding.code == "LMR303" and "legacy/losses.py" in finding.hint


def test_names_that_a_star_import_may_bring_are_not_called_undefined(tmp_path: Path) -> None:
    goal = body("return loss_of_the_helpers(anchors, positives)")

    assert [one.code for one in validate([write(tmp_path, goal)]).findings] == ["LMR310"]


def test_a_function_that_shares_a_third_of_the_statements_is_no_copy(tmp_path: Path) -> None:
    task = write(tmp_path, body("raise NotImplementedError"))
    other = task.root / example_texts.REPOSITORY / "ranking" / "other.py"
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
