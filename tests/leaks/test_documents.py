"""A function of the target's name that a README writes out, in other words than the code's."""

from __future__ import annotations

import textwrap

import pytest

from lmr_author import leaks
from lmr_author.leaks import documents
from tests.leaks.functions import wanted

GOLDEN = """\
class Criterion:
    def symmetric_divergence(self, model, output, mask=None, reduce=True):
        log_probs = model.get_normalized_probs(output, log_probs=True)
        probs = model.get_normalized_probs(output, log_probs=False)
        p_log, q_log = torch.split(log_probs, log_probs.size(0) // 2, dim=0)
        p, q = torch.split(probs, probs.size(0) // 2, dim=0)
        forward = F.kl_div(p_log, q, reduction='none')
        backward = F.kl_div(q_log, p, reduction='none')
        if mask is not None:
            mask, _ = torch.split(mask, mask.size(0) // 2, dim=0)
            forward.masked_fill_(mask, 0.0)
            backward.masked_fill_(mask, 0.0)
        if reduce:
            forward, backward = forward.sum(), backward.sum()
        return (forward + backward) / 2
"""
SHOWN = """\
def symmetric_divergence(logits, others, mask=None):
    forward = F.kl_div(F.log_softmax(logits, dim=-1), F.softmax(others, dim=-1), reduction='none')
    backward = F.kl_div(F.log_softmax(others, dim=-1), F.softmax(logits, dim=-1), reduction='none')
    if mask is not None:
        forward.masked_fill_(mask, 0.0)
        backward.masked_fill_(mask, 0.0)
    # sum or mean, as the task is
    return (forward.sum() + backward.sum()) / 2
"""
UNLIKE = """\
def symmetric_divergence(model, batch):
    print('replace this by your own loss')
    loss = model(**batch).loss
    return loss
"""


def readme(code: str, before: str = "# R\n\nThe loss:\n\n", fence: str = "```") -> bytes:
    """A README with a block of code."""
    return f"{before}{fence}python\n{code}\nmodel = Model()\n{fence}\n\nMore text.\n".encode()


def found(text: bytes, path: str = "README.md", golden: str = GOLDEN) -> list[tuple[str, int, bool]]:
    """(function, line, whether it is sure) of what is found of the golden."""
    places = leaks.in_file(path, text, [wanted(golden)])
    return [(leak.where, leak.line, leak.sure) for leak in places]


@pytest.mark.parametrize(
    "text",
    [
        readme(SHOWN),
        readme(SHOWN, fence="~~~"),
        readme(textwrap.indent(SHOWN, "  "), "1. Do this:\n\n  \n"),
        f"Loss\n====\n\n.. code-block:: python\n\n{textwrap.indent(SHOWN, '    ')}\nMore.\n".encode(),
        readme(f"class Criterion(Loss):\n{textwrap.indent(SHOWN, '    ')}"),
    ],
)
def test_a_variant_of_the_same_name_is_a_look_alike(text: bytes) -> None:
    ((where, line, sure),) = found(text)
    assert where.endswith("symmetric_divergence") and not sure
    assert "def symmetric_divergence" in text.decode().splitlines()[line - 1]


@pytest.mark.parametrize(
    "code",
    [
        UNLIKE,
        SHOWN.replace("symmetric_divergence", "my_loss"),  # as before: not enough alike without the name
        f"class Other(Loss):\n{textwrap.indent(SHOWN, '    ')}",  # an override: another function on purpose
        "def symmetric_divergence(logits, others, mask=None): ...",
    ],
)
def test_another_function_is_none(code: str) -> None:
    assert found(readme(code)) == []


def test_a_copy_of_the_same_name_is_sure() -> None:
    body = textwrap.dedent(GOLDEN.partition("\n")[2])
    assert found(readme(body)) == [("symmetric_divergence", 6, True)]


def test_common_names_tell_nothing() -> None:
    golden, shown = (text.replace("symmetric_divergence", "forward") for text in (GOLDEN, SHOWN))
    assert not leaks.in_file("README.md", readme(shown), [wanted(golden)])


def test_functions_end_where_their_block_does() -> None:
    text = "def a(x,\ny):\n    return x\n```\n    y = 1\n\n> def quoted(:\n\n  async def b():\n      await c()\n text\n"
    each = [(line, source.splitlines()[-1].strip()) for line, source, _ in documents.functions(text)]
    assert each == [(1, "return x"), (9, "await c()")]
    assert list(documents.functions("A text about def and nothing else\ndef x(")) == []


def test_of_a_trap_only_so_many_functions_are_looked_at() -> None:
    text = "class A:\n" + "    def f(self): ...\n" * (documents.MAX_FUNCTIONS + 5)
    found = list(documents.functions(text))

    assert len(found) == documents.MAX_FUNCTIONS
    assert {item.qualname for _, _, item in found} == {"A.f"}
