"""Print fixes as a diff or as a list."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lmr_author.cli.render_text import coloured, one_line, paint

if TYPE_CHECKING:
    from lmr_author.validation.repair import Plan

_KINDS = {"---": "task", "+++": "task", "@@": "note", "-": "bad", "+": "good", "moved ": "warning"}


def render_plans(plans: Sequence[Plan]) -> None:
    """Print changes as a diff to stdout."""
    colour = coloured(sys.stdout)
    for plan in plans:
        for line in plan.diff():
            kind = next((kind for start, kind in _KINDS.items() if line.startswith(start)), "")
            shown = one_line(line.replace("\t", "    ").removesuffix("\r"))
            print(paint(kind, shown, colour) if kind else shown)


def render_changes(plans: Sequence[Plan]) -> None:
    """List changes on stderr."""
    for plan in plans:
        for change in plan.changes:
            what = "changed" if change.after is not None else "moved to authoring/removed/:"
            print(one_line(f"{what} {plan.name}/{change.shown}"), file=sys.stderr)
