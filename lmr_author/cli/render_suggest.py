"""Print the result of ``suggest``."""

from __future__ import annotations

import shlex
from itertools import groupby
from typing import TYPE_CHECKING

from lmr_author.cli.render import console
from lmr_author.texts import counted

if TYPE_CHECKING:
    from rich.text import Text

    from lmr_author.suggesting import Suggestion, Suggestions


def table(found: Suggestions, *, of_task: bool) -> None:
    """Two lines a function: its target, whole, to be copied; then size, what speaks against it, and why.

    Args:
        of_task: whether they are of a task, and not of a repository that is none yet.
    """
    from rich.text import Text

    screen = console(stderr=False)
    plain = not screen.is_terminal
    for item in found.suggestions:
        style = "dim" if item.masked is not None else "bold"
        head = Text.assemble(
            (f"{item.rank:>3} ", "dim"), (f"{item.score:>4.0f}  ", "cyan"), (item.target, style)
        )
        screen.print(head, soft_wrap=True)
        reason = Text.assemble("          ", why(item))
        if not plain:
            reason.truncate(screen.width, overflow="ellipsis")
        screen.print(reason, soft_wrap=True)
    screen.print(Text(_footer(found), "dim"))
    free = next((item for item in found.suggestions if item.masked is None), None)
    if free is not None:
        first = "" if of_task else ", in the task that lmr-author new-task makes of it"
        screen.print(Text(f"next: lmr-author mask {shlex.quote(free.target)}{first}"), soft_wrap=True)


def why(item: Suggestion) -> Text:
    """One line: size, what speaks against it, the terms it shares with the paper and on which pages."""
    from rich.text import Text

    from lmr_author.suggesting.criteria import pages

    line = Text(size(item), "dim")
    if item.masked is not None:
        line.append(" · ").append(f"masked as implementation {item.masked}", "green")
    for warning in item.warnings:
        line.append(" · ").append(warning, "yellow")
    shared = [
        f"{', '.join(match.term for match in matches)} ({pages(numbers)})"
        for numbers, matches in groupby(item.description.matches, key=lambda match: match.pages)
    ]
    if shared:
        line.append(" · ").append(", ".join(shared))
    return line


def size(item: Suggestion) -> str:
    """``11 stmt, 2 br``: statements and branches."""
    entry = item.entry
    return f"{entry.statements} stmt" + (f", {entry.branches} br" if entry.branches else "")


def _footer(found: Suggestions) -> str:

    where = f"{counted(found.files, 'file')} of {found.repository}/"
    parts = [f"{counted(found.functions, 'function')} in {where}"]
    parts.append(
        f"{counted(found.pages, 'page')} of the paper"
        if found.pages
        else "no text of the paper: judged without it"
    )
    if found.unread:
        first = found.unread[0]
        more = f" and {len(found.unread) - 1} more" if len(found.unread) > 1 else ""
        parts.append(f"not read: {first.path}{more} ({first.reason})")
    return "; ".join(parts)
