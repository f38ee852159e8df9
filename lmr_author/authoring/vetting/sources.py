"""Evidence from arXiv, the ACL Anthology and GitHub. Each is optional; a failure becomes a note."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import quote, urlsplit

from lmr_author.authoring.vetting.evidence import Evidence
from lmr_author.core.paper.fetch import ARXIV, SECONDS, ArxivEntry, Unavailable, arxiv_entry, get
from lmr_author.core.repo.citations import read_bibtex
from lmr_author.core.task.vetting import VettingSource
from lmr_author.core.texts import printable

_ANTHOLOGY = re.compile(
    r"(?:aclanthology\.org/|aclweb\.org/anthology/|10\.18653/v1/)"
    r"(?P<id>\d{4}\.[a-z0-9_]+-[a-z0-9]+\.\d+|[A-Z]\d{2}-\d{4})"
)


@dataclass(frozen=True)
class Services:
    """Addresses of the services, for mirrors and tests; ``seconds`` is the time limit of one answer."""

    arxiv: str = ARXIV
    anthology: str = "https://aclanthology.org"
    github: str = "https://api.github.com"
    seconds: float = SECONDS


Reply = tuple[VettingSource, Evidence]
"""The outcome of asking one source, and its evidence."""


def anthology_id(*texts: str) -> str:
    """Return the first Anthology id in some texts (an address or a DOI); "" without one."""
    for text in texts:
        match = _ANTHOLOGY.search(text)
        if match:
            return match["id"]
    return ""


def arxiv(services: Services, identifier: str) -> Reply:
    """Ask arXiv for dates, the authors' comment ("accepted at …") and the journal reference."""
    if not identifier:
        return VettingSource("arXiv", "skipped", "the paper has no arXiv id"), {}
    return _asked("arXiv", lambda: _of_arxiv(arxiv_entry(identifier, services.arxiv, services.seconds)))


def anthology(services: Services, identifier: str) -> Reply:
    """Ask the ACL Anthology for venue and year."""
    if not identifier:
        why = "neither address nor DOI of the paper is the Anthology's"
        return VettingSource("ACL Anthology", "skipped", why), {}
    address = f"{services.anthology}/{quote(identifier)}.bib"
    return _asked("ACL Anthology", lambda: _read_bib(get(address, seconds=services.seconds).text))


def github(services: Services, repository: str) -> Reply:
    """Ask GitHub for the last push, archival, forking and licence."""
    parts = urlsplit(repository)
    names = [part for part in parts.path.removesuffix(".git").split("/") if part]
    if (parts.hostname or "").lower().removeprefix("www.") != "github.com" or len(names) < 2:
        return VettingSource("GitHub", "skipped", "the repository is not on GitHub"), {}
    address = f"{services.github}/repos/{quote(names[0])}/{quote(names[1])}"
    return _asked("GitHub", lambda: _read_github(address, services.seconds))


def _asked(name: str, ask: Callable[[], Evidence]) -> Reply:
    try:
        return VettingSource(name, "answered"), ask()
    except Unavailable as error:
        return VettingSource(name, "failed", str(error)), {}


def _of_arxiv(entry: ArxivEntry) -> Evidence:
    venue = [f"arXiv, comment: {entry.comment}"] if entry.comment else []
    venue += [f"arXiv, journal: {entry.journal}"] if entry.journal else []
    evidence: Evidence = {"venue": venue, "year": [f"arXiv: first submitted {entry.published}"]}
    if entry.subject:
        evidence["methodological_focus"] = [f"arXiv subject: {entry.subject}"]
    return evidence


def _read_bib(text: str) -> Evidence:
    entries = [entry for entry in read_bibtex(text, "ACL Anthology") if entry.venue]
    if not entries:
        raise Unavailable("the answer is not a BibTeX entry")
    year = entries[0].year
    return {
        "venue": [f"ACL Anthology: {entries[0].venue}"],
        "year": [f"ACL Anthology: {year}"] if year else [],
    }


def _read_github(address: str, seconds: float) -> Evidence:
    data = get(address, accept="application/vnd.github+json", seconds=seconds).json()
    if "full_name" not in data:
        raise Unavailable("the answer is not a repository")
    pushed = printable(str(data.get("pushed_at") or "unknown"))[:10]
    activity = [f"GitHub: last push {pushed}"]
    if data.get("archived") is True:
        activity.append("GitHub: archived: no longer maintained")
    if data.get("fork") is True:
        activity.append("GitHub: it is a fork of another repository")
    licence = data.get("license")
    spdx = licence.get("spdx_id") if isinstance(licence, dict) else None
    return {"reproducibility": activity, "license": [f"GitHub: {printable(str(spdx or 'no licence'), 40)}"]}
