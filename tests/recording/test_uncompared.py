"""Effects that no case compares are named, with what to do; asked for, they are compared."""

from __future__ import annotations

from pathlib import Path

import pytest

from lmr_author.authoring.recording.record import remarks
from tests.recording.test_record import passing, recorded_from

pytestmark = pytest.mark.bwrap

STEP = '''\
import torch


class Descent:
    def __init__(self, parameters, lr):
        self.parameters, self.lr = list(parameters), lr

    @torch.no_grad()
    def step(self):
        """One step."""
        for p in self.parameters:
            if p.grad is not None:
                p.sub_(p.grad * self.lr)
                p.grad = None
'''
STEP_DRIVER = """\
import torch
from step import Descent

torch.manual_seed(0)
w = torch.nn.Parameter(torch.randn(4))
descent = Descent([w], 0.1)
for _ in range(3):
    ((w - 1) ** 2).sum().backward()
    descent.step()
"""
CLIP = '''\
def clip(parameters, limit):
    """Clip."""
    for p in parameters:
        p.grad.clamp_(-limit, limit)
'''
CLIP_DRIVER = """\
import torch
from clip import clip

torch.manual_seed(0)
for limit in (0.1, 0.5):
    w = torch.nn.Parameter(torch.randn(6))
    (w**2).sum().backward()
    clip([w], limit)
"""


SPANS = '''\
import collections


def made():
    class Local:
        def __init__(self, at):
            self.at = at
    return Local


class Finder:
    Span = collections.namedtuple("Span", ("at", "length"))

    def named(self, words):
        """A class in a class, whose own name leads nowhere."""
        self.found = [Finder.Span(at, len(word)) for at, word in enumerate(words)]

    def unnamed(self, words):
        """A class that nothing leads to."""
        self.found = [made()(at) for at, word in enumerate(words)]
'''


@pytest.mark.parametrize(
    ("name", "change", "notes"),
    [
        ("named", ("Span(at, len(word))", "Span(len(word), at)"), []),
        ("unnamed", None, ["self.found[0], self.found[1]"]),
    ],
)
def test_new_parts_of_an_object_are_compared_or_named(
    name: str, change: tuple[str, str] | None, notes: list[str], tmp_path: Path
) -> None:
    driver = (
        f"from find import Finder\nfor words in (['a', 'bb'], ['ccc', 'd']):\n    Finder().{name}(words)\n"
    )
    result, _ = recorded_from(tmp_path, {"find.py": SPANS}, f"find.py::Finder.{name}", driver)
    texts = [note.text for note in remarks(result) if note.text.startswith("not compared")]
    assert len(texts) == len(notes) and all(part in text for part, text in zip(notes, texts, strict=True))
    if change:
        assert passing(tmp_path, "find.py", [SPANS, SPANS.replace(*change)]) == [True, False]


@pytest.mark.torch
@pytest.mark.parametrize("in_place", [None, True])
def test_grad_of_parameters_is_left_out_and_named(in_place: bool | None, tmp_path: Path) -> None:
    recorded_from(tmp_path, {"step.py": STEP}, "step.py::Descent.step", STEP_DRIVER, in_place=in_place)
    page = (tmp_path / "1-Small/small-repo/unit_test/unit_test_1.py").read_text()
    assert ("not compared: .grad of every tensor" in page) == (in_place is None)
    kept = STEP.replace("                p.grad = None\n", "")
    scaled = STEP.replace("p.sub_(p.grad * self.lr)", "p.grad.mul_(self.lr); p.sub_(p.grad)")
    versions = (STEP, kept, scaled, STEP.replace("* self.lr", "* self.lr * 1.01"))
    assert passing(tmp_path, "step.py", versions, with_torch=True) == [True, in_place is None, True, False]


@pytest.mark.torch
def test_grad_is_compared_where_it_is_what_the_golden_is_for(tmp_path: Path) -> None:
    result, _ = recorded_from(tmp_path, {"clip.py": CLIP}, "clip.py::clip", CLIP_DRIVER)
    assert not [note for note in remarks(result) if ".grad" in note.text]
    right, *wrong = (
        CLIP.replace("p.grad.clamp_(-limit, limit)", way)
        for way in (
            "p.grad.clamp_(-limit, limit)",
            "p.grad.clamp_(-limit)",
            "pass",
            "p.grad.clamp_(-limit, limit * 1.01)",
        )
    )
    assert passing(tmp_path, "clip.py", [right, *wrong], with_torch=True) == [True, False, False, False]


MEAN = 'def mean(values):\n    """Mean and length."""\n    return sum(values) / len(values), len(values)\n'
MEAN_DRIVER = "from mean import mean\nmean([1.5, 2.5])\nmean([0.5, 4.0, 8.5])\n"


@pytest.mark.parametrize(
    ("checks", "notes"),
    [
        (
            ("value[0]=allclose:0.5,0.9", "value[1]=ignore"),
            [
                "value[0] is compared with rtol 0.5, atol 0.9, where rtol 1e-07, atol 1e-09 is usual",
                "value[1] is not compared",
            ],
        ),
        (("value[0]=allclose:1e-6,1e-9",), []),
    ],
)
def test_a_check_that_shows_little_is_noted(
    checks: tuple[str, ...], notes: list[str], tmp_path: Path
) -> None:
    result, _ = recorded_from(tmp_path, {"mean.py": MEAN}, "mean.py::mean", MEAN_DRIVER, checks=checks)
    asked = [note.text for note in remarks(result) if "reviewers will ask why" in note.text]
    assert asked == [f"{note}; reviewers will ask why" for note in notes]
