"""Questions to a person at a terminal. Every question has a flag; Ctrl-C is an interruption."""

from __future__ import annotations

from lmr_author.model import CATEGORIES


def text(question: str, default: str = "") -> str:
    """One line of text."""
    import questionary

    answer: str = questionary.text(question, default=default).unsafe_ask()
    return answer.strip()


def choice(question: str, choices: list[str], default: str | None = None) -> str:
    """One of several answers."""
    import questionary

    answer: str = questionary.select(question, choices=choices, default=default).unsafe_ask()
    return answer


def confirm(question: str, *, default: bool = True) -> bool:
    """Yes or no."""
    import questionary

    answer: bool = questionary.confirm(question, default=default).unsafe_ask()
    return answer


def category() -> str:
    """One of the benchmark's nine categories."""
    return choice("Category of the masked function", list(CATEGORIES))
