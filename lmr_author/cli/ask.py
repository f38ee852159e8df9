"""Questions to a person at a terminal. Every question has a flag; Ctrl-C is an interruption."""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Mapping

from lmr_author import files
from lmr_author.errors import LmrError
from lmr_author.task import CATEGORIES


def text(question: str, default: str = "") -> str:
    """One line of text."""
    import questionary

    answer: str = questionary.text(question, default=default).unsafe_ask()
    return answer.strip()


def choice(question: str, choices: list[str], default: str | None = None) -> str:
    """One of several answers."""
    import questionary

    # The hint about the arrow keys would break the line in the middle of itself.
    fits = len(question) + len("? (Use arrow keys)") + 2 <= shutil.get_terminal_size().columns
    hint = None if fits else " "
    answer: str = questionary.select(
        question, choices=choices, default=default, instruction=hint
    ).unsafe_ask()
    return answer


def confirm(question: str, *, default: bool = True) -> bool:
    """Yes or no."""
    import questionary

    answer: bool = questionary.confirm(question, default=default).unsafe_ask()
    return answer


def category(likely: str = "") -> str:
    """One of the benchmark's nine categories; the likely one is under the pointer."""
    return choice("Category of the masked function", list(CATEGORIES), likely or None)


def several(question: str, reasons: Mapping[str, str], unchecked: Collection[str] = ()) -> list[str]:
    """Some of several answers, preselected except for a few.

    Args:
        question: what is asked.
        reasons: by answer, why it is offered; cut where the terminal ends.
        unchecked: answers that are not preselected.
    """
    import questionary

    width = shutil.get_terminal_size().columns - 8
    room = max(20, width - max(map(len, reasons), default=0))
    choices = [
        questionary.Choice(
            [("", name), ("fg:ansibrightblack", f"  {why if len(why) <= room else why[: room - 1] + '…'}")],
            value=name,
            checked=name not in unchecked,
        )
        for name, why in reasons.items()
    ]
    answer: list[str] = questionary.checkbox(
        question, choices=choices, instruction="(space, then enter)"
    ).unsafe_ask()
    return answer


def edit(text: str, *, suffix: str = ".txt") -> str:
    """Return a text of several lines, edited in the person's editor or, without any editor, at the prompt."""
    # Debian's `editor` is the one that the administrator chose.
    found = next((name for name in ("editor", "nano", "vi") if shutil.which(name)), None)
    command = os.environ.get("VISUAL") or os.environ.get("EDITOR") or found
    if not command:
        import questionary

        print("Edit the text; Escape, then Enter when done. Set EDITOR to use an editor of your own.")
        answer: str = questionary.text(
            "", qmark="", default=text, multiline=True, instruction="\n"
        ).unsafe_ask()
        return answer
    import shlex
    import subprocess

    with files.temporary_folder("lmr-author-") as folder:
        path = folder / f"draft{suffix}"
        path.write_text(text, "utf-8")
        try:
            subprocess.run([*shlex.split(command), str(path)], check=True)
        except (OSError, ValueError, subprocess.CalledProcessError) as error:
            raise LmrError(
                f"the editor {command!r} failed: {error}", "set EDITOR to one that works"
            ) from error
        return path.read_text("utf-8", "replace")
