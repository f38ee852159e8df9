"""``vet``: gather evidence about a paper and its repository, keep a person's answers, give a verdict.

Every source is optional. One that fails becomes a note beside the questions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

from lmr_author.authoring.vetting.facts import best, gather_facts
from lmr_author.authoring.vetting.questions import (
    OPEN,
    QUESTIONS,
    Evidence,
    VettingAnswer,
    from_clone,
    from_facts,
    from_paper,
    licence_stop,
    merged,
    read_answer,
    settled,
    verdict,
)
from lmr_author.core import files, paper, repo
from lmr_author.core.errors import LmrError, UsageError
from lmr_author.core.paper import FetchedPaper, Paper
from lmr_author.core.paper.fetch import (
    ARXIV,
    SECONDS,
    ArxivEntry,
    SourceUnavailable,
    arxiv_entry,
    arxiv_id,
    get,
)
from lmr_author.core.repo import Address, Clone, CloneOptions
from lmr_author.core.repo.citations import every_citation, read_bibtex
from lmr_author.core.task import Progress, Task
from lmr_author.core.task.reviews import VettingQuestion, VettingRecord, VettingSource
from lmr_author.core.texts import printable

# services

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
        why = "the paper has no ACL Anthology address or DOI"
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
    except SourceUnavailable as error:
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
        raise SourceUnavailable("the response is not a BibTeX entry")
    year = entries[0].year
    return {
        "venue": [f"ACL Anthology: {entries[0].venue}"],
        "year": [f"ACL Anthology: {year}"] if year else [],
    }


def _read_github(address: str, seconds: float) -> Evidence:
    data = get(address, accept="application/vnd.github+json", seconds=seconds).json()
    if "full_name" not in data:
        raise SourceUnavailable("the response is not a repository")
    pushed = printable(str(data.get("pushed_at") or "unknown"))[:10]
    activity = [f"GitHub: last push {pushed}"]
    if data.get("archived") is True:
        activity.append("GitHub: archived, no longer maintained")
    if data.get("fork") is True:
        activity.append("GitHub: it is a fork of another repository")
    licence = data.get("license")
    spdx = licence.get("spdx_id") if isinstance(licence, dict) else None
    return {"reproducibility": activity, "license": [f"GitHub: {printable(str(spdx or 'no licence'), 40)}"]}


# vetting


@dataclass(frozen=True)
class VetOptions:
    """Options of ``vet``.

    Attributes:
        repo: address of the repository, or a local clone of it, whose public address is ``repo_url``; "" for none.
        offline: ask no service, and clone only from this machine.
        licence: known SPDX identifier; "" for none.
        stop, known: licence stop and evidence of an earlier vetting, kept if the repository is unavailable now.
    """

    paper: str
    repo: str = ""
    repo_url: str = ""
    offline: bool = False
    services: Services = field(default_factory=Services)
    licence: str = ""
    stop: str = ""
    known: Evidence = field(default_factory=dict)


def open_questions(evidence: Mapping[str, list[str]]) -> dict[str, VettingQuestion]:
    return {name: VettingQuestion(text, tuple(evidence.get(name, ()))) for name, text in QUESTIONS.items()}


def with_answers(
    record: VettingRecord, answers: Mapping[str, VettingAnswer], override: str = ""
) -> VettingRecord:
    """Return a vetting with further answers, and its verdict; an empty override keeps the earlier one."""
    questions = dict(record.questions)
    for name, answer in answers.items():
        questions[name] = replace(
            questions[name], answer=answer.answer or None, justification=answer.justification
        )
    override = override.strip() or record.licence_override
    status, reasons = verdict(questions, record.licence_stop, override)
    return replace(record, questions=questions, licence_override=override, status=status, reasons=reasons)


def read_answers(path: Path) -> dict[str, VettingAnswer]:
    """Read an answers file, YAML or JSON: question → "yes", or {answer, justification}. Raises UsageError."""
    answers = {}
    for name, content in files.read_answers(path, "--answers").items():
        entry = content if isinstance(content, Mapping) else {"answer": content}
        if unknown := sorted(set(map(str, entry)) - {"answer", "justification"}):
            raise UsageError(
                f"--answers {path}: {name}: unknown field {unknown[0]!r}",
                "give answer (yes, no or unsure) and justification",
            )
        answer, why = entry.get("answer"), entry.get("justification", "")
        if isinstance(answer, bool):  # YAML reads a bare yes and no as truth values
            answer = "yes" if answer else "no"
        answers[str(name)] = read_answer(str(name), answer, why)
    return answers


def stored_answers(path: Path) -> tuple[dict[str, VettingAnswer], str]:
    """Return the answers and the licence override of an earlier vetting; none without a file.

    Raises LmrError when the file is damaged: it would be overwritten.
    """
    record = VettingRecord.read(path) if path.exists() else None
    questions = record.questions if record else {}
    answers = {}
    for name, question in questions.items():
        if name in QUESTIONS and question.answer:
            answers[name] = VettingAnswer(question.answer, question.justification)
    return answers, record.licence_override if record else ""


def require_same_paper(path: Path, vetting: VettingRecord) -> None:
    """Raise LmrError when a file's answers are about another paper."""
    record = VettingRecord.read(path)
    same_repository = record.repository and record.repository == vetting.repository
    if record.paper != vetting.paper and not same_repository:
        raise LmrError(
            f"{path} has the answers for another paper: {printable(record.paper, 100)}",
            "store these elsewhere with --out FILE, or move that file away",
        )


