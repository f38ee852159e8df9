"""LMR004: the category of an implementation."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator

from lmr_author.checks.base import Check, Example
from lmr_author.checks.info_entries import raw_implementations
from lmr_author.checks.view import TaskView
from lmr_author.model import CATEGORIES, Finding, Severity

_FILLER = frozenset(
    [
        "and",
        "or",
        "of",
        "for",
        "the",
        "in",
        "a",
        "an",
        "with",
        "technique",
        "method",
        "approach",
        "design",
        "computation",
        "computing",
        "task",
        "module",
    ]
)


def canonical_category(text: str) -> str | None:
    """The canonical category that a longer or differently written form means; None when it is unclear.

    All significant words of the canonical name have to occur: "Training Objectives and Optimization
    Techniques" is one, "loss function" is none.
    """
    words = _words(text)
    found = [category for category in CATEGORIES if _words(category) <= words]
    return found[0] if len(found) == 1 else None


def nearest_category(text: str) -> str:
    """The canonical category that shares most with a text; "" when none does."""
    words = _words(text) - {"learning"}  # hardly a method goes without it
    scored = sorted(((len(words & _words(one)), one) for one in CATEGORIES), reverse=True)
    if scored[0][0] > scored[1][0]:
        return scored[0][1]
    close = difflib.get_close_matches(text.lower(), [one.lower() for one in CATEGORIES], 1, 0.7)
    return next((one for one in CATEGORIES if close and one.lower() == close[0]), "")


def _words(text: str) -> frozenset[str]:
    found = re.findall(r"[a-z]+", text.lower().replace("&", " and "))
    return frozenset(_stem(word) for word in found if _stem(word) not in _FILLER)


def _stem(word: str) -> str:
    word = word.replace("isation", "ization")
    return word[:-3] + "y" if word.endswith("ies") else word.removesuffix("s")


class Category(Check):
    code = "LMR004"
    title = "the category is one of the nine"
    fixable = True
    rationale = (
        "Results are reported by category. A missing one, free text, or a longer form of a canonical name"
        " makes a row of its own in every table. The nine: " + "; ".join(CATEGORIES) + "."
    )
    failing = (
        Example("missing", implementation={"category": None}),
        Example("empty", implementation={"category": ""}),
        Example("free text", implementation={"category": "loss function"}),
        Example(
            "a longer form", implementation={"category": "Training Objectives and Optimization Techniques"}
        ),
        Example("a list", implementation={"category": ["Evaluation Metrics"]}),
    )
    passing = tuple(Example(category, implementation={"category": category}) for category in CATEGORIES[:2])

    def run(self, view: TaskView) -> Iterator[Finding]:
        """One finding for each implementation whose category is not canonical."""
        for position, implementation, entry in raw_implementations(view):
            category = entry.get("category")
            if category in CATEGORIES:
                continue
            pointer = f"/implementations/{position}" + ("/category" if "category" in entry else "")
            meant = canonical_category(category) if isinstance(category, str) else None
            if not isinstance(category, str) or not category.strip():
                message = "the category is missing or empty" if not category else "the category is not a text"
                hint = "choose one of the nine categories: `lmr-author explain LMR004` lists them"
            elif meant:
                message = f"{category!r:.100} is a form of {meant!r}"
                hint = f"write {meant!r}"
            else:
                message = f"{category!r:.100} is not one of the nine categories"
                near = nearest_category(category)
                hint = f"did you mean {near!r}?" if near else "`lmr-author explain LMR004` lists the nine"
            yield self.finding(
                view,
                message,
                hint,
                implementation=implementation,
                path="info.json",
                pointer=pointer,
                severity=Severity.WARNING if meant else Severity.ERROR,
                fixable=meant is not None,
            )
