"""Write and read a masked body: the structured comment of the benchmark's paper, then the raise."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Sequence
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
        inputs, outputs: one entry each, as in ``x: the logits, shape (batch, classes)``.
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
        """The comment lines for a function, not indented. :func:`read_notes` is the inverse."""
        result = [f"# TODO: implement {name}."]
        if one_line(self.objective):
            result += _wrapped(f"Objective: {self.objective}", "# ", "#   ")
        for title, entries in (("Inputs", self.inputs), ("Outputs", self.outputs)):
            result += _section(title, entries, numbered=False)
        for title, names in ((INSIDE, self.dependencies), (OUTSIDE, self.outside)):
            if joined := ", ".join(_said(names)):
                result += _wrapped(f"{title}: {joined}", "# ", "#   ")
        return result + _section("Steps", self.steps, numbered=True)


def masked_body(name: str, notes: MaskNotes, *, generator: bool) -> list[str]:
    """The lines of a masked body, not indented: comment, raise, and a yield that keeps a generator one."""
    body = [*notes.lines(name), "raise NotImplementedError"]
    if generator:
        body.append("yield  # keeps this function a generator")
    return body


def left_out_body(*, generator: bool) -> list[str]:
    """The lines of a body that was emptied because it is like a masked one: nobody has to write it."""
    body = ["# Left out, and not to be implemented.", "raise NotImplementedError"]
    if generator:
        body.append("yield  # keeps this function a generator")
    return body


def read_notes(lines: Sequence[str]) -> MaskNotes:
    """The notes that a masked body's comment holds; lines that are no part of such a comment are passed over.

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
    texts = {key: [one_line(text) for text in found] for key, found in texts.items()}
    return MaskNotes(
        objective=" ".join(texts.get("Objective", [])),
        inputs=tuple(texts.get("Inputs", ())),
        outputs=tuple(texts.get("Outputs", ())),
        dependencies=_names(texts.get(INSIDE, [])),
        outside=_names(texts.get(OUTSIDE, [])),
        steps=tuple(texts.get("Steps", ())),
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


def _names(texts: list[str]) -> tuple[str, ...]:
    return tuple(name.strip() for text in texts for name in text.split(",") if name.strip())


def _said(entries: Iterable[str]) -> tuple[str, ...]:
    return tuple(text for text in map(one_line, entries) if text)


def _section(title: str, entries: Sequence[str], *, numbered: bool) -> list[str]:
    said = _said(entries)
    result = [f"# {title}:"] if said else []
    for number, entry in enumerate(said, 1):
        first = f"#   {number}. " if numbered else "#   - "
        result += _wrapped(entry, first, "#" + " " * (len(first) - 1))
    return result


def _wrapped(text: str, first: str, following: str) -> list[str]:
    return textwrap.wrap(
        one_line(text),
        WIDTH,
        initial_indent=first,
        subsequent_indent=following,
        break_long_words=False,
        break_on_hyphens=False,
    )
