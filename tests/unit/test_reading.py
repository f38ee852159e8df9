"""JSON objects read leniently, and those that are going to be written again."""

from __future__ import annotations

from pathlib import Path

import pytest

from lmr_author import files
from lmr_author.errors import LmrError


def test_an_object_and_no_file(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    assert files.read_object_or_empty(path) == files.read_object_to_change(path) == {}
    path.write_text('{"a": 1}')
    assert files.read_object_or_empty(path) == files.read_object_to_change(path) == {"a": 1}


@pytest.mark.parametrize("damaged", [b"", b"{", b"[]", b"null", b"3", b"\xff", b"[" * 100_000])
def test_anything_else_is_empty_or_refused(tmp_path: Path, damaged: bytes) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(damaged)
    assert files.read_object_or_empty(path) == {}
    with pytest.raises(LmrError, match=r"a\.json") as caught:
        files.read_object_to_change(path)
    assert caught.value.hint


def test_entries_and_no_file(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    assert files.read_entries_to_change(path, "all") == []
    path.write_text('{"all": [{"a": 1}, {}]}')
    assert files.read_entries_to_change(path, "all") == [{"a": 1}, {}]


@pytest.mark.parametrize("damaged", ["[]", '{"a": []}', '{"all": {}}', '{"all": [{}, 3]}', '{"all": null}'])
def test_what_is_no_list_of_entries_is_refused(tmp_path: Path, damaged: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(damaged)
    with pytest.raises(LmrError, match=r"a\.json") as caught:
        files.read_entries_to_change(path, "all")
    assert "correct the file" in caught.value.hint
