"""A large part of the solution by itself, and rewritten copies that only their names tell: look-alikes."""

from __future__ import annotations

import pytest

from lmr_author import leaks
from lmr_author.leaks import Leak
from tests.leaks.functions import ATTENTION, CONTRASTIVE, wanted

PART = "\n".join(
    ["def heads(self, hidden):", *ATTENTION.split("\n")[2:10], "    return content + position", ""]
)
NESTED = "class Mixer:\n    def forward(self, hidden):\n" + "".join(
    f"        {line}\n" for line in PART.split("\n")
).replace("def heads(self, hidden)", "def heads(hidden)")
IN_OTHER_WORK = PART.replace(
    "    return", "".join(f"    extra_{i} = self.other_{i}(hidden, {i})\n" for i in range(9)) + "    return"
)
LIKE_NAMED = """\
def contrastive(anchors, others, labels, temperature):
    a = F.normalize(anchors, dim=-1)
    b = F.normalize(others, dim=-1)
    scores = torch.matmul(a, b.t()) / temperature
    equal = torch.eq(labels.unsqueeze(1), labels.unsqueeze(0)).float()
    log_p = scores - torch.logsumexp(scores, dim=1, keepdim=True)
    number = equal.sum(dim=1).clamp(min=1)
    return (-(equal * log_p).sum(dim=1) / number).mean()
"""


def _found(text: str, source: str) -> list[Leak]:
    return leaks.in_file("other.py", text.encode(), [wanted(source)])


@pytest.mark.parametrize("text", [PART, NESTED], ids=["a function", "inside another"])
def test_a_function_that_is_a_large_part_of_the_solution_is_a_look_alike(text: str) -> None:
    (found,) = _found(text, ATTENTION)
    assert not found.sure
    assert 0.4 <= found.similarity < 0.7


def test_the_same_part_in_much_other_work_is_none() -> None:
    assert _found(IN_OTHER_WORK, ATTENTION) == []


def test_three_statements_of_many_are_none() -> None:
    short = "\n".join(["def heads(self, hidden):", *ATTENTION.split("\n")[2:4], "    return query", ""])
    assert _found(short, ATTENTION) == []


@pytest.mark.parametrize("name", ["contrastive_loss", "info_contrastive_loss", "contrastive_loss_v2"])
def test_what_has_a_like_name_needs_less_to_be_one(name: str) -> None:
    renamed = LIKE_NAMED.replace("def contrastive(", f"def {name}(")
    assert [leak.sure for leak in _found(renamed, CONTRASTIVE)] == [False]


@pytest.mark.parametrize("name", ["contrastive", "loss", "contrastive_losses"])
def test_a_part_of_a_name_is_no_like_name(name: str) -> None:
    assert _found(LIKE_NAMED.replace("def contrastive(", f"def {name}("), CONTRASTIVE) == []
