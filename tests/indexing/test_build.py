"""The index of a folder: every file of it, whatever it is called and whatever it is."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lmr_author.indexing import Cache, Index, build, workers
from lmr_author.indexing.records import MAX_BYTES, NOT_PARSED
from tests.support import write_files

NONE = Cache(None)


def reasons(index: Index) -> dict[str, str]:
    """Why files are not in the index."""
    return {item.path: item.reason for item in index.unread}


def test_files_of_every_name(tmp_path: Path) -> None:
    names = ["a b.py", "größe.py", "new\nline.py", "sub/-.py", "x/y/z.py"]
    write_files(tmp_path, dict.fromkeys(names, "def f(): pass\n"))
    raw = os.fsencode(tmp_path) + b"/\xff\xfe.py"
    Path(os.fsdecode(raw)).write_text("def g(): pass\n")
    index = build(tmp_path, cache=NONE)
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
    index = build(folder, cache=NONE)
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
    index = build(tmp_path, cache=NONE)
    assert index.files == ("a.py",)
    assert "too large" in reasons(index)["b.py"]


def test_folders_of_tools_and_those_left_out(tmp_path: Path) -> None:
    names = [".git/a.py", "__pycache__/b.py", "unit_test/c.py", "sub/unit_test/d.py", "e.txt", "f.py"]
    write_files(tmp_path, dict.fromkeys(names, "def f(): pass\n"))
    assert build(tmp_path, cache=NONE, without=["unit_test"]).files == ("f.py", "sub/unit_test/d.py")


def test_a_folder_that_is_not_there_is_empty(tmp_path: Path) -> None:
    assert build(tmp_path / "no", cache=NONE).entries == ()


@pytest.fixture
def many(tmp_path: Path) -> Path:
    """Files of different sizes, one of which does not parse."""
    files = {f"{number:02}.py": f"def f{number}():\n" + "    x = 1\n" * number for number in range(1, 30)}
    return write_files(
        tmp_path / "many", {**files, "bad.py": "def (", "sub dir/\udcff.py": "def g(): f1()\n"}
    )


def test_processes_find_what_one_finds(many: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    alone = build(many, cache=NONE)
    monkeypatch.setattr(workers, "ALONE_BELOW", 0)
    for jobs in (1, 2, 3, 100):
        assert build(many, cache=NONE, jobs=jobs) == alone
    assert len(alone.functions) == 30


def test_a_process_that_dies_of_files_costs_only_those(many: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dying = """
import os
from lmr_author.indexing import worker
real = worker.read_file
dying = ("07.py", "08.py", "21.py")
worker.read_file = lambda path, words: os._exit(9) if path.endswith(dying) else real(path, words)
worker.main()
"""
    start = workers._PROGRAM.partition("from ")[0]
    monkeypatch.setattr(workers, "ALONE_BELOW", 0)
    monkeypatch.setattr(workers, "BATCHES_EACH", 1)  # so that many files come behind one that kills
    monkeypatch.setattr(workers, "_COMMAND", (*workers._COMMAND[:-1], start + dying))
    index = build(many, cache=NONE, jobs=2)
    crashed = [path for path, reason in reasons(index).items() if "crashed" in reason]
    assert sorted(crashed) == ["07.py", "08.py", "21.py"]
    assert len(index.functions) == 27


def test_an_outline_is_the_index_without_words(many: Path, tmp_path: Path) -> None:
    write_files(many, {"words.py": "def loss(x):\n    yield helper(x)  # why\n"})
    cache = Cache(tmp_path / "index.sqlite3")
    outline, whole = (build(many, cache=cache, words=words) for words in (False, True))
    assert outline.entries == tuple(item._replace(words="", comments="") for item in whole.entries)
    assert (outline.files, outline.unread, outline.calls["words.py"]) == (whole.files, whole.unread, {})
    assert (whole.reused, whole.named("loss")[0].comments) == (0, "why")
    assert build(many, cache=cache, words=False).reused == len(whole.files) + len(whole.unread)


def test_another_content_under_the_files_own_lines(tmp_path: Path) -> None:
    masked = "# a comment\ndef loss(x):\n    raise NotImplementedError\n\ndef other(): pass\n"
    golden = "def loss(x):\n    y = helper(x)\n    return y\n\ndef other(): pass\n"
    write_files(tmp_path, {"a.py": masked, "b.py": "print 'two'"})
    index = build(tmp_path, cache=NONE, instead={"a.py": golden.encode(), "b.py": b"x", "no.py": b"x"})
    loss, other = index.entries
    assert (loss.calls, loss.statements) == (("helper",), 2)
    assert (loss.line, loss.end_line, other.line) == (2, 3, 5)
    assert index.callers("helper") == [("a.py", 1)]
    assert list(reasons(index)) == ["b.py"]


def test_similar_names(tmp_path: Path) -> None:
    write_files(
        tmp_path, {"a.py": "def preference_loss(): pass\n", "b.py": "class C:\n    def forward(self): pass\n"}
    )
    index = build(tmp_path, cache=NONE)
    assert [item.node_id for item in index.similar("preferense_los")] == ["a.py::preference_loss"]
    assert [item.node_id for item in index.similar("forward")] == ["b.py::C.forward"]
    assert index.similar("qqq") == []


def test_overloads_are_no_functions(tmp_path: Path) -> None:
    write_files(tmp_path, {"a.py": "@typing.overload\ndef f(x): ...\ndef f(x): pass\nclass C: pass\n"})
    index = build(tmp_path, cache=NONE)
    assert [item.nth for item in index.functions] == [2]
    assert len(index.entries) == 3
