"""Where findings are: values in JSON, and parts of lines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmr_author.task import Finding, Severity
from lmr_author.validation.places import Places, json_places
from tests import example as example_task

TEXT = '{\n  "a": {"b/c": [10, {"d~": "x"}]},\n  "e" : "é"\n}\n'


@pytest.mark.parametrize(
    ("pointer", "shown"),
    [
        ("", TEXT.strip()),
        ("/a", '"a": {"b/c": [10, {"d~": "x"}]}'),
        ("/a/b~1c", '"b/c": [10, {"d~": "x"}]'),
        ("/a/b~1c/0", "10"),
        ("/a/b~1c/1/d~0", '"d~": "x"'),
        ("/e", '"e" : "é"'),
        ("/f", None),
        ("/a/b~1c/2", None),
        ("/e/0", None),
    ],
)
def test_a_pointer_names_a_member_with_its_key_or_an_item(pointer: str, shown: str | None) -> None:
    found = json_places(TEXT).get(pointer)

    assert (TEXT[slice(*found)] if found else None) == shown


@pytest.mark.parametrize(
    "text", ["", "{", '{"a"', '{"a": ', '{"a": 1', "[1,", "nul", '{"a" 1}', "[" * 100000]
)
def test_what_is_no_json_has_no_places(text: str) -> None:
    found = json_places(text)

    assert not {"", "/a/b", "/0/0"} & set(found)


VALUES = st.recursive(
    st.none() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
)


def _pointers(value: Any, pointer: str = "") -> list[tuple[str, Any]]:
    children = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    below = [
        one
        for name, child in children
        for one in _pointers(child, f"{pointer}/{str(name).replace('~', '~0').replace('/', '~1')}")
    ]
    return [(pointer, value), *below]


@given(VALUES, st.sampled_from([None, 1, "\t"]))
def test_every_value_of_a_document_is_found(value: Any, indent: int | str | None) -> None:
    text = json.dumps(value, indent=indent)
    known = json_places(text)

    assert set(known) == {pointer for pointer, _ in _pointers(value)}
    for pointer, expected in _pointers(value):
        shown = text[slice(*known[pointer])]
        try:
            assert json.loads(shown) == expected
        except ValueError:  # a member, with its key
            (only,) = json.loads("{" + shown + "}").values()
            assert only == expected


def _finding(path: str, pointer: str, message: str) -> Finding:
    return Finding("LMR999", Severity.ERROR, "t", message, path=path, pointer=pointer)


@pytest.mark.parametrize(
    ("message", "meant"),
    [
        ("torch>=2.5 is not quoted", "torch>=2.5"),
        ("'install' is a word", "install"),
        ("nothing of it is named", "RUN pip install torch>=2.5 numpy"),
        ("numpy.linalg and torch>=2.5: both", "torch>=2.5"),
    ],
)
def test_the_part_of_a_line_that_a_message_names(message: str, meant: str, tmp_path: Path) -> None:
    task = example_task.write(tmp_path)
    task.dockerfile.write_text("FROM a\r\n  RUN pip install torch>=2.5 numpy\r\n")

    place = Places(task).of(_finding("Dockerfile", "L2", message))

    assert place is not None
    assert (place.first, place.last) == (2, 2)
    assert place.lines[0][place.start : place.end] == meant


def test_several_lines_and_none(tmp_path: Path) -> None:
    task = example_task.write(tmp_path)
    task.dockerfile.write_text("a\nb\nc\nd\n")
    found = Places(task)

    place = found.of(_finding("Dockerfile", "L2-L3", "'b'"))
    assert place is not None and place.lines == ("b", "c") and place.start == place.end == 0
    for pointer in ("L9", "", "cell 3", "Lx", "/a"):
        assert found.of(_finding("Dockerfile", pointer, "")) is None
    assert found.of(_finding("", "L1", "")) is None
    assert found.of(_finding("missing", "L1", "")) is None


def test_the_misspelt_key_is_found_by_its_name(tmp_path: Path) -> None:
    task = example_task.write(tmp_path)
    text = task.info_path.read_text().replace("retrieval_context", "retrieval_content")
    task.info_path.write_text(text)

    place = Places(task).of(_finding("info.json", "/implementations/0/retrieval_context/0", ""))

    assert place is not None and "ranking" in place.lines[0]


def test_no_line_of_a_file_outside_is_shown(tmp_path: Path) -> None:
    task = example_task.write(tmp_path)
    (tmp_path / "secret").write_text("secret\n")
    (task.root / "inner").symlink_to(tmp_path / "secret")

    for path in ("inner", "../secret", "/etc/passwd", "margin-ranking"):
        assert Places(task).of(_finding(path, "L1", "")) is None
