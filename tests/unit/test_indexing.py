"""The index of a folder, and the facts that it keeps of each function."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest

from lmr_author.core.errors import SourceError
from lmr_author.core.indexing import MAX_BYTES, Index, IndexEntry, build, read
from tests.support import write_files


def reasons(index: Index) -> dict[str, str]:
    """Why files are not in the index."""
    return {item.path: item.reason for item in index.unread}


def only(text: str) -> IndexEntry:
    """The first entry of a file."""
    return read("a.py", text.encode("utf-8", "surrogatepass"))[0][0]


def test_files_of_every_name(tmp_path: Path) -> None:
    names = ["a b.py", "größe.py", "new\nline.py", "sub/-.py", "x/y/z.py"]
    write_files(tmp_path, dict.fromkeys(names, "def f(): pass\n"))
    raw = os.fsencode(tmp_path) + b"/\xff\xfe.py"
    Path(os.fsdecode(raw)).write_text("def g(): pass\n")
    index = build(tmp_path)
    assert index.files == tuple(sorted([*names, "\udcff\udcfe.py"]))
    assert [item.path for item in index.functions if item.name == "g"] == ["\udcff\udcfe.py"]
    assert index.unread == ()


def test_what_is_no_file_is_listed_and_never_waited_for(tmp_path: Path) -> None:
    (tmp_path / "outside.py").write_text("def secret(): pass\n")
    folder = write_files(tmp_path / "repo", {"good.py": "def f(): pass\n", "old.py": "print 'two'\n"})
    os.mkfifo(folder / "pipe.py")
    (folder / "loop.py").symlink_to("loop.py")
    (folder / "linked.py").symlink_to("../outside.py")
    (folder / "circle").symlink_to(".")
    (folder / "folder.py").mkdir()
    with (folder / "large.py").open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    index = build(folder)
    assert index.files == ("good.py",)
    found = reasons(index)
    assert found.pop("old.py").startswith("line 1: not valid Python 3.")
    assert found == dict.fromkeys(
        ["large.py", "linked.py", "loop.py", "pipe.py"], "a link, larger than 2 MB, or not readable"
    )


def test_folders_of_tools_and_those_left_out(tmp_path: Path) -> None:
    names = [".git/a.py", "__pycache__/b.py", "unit_test/c.py", "sub/unit_test/d.py", "e.txt", "f.py"]
    write_files(tmp_path, dict.fromkeys(names, "def f(): pass\n"))
    assert build(tmp_path, without=["unit_test"]).files == ("f.py", "sub/unit_test/d.py")
    assert build(tmp_path / "no").functions == ()


def test_another_content_under_the_files_own_lines(tmp_path: Path) -> None:
    masked = "# a comment\ndef loss(x):\n    raise NotImplementedError\n\ndef other(): pass\n"
    golden = "def loss(x):\n    y = helper(x)\n    return y\n\ndef other(): pass\n"
    write_files(tmp_path, {"a.py": masked, "b.py": "print 'two'"})
    index = build(tmp_path, instead={"a.py": golden.encode(), "b.py": b"x", "no.py": b"x"})
    loss, other = index.functions
    assert (loss.calls, loss.statements) == (("helper",), 2)
    assert (loss.line, loss.end_line, other.line) == (2, 3, 5)
    assert index.callers("helper") == [("a.py", 1)]
    assert list(reasons(index)) == ["b.py"]


def test_functions_without_stubs_by_their_node_ids(tmp_path: Path) -> None:
    overloaded = "@typing.overload\ndef f(x): ...\ndef f(x): pass\nclass C:\n    def forward(self): pass\n"
    index = build(write_files(tmp_path, {"a.py": "def preference_loss(): pass\n", "b.py": overloaded}))
    assert [item.node_id for item in index.functions] == [
        "a.py::preference_loss",
        "b.py::f#2",
        "b.py::C.forward",
    ]
    assert [item.node_id for item in index.named("forward")] == ["b.py::C.forward"]
    assert [item.node_id for item in index.similar("preferense_los")] == ["a.py::preference_loss"]
    assert index.similar("qqq") == []


def test_parameters_decorators_and_kinds_as_written() -> None:
    entry = only("def f(a, b: int = 1, *rest, key: 'str | None' = None, **more): yield a")
    assert entry.parameters == ("a", "b: int", "*rest", "key: str | None", "**more")
    assert entry.arguments == ("a", "b", "rest", "key", "more")
    assert entry.generator and entry.kind == "function"
    assert only("async def f(): return 1").kind == "async"
    decorated = only("@property\n@functools.lru_cache(maxsize=None)\ndef f(self): pass")
    assert decorated.decorators == ("property", "functools.lru_cache")
    assert decorated.line == 3


def test_statements_and_branches() -> None:
    entry = only(
        'def f(x):\n    """Not counted."""\n    import os  # computes nothing\n    if x:\n        x += 1\n'
        "    elif os:\n        pass\n    for y in x:\n        try:\n            y()\n"
        "        except OSError:\n            raise\n    def g():\n        while x:\n            break\n    return g\n"
    )
    assert (entry.statements, entry.branches, entry.returns) == (10, 5, True)


def test_names_are_of_code_and_not_of_texts() -> None:
    entry = only(
        "@hidden(1)\n"
        "def f(x):  # first comment\n"
        '    """A docstring that says nothing(."""\n'
        "    # TODO: second\n"
        "    y = model.encode(x, text='# no comment', more=\"it's\")  #: third\n"
        "    z = '''\n    # none either\n    ''' + f'{ignored(y)}'\n"
        "    return y if z else len (y)\n"
        "# outside\n"
    )
    assert entry.docstring == "A docstring that says nothing(."
    assert set(entry.names) == {"x", "y", "model", "text", "more", "z"}
    assert set(entry.calls) == {"encode", "ignored", "len"}


def test_calls_of_a_file_are_counted_once_each() -> None:
    text = (
        "import a\na.loss(1); loss(2)\n@wrap(1)\ndef loss(x):\n    def inner():\n        return loss(x - 1)\n"
        "    return inner()  # loss(3)\nclass C(Base):\n    value = loss('loss(4)')\n"
    )
    assert read("a.py", text.encode())[1] == {"loss": 4, "inner": 1, "wrap": 1}


@pytest.mark.parametrize(
    ("body", "warned"),
    [
        ("return x.to('cuda')", True),
        ("return x.cuda()", True),
        ("return torch.zeros(3, device='cuda:0') + x", True),
        ("return dict_to(x, 'cuda')", True),
        ("return x.to(f'cuda:{rank}')", True),
        ("device = 'cuda'; return x.to(device)", True),
        ("assert torch.cuda.is_available(); return x.cuda()", True),
        ("return torch.cuda.FloatTensor(x)", True),
        ("return self.place(x)", True),
        ("return x.to(self.device)", False),
        ("return x if x.device.type == 'cuda' else None", False),
        ("return x.to('cuda' if gpu else 'cpu')", False),
        ("return x.to('cuda') if torch.cuda.is_available() else x", False),
        ("return y.cuda() if x.is_cuda else y", False),
        ("from torch.cuda import is_available\n    return y.cuda() if is_available() else y", False),
        ("assert x.is_cuda; return y.cuda()", True),
    ],
)
def test_a_function_that_moves_data_to_a_gpu_says_so(body: str, warned: bool) -> None:
    place = "def place(self, x):\n    return x.cuda()\n"
    entry = read("a.py", f"def move(self, x, default='cuda'):\n    {body}\n{place}".encode())[0][0]
    assert (entry.obstacle is not None and entry.obstacle.kind == "gpu") is warned


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"type = = 1\n", f"a.py:1: not valid Python 3.{sys.version_info.minor}"),
        (b"x = 1\x00\n", "null bytes"),
        (b"# -*- coding: no-such -*-\n", "not valid Python"),
        (b"x = " + b"(" * 5000 + b")" * 5000, "not valid Python|too deeply"),
        (b"x = 1" + b" + 1" * 100_000, "too deeply"),
    ],
)
def test_what_cannot_be_parsed_has_a_reason(data: bytes, expected: str) -> None:
    with pytest.raises(SourceError) as caught:
        read("a.py", data)
    assert re.search(expected, caught.value.message)


def test_a_lone_surrogate_in_a_docstring_is_kept() -> None:
    assert only('def f():\n    "\\ud800"\n').docstring == "\ud800"
