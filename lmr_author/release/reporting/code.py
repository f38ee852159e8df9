"""Code as HTML: highlighted by pygments, with line numbers, and diffs. All text is escaped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from markupsafe import Markup

LONGEST = 200_000
"""Characters of code that are highlighted; longer text is shown plain."""


@dataclass(frozen=True)
class CodeBlock:
    """A piece of a file.

    Attributes:
        first_line: number of its first line in the file.
        docstring: numbers of its docstring's lines in the file.
        marks: number of a line in the file → what the cases leave open about it.
        anchor: beginning of the ids of lines to which passages of the paper link.
        passages: number of such a line → numbers of the passages that it belongs to.
        mutants: number of a line → how many of its mutants were killed, and how many were made.
    """

    name: str
    first_line: int
    text: str
    docstring: range = range(0)
    marks: Mapping[int, str] = field(default_factory=dict)
    anchor: str = ""
    passages: Mapping[int, Sequence[int]] = field(default_factory=dict)
    mutants: Mapping[int, tuple[int, int]] = field(default_factory=dict)


def highlight(code: CodeBlock) -> Markup:
    """Return Python as highlighted, numbered lines; a docstring of more than three lines is folded."""
    lines = _highlighted(code.text)
    width = len(str(code.first_line + len(lines)))
    shown = []
    for number, line in enumerate(lines, code.first_line):
        mark = code.marks.get(number, "")
        # Words beside the colour: colour alone says nothing.
        remark = Markup(' <span class="mark">← {}</span>').format(mark) if mark else ""
        passages = code.passages.get(number, ())
        begun = [each for each in passages if each not in code.passages.get(number - 1, ())]
        links = Markup("").join(
            Markup(' <a href="#passage-{0}">passage {0}</a>').format(each) for each in begun
        )
        anchor = Markup(' id="{}-{}"').format(code.anchor, number) if code.anchor else ""
        belongs = Markup(' data-passage="{}"').format(" ".join(map(str, passages))) if passages else ""
        shown.append(
            Markup('<span class="line{}"{}{}>{}<span class="number">{}</span>{}{}{}\n</span>').format(
                " marked" if mark else "",
                anchor,
                belongs,
                _heat(code.mutants, number),
                str(number).rjust(width),
                line,
                remark,
                links,
            )
        )
    if len(code.docstring) > 3:
        place = slice(code.docstring.start - code.first_line, code.docstring.stop - code.first_line)
        folded = Markup("<details><summary>docstring, {} lines</summary>{}</details>").format(
            len(code.docstring), Markup("").join(shown[place])
        )
        shown[place] = [folded]
    return Markup("").join(shown)


def highlight_alone(code: CodeBlock) -> Markup:
    """As :func:`highlight`, without what is known about the lines, for code that stands on the page already."""
    return highlight(replace(code, marks={}, anchor="", passages={}, mutants={}))


def _heat(mutants: Mapping[int, tuple[int, int]], number: int) -> Markup:
    """Return a line's mutants in a column of its own; it is hot where some were not killed."""
    if not mutants:
        return Markup("")
    killed, made = mutants.get(number, (0, 0))
    if not made:
        return Markup('<span class="heat">     </span> ')
    kind = "cold" if killed == made else "hot"
    text = f"{killed}/{made}".rjust(5)
    return Markup('<span class="heat {}" title="{} of {} mutants of this line killed">{}</span> ').format(
        kind, killed, made, text
    )


def diff_lines(text: str) -> Markup:
    """The lines of a diff that was made elsewhere. The sign at the front stays: colour alone says nothing."""
    kinds = {"+": "added", "-": "removed", "@": "hunk"}
    return Markup("").join(
        Markup('<span class="line {}">{}\n</span>').format(kinds.get(line[:1], "same"), line)
        for line in text.splitlines()
    )


def _highlighted(text: str) -> list[Markup]:
    if len(text) > LONGEST:
        return [Markup.escape(line) for line in text.split("\n")]
    from pygments import highlight as run

    lexer, formatter = _machinery()
    # The lexer escapes what it passes on; pygments' HTML is the only markup taken as such.
    return [Markup(line) for line in run(text, lexer, formatter).rstrip("\n").split("\n")]


@cache
def _machinery() -> tuple[Any, Any]:
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import PythonLexer

    return PythonLexer(stripnl=False, ensurenl=False), HtmlFormatter(nowrap=True)
