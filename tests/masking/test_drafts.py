"""Drafts: what they take over from signature, docstrings and names, and what they never do."""

from __future__ import annotations

from pathlib import Path

import pytest

from lmr_author.authoring.masking import locate
from lmr_author.authoring.masking.body import MaskNotes, mask_source
from lmr_author.authoring.masking.docstrings import DocumentedParameter, purpose, read_docstring
from lmr_author.authoring.masking.draft import draft
from lmr_author.core import code
from lmr_author.core.task import Target

LOSS = '''\
import math
import numpy as np
import torch.nn.functional as F
from utils import flatten, gather as collect

EPS = 1e-6


class Loss(Base):
    """The margin loss.

    Args:
        margin: how far apart
    """

    def __init__(self, margin: float, weight: "float" = 0.5, *, mode="sum"):
        self.margin = margin

    @decorated
    def forward(self, x, y):
        n, d = x.shape
        secret = F.relu(self.margin - collect(x) @ y + EPS)
        return self._reduce(np.abs(secret)) + math.pi

    def _reduce(self, x): return x.sum()

    @staticmethod
    def scale(x, by=2): return x * by


def outer(n):
    local = 3

    def inner(x: "Float[Tensor, 'b d']", *args, **kwargs) -> None:
        from json import dumps
        return dumps(x + local + n)

    return inner


def documented(x: int = 1):
    """Measure gaps.

    Args:
        x: the one, of shape (b,)

    Returns:
        the other
    """
    return x


def stream(items):
    yield from items


def merge_heads(x) -> "Tensor":
    yield x
'''


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    (tmp_path / "loss.py").write_text(LOSS)
    return tmp_path


def drafted(repository: Path, name: str) -> MaskNotes:
    return draft(*locate.find(repository, Target("loss.py", name)))


def test_a_method_without_a_docstring(repository: Path) -> None:
    found = drafted(repository, "Loss.forward")
    assert found.objective == "Forward pass of `Loss`: the margin loss."
    assert found.inputs == ("x", "y")
    assert found.outputs == ()
    assert found.dependencies == ("self.margin", "EPS", "self._reduce")
    assert set(found.outside) == {
        "torch.nn.functional as F",
        "utils.gather as collect",
        "numpy as np",
        "math",
    }
    assert found.steps == ()
    assert found.docstring == "Forward pass of `Loss`: the margin loss.\n\nArgs:\n    x\n    y"


def test_the_class_describes_what_init_takes(repository: Path) -> None:
    found = drafted(repository, "Loss.__init__")
    assert found.objective == "Initialize a `Loss`: the margin loss."
    assert found.inputs == (
        "margin (float): how far apart", "weight (float, default 0.5)", "mode (default sum)",
    )  # fmt: skip
    assert found.outputs == ()


def test_a_nested_function(repository: Path) -> None:
    found = drafted(repository, "outer.inner")
    assert found.objective == "" and found.docstring == ""
    assert found.inputs[0].startswith("x (") and "Float[Tensor, 'b d']" in found.inputs[0]
    assert found.inputs[1:] == ("args", "kwargs")
    assert found.dependencies == ("local", "n")
    assert found.outside == ("json.dumps",)
    assert found.outputs == ()  # it is annotated to return None


def test_a_documented_function_keeps_its_words_and_gets_no_docstring(repository: Path) -> None:
    found = drafted(repository, "documented")
    assert found == MaskNotes(
        objective="Measure gaps.",
        inputs=("x (int, default 1): the one, of shape (b,)",),
        outputs=("the other",),
    )


def test_an_undocumented_function_has_neither_purpose_nor_docstring(repository: Path) -> None:
    found = drafted(repository, "merge_heads")
    assert (found.objective, found.docstring, found.outputs) == ("", "", ("Tensor",))


@pytest.mark.parametrize(
    ("name", "secrets"),
    [
        ("Loss.forward", ["secret", "F.relu", "self.margin -", "np.abs", "return"]),
        ("Loss.__init__", ["self.margin", "="]),
        ("outer.inner", ["dumps(", "local +", "return"]),
        ("stream", ["yield from"]),
    ],
)
def test_nothing_that_is_computed_is_in_a_draft(name: str, secrets: list[str], repository: Path) -> None:
    """A draft says names and shapes, never what is done with them."""
    module, definition = locate.find(repository, Target("loss.py", name))
    drafts = {definition.qualname: drafted(repository, name)}
    goal = code.Module.parse(mask_source(module, [definition], drafts).data, "loss.py")
    masked = next(item for item in goal.definitions if item.qualname == name)
    was, now = code.region_bytes(module, definition).decode(), code.region_bytes(goal, masked).decode()
    assert [secret for secret in secrets if secret not in was] == []
    assert [secret for secret in secrets if secret in now] == []


# docstrings

