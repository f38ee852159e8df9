"""Copies that were rewritten: other statements and other variables, the same calls and constants."""

from __future__ import annotations

import json
import textwrap

import pytest

from lmr_author import leaks
from lmr_author.leaks import Leak
from tests.leaks.functions import ATTENTION, BEAM, wanted

OTHER_BEAM = """\
def advance(table, rows, k, stop, alpha=0.6):
    pool = []
    for number, (value, row) in enumerate(rows):
        if row and row[-1] == stop:
            pool.append((value, row))
        else:
            top = sorted(range(len(table[number])), key=lambda word: -table[number][word])[:k]
            pool += [((value + table[number][word]) / ((5 + len(row) + 1) / 6) ** alpha, row + [word]) for word in top]
    pool.sort(key=lambda pair: pair[0], reverse=True)
    done, kept = [pair for pair in pool if pair[1][-1] == stop], pool[:k]
    return kept, done
"""
OTHER_ATTENTION = """\
def mix(self, x, keep=None):
    shape = x.shape
    n, size = shape[0], shape[1]
    q, k, v = (
        part(x).view(n, size, self.h, -1).transpose(1, 2) for part in (self.q_proj, self.k_proj, self.v_proj)
    )
    return self.out(torch.einsum("bhqd,bhkd->bhqk", q, k).softmax(-1) @ v)
"""


def _found(name: str, text: str, source: str = BEAM) -> list[Leak]:
    return leaks.in_file(name, text.encode(), [wanted(source)])


def _notebook(source: str) -> str:
    cells = [
        {"cell_type": "code", "source": ["rows = load()\n"]},
        {"cell_type": "code", "source": f"%%time\nimport math\n{source}".splitlines(keepends=True)},
    ]
    return json.dumps({"cells": cells})


PLACES = {
    "a module": ("other.py", f"import math\n\n\n{OTHER_BEAM}", "code"),
    "a cell": ("other.ipynb", _notebook(OTHER_BEAM), "notebook"),
    "comments": ("other.py", "import math\n" * 2000 + textwrap.indent(OTHER_BEAM, "# "), "comments"),
}


@pytest.mark.parametrize("name", PLACES)
def test_a_rewritten_copy_is_a_look_alike(name: str) -> None:
    file, text, kind = PLACES[name]

    (found,) = _found(file, text)

    assert (found.kind, found.sure) == (kind, False)
    assert found.similarity >= 0.9
    assert "def advance" in found.found and "return kept, done" in found.found


def test_with_less_in_common_it_is_one_in_comments_only() -> None:
    shorter = OTHER_BEAM
    for part in (" if pair[1][-1] == stop", " and row[-1] == stop", " ** alpha"):
        shorter = shorter.replace(part, "")

    assert _found("other.py", shorter) == []
    assert [leak.kind for leak in _found("other.py", textwrap.indent(shorter, "# "))] == ["comments"]


def test_another_function_for_the_same_purpose_is_none() -> None:
    for text in (OTHER_ATTENTION, textwrap.indent(OTHER_ATTENTION, "# ")):
        assert _found("other.py", text, ATTENTION) == []
