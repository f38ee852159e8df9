"""What docstrings say, in every usual style, and which shapes a source tells."""

from __future__ import annotations

import pytest

from lmr_author import code
from lmr_author.masking.draft import DocumentedParameter, read_docstring, shapes_of

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


@pytest.mark.parametrize(
    ("body", "shapes"),
    [
        ("b, n, *_, d = x.shape", {"x": "(b, n, …, d)"}),
        ("B, _ = x.size()", {"x": "(B, …)"}),
        ("x = x.view(-1)\n    (n,) = x.shape", {}),
        ("a, b = x.shape[:2]", {}),
    ],
)
def test_shapes_are_read_from_unpacking_until_a_parameter_is_assigned_to(
    body: str, shapes: dict[str, str]
) -> None:
    module = code.Module.parse(f"def f(x):\n    {body}\n".encode(), "file.py")
    assert shapes_of(module.definitions[0].function) == shapes
