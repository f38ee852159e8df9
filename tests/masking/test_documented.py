"""What docstrings say, in every usual style, and which shapes a source tells."""

from __future__ import annotations

import pytest

from lmr_author import code
from lmr_author.masking.docstrings import Entry, read_docstring, shape_in
from lmr_author.masking.draft import shapes_of

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
TORCH = """Sum up.

    Shape:
        - Input: :math:`(N, C)`
        - Output: :math:`(N, D)`
    """


@pytest.mark.parametrize(
    ("text", "summary", "parameter", "returns"),
    [
        (GOOGLE, "Sum up.", Entry("torch.Tensor", "the logits, shape (batch_size, seq_len)."), "A tuple"),
        (NUMPY, "Sum up.", Entry("ndarray, shape (n, m)", "The x."), "out (float): The sum."),
        (REST, "Sum up.", Entry("int", "the x"), "float: the sum"),
        (TORCH, "Sum up.", None, "(N, D)"),
        ("Inputs:\n  x: the x\nOutputs:\n  y of (B, T)\n", "", Entry("", "the x"), "y of (B, T)"),
        ("Only a\nsentence", "Only a sentence", None, ""),
        ("", "", None, ""),
    ],
    ids=["google", "numpy", "rest", "torch", "inputs", "plain", "empty"],
)
def test_styles(text: str, summary: str, parameter: Entry | None, returns: str) -> None:
    found = read_docstring(text)
    assert found.summary == summary
    assert found.parameters.get("x") == parameter
    assert (found.returns[0] if found.returns else "").startswith(returns)
    assert bool(found.returns) == bool(returns)


def test_starred_parameters_are_named_without_stars() -> None:
    assert read_docstring(GOOGLE).parameters["rest"] == Entry("", "others")


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("of shape (batch_size, seq_len).", "(batch_size, seq_len)"),
        ("(batch_size,)", "(batch_size,)"),
        ("[N, 3*D, -1]", "[N, 3*D, -1]"),
        ("(..., d)", "(..., d)"),
        ("a word (in brackets)", ""),
        ("(see there, and here)", ""),
    ],
)
def test_shapes_in_texts(text: str, shape: str) -> None:
    assert shape_in(text) == shape


def shapes(text: str) -> dict[str, str]:
    module = code.Module.parse(text.encode(), "file.py")
    return shapes_of(module, module.definitions[0])


def test_shapes_are_read_from_unpacking_comments_and_einops() -> None:
    text = """
def f(
    q,  # (B, T, C)
    k,
    v,
    w,
):
    b, n, *_, d = k.shape  # batch, tokens
    v = rearrange(v, "b n (h d) -> b h n d", h=8)
    v = rearrange(v, "x y -> y x")
    for i in range(3):
        B, _ = w.size()
"""
    assert shapes(text) == {
        "q": "(B, T, C)", "k": "(b, n, …, d): batch, tokens", "v": "`b n (h d)`", "w": "(B, …)",
    }  # fmt: skip


def test_a_parameter_that_was_assigned_to_has_no_shape_any_more() -> None:
    assert shapes("def f(x):\n    x = x.view(-1)\n    (n,) = x.shape\n    return n\n") == {}
    assert shapes("def f(x):\n    a, b = x.shape[:2]\n    y.shape = a, 1\n    c, d = size(x)\n") == {}


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
        "x": Entry("int", "the x, which is long"),
        "lr": Entry("float, `optional`", "the rate"),
    }


def test_a_shape_is_read_under_a_condition() -> None:
    assert shapes("def f(t):\n    if t.ndim == 1:\n        t = rearrange(t, 'n -> 1 n')\n") == {"t": "`n`"}
