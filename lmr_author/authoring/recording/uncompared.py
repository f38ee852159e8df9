"""Effects of the golden that no case compares: which ones, in words, and how to have them compared."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from lmr_author.core.texts import listed
from lmr_author.runtime.probe.compare import compare
from lmr_author.runtime.probe.document import Document, walk

MOST = 3


class Kind(StrEnum):
    """A kind of effect, as the recorder names it."""

    FILES = "files"
    GLOBALS = "globals"
    PARTS = "parts"
    ARGUMENTS = "arguments"
    GRADS = "grads"


@dataclass(frozen=True)
class Uncompared:
    """An effect of the golden that is not compared, and what has it.

    Attributes:
        names: files, globals, parts of the result, or arguments.
    """

    kind: Kind
    names: tuple[str, ...]

    @property
    def text(self) -> str:
        """The effect in words, for a page."""
        names = listed(self.names, MOST)
        return {
            Kind.FILES: f"files that the call writes: {names}",
            Kind.GLOBALS: f"globals that the call changes: {names}",
            Kind.PARTS: f"parts of the result that cannot be stored: {names}",
            Kind.ARGUMENTS: f"arguments that the call changes by the way: {names}",
            Kind.GRADS: f".grad of tensors in {names}, which the call changes",
        }[self.kind]

    @property
    def advice(self) -> str:
        """How to have it compared, for the annotator."""
        return {
            Kind.FILES: "--files compares their content",
            Kind.GLOBALS: "pass them in as arguments, or mask the function that reads them",
            Kind.PARTS: "return something that can be stored, or mask a function that does",
            Kind.ARGUMENTS: "--in-place compares them",
            Kind.GRADS: "--in-place compares it",
        }[self.kind]


def uncompared(effects: Iterable[tuple[str, Sequence[str]]]) -> tuple[Uncompared, ...]:
    """Return effects by their kind, each name once.

    Args:
        effects: kind and names, as the recorder wrote them for each call.
    """
    by_kind: dict[Kind, dict[str, None]] = {}
    for kind, names in effects:
        if names:
            by_kind.setdefault(Kind(kind), {}).update(dict.fromkeys(names))
    return tuple(Uncompared(kind, tuple(names)) for kind, names in sorted(by_kind.items()))


def with_changed_grads(inputs: Document, expected: Document, changed: Iterable[str]) -> list[str]:
    """Return the arguments among those that a call changed in which ``.grad`` of a tensor changed, too."""
    before, after = dict(walk(inputs.tree)), dict(walk(expected.tree))
    names = []
    for name in changed:
        paths = {
            path
            for path in (*before, *after)
            if path.endswith(".grad") and path.startswith((name + ".", name + "["))
        }
        paths |= {f"{name}.grad"} & {*before, *after}
        for path in paths:
            old, new = Document(before.get(path), inputs.buffers), Document(after.get(path), expected.buffers)
            if compare(old, new):
                names.append(name)
                break
    return names
