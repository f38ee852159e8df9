"""The words of a masked body: structured comment and docstring, written and read back."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

WIDTH = 88
"""Column at which comment lines are wrapped, not counting the body's own indentation."""

INSIDE = "Dependencies in this file"
OUTSIDE = "Dependencies outside this file"


@dataclass(frozen=True)
class MaskNotes:
    """The annotator's words about a masked function; empty parts are left out.

    Nothing is filled in silently: dependencies or steps read off the golden would give it away.

    Attributes:
        objective: what the function is for, a sentence.
        inputs: one entry each, as in ``x: the logits, shape (batch, classes)``.
        outputs: likewise.
        dependencies: names of the same file that an implementation may use.
        outside: what it may use of other modules, as in ``torch.nn.functional as F``.
        steps: what to do, in order.
        docstring: for a function that has none; an existing docstring is never changed.
    """

    objective: str = ""
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    dependencies: tuple[str, ...] = ()
    outside: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()
    docstring: str = ""

    @property
    def has_comment(self) -> bool:
        """True when there is more to say than the bare TODO."""
        return self.without_comment() != self

    def without_comment(self) -> MaskNotes:
        """Only the docstring: what ``--style todo`` leaves."""
        return MaskNotes(docstring=self.docstring)

    def lines(self, name: str) -> list[str]:
        """Return the comment lines for a function, not indented. :func:`read_notes` is the inverse."""
        result = [f"# TODO: implement {name}."]
        if one_line(self.objective):
            result += _wrapped(f"Objective: {self.objective}", "# ", "#   ")
        for title, entries in (("Inputs", self.inputs), ("Outputs", self.outputs)):
            result += _section(title, entries, numbered=False)
        for title, names in ((INSIDE, self.dependencies), (OUTSIDE, self.outside)):
            if joined := ", ".join(_filled(names)):
                result += _wrapped(f"{title}: {joined}", "# ", "#   ")
        return result + _section("Steps", self.steps, numbered=True)


@dataclass(frozen=True)
class Described:
    """The notes, context and category of one function; None or "" where not given."""

    notes: MaskNotes | None = None
    instruction: str = ""
    category: str = ""
    retrieval: tuple[str, ...] | None = None


def masked_body(name: str, notes: MaskNotes, *, generator: bool) -> list[str]:
    """Return the lines of a masked body, not indented: comment, raise, and a yield that keeps a generator one."""
    return _raising(notes.lines(name), generator)


def left_out_body(*, generator: bool) -> list[str]:
    """Return the lines of a body that was emptied because it is like a masked one: nobody has to write it."""
    return _raising(["# Left out, and not to be implemented."], generator)


def _raising(comment: list[str], generator: bool) -> list[str]:
    body = [*comment, "raise NotImplementedError"]
    if generator:
        body.append("yield  # keeps this function a generator")
    return body


def read_notes(lines: Sequence[str]) -> MaskNotes:
    """Return the notes that a masked body's comment holds; lines that are no part of such a comment are passed over.

    Words are kept, line breaks inside of an entry are not: ``read_notes(notes.lines(name))`` is ``notes``
    with every entry on one line.
    """
    texts: dict[str, list[str]] = {}
    title, listed = "", False
    for line in (line.strip() for line in lines):
        if heading := _HEADING.fullmatch(line):
            title, rest = heading["title"], (heading["rest"] or "").strip()
            listed = title in ("Inputs", "Outputs", "Steps")
            texts[title] = [] if listed else [rest]
        elif listed and (entry := _ENTRY.fullmatch(line)):
            texts[title].append(entry["text"])
        elif title and line.startswith("#   ") and texts[title]:
            texts[title][-1] += " " + line[1:].strip()
        else:
            title, listed = "", False

    def entries(title: str) -> tuple[str, ...]:
        return tuple(map(one_line, texts.get(title, ())))

    return MaskNotes(
        objective=" ".join(entries("Objective")),
        inputs=entries("Inputs"),
        outputs=entries("Outputs"),
        dependencies=_filled(",".join(entries(INSIDE)).split(",")),
        outside=_filled(",".join(entries(OUTSIDE)).split(",")),
        steps=entries("Steps"),
    )


def overlaid(notes: MaskNotes, over: MaskNotes) -> MaskNotes:
    """Notes with the parts that ``over`` has in their place."""
    given = {name: value for name, value in vars(over).items() if value}
    return replace(notes, **given)


def one_line(text: str) -> str:
    """Text on one line, without control characters, as a comment needs it."""
    return " ".join(re.sub(r"[\x00-\x1f\x7f]", " ", text).split())


_HEADING = re.compile(
    rf"# (?P<title>Objective|Inputs|Outputs|{INSIDE}|{OUTSIDE}|Steps):(?P<rest> .*)?", re.DOTALL
)
_ENTRY = re.compile(r"#   (?:-|\d+\.) (?P<text>.*)", re.DOTALL)


def _filled(entries: Iterable[str]) -> tuple[str, ...]:
    return tuple(text for text in map(one_line, entries) if text)


def _section(title: str, entries: Sequence[str], *, numbered: bool) -> list[str]:
    filled = _filled(entries)
    lines = [f"# {title}:"] if filled else []
    for number, entry in enumerate(filled, 1):
        first = f"#   {number}. " if numbered else "#   - "
        lines += _wrapped(entry, first, "#" + " " * (len(first) - 1))
    return lines


def _wrapped(text: str, first: str, following: str) -> list[str]:
    return textwrap.wrap(
        one_line(text),
        WIDTH,
        initial_indent=first,
        subsequent_indent=following,
        break_long_words=False,
        break_on_hyphens=False,
    )


# docstrings

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


def clean_docstring(text: str) -> str:
    """Return a docstring's text as `inspect.cleandoc` would give it back, without blanks behind its lines."""
    lines = (line.rstrip() for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))
    cleaned = inspect.cleandoc("\n".join(lines)).strip()
    return inspect.cleandoc(cleaned)  # text whose first line stood alone has a margin only now


def docstring_lines(text: str, can_hold: Callable[[str], bool] = lambda text: True) -> list[str]:
    """Return the lines of a docstring literal, not indented, whose cleaned value is ``clean_docstring(text)``.

    Args:
        text: the docstring; not empty.
        can_hold: tells whether the file's encoding has every character of a text. What it has not is later
            written as ``\\uXXXX``, which a raw literal would not understand.
    """
    text = clean_docstring(text)
    several = "\n" in text
    fits_raw = '"""' not in text and not _CONTROL.search(text) and can_hold(text)
    if "\\" in text and fits_raw and (several or not text.endswith(('"', "\\"))):
        prefix = "r"
    else:
        prefix = ""
        body = text if several else text.rstrip('"')
        closing = len(text) - len(body)
        text = body.replace("\\", "\\\\").replace('"""', r"\"\"\"") + r"\"" * closing
        text = _CONTROL.sub(lambda match: f"\\x{ord(match.group()):02x}", text)
    lines = f'{prefix}"""{text}'.split("\n")
    return [*lines, '"""'] if several else [lines[0] + '"""']
