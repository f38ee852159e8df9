"""Texts for people: foreign text made fit to show, cut, counted and listed."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from typing import Self


class Step(str):
    """A line about what is being done, and how far that is: ``done`` of ``total``, which is 0 where nobody knows."""

    done: int
    total: int

    def __new__(cls, line: str, done: int = 0, total: int = 0) -> Self:
        step = super().__new__(cls, line)
        step.done, step.total = done, total
        return step

    @classmethod
    def within(cls, work: str, line: str) -> Self:
        """Return a step of some larger work, which the line then begins with."""
        return cls(work + line, line.done, line.total) if isinstance(line, Step) else cls(work + line)


def printable(text: str, limit: int = 500) -> str:
    """Return text of a foreign program or repository made fit for a terminal, a JSON file or a comment: one line."""
    return shortened(" ".join("".join(char if char.isprintable() else " " for char in text).split()), limit)


def unbroken(text: str) -> str:
    """Return a typesetter's text with the words joined that the end of a line divides."""
    return re.sub(r"(?<=\w)[-\u2010\xad]\s*\n\s*(?=[a-z])", "", text)


def shortened(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"


def told(error: Exception) -> str:
    """Return an error of a library on one line, without marks of rich: ``ValueError: no such model``."""
    text = re.sub(r"\[/?(?:bold|italic|dim|red|blue|green|yellow)\]", "", str(error))
    return printable(f"{type(error).__name__}: {' '.join(text.split())}", 300)


def listed(names: Sequence[str], most: int) -> str:
    """Return the first of some names, and how many more there are: ``a, b and 3 more``."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def counted(number: int, one: str, many: str = "") -> str:
    """Return a number with its noun: ``1 page``, ``2 pages``; ``many`` is an irregular plural."""
    return f"{number} {one if number == 1 else many or one + 's'}"


def did_you_mean(likely: Sequence[str], otherwise: str = "") -> str:
    return f"did you mean {' or '.join(likely[:4])}?" if likely else otherwise


def choices_hint(word: str, choices: Iterable[str], label: str = "one of") -> str:
    """Return a hint for a word that is none of some choices: the closest of them, if any, then all."""
    names = list(choices)
    closest = did_you_mean(difflib.get_close_matches(word, names, 2, 0.5))
    return " ".join(filter(None, (closest, f"{label}: {', '.join(names)}")))


def size_text(count: int) -> str:
    """Return a number of bytes in decimal units: ``812 B``, ``3.1 kB``, ``120 MB``."""
    amount = float(count)
    for unit in ("B", "kB", "MB"):
        if amount < 1000:
            return f"{amount:.0f} {unit}" if unit == "B" or amount >= 100 else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.1f} GB"


def whole_percent(share: float) -> str:
    """Return a share as a percentage, rounded down, so that 89.9 % is not shown as the 90 % that are needed."""
    return f"{int(100 * share + 1e-9)}%"
