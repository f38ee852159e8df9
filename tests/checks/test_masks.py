"""What the checks find in goal files that were masked by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from lmr_author.validation.run import validate
from tests.checks.masked import BODY, GOLDEN, body, write

GOALS = {
    "zeros_like": (body("return torch.zeros_like(anchors)"), ["LMR308"]),
    "zero set": (body("loss = 0\nreturn loss"), ["LMR308"]),
    "random": (body("return torch.rand(1)"), ["LMR308"]),
    "tensor with device": (
        body("loss = torch.tensor(0.0, requires_grad=True, device=anchors.device)\nreturn loss"),
        ["LMR308"],
    ),
    "assert False": (body("assert False, 'implement me'"), ["LMR310"]),
    "error made": (body("NotImplementedError('forward')"), ["LMR308"]),
    "raise NotImplemented": (body("raise NotImplemented"), ["LMR310"]),
    "if pass else pass": (body("if reduction == 'mean':\n    pass\nelse:\n    pass"), ["LMR308", "LMR309"]),
    "TODO name": (body("TODO"), ["LMR307"]),
    "bare return dict": (body("return {'loss': loss, 'logits': logits}"), ["LMR307"]),
    "bare return branch": (
        body("if reduction == 'mean':\n    return loss\nreturn loss, sim"),
        ["LMR307", "LMR309"],
    ),
    "zero times an attribute": (
        body("loss, size = 0.0, 1\nreturn -loss * self.temperature / size"),
        ["LMR310"],
    ),
    "a number that is counted up": (
        body("loss = 0.0\nfor one in anchors:\n    loss += 1\nreturn loss / self.temperature"),
        ["LMR310"],
    ),
    "warn": (body("import warnings\nwarnings.warn('not implemented')"), ["LMR308"]),
    "super": (body("return super().forward(anchors)"), ["LMR310"]),
    "with no_grad pass": (body("with torch.no_grad():\n    pass"), ["LMR308"]),
    "raise": (body("raise NotImplementedError"), []),
    "raise and an unreachable return": (body("raise NotImplementedError\nreturn None"), []),
    "bare return of one name": (body("return losses"), ["LMR307"]),
    "a set and an undefined name": (body("losses = None\nreturn losses, similarity"), ["LMR307"]),
    "pass": (body("pass"), ["LMR308"]),
    "ellipsis": (body("..."), ["LMR308"]),
    "zeros": (body("loss = torch.tensor(0.0)\nreturn loss"), ["LMR308"]),
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
    "decorator lost": (body("raise NotImplementedError").replace("    @torch.no_grad()\n", ""), ["LMR306"]),
    "renamed parameter": (
        body("raise NotImplementedError").replace("positives, reduction", "others, reduction"),
        ["LMR306"],
    ),
    "docstring lost": (
        body("raise NotImplementedError").replace('        """In-batch contrastive loss."""\n', ""),
        ["LMR305"],
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
