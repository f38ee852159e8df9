"""How things look on a terminal. With the other ``render`` modules the only importer of rich."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING

from lmr_author.cli.render_text import escape
from lmr_author.task import Severity
from lmr_author.texts import printable

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions
    from rich.status import Status
    from rich.text import Text

    from lmr_author.masking import MaskResult, UnmaskResult
    from lmr_author.masking.leftovers import OpenLeak

SOON = 5
"""Seconds from which on a line that says what is being done tells the time."""

FEW_CACHES = 4
"""Caches that are listed one by one; ``authoring/removed/from-repository.json`` has them all."""


NO_CATEGORY = (
    "missing: `lmr-author instruct --category NAME` sets one of the nine (`lmr-author explain LMR004`)"
)


def console(*, stderr: bool = True) -> Console:
    """The console on stderr (for all but reports) or stdout. Plain without a terminal or with NO_COLOR.

    Where both are one terminal there is one console, so that a report goes above a turning spinner.
    """
    return _console(stderr or (sys.stdout.isatty() and sys.stderr.isatty()))


@cache
def _console(stderr: bool) -> Console:
    from rich.console import Console

    # Without a terminal nobody knows the width: lines stay whole.
    plain = not (sys.stderr if stderr else sys.stdout).isatty()
    return Console(stderr=stderr, highlight=False, soft_wrap=plain)


class Doing:
    """What is being done, in one line; after a while with the minutes and seconds that have gone by.

    Args:
        message: plain text.
        since: when the command began, as ``time.monotonic`` tells it.
    """

    def __init__(self, message: str, since: float) -> None:
        self._message = " ".join(message.split())
        self._since = since

    def __rich_console__(self, screen: Console, options: ConsoleOptions) -> Iterator[Text]:
        from rich.text import Text

        minutes, seconds = divmod(int(time.monotonic() - self._since), 60)
        waited = f" {minutes}:{seconds:02}" if minutes or seconds >= SOON else ""
        text = Text(self._message, no_wrap=True)
        text.truncate(max(options.max_width - len(waited), 1), overflow="ellipsis")
        yield text.append(waited, style="dim")


class Progress:
    """One changing line on stderr that says what is being done; silent without a terminal."""

    def __init__(self, status: Status | None) -> None:
        self._status = status
        self._since = time.monotonic()

    def __call__(self, message: str) -> None:
        """Say what is being done now."""
        if self._status is not None:
            self._status.update(Doing(message, self._since))

    @contextmanager
    def paused(self) -> Iterator[None]:
        """No spinner while something is asked: each would write over the other."""
        if self._status is None:
            yield
            return
        self._status.stop()
        yield
        self._status.start()

    def pause(self) -> None:
        """Stand still while a question is asked."""
        if self._status is not None:
            self._status.stop()


@contextmanager
def progress(message: str) -> Iterator[Progress]:
    """A spinner with a message while the block runs."""
    screen = console()
    if not screen.is_terminal:
        yield Progress(None)
        return
    with screen.status(Doing(message, time.monotonic())) as status:
        yield Progress(status)


def mask_result(result: MaskResult) -> None:
    """What ``mask`` did, and where the answer can still be read."""
    screen = console()
    for item in result.implementations:
        screen.print(f"[green]masked[/] {escape(str(item.target))} as implementation {item.index}")
        screen.print(f"  golden       {item.golden_file}", markup=False)
        screen.print(f"  category     {item.category or NO_CATEGORY}", markup=False)
        screen.print(f"  instruction  {printable(item.instruction, 90)}", markup=False)
        if item.retrieval_context:
            screen.print(f"  context      {', '.join(item.retrieval_context)}", markup=False)
    for along in result.also:
        screen.print(f"[green]masked too[/] {escape(along.node_id)}, like {escape(along.target)}")
    _paths(result.cleaned.deleted, "  deleted      {}, which a run had made again")
    _paths(result.cleaned.moved, "  moved        {} to authoring/removed/")
    for remark in result.remarks:
        screen.print(f"[yellow]note:[/] {escape(remark)}")
    for leak in result.leaks:
        mask_leak(leak)


def mask_leak(leak: OpenLeak) -> None:
    """One place where the answer, or something like it, can be read."""
    screen, found = console(), leak.finding
    style = "bold red" if found.severity is Severity.ERROR else "yellow"
    place = f"{found.path}:{found.pointer.removeprefix('L')}" if found.pointer else found.path
    screen.print(f"[{style}]leak:[/] {escape(place)}: {escape(found.message)} [dim]{found.code}[/]")
    screen.print(f"      [cyan]hint:[/] {escape(found.hint)}")


def mask_next(result: MaskResult) -> None:
    """What comes after ``mask``."""
    if result.implementations:
        target = shlex.quote(str(result.implementations[0].target))
        line = f"next: lmr-author record {target} -- python <a script that calls it>"
        console().print(line, markup=False)


def unmask_result(result: UnmaskResult) -> None:
    """What ``unmask`` did."""
    from lmr_author.masking.leftovers import HISTORY_FOLDERS

    screen = console()
    for target in result.targets:
        screen.print(f"[green]restored[/] {escape(target)}")
    for name in result.also:
        screen.print(f"[green]restored[/] {escape(name)}, which was masked along")
    _paths(result.put_back, "  put back {}")
    for name in result.left_out:
        history = name.rpartition("/")[2] in HISTORY_FOLDERS
        why = "an agent's tree has no history" if history else "something new is in its place"
        screen.print(f"  left {name} in authoring/removed/: {why}", markup=False)
    for name in result.moved:
        screen.print(f"  kept {name} in authoring/removed/", markup=False)


def _paths(names: Sequence[str], line: str) -> None:
    """A line for each path; of many caches only the first, and how many more there are."""
    from lmr_author.masking.leftovers import is_generated

    caches = [name for name in names if is_generated(name.rpartition("/")[2])]
    left_out = set(caches[FEW_CACHES:]) if len(caches) > FEW_CACHES + 1 else set()
    for name in names:
        if name not in left_out:
            console().print(line.format(name), markup=False)
    if left_out:
        console().print(line.format(f"{len(left_out)} more caches"), markup=False)
