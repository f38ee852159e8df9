"""The index of a folder: every file of it, whatever it is called and whatever it is."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lmr_author.indexing import MAX_BYTES, NOT_PARSED, Index, build
from lmr_author.indexing import index as index_module
from tests.support import write_files


def reasons(index: Index) -> dict[str, str]:
    """Why files are not in the index."""
    return {item.path: item.reason for item in index.unread}


def test_files_of_every_name(tmp_path: Path) -> None:
    names = ["a b.py", "größe.py", "new\nline.py", "sub/-.py", "x/y/z.py"]
    write_files(tmp_path, dict.fromkeys(names, "def f(): pass\n"))
    raw = os.fsencode(tmp_path) + b"/\xff\xfe.py"
    Path(os.fsdecode(raw)).write_text("def g(): pass\n")
    index = build(tmp_path)
    assert index.files == tuple(sorted([*names, "\udcff\udcfe.py"]))
    assert [item.path for item in index.named("g")] == ["\udcff\udcfe.py"]
    assert index.unread == ()


def test_what_is_no_file_is_listed_with_its_reason(tmp_path: Path) -> None:
    (tmp_path / "outside.py").write_text("def secret(): pass\n")
    folder = write_files(tmp_path / "repo", {"good.py": "def f(): pass\n", "old.py": "print 'two'\n"})
    os.mkfifo(folder / "pipe.py")
    (folder / "loop.py").symlink_to("loop.py")
    (folder / "linked.py").symlink_to("../outside.py")
    (folder / "circle").symlink_to(".")
    (folder / "folder.py").mkdir()
    with (folder / "large.py").open("wb") as file:
        file.truncate(10 * 2**20)
    index = build(folder)
    assert index.files == ("good.py",)
    found = reasons(index)
    assert found.pop("old.py").startswith(f"{NOT_PARSED}: line 1")
    assert found == {
        "pipe.py": "not a regular file",
        "loop.py": "a symbolic link",
        "linked.py": "a symbolic link",
        "large.py": "10.0 MB: too large to be code",
    }


def test_a_file_of_the_largest_size_is_read(tmp_path: Path) -> None:
    text = "def f(): pass\n"
    (tmp_path / "a.py").write_text(text + "#" * (MAX_BYTES - len(text)))
    (tmp_path / "b.py").write_text(text + "#" * (MAX_BYTES - len(text) + 1))
    index = build(tmp_path)
    assert index.files == ("a.py",)
    assert "too large" in reasons(index)["b.py"]


def test_folders_of_tools_and_those_left_out(tmp_path: Path) -> None:
    names = [".git/a.py", "__pycache__/b.py", "unit_test/c.py", "sub/unit_test/d.py", "e.txt", "f.py"]
    write_files(tmp_path, dict.fromkeys(names, "def f(): pass\n"))
    assert build(tmp_path, without=["unit_test"]).files == ("f.py", "sub/unit_test/d.py")


def test_a_folder_that_is_not_there_is_empty(tmp_path: Path) -> None:
    assert build(tmp_path / "no").entries == ()


@pytest.fixture
def many(tmp_path: Path) -> Path:
    """Files of different sizes, one of which does not parse."""
    files = {f"{number:02}.py": f"def f{number}():\n" + "    x = 1\n" * number for number in range(1, 30)}
    return write_files(
        tmp_path / "many", {**files, "bad.py": "def (", "sub dir/\udcff.py": "def g(): f1()\n"}
    )


def test_processes_find_what_one_finds(many: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    alone = build(many)
    monkeypatch.setattr(index_module, "ALONE_BELOW", 0)
    assert build(many) == alone
    assert len(alone.functions) == 30


def test_another_content_under_the_files_own_lines(tmp_path: Path) -> None:
    masked = "# a comment\ndef loss(x):\n    raise NotImplementedError\n\ndef other(): pass\n"
    golden = "def loss(x):\n    y = helper(x)\n    return y\n\ndef other(): pass\n"
    write_files(tmp_path, {"a.py": masked, "b.py": "print 'two'"})
    index = build(tmp_path, instead={"a.py": golden.encode(), "b.py": b"x", "no.py": b"x"})
    loss, other = index.entries
    assert (loss.calls, loss.statements) == (("helper",), 2)
    assert (loss.line, loss.end_line, other.line) == (2, 3, 5)
    assert index.callers("helper") == [("a.py", 1)]
    assert list(reasons(index)) == ["b.py"]


def test_similar_names(tmp_path: Path) -> None:
    write_files(
        tmp_path, {"a.py": "def preference_loss(): pass\n", "b.py": "class C:\n    def forward(self): pass\n"}
    )
    index = build(tmp_path)
    assert [item.node_id for item in index.similar("preferense_los")] == ["a.py::preference_loss"]
    assert [item.node_id for item in index.similar("forward")] == ["b.py::C.forward"]
    assert index.similar("qqq") == []


def test_overloads_are_no_functions(tmp_path: Path) -> None:
    write_files(tmp_path, {"a.py": "@typing.overload\ndef f(x): ...\ndef f(x): pass\nclass C: pass\n"})
    index = build(tmp_path)
    assert [item.nth for item in index.functions] == [2]
    assert len(index.entries) == 3
