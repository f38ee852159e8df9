"""``lmr-author set``."""

from __future__ import annotations

import re
from typing import Annotated

from typer import Argument

from lmr_author.cli import ui
from lmr_author.cli.options import (
    ImplementationOption,
    TaskOption,
    complete_category,
    current_task,
    task_words,
    text_or_file,
)
from lmr_author.core.errors import EXIT_CLEAN, UsageError
from lmr_author.core.texts import counted

_UNTYPABLE = re.compile(r"\n|^\w+=@|.{400}")
"""A former value that no command line can give, or that nobody would paste."""


def _complete() -> list[str]:
    from lmr_author.authoring.new_task.fields import FIELDS

    return [*(f"{name}=" for name in FIELDS), *(f"category={name}" for name in complete_category())]


def set_fields(
    fields: Annotated[
        list[str] | None,
        Argument(
            metavar="FIELD=VALUE…",
            autocompletion=_complete,
            help="FIELD is title, authors, year, venue, paper_url, paper_license, repo_url, license, instruction, "
            "category, retrieval or ledger. FIELD=@FILE reads a file; without any, print the fields.",
        ),
    ] = None,
    implementation: ImplementationOption = None,
    task: TaskOption = None,
) -> int:
    """Change the instruction, the category, facts about paper and repository in info.json, and the ledger."""
    from lmr_author.authoring.new_task.fields import FIELDS, read_fields
    from lmr_author.authoring.new_task.fields import set_fields as change

    folder = current_task(task)
    if not fields:
        for name, value in read_fields(folder, implementation).items():
            ui.say(_shown(value), f"{name:<14}", "bold", hang=15, stderr=False)
            ui.say(FIELDS[name].purpose, indent=15, tone="dim", stderr=False)
        ui.then("set", *task_words(task), "FIELD=VALUE")
        return EXIT_CLEAN
    values = dict(_pair(text) for text in fields)
    undo = list[str]()
    for made in change(folder, values, implementation):
        if made.before == made.after:
            ui.say(f"{made.field}: {_shown(made.after)}, as it was")
            continue
        ui.say(f"{made.field}: {_shown(made.before)} → {_shown(made.after)}", "set", "green")
        undo.append(f"{made.field}={made.before}")
    which = ["--implementation", implementation] if implementation else []
    if undo and folder.reviews_folder.is_dir():
        ui.note("the evaluation still holds; a sign-off is about all of a task, and has to be given again")
    if undo and not any(_UNTYPABLE.search(text) for text in undo):
        ui.then("set", *undo, *which, *task_words(task), head="undo")
    ui.then("validate", *([folder.root] if task else []))
    return EXIT_CLEAN


def _shown(text: str) -> str:
    lines = text.count("\n")
    return counted(lines, "line") if lines else text or "(none)"


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise UsageError(f"{text!r} is not FIELD=VALUE", "as in year=2023, or 'title=A Better Title'")
    return name.strip(), text_or_file(value, name) or ""
