"""One self-contained HTML file: styles, script and pictures are in it.

jinja2 escapes every value. A content security policy allows our own style and script by their hashes and
embedded pictures, and nothing else: markup that slipped through could neither run nor load anything.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from markupsafe import Markup

from lmr_author import __version__
from lmr_author.core import resources
from lmr_author.core.texts import size_text, whole_percent

LONGEST = 200_000
"""Characters of code that are highlighted; longer text is shown plain."""
_ADDRESS = re.compile(r"^https?://[^\s<>\"'`]+$", re.I)


def render(template: str, page: object) -> str:
    """Fill a template of ``templates/report`` with ``page``."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(resources.folder("templates") / "report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "size": size_text,
        "percent": percent,
        "address": address,
        "prose": prose,
        "capitalize_first": lambda text: text[:1].upper() + text[1:],
        "highlight": highlight,
        "plain": highlight_alone,
        "diff": diff_lines,
        "base64": lambda data: base64.b64encode(data).decode("ascii"),
    }
    style, script = resources.template("report/style.css"), resources.template("report/script.js")
    return environment.get_template(template).render(
        page=page,
        style=Markup(style),
        script=Markup(script),
        policy=_policy(style, script),
        version=__version__,
        made=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
    )


def _policy(style: str, script: str) -> str:
    return (
        f"default-src 'none'; img-src data:; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode()


def address(text: str) -> str:
    """Return a web address that may become a link; "" for anything else (``javascript:``, a local path)."""
    return text if _ADDRESS.match(text) else ""


def prose(text: str) -> Markup:
    """Return text with `names in backticks` set as code."""
    return Markup(re.sub(r"`([^`\n]+)`", r"<code>\1</code>", str(Markup.escape(text))))


def percent(share: Any) -> str:
    return whole_percent(share) if isinstance(share, (int, float)) else "–"


@dataclass(frozen=True)
class CodeBlock:
    """A piece of a file; ``docstring``, ``marks``, ``passages`` and ``mutants`` go by its line numbers.

    ``anchor`` is the prefix of the lines' ids; ``mutants`` are those killed, and those made.
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
        mark, passages = code.marks.get(number, ""), code.passages.get(number, ())
        attributes = Markup(' id="{}-{}"').format(code.anchor, number) if code.anchor else Markup("")
        if passages:
            attributes += Markup(' data-passage="{}"').format(" ".join(map(str, passages)))
        # Words as well as a colour, for readers who cannot see the colour.
        remarks = Markup(' <span class="mark">← {}</span>').format(mark) if mark else Markup("")
        for passage in passages:
            if passage not in code.passages.get(number - 1, ()):
                remarks += Markup(' <a href="#passage-{0}">passage {0}</a>').format(passage)
        shown.append(
            Markup('<span class="line{}"{}>{}<span class="number">{}</span>{}{}\n</span>').format(
                " marked" if mark else "",
                attributes,
                _heat(code.mutants, number),
                str(number).rjust(width),
                line,
                remarks,
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
    """Highlight code that is already elsewhere on the page, without marks, anchors and mutants."""
    return highlight(replace(code, marks={}, anchor="", passages={}, mutants={}))


def _heat(mutants: Mapping[int, tuple[int, int]], number: int) -> Markup:
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
    """Return a diff as lines; the leading sign stays, for readers who cannot see the colour."""
    kinds = {"+": "added", "-": "removed", "@": "hunk"}
    return Markup("").join(
        Markup('<span class="line {}">{}\n</span>').format(kinds.get(line[:1], "same"), line)
        for line in text.splitlines()
    )


def _highlighted(text: str) -> list[Markup]:
    if len(text) > LONGEST:
        return [Markup.escape(line) for line in text.split("\n")]
    import pygments
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import PythonLexer

    lexer, formatter = PythonLexer(stripnl=False, ensurenl=False), HtmlFormatter(nowrap=True)
    # Pygments escapes the text; its HTML is the only markup taken as such.
    return [Markup(line) for line in pygments.highlight(text, lexer, formatter).rstrip("\n").split("\n")]
