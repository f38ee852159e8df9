"""Remarks on a recording: what its cases leave open, and what an annotator should know of them."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from lmr_author.authoring.recording.calls import RecordedCall
from lmr_author.authoring.recording.choose import Proof
from lmr_author.authoring.recording.job import Job
from lmr_author.authoring.recording.replay import Golden
from lmr_author.authoring.recording.run import Recorded
from lmr_author.core import code
from lmr_author.core.texts import listed
from lmr_author.runtime.probe.calling import GLOBAL, GRADIENTS, VALUE
from lmr_author.runtime.probe.document import walk
from lmr_author.runtime.replay import replaying

OFFER_GRADIENTS = (
    "note: the inputs require gradients, and no case compares them: a version that detaches something passes; "
    "record again with --compare gradients --force where training depends on it"
)
NO_GRADIENTS = (
    "note: --compare gradients: no case has any, as no input is a tensor of PyTorch that requires one"
)

MOST_NAMED = 3
"""Names of one kind that are listed in a text."""


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
        names = listed(self.names, MOST_NAMED)
        return {
            Kind.FILES: f"files that the call writes: {names}",
            Kind.GLOBALS: f"globals that the call changes: {names}",
            Kind.PARTS: f"parts of the result that cannot be stored: {names}",
            Kind.ARGUMENTS: f"arguments that the call changes by the way: {names}",
            Kind.GRADS: f".grad of tensors in {names}, which the call changes",
        }[self.kind]

    @property
    def advice(self) -> str:
        """Advice for the annotator: an option, or another way to have it compared."""
        return {
            Kind.FILES: "--compare files compares their content",
            Kind.GLOBALS: "pass them in as arguments, or mask the function that reads them",
            Kind.PARTS: "return something that can be stored, or mask a function that does",
            Kind.ARGUMENTS: "--compare arguments compares them",
            Kind.GRADS: "--compare arguments compares it",
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


def effects_of(golden: Golden, recorded: Recorded) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield what the golden does that no case compares, by the kind of the effect."""
    for call in recorded.calls:
        yield from call.uncompared.items()
        yield Kind.ARGUMENTS, [name for name in golden.ignored if name in call.changed]
        if not golden.grads:
            yield Kind.GRADS, call.grads


def notes(job: Job, recorded: Recorded, proof: Proof) -> Iterator[str]:
    """Yield notes on the chosen cases: a call left out, gradients, and globals that they set."""
    if recorded.fatal:
        yield f"call {recorded.fatal} is left out: the command died of what it raised (if it is meant, catch it)"
    compared = any(GRADIENTS in path for call in proof.chosen for path in call.checkers)
    if job.options.gradients and not compared:
        yield NO_GRADIENTS
    elif not compared and any(map(_is_differentiable, proof.chosen)):
        yield OFFER_GRADIENTS
    names = set()
    for call in proof.chosen:
        inputs = replaying.load_document(call.folder, "inputs").tree
        names |= {name.removeprefix(GLOBAL) for name in inputs if name.startswith(GLOBAL)}
    if names:
        yield f"each case sets {listed(sorted(names), 6)}, which importing {job.implementation.goal_file} does not"


def _is_differentiable(call: RecordedCall) -> bool:
    """Tell whether an input requires a gradient, and a returned tensor has one."""
    if not any(trait.kind == "grad" for trait in call.traits):
        return False
    expected = replaying.load_document(call.folder, "expected")
    for path, node in walk(expected.tree):
        if path.startswith(VALUE) and isinstance(node, dict) and "requires_grad" in node:
            return True
    return False


def blocks_at(tree: ast.Module, lines: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """Return the first and last lines of blocks by their first lines, without those inside another."""
    blocks: list[tuple[int, int]] = []
    for line in lines:
        if not blocks or line > blocks[-1][1]:
            blocks.append((line, code.block_end(tree, line)))
    return tuple(blocks)