GOOGLE = """Sum up.

    More on it.

    Args:
        x (torch.Tensor): the logits,
            shape (batch_size, seq_len).
        *rest: others

    Returns:
        A tuple (losses, rewards).
    """
NUMPY = """Sum
    up.

    Parameters
    ----------
    x : ndarray, shape (n, m)
        The x.

    Returns
    -------
    out : float
        The sum.
    """
REST = """Sum up.

    :param x: the x
    :type x: int
    :returns: the sum
    :rtype: float
    """


@pytest.mark.parametrize(
    ("text", "summary", "parameter", "returns"),
    [
        (
            GOOGLE,
            "Sum up.",
            DocumentedParameter("torch.Tensor", "the logits, shape (batch_size, seq_len)."),
            "A tuple",
        ),
        (NUMPY, "Sum up.", DocumentedParameter("ndarray, shape (n, m)", "The x."), "out (float): The sum."),
        (REST, "Sum up.", DocumentedParameter("int", "the x"), "float: the sum"),
        (
            "Inputs:\n  x: the x\nOutputs:\n  y of (B, T)\n",
            "",
            DocumentedParameter("", "the x"),
            "y of (B, T)",
        ),
        ("Only a\nsentence", "Only a sentence", None, ""),
        ("", "", None, ""),
    ],
    ids=["google", "numpy", "rest", "inputs", "plain", "empty"],
)
def test_styles(text: str, summary: str, parameter: DocumentedParameter | None, returns: str) -> None:
    found = read_docstring(text)
    assert found.summary == summary
    assert found.parameters.get("x") == parameter
    assert (found.returns[0] if found.returns else "").startswith(returns)
    assert bool(found.returns) == bool(returns)


ROLES = """Weigh pairs as :class:`~some.package.Weigher` does.

    Args:
        pairs (:obj:`torch.LongTensor` of shape :obj:`(batch, 2)`, `optional`):
            Two answers.
    """


def test_roles_of_sphinx_do_not_hide_what_is_said() -> None:
    found = read_docstring(ROLES)
    assert found.summary == "Weigh pairs as some.package.Weigher does."
    assert found.parameters["pairs"].text == "Two answers."
    assert found.parameters["pairs"].type.startswith("torch.LongTensor of shape (batch, 2)")


def test_text_behind_a_section_belongs_to_no_entry() -> None:
    text = """Sum up.

    Arguments:
        x (int): the x,
            which is long
        lr (float, `optional`): the rate

    This handles low precision.
    """
    found = read_docstring(text)
    assert found.parameters == {
        "x": DocumentedParameter("int", "the x, which is long"),
        "lr": DocumentedParameter("float, `optional`", "the rate"),
    }


# purposes


def said(text: str) -> str:
    return read_docstring(text).summary


@pytest.mark.parametrize(
    "text",
    [
        "TODO: describe.",
        "_summary_",
        "Forward pass.",
        "Defines the computation performed at every call.",
        "See base class.",
        "-----",
        "Copyright 2020 The Some Team. All rights reserved.",
        'Licensed under the Apache License, Version 2.0 (the "License");\nyou may not use this file',
        "https://example.org/paper",
        ">>> weigh_pairs(2)",
        "Args:\n    annotators: None or empty.",
        "Returns:\n    Two numbers.",
        "labels (torch.LongTensor of shape (batch_size,), optional):\n    Labels for the loss.",
        ":param x: a number",
    ],
)
def test_what_says_nothing_is_no_purpose(text: str) -> None:
    assert said(text) == ""


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Average the gaps.", "Average the gaps."),
        ("Implements the CDF of the stretched distribution", "Implements the CDF of the stretched distribution"),
        ("Forward pass of the gated encoder.", "Forward pass of the gated encoder."),
        ("Average the gaps.\nlabels (list): of the pairs\nSee the base class", "Average the gaps."),
        ("Average the gaps. TODO: speed it up.", "Average the gaps."),
        ("Average the gaps. Copied from somewhere.", "Average the gaps."),
        ("Average the gaps, e.g. of A. Smith.\n-----------\n", "Average the gaps, e.g. of A. Smith."),
        ("Weighting as in eq. 3: closer answers count more.", "Weighting as in eq. 3: closer answers count more."),
        ("\u8ba1\u7b97\u635f\u5931", "\u8ba1\u7b97\u635f\u5931"),
    ],
)  # fmt: skip
def test_what_says_something_is_kept_up_to_what_does_not(text: str, kept: str) -> None:
    assert said(text) == kept


@pytest.mark.timeout(20)
def test_a_long_line_is_read_at_once() -> None:
    """No pattern goes over a text again and again."""
    assert purpose("x (" * 20_000)
    assert purpose("x ((((((((((" * 2_000 + ":")
    assert purpose("average gaps " * 5_000).startswith("average gaps")
