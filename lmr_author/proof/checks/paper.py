"""LMR1xx: the paper and the repository."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping

from lmr_author.core import files, paper
from lmr_author.core.errors import LmrError
from lmr_author.core.files import is_lfs_pointer
from lmr_author.core.parsing import NotParsed, json_data
from lmr_author.core.repo.citations import read_citations
from lmr_author.core.task import INFO, provenance
from lmr_author.proof.checks.base import WARNING, Problem, check, closest_names_hint
from lmr_author.proof.contents import TaskContents, once, read_json
from lmr_author.proof.leaks.tree import scan

SAME = 0.5
"""Share of common words above which two extractions are of one page. On the starter papers it is 1.0 for a page and
itself, whatever the order and hyphenation, and at most 0.34 for pages of two papers."""
FEWEST_WORDS = 20
"""Pages with fewer words (a picture, a table) are not compared."""
OF_TITLE = 0.6
"""Minimum share of the title's words on the first pages."""
_FIRST_PAGES = 2
_MOST_NAMED = 5


@once
def paper_pages(task: TaskContents) -> Mapping[int, str]:
    """Return the text of each page of paper.json, or of each part if it has another form."""
    value = read_json(task.read_bytes(task.repository / "paper.json")) if task.repository else None
    parts = (
        value.items() if isinstance(value, dict) else enumerate(value if isinstance(value, list) else [], 1)
    )
    numbered = ((int(key) if str(key).isdecimal() else at, part) for at, (key, part) in enumerate(parts, 1))
    return {number: " ".join(texts_in(part)) for number, part in sorted(numbered, key=lambda entry: entry[0])}


def texts_in(value: object) -> Iterator[str]:
    waiting = [value]
    while waiting:
        match waiting.pop():
            case str() as text:
                yield text
            case list() as parts:
                waiting += reversed(parts)
            case dict() as parts:
                waiting += reversed(parts.values())


@check(
    "LMR105",
    "paper.json is not the text of paper.pdf",
    rationale="Prompts and exports contain paper.json, but reviewers open paper.pdf. With the text of another paper, a"
    " model implements the wrong method, and no other check notices.",
)
def text_of_the_pdf(task: TaskContents) -> Iterator[Problem]:
    if task.repository is None or not paper_pages(task):
        return
    pdf, text = task.repository / "paper.pdf", task.repository / "paper.json"
    if not task.is_file(pdf) or is_lfs_pointer(pdf) or _is_as_made(task):
        return
    try:
        pages = paper.extract(pdf).pages
    except LmrError:  # a scan or an encrypted file has no text to compare
        return
    hint = "restore both from version control, or create the task again with `lmr-author new-task`"
    other = _other_pages(dict(enumerate(pages, 1)), paper_pages(task))
    if other:
        named = ", ".join(map(str, other[:_MOST_NAMED])) + (" …" if len(other) > _MOST_NAMED else "")
        message = (
            f"paper.json is not the text of paper.pdf: {len(other)} of {len(pages)} pages differ ({named})"
        )
        yield Problem(message, hint, text)


def _is_as_made(task: TaskContents) -> bool:
    """Return whether both files are unchanged since new-task: reading a PDF takes a third of a second."""
    assert task.repository is not None
    made = provenance.load(task.task).paper
    text = task.read_bytes(task.repository / "paper.json") or b""
    return (
        bool(made.text_sha256)
        and files.sha256_bytes(text) == made.text_sha256
        and files.sha256_file(task.repository / "paper.pdf") == made.sha256
    )


def _other_pages(pdf: Mapping[int, str], text: Mapping[int, str]) -> list[int]:
    if pdf.keys() == text.keys():
        return [number for number in pdf if not _is_same(pdf[number], text[number])]
    return [] if _is_same("\n".join(pdf.values()), "\n".join(text.values())) else list(pdf)


def _is_same(one: str, other: str) -> bool:
    """Compare two texts as bags of words: extractions differ in order, ligatures and hyphens."""
    mine, yours = _words(one), _words(other)
    larger = max(mine.total(), yours.total())
    return larger < FEWEST_WORDS or (mine & yours).total() >= SAME * larger


def _words(text: str) -> Counter[str]:
    return Counter(re.findall(r"[^\W\d_]{4,}", unicodedata.normalize("NFKC", text).lower()))


@check(
    "LMR106",
    "the paper is not the one that info.json names",
    rationale="If the wrong PDF was saved, the agent gets a different paper, whose abstract looks just as plausible.",
)
def paper_of_the_title(task: TaskContents) -> Iterator[Problem]:
    title, pages = task.info.paper_name, list(paper_pages(task).values())
    wanted = set(_words(title))
    begin = _letters("".join(pages[:_FIRST_PAGES]))
    present = sum(_letters(word) in begin for word in wanted)
    if task.repository and begin and wanted and present < OF_TITLE * len(wanted):
        message = f"the first pages of paper.json do not contain the title {title[:100]!r}"
        hint = "correct paper_name, or replace paper.pdf and paper.json with those of the paper"
        yield Problem(message, hint, INFO, pointer="/paper_name")


def _letters(text: str) -> str:
    """Return only the letters of a text: extraction splits words, spaces letters and separates accents."""
    return re.sub(r"[\W\d_]+", "", unicodedata.normalize("NFKD", text)).lower()