def options_of_task(task: Task) -> VetOptions:
    """Return what to vet for an existing task: its own paper and repository."""
    info, earlier = task.load(), VettingRecord.read_if_valid(task.vetting_path)
    questions = earlier.questions if earlier else {}
    return VetOptions(
        str(task.paper_pdf(info)),
        info.repo_url,
        info.repo_url,
        licence=info.license,
        stop=earlier.licence_stop if earlier else "",
        known={name: list(question.evidence) for name, question in questions.items() if name in QUESTIONS},
    )


def read_accepted_vetting(path: Path) -> VettingRecord:
    """Read the file of ``vet``. Raises LmrError when it is damaged or rejects the paper."""
    if not path.is_file():
        raise LmrError(f"--vetting {path}: no such file", "pass the file that `lmr-author vet` wrote")
    record = VettingRecord.read(path)
    if record.status == "rejected":
        raise LmrError(
            f"--vetting {path}: the paper was rejected: {'; '.join(record.reasons)}",
            "choose another paper, or vet it again",
        )
    return record


def require_local(paper: str | None, repo: str | None) -> None:
    """Raise UsageError when a paper or repository on this machine does not exist.

    A service that does not answer is a note; a mistyped path is a mistake to correct.
    """
    if paper and not arxiv_id(paper) and ("://" not in paper or paper.startswith("file://")):
        _require_there(paper, "give a PDF file, an http(s) URL or an arXiv id like 2305.18290")
    if repo and repo.startswith(("/", ".", "~", "file://")):
        _require_there(
            repo, "check the path: --repo takes the address of a repository, or the folder of a clone"
        )


def _require_there(text: str, hint: str) -> None:
    path = unquote(urlsplit(text).path) if text.startswith("file://") else text
    if not Path(path).expanduser().exists():
        raise UsageError(f"{path}: no such file or folder", hint)


def gather(options: VetOptions, say: Progress) -> tuple[VettingRecord, dict[str, VettingAnswer]]:
    """Gather all evidence; return the vetting without answers, and the answers that follow from the evidence.

    These count once a person has seen them.

    Raises LmrError only with neither a readable paper nor a repository.
    """
    problems: list[VettingSource] = []
    with files.temporary_folder("lmr-author-vet-") as temporary:
        read, fetched = _paper(options, temporary, say, problems)
        clone = _clone(options, temporary, say, problems)
        if read is None and clone is None:
            raise LmrError(
                f"nothing to vet: {'; '.join(source.note for source in problems)}",
                "give a readable PDF, or a repository that can be cloned",
            )
        public = options.repo_url or _public(options.repo, read)
        facts = gather_facts(read, fetched, every_citation(clone.folder) if clone else ())
        gathered = merged(
            from_paper(read, public) if read else {},
            from_facts(facts, datetime.now(UTC).year),
            from_clone(clone) if clone else {},
        )
    replies = _services(options, read, fetched, public, say)
    if clone is None:
        for name, lines in options.known.items():
            own = gathered.setdefault(name, [])
            own += [line for line in lines if line not in own]
    record = VettingRecord(
        status=OPEN,
        paper=best(facts, "title") or options.paper,
        repository=public,
        gathered=datetime.now(UTC).isoformat(timespec="seconds"),
        sources=(*problems, *(source for source, _ in replies)),
        questions=open_questions(merged(gathered, *(lines for _, lines in replies))),
        licence_stop=licence_stop(clone.licence, clone.licence_file) if clone else options.stop,
    )
    licence, year = clone.licence if clone else options.licence, int(best(facts, "year") or 0) or None
    return record, settled(best(facts, "venue"), year, licence, datetime.now(UTC).year)


def _public(text: str, read: Paper | None) -> str:
    if not text:
        return ""
    address = Address.parse(text)
    return repo.public_address(address, read.repositories if read else ()) or address.shown


def _paper(
    options: VetOptions, folder: Path, say: Progress, problems: list[VettingSource]
) -> tuple[Paper | None, FetchedPaper | None]:
    say(f"reading the paper {options.paper}")
    try:
        if options.offline and ("://" in options.paper or arxiv_id(options.paper)):
            raise LmrError("not fetched: offline", "pass a PDF file")
        fetched = paper.fetch(options.paper, folder / "paper.pdf", arxiv_api=options.services.arxiv)
        read = paper.extract(fetched.path)
    except LmrError as error:
        problems.append(VettingSource("paper", "failed", error.message))
        return None, None
    problems.append(VettingSource("paper", "answered"))
    return read, fetched


def _clone(options: VetOptions, folder: Path, say: Progress, problems: list[VettingSource]) -> Clone | None:
    if not options.repo:
        problems.append(VettingSource("repository", "skipped", "no repository given"))
        return None
    address = Address.parse(options.repo)
    if options.offline and not address.local:
        problems.append(VettingSource("repository", "skipped", "not cloned: offline"))
        return None
    say(f"cloning {address.shown}")
    try:
        how = CloneOptions(skip_submodules=True, skip_lfs=True)
        clone = repo.clone(options.repo, None, folder / "clone", how, say)
    except LmrError as error:
        problems.append(VettingSource("repository", "failed", error.message))
        return None
    problems.append(VettingSource("repository", "answered"))
    return clone


def _services(
    options: VetOptions, read: Paper | None, fetched: FetchedPaper | None, public: str, say: Progress
) -> list[Reply]:
    if options.offline:
        names = ("arXiv", "ACL Anthology", "GitHub")
        return [(VettingSource(name, "skipped", "offline"), {}) for name in names]
    say("asking arXiv, the ACL Anthology and GitHub")
    first = read.pages[0] if read and read.pages else ""
    url = fetched.url if fetched else ""
    identifier = (fetched.arxiv_id if fetched else "") or (read.arxiv_id if read else "")
    return [
        arxiv(options.services, identifier),
        anthology(options.services, anthology_id(url, options.paper, first)),
        github(options.services, public),
    ]
