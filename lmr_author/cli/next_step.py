"""``lmr-author next``."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from lmr_author.cli import ui
from lmr_author.cli.options import (
    NoInputOption,
    PythonOption,
    SandboxKind,
    SandboxOption,
    Where,
    default_tasks,
)
from lmr_author.errors import EXIT_CLEAN, UsageError

NO_INPUT_VERBS = ("mask", "record", "review")
"""Verbs that take ``--no-input``."""
WHERE_VERBS = ("record", "evaluate")
"""Verbs that take ``--sandbox`` and ``--python``."""


def next_step(
    context: typer.Context,
    place: Annotated[
        Path | None,
        typer.Option("--task", "-t", help="A task, or a folder of tasks; by default the current one."),
    ] = None,
    target: Annotated[
        str | None, typer.Option(metavar="FILE::FUNCTION", help="The function to mask, if that is next.")
    ] = None,
    reviewer: Annotated[
        str | None, typer.Option(metavar="NAME", help="The reviewer, if a review is next.")
    ] = None,
    verdict: Annotated[
        str | None, typer.Option(metavar="pass|fail", help="The decision, if a dispute is next.")
    ] = None,
    reason: Annotated[str | None, typer.Option(help="The reason, if a dispute is next.")] = None,
    sandbox: SandboxOption = SandboxKind.local,
    python: PythonOption = None,
    show: Annotated[bool, typer.Option("--show", help="Print the command without running it.")] = False,
    no_input: NoInputOption = False,
) -> int:
    """Run the next command of a task, as `status` shows it; ask for what only a person knows."""
    from lmr_author.cli import app
    from lmr_author.reporting.status import status
    from lmr_author.task import Task

    found = next((one for one in map(status, Task.find_all(place or default_tasks())) if one.next), None)
    if found is None:
        ui.say("nothing is left to do: every task is accepted")
        return EXIT_CLEAN
    verb, *words = shlex.split(found.next)[1:]
    if verb == "mask" and target:
        words.insert(0, target)
    elif verb == "record" and context.args:
        words = [*words[: words.index("--") if "--" in words else None], "--", *context.args]
    elif verb == "review":
        words = _review_words(words, reviewer, verdict, reason)
    if verb in WHERE_VERBS:
        words = _placed(words, Where(sandbox, python).words)
    command = shlex.join(["lmr-author", verb, *words])
    if show:
        print(command)
        return EXIT_CLEAN
    if not ui.can_ask(no_input) and (missing := _missing(verb, words)):
        raise UsageError(f"{found.task}: {found.note}, and something is missing for it", f"add {missing}")
    ui.say(f"{found.task}: {found.note}")
    ui.say(command, "$", "bold cyan", tone="bold", whole=True)
    if no_input and verb in NO_INPUT_VERBS:
        words.insert(0, "--no-input")
    return app.run([verb, *words])


def _review_words(
    words: Sequence[str], reviewer: str | None, verdict: str | None, reason: str | None
) -> list[str]:
    """Return the words of ``review`` with what was given; the decision belongs to the disputed item."""
    found = list(words)
    if "--adjudicate" in found:
        place = found.index("--adjudicate") + 1
        found[place] += f"={verdict}" if verdict else ""
        found += ["--reason", reason] if reason else []
    return [*found, *(["--reviewer", reviewer] if reviewer else [])]


def _placed(words: Sequence[str], options: Sequence[str]) -> list[str]:
    """Return the words with other options for where the code runs; without any, unchanged."""
    if not options:
        return list(words)
    end = list(words).index("--") if "--" in words else len(words)
    old = {
        place + step
        for place, word in enumerate(words[:end])
        for step in (0, 1)
        if word in ("--sandbox", "--base-image", "--python")
    }
    return [*options, *(word for place, word in enumerate(words) if place not in old)]


def _missing(verb: str, words: Sequence[str]) -> str:
    """Return the option of ``next`` that a command lacks without a terminal; "" for none."""
    if verb == "mask" and not any("::" in word for word in words):
        return "--target FILE::FUNCTION (`lmr-author suggest` lists candidates)"
    if verb == "record" and not {"--", "--from-tests", "--from-example"}.intersection(words):
        return "-- COMMAND, as in -- python driver.py"
    if verb != "review" or "--results" in words:
        return ""
    if "--adjudicate" in words and "=" not in words[list(words).index("--adjudicate") + 1]:
        return "--verdict pass|fail"
    if "--adjudicate" in words and "--reason" not in words:
        return "--reason TEXT"
    return "" if "--reviewer" in words else "--reviewer NAME"
