"""What stands in a masked body: the structured comment of the benchmark's paper, then the raise."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

WIDTH = 96
"""Column at which comment lines are wrapped, not counting the body's own indentation."""


@dataclass(frozen=True)
class MaskNotes:
    """What the annotator confirmed about a masked function; empty parts are left out of the comment.

    Nothing is filled in silently: dependencies or steps read off the golden would give it away.
    """

    objective: str = ""
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    dependencies: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()

    def lines(self, name: str) -> list[str]:
        """The comment lines for a function, not indented."""
        result = [f"# TODO: implement {name}."]
        if self.objective:
            result += _wrapped(f"Objective: {self.objective}", "# ", "#   ")
        sections = (("Inputs", self.inputs), ("Outputs", self.outputs), ("Dependencies", self.dependencies))
        for title, entries in sections:
            if entries:
                result.append(f"# {title}:")
                for entry in entries:
                    result += _wrapped(entry, "#   - ", "#     ")
        if self.steps:
            result.append("# Steps:")
            for number, step in enumerate(self.steps, 1):
                result += _wrapped(step, f"#   {number}. ", "#      ")
        return result


def masked_body(name: str, notes: MaskNotes, *, generator: bool) -> list[str]:
    """The lines of a masked body, not indented: comment, raise, and a yield that keeps a generator one."""
    body = [*notes.lines(name), "raise NotImplementedError"]
    if generator:
        body.append("yield  # keeps this function a generator")
    return body


def _wrapped(text: str, first: str, following: str) -> list[str]:
    lines: list[str] = []
    for piece in text.splitlines() or [""]:
        start = following if lines else first
        lines += textwrap.wrap(piece, WIDTH, initial_indent=start, subsequent_indent=following) or [
            start.rstrip()
        ]
    return lines
