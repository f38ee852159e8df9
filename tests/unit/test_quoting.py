"""Foreign text comes out of every language as it went in, and nothing else does."""

from __future__ import annotations

import csv
import io
import re
import tomllib

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from lmr_author.core import quoting

HOSTILE = (
    "MIT\ntags:\n- pwned",
    '"}\n[evil]\nx = "',
    "=HYPERLINK(\"https://evil.example\";\"ok\")",
    "| a | b |\n|---|---|",
    "[click](javascript:alert(1)) <script>alert(1)</script> ![x](https://evil.example/x.png)",
    "https://evil.example www.evil.example `code` ```fence *bold* _it_ ~~no~~ &amp; &#60; $x$",
    "# heading",
    "- item",
    "1. item",
    "---",
    "\\",
    "\x00\x07\x1b\x7f\x85\u2028\ufeff",
    "-1.5",
    "ｅ＝1",
)  # fmt: skip
obeyed = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
TEXTS = st.one_of(st.text(), st.sampled_from(HOSTILE), st.lists(st.sampled_from(HOSTILE)).map(" ".join))


@given(TEXTS)
def test_yaml(text: str) -> None:
    assert yaml.safe_load(quoting.yaml({"license": text, "after": 1})) == {"license": text, "after": 1}


@given(TEXTS)
def test_toml(text: str) -> None:
    document = f"a = {quoting.toml(text)}\nb = {quoting.toml([text, text])}\n"
    assert tomllib.loads(document) == {"a": text, "b": [text, text]}


@given(TEXTS)
@example("\r")
@example("a\rb")
def test_csv(text: str) -> None:
    written = quoting.csv_rows([["model", "score"], [text, -1.5], [None, 2]])
    head, row, empty = csv.reader(io.StringIO(written, newline=""))
    assert (head, empty) == (["model", "score"], ["", "2"])
    assert row[1] == "-1.5"
    assert not re.match("[=+@\t\r\n＝＋－＠-]", row[0])
    assert obeyed.sub("\ufffd", text) in (row[0], row[0].removeprefix("'"))


@pytest.mark.parametrize("text", ["\x1b]0;title\x07\x1b[31mred", "\x9b31m", "a\u202eb", "\x7f\x08"])
def test_no_control_character_comes_out(text: str) -> None:
    written = (
        quoting.csv_rows([[text]])
        + quoting.markdown(text)
        + quoting.markdown_code(text)
        + quoting.latex(text)
    )
    assert not obeyed.search(written)
    assert "\ufffd" in written


def shown(markdown: str) -> list[list[str]]:
    """The cells of each row of a table, and what is marked up in one as ``<type>``."""
    tokens = MarkdownIt("commonmark").enable("table").parse(markdown)
    cells = [token for token in tokens if token.type == "inline"]
    texts = ("text", "text_special")
    return [
        [part.content if part.type in texts else f"<{part.type}>" for part in cell.children or ()]
        for cell in cells
    ]


def plain(text: str) -> str:
    return " ".join(obeyed.sub("\ufffd", text).split())


@given(TEXTS)
def test_markdown_in_a_table(text: str) -> None:
    table = f"| a | b |\n|---|---|\n| {quoting.markdown(text)} | end |\n"
    cells = shown(table)
    assert [plain("".join(cell)) for cell in cells] == ["a", "b", plain(text), "end"]


@given(TEXTS)
@pytest.mark.parametrize("before", ["", "- ", "> ", "**x** "])
def test_markdown_in_a_line(before: str, text: str) -> None:
    [*_, cell] = [*shown(f"{before}{quoting.markdown(text)}"), []] if plain(text) else [[]]
    kinds = {token.type for token in MarkdownIt("commonmark").parse(f"{before}x {quoting.markdown(text)}")}
    assert kinds.isdisjoint({"heading_open", "hr", "html_block", "fence", "code_block"})
    assert not [part for part in cell if part in ("<link_open>", "<image>", "<html_inline>", "<code_inline>")]


@given(TEXTS)
def test_code_in_markdown(text: str) -> None:
    [block] = shown(f"x {quoting.markdown_code(text)} y") if plain(text) else [["x ", "<code_inline>", " y"]]
    assert block == ["x ", "<code_inline>", " y"]


@pytest.mark.parametrize("text", [*HOSTILE, "&%$#_{}", "[1cm]", "*", "a\n\nb"])
def test_latex_has_no_command_of_the_texts_own(text: str) -> None:
    written = quoting.latex(text)
    assert not re.search(r"(?<!\\)[&%$#_]", written)
    assert not written.startswith(("[", "*")) and "\n" not in written
    commands = set(re.findall(r"\\([A-Za-z]+)", written))
    assert commands <= {"textbackslash", "textasciitilde", "textasciicircum"}
