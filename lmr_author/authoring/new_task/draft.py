"""The values that ``new-task`` writes about paper and folders: given, else derived, else asked for.

A wizard shows all of them before anything is written, and lets all of them be changed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

from lmr_author.authoring.vetting.facts import Facts
from lmr_author.core.errors import Hint, LmrError, Setting, UsageError
from lmr_author.core.repo.address import Address, safe_name
from lmr_author.core.task import NOT_SHIPPED

_NAME = re.compile(r"^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$")
RESERVED = (*NOT_SHIPPED, "dockerfile", "info.json", "requirements.lock")

LABELS = {
    "number": "Number",
    "name": "Short name",
    "title": "Title of the paper",
    "authors": "Authors",
    "year": "Year of the paper",
    "venue": "Venue",
    "paper_url": "Paper's address",
    "repo_url": "Repository's public address",
    "repo_folder": "Repository's folder",
}
"""The editable fields, in the order shown."""

_OPTIONS = {"number": "--id", "name": "--name", "title": "--title", "year": "--year", "repo_url": "--repo-url",
            "paper_url": "--paper-url", "repo_folder": "--repo"}  # fmt: skip


@dataclass(frozen=True)
class Draft:
    """The values of :data:`LABELS`, as text; "" for what is not known. Authors are separated by semicolons."""

    number: str = ""
    name: str = ""
    title: str = ""
    authors: str = ""
    year: str = ""
    venue: str = ""
    paper_url: str = ""
    repo_url: str = ""
    repo_folder: str = ""


class Wizard(Protocol):
    """A person at a terminal."""

    def repository(self, linked: tuple[str, ...]) -> str:
        """Return the repository's address; ``linked`` are those that the paper links."""

    def edit(self, draft: Draft, taken: Mapping[int, str], facts: Facts) -> Draft:
        """Show the draft with the sources of its values, and let everything be changed until nothing is wrong."""


def problems(draft: Draft, taken: Mapping[int, str]) -> dict[str, str]:
    wrong = {}
    for name in ("title", "year"):
        if not getattr(draft, name):
            wrong[name] = "not found in the paper and the repository"
    if draft.year and not re.fullmatch(r"19[5-9]\d|20\d\d|2100", draft.year):
        wrong["year"] = f"{draft.year!r} is not a year"
    if not re.fullmatch(r"[1-9]\d{0,8}", draft.number):
        wrong["number"] = f"{draft.number!r} is not a task number"
    elif int(draft.number) in taken:
        wrong["number"] = f"the number {draft.number} is taken by {taken[int(draft.number)]}/"
    for name in ("name", "repo_folder"):
        if not _NAME.match(getattr(draft, name)):
            rule = "letters, digits, '.', '_' and '-', the first one a letter or digit"
            wrong[name] = f"{getattr(draft, name)!r} is not a valid folder name ({rule})"
    if draft.repo_folder.lower() in RESERVED:
        wrong["repo_folder"] = f"the repository's folder cannot be called {draft.repo_folder}"
    if draft.repo_url:
        try:
            Address.parse(draft.repo_url)
        except LmrError as error:
            wrong["repo_url"] = error.message
    return wrong


def unpublished(draft: Draft) -> dict[str, str]:
    """Return what may be missing in a task in the making, but is an error of `validate` in a finished one."""
    missing = {}
    if not draft.paper_url:
        missing["paper_url"] = "not found; Enter leaves it out for now"
    with suppress(LmrError):
        if Address.parse(draft.repo_url).local:
            missing["repo_url"] = "a path on this machine; Enter keeps it for now"
    return missing


def require_valid(draft: Draft, taken: Mapping[int, str], fields: Collection[str] = tuple(LABELS)) -> None:
    """Raise UsageError for the problems of some fields, naming the options that give the values."""
    wrong = {name: problem for name, problem in problems(draft, taken).items() if name in fields}
    if wrong:
        texts = (f"{LABELS[name].lower()}: {problem}" for name, problem in wrong.items())
        settings = tuple(Setting(_OPTIONS[name]) for name in wrong)
        options = " and ".join(f"{{{number}}}" for number in range(len(settings)))
        hint = f"pass {'it' if len(wrong) == 1 else 'them'} with {options}"
        raise UsageError("; ".join(texts), Hint(hint, settings))


def default_name(title: str) -> str:
    """Return a short name from a title: the part before its colon, or an acronym; "" when it has neither.

    "SimPO: Simple …" → ``SimPO``; "Direct Preference Optimization: Your …" → ``DPO``.
    """
    head, colon, _ = title.partition(":")
    words = head.split()
    if colon and 1 <= len(words) <= 2:
        return safe_name("-".join(words))
    if colon and len(words) <= 6:
        initials = "".join(
            word[0] for part in words for word in part.split("-") if word and word[0].isupper()
        )
        if len(initials) >= 2:
            return safe_name(initials)
    acronym = re.search(r"\(([A-Z][A-Za-z0-9-]*[A-Z0-9][A-Za-z0-9-]*)\)", title)
    return safe_name(acronym[1]) if acronym else ""