@check(
    "LMR107",
    "year or authors contradict the paper",
    rationale="The year shows whether models can have seen the paper, and the authors must be credited. Both are"
    " compared with the repository's BibTeX and the paper's first page; a preprint may be two years older.",
    severity=WARNING,
)
def year_and_authors(task: TaskContents) -> Iterator[Problem]:
    pages = list(paper_pages(task).values())[:_FIRST_PAGES]
    if task.repository is None or not pages:
        return
    title = _letters(task.info.paper_name)
    own = [one for one in read_citations(task.repository) if title and _letters(one.title) == title]
    years = {one.source: one.year for one in own if one.year} | paper.stated_years(pages[0])
    year = task.info.year
    if years and year and not min(years.values()) - 1 <= year <= max(years.values()) + 2:
        stated = ", ".join(f"{other} in {place}" for place, other in years.items())
        hint = f"if the year is wrong: `lmr-author set year={min(years.values())}`"
        yield Problem(f"the year is {year}, but {stated}", hint, INFO, pointer="/year")
    known = _letters(" ".join([*pages, *(name for one in own for name in one.authors)]))
    authors = [name for name in provenance.load(task.task).paper.authors if _family_name(name)]
    absent = [name for name in authors if _family_name(name) not in known]
    if 2 * len(absent) > len(authors):
        places = " or ".join(["the first pages of paper.json", *(one.source for one in own)])
        message = f"these authors are not in {places}: {', '.join(absent[:_MOST_NAMED])}"
        hint = "correct them: `lmr-author set 'authors=Ada Lovelace; Alan Turing'`"
        yield Problem(message, hint, task.task.provenance_path)


def _family_name(name: str) -> str:
    words = name.partition(",")[0].split()
    return _letters(words[-1]) if words else ""


_CODE = frozenset((".py", ".ipynb", ".sh", ".cpp", ".cu", ".java"))
_SUBMODULE = "it is probably a submodule link: clone the repository at its commit and copy its files here"


@check(
    "LMR101",
    "the paper is missing",
    rationale="The agent implements the method from the paper; LMR-Bench's prompt runner reads"
    " <repository>/paper.json.",
)
def paper_present(task: TaskContents) -> Iterator[Problem]:
    if task.repository is None:
        return
    for name in ("paper.pdf", "paper.json"):
        if not task.is_file(task.repository / name):
            yield Problem(f"{name} is missing", _hint_for_missing(task, name), task.repository / name)


def _hint_for_missing(task: TaskContents, name: str) -> str:
    elsewhere = [entry.relative for entry in task.named(name) if entry.kind == "file"]
    if elsewhere:
        return f"move {elsewhere[0]} there"
    return "download the paper and save it there" if name == "paper.pdf" else "create it from paper.pdf"


@check(
    "LMR102",
    "the paper cannot be read",
    rationale="With a download page saved as paper.pdf, or an empty paper.json, the agent has no paper.",
)
def paper_readable(task: TaskContents) -> Iterator[Problem]:
    if task.repository is None:
        return
    pdf, pages = task.repository / "paper.pdf", task.repository / "paper.json"
    if task.is_file(pdf) and not is_lfs_pointer(pdf):
        head = task.head(pdf, 1024)
        if b"%PDF-" not in head:
            message = "paper.pdf is not a PDF file" if head else "paper.pdf is empty"
            yield Problem(message, "download the paper again", pdf)
    data = task.read_bytes(pages)
    if data is None or is_lfs_pointer(pages):
        return
    try:
        value = json_data(data)
    except NotParsed:
        yield Problem("paper.json is not valid JSON", "create it from paper.pdf again", pages)
        return
    if not isinstance(value, dict | list) or not any(map(str.strip, texts_in(value))):
        yield Problem("paper.json contains no pages", 'write {"1": text of page 1, ...}', pages)


@check(
    "LMR103",
    "the repository is missing or contains no code",
    rationale="A submodule link without .gitmodules leaves an empty folder. 3 of 29 published tasks have no code.",
)
def repository_present(task: TaskContents) -> Iterator[Problem]:
    if task.raw is None:
        return
    name, repository = task.info.repo_folder_name.strip(), task.repository
    if not name:
        hint = f"write {repository.name!r}" if repository else "name the repository's folder"
        yield Problem("repo_folder_name is missing", hint, INFO)
    elif repository is None or task.named_repository is None:
        kind = task.kind(name.strip("/"))
        state = {"folder": "is empty", "link": "is a link out of the task"}.get(kind, "does not exist")
        hint = _SUBMODULE if kind == "folder" else _meant_folder(task, name)
        yield Problem(f"the repository folder {name!r:.100} {state}", hint, name)
        return
    code = (entry for entry in task.repository_entries if entry.suffix in _CODE)
    if repository and all("unit_test/" in entry.relative for entry in code):
        yield Problem(f"the repository folder {repository.name} contains no code", _SUBMODULE, repository)


def _meant_folder(task: TaskContents, name: str) -> str:
    folders = [entry.relative for entry in task.entries if entry.kind == "folder" and not entry.folder]
    return closest_names_hint(name, folders, 0.4) or "copy the repository there"


@check(
    "LMR104",
    "Git LFS pointer instead of data",
    rationale="A pointer is a 130-byte text file, and torch.load fails on it. 17 of 29 published tasks ship some.",
)
def no_pointers(task: TaskContents) -> Iterator[Problem]:
    for entry in scan(task).pointers:
        hint, kind = "fetch the data (`git lfs pull` in a clone) and copy it here", "of a test"
        if "unit_test" not in entry.folder.split("/"):
            hint, kind = f"{hint}, or delete the file if it is unused", "perhaps unused"
        yield Problem(no_pointers.title, hint, task.path(entry), kind=kind)
