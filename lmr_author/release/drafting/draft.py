"""``draft``: a model writes the recipes of papers, each on its own; the gates decide whether they hold."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from lmr_author.core.errors import LmrError
from lmr_author.core.task import Progress
from lmr_author.release.drafting.desk import (
    Desk,
    DraftOptions,
    DraftProgress,
    DraftRequest,
    free_numbers,
    open_desk,
)


@dataclass(frozen=True)
class DraftOutcome:
    """Outcome of a paper; ``state`` and ``recipe`` are None if it could not begin."""

    request: DraftRequest
    state: DraftProgress | None = None
    recipe: Path | None = None
    problem: str = ""
    hint: str = ""

    @property
    def is_sound(self) -> bool:
        return self.state is not None and self.state.ending == "sound"


def draft(
    requests: Sequence[DraftRequest], options: DraftOptions, say: Progress, show: Progress
) -> list[DraftOutcome]:
    """Draft a recipe for each paper, and return the outcomes in the same order.

    An unfinished draft resumes; a finished one is only reported. A sound one becomes ``out/ID-NAME``. ``say`` gets the
    lines that stay, ``show`` the current activity, from any thread.

    Raises LmrError: Inspect AI is not installed, or there is no such model.
    """
    work = _worker(options)
    numbers = free_numbers(options.out, len(requests))
    begun: list[Desk | LmrError] = []
    for request, number in zip(requests, numbers, strict=True):
        try:
            begun.append(open_desk(request, options.model, options.out, options.stand_ins, number, say))
        except LmrError as error:
            begun.append(error)
    work([desk for desk in begun if isinstance(desk, Desk) and not desk.state.ending], say, show)
    return [_ended(request, desk, options.out) for request, desk in zip(requests, begun, strict=True)]


def _worker(options: DraftOptions) -> Callable[[Sequence[Desk], Progress, Progress], None]:
    try:
        from lmr_author.release.drafting.agent import Agent
    except ImportError as error:
        hint = "in the checkout of lmr-author: pip install '.[inspect]'"
        raise LmrError("drafting needs Inspect AI", hint) from error
    return Agent(options).work


def _ended(request: DraftRequest, begun: Desk | LmrError, out: Path) -> DraftOutcome:
    if isinstance(begun, LmrError):
        return DraftOutcome(request, problem=begun.message, hint=begun.hint)
    state, recipe = begun.state, begun.recipe
    if state.ending == "sound":
        final = out / f"{state.id}-{state.name}"
        if recipe.exists():
            os.rename(recipe, final)
        recipe = final
    return DraftOutcome(request, state, recipe)
