"""Foreign text as data in the files that we write: one function for each language.

Titles, licences, names of models and of reviewers are written by strangers. Put into a file as they are, they could
add a key to YAML, a formula to a table or a link to a page. JSON, HTML and shell have :mod:`json`, jinja2's
autoescape and :func:`shlex.quote`.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

Cell = str | int | float | None

_FORMULA = re.compile(r"[=+\-@\t\r\n＝＋－＠]")  # spreadsheets take the wide forms too
"""What a cell begins with that a spreadsheet runs (https://owasp.org/www-community/attacks/CSV_Injection)."""
_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Escape sequences of terminals, and marks that turn the direction of text (CVE-2021-42574); not tabs and line ends."""
_MARKDOWN = re.compile(r"([\\`*_\[\]<>|~$]|^#|&(?=#?\w+;)|(?<=:)/|(?<=www)\.)", re.IGNORECASE)
_LINE_MARK = re.compile(r"^(\d*)([-+=:.)])(?=[-+=:\s]|$)")
"""What makes a list or a heading of a line; not the sign of a number."""
_LATEX = {char: f"\\{char}" for char in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "[": "{[}",  # after a line's \\ these two would be its argument
    "*": "{*}",
}


def yaml(data: Any) -> str:
    """Return plain data as a block of YAML, keys in their order."""
    import yaml as library

    # PyYAML writes these line breaks of Unicode as they are, and reads a blank: only escaped do they stay.
    readable = not re.search("[\x85\u2028\u2029]", json.dumps(data, ensure_ascii=False, default=str))
    return str(library.safe_dump(data, allow_unicode=readable, sort_keys=False, width=1000))


def toml(value: str | int | float | bool | Sequence[str]) -> str:
    """Return a value of TOML: JSON's form, which TOML reads alike but for DEL."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def csv_rows(rows: Iterable[Sequence[Cell]]) -> str:
    """Return rows as CSV. A text that a spreadsheet would run gets an apostrophe in front; numbers stay numbers."""
    return "".join(map(_csv_line, rows))


def _csv_line(row: Sequence[Cell]) -> str:
    text = io.StringIO()
    # Until Python 3.13 a carriage return in a cell is quoted only where it is part of the line's end.
    csv.writer(text, lineterminator="\r\n").writerow([_csv_cell(cell) for cell in row])
    return text.getvalue().removesuffix("\r\n") + "\n"


def _csv_cell(cell: Cell) -> Cell:
    if not isinstance(cell, str):
        return "" if cell is None else cell
    cell = _whole(cell)
    return f"'{cell}" if _FORMULA.match(cell) else cell


def markdown(value: object) -> str:
    """Return a text or number as a line of Markdown that shows it: nothing in it is a link, a tag or a cell's end."""
    escaped = _MARKDOWN.sub(r"\\\1", " ".join(_whole(str(value)).split()))
    return _LINE_MARK.sub(r"\1\\\2", escaped)


def markdown_code(text: str) -> str:
    """Return text as code within a line of Markdown, whatever backticks are in it."""
    text = " ".join(_whole(text).split())
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence, space = "`" * (longest + 1), " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{space}{text}{space}{fence}"


def latex(text: str) -> str:
    """Return text as LaTeX that prints it, on one line."""
    return "".join(_LATEX.get(char, char) for char in " ".join(_whole(text).split()))


def _whole(text: str) -> str:
    """Replace halves of surrogate pairs, which UTF-8 cannot hold, and what a terminal or an editor would obey."""
    return _CONTROLS.sub("\N{REPLACEMENT CHARACTER}", text.encode("utf-8", "replace").decode("utf-8"))
