"""Planted copies are found: every function, every edit, every kind of file."""

from __future__ import annotations

import pytest

from lmr_author.proof import leaks
from tests.leaks.edits import EDITS
from tests.leaks.functions import CONTRASTIVE, FUNCTIONS, METRIC, wanted
from tests.leaks.places import PLACES, planted

KINDS = {
    "module": "code",
    "inlined": "code",
    "backup": "code",
    "comments": "comments",
    "docstring": "comments",
    "notebook": "notebook",
    "patch, added": "patch",
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_copy_is_surely_found_wherever_it_stands(name: str, place: str) -> None:
    source = FUNCTIONS[name]
    path, data = planted(place, source)

    found = leaks.in_file(path, data, [wanted(source)])

    assert [(leak.kind, leak.sure, leak.path) for leak in found] == [(KINDS.get(place, "text"), True, path)]
    assert found[0].similarity > 0.9
    if found[0].line:
        line = data.decode().splitlines()[found[0].line - 1]
        assert found[0].excerpt.splitlines()[0].strip() in line


@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_an_edited_copy_is_found_in_code_notebooks_and_documents(name: str, edit: str) -> None:
    edited = EDITS[edit](FUNCTIONS[name])
    for place in ("module", "notebook", "markdown"):
        found = leaks.in_file(*planted(place, edited), [wanted(FUNCTIONS[name])])

        assert found, place
        assert found[0].sure or edit == "one line changed", place
        assert found[0].diff and wanted(FUNCTIONS[name]).may_be_in(edited.encode())


def test_a_place_says_where_it_is() -> None:
    solution = wanted(METRIC)

    (code,) = leaks.in_file(*planted("module", METRIC), [solution])
    (cell,) = leaks.in_file(*planted("notebook", METRIC), [solution])
    (comment,) = leaks.in_file(*planted("comments", METRIC), [solution])

    assert (code.line, code.where, code.node) == (4, "token_f1", "upstream/ops.py::token_f1")
    assert cell.location == "in this notebook (cell 2, token_f1)"
    assert comment.location == "in comments" and comment.line >= 3


def test_a_copy_in_a_document_is_where_most_of_it_is() -> None:
    """A single line like one of the solution's, in another passage above, does not draw the place there."""
    stray = "    loss = -(same * log_probability).sum(dim=1) / positives\n"
    copy = CONTRASTIVE.replace(stray, "")
    assert copy != CONTRASTIVE
    text = f"# How\n\nFirst\n\n{stray}" + "\nand then\n" * 10 + f"\n{copy}\n"

    (found,) = leaks.in_file("README.md", text.encode(), [wanted(CONTRASTIVE)])
    line = text.splitlines()[found.line - 1]
    assert line.startswith(("def contrastive_loss", "    anchors = F.normalize"))


def test_several_copies_in_one_file_are_several_places() -> None:
    text = (
        f"class A:\n{_indented(METRIC)}\n\nclass B:\n{_indented(METRIC)}\n\ndef token_f1(x):\n    return x\n"
    )

    found = leaks.in_file("old.py", text.encode(), [wanted(METRIC)])

    assert [leak.where for leak in found] == ["A.token_f1", "B.token_f1"]


def test_a_function_inside_another_is_named_not_the_one_around() -> None:
    text = f"def outer(data):\n{_indented(METRIC)}\n    return token_f1\n"

    assert [leak.where for leak in leaks.in_file("a.py", text.encode(), [wanted(METRIC)])] == [
        "outer.token_f1"
    ]


def test_the_masked_function_and_its_docstring_are_no_copy() -> None:
    text = METRIC.replace(
        '"""The best F1 over references."""', f"r'''Example::\n\n{_indented(METRIC, 8)}\n    '''"
    )
    targets = frozenset({"token_f1"})

    assert leaks.in_file("a.py", text.encode(), [wanted(METRIC)])
    assert leaks.in_file("a.py", text.encode(), [wanted(METRIC)], targets=targets) == []


def _indented(source: str, width: int = 4) -> str:
    return "".join(" " * width + line + "\n" for line in source.splitlines() if '"""' not in line)
