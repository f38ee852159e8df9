"""How vetting looks on a terminal."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from lmr_author.cli.render import console
from lmr_author.cli.render_text import escape

if TYPE_CHECKING:
    from lmr_author.vetting.vet import Vetting

_STYLES = {"accepted": "green", "rejected": "bold red", "open": "yellow"}


def sources(vetting: Vetting) -> None:
    """What is vetted, and which sources gave no evidence."""

    screen = console()
    screen.print(f"[bold]{escape(vetting.paper)}[/]  {escape(vetting.repository or 'no repository')}")
    for one in vetting.sources:
        if one.status != "answered":
            screen.print(f"[yellow]note:[/] {escape(one.name)}: {escape(one.note)} ({one.status})")
    if vetting.stop:
        screen.print(f"[bold red]stop:[/] {escape(vetting.stop)}")


def evidence(vetting: Vetting, name: str) -> None:
    """The evidence for one question."""
    screen = console()
    screen.print(f"\n[bold]{name}[/]")
    for line in vetting.evidence.get(name) or ["no evidence"]:
        _hanging(line)


def _hanging(line: str) -> None:
    """One line of evidence; what does not fit goes on below itself."""
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 1, 0, 0))
    table.add_row(Text("  -", "cyan"), Text(line, overflow="fold"))
    console().print(table)


def questions(vetting: Vetting) -> None:
    """Every question with its evidence and its answer."""

    from lmr_author.vetting.questions import QUESTIONS, Answer

    screen = console()
    for name, question in QUESTIONS.items():
        evidence(vetting, name)
        one = vetting.answers.get(name, Answer())
        why = f": {one.justification}" if one.justification else ""
        screen.print(f"  {escape(question)} [bold]{one.answer or 'open'}[/]{escape(why)}")


def verdict(vetting: Vetting, place: Path, *, of_task: bool) -> None:
    """What it comes to, why, and what comes next."""

    screen, result = console(), vetting.verdict
    screen.print(f"\n[{_STYLES[result.status]}]{result.status}[/] (stored in {escape(str(place))})")
    for reason in result.reasons:
        screen.print(f"  {escape(reason)}")
    if result.status == "accepted":
        new = f"lmr-author new-task PAPER --repo URL --vetting {place}"
        screen.print(f"next: {'lmr-author next' if of_task else new}", markup=False, soft_wrap=True)
    elif result.status == "open":
        screen.print(
            "next: run it again in a terminal, or answer with --answer NAME=yes|no|unsure", markup=False
        )
