"""Evidence from around a masked function: repository, environment, licence."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from heapq import nlargest
from itertools import islice
from operator import itemgetter

from lmr_author.authoring.vetting.questions import abstract, licence_stop
from lmr_author.core.code import FunctionNode, bindings, each
from lmr_author.core.code.tree import last_name
from lmr_author.core.repo.tree import recognise_licence
from lmr_author.core.task import UNIT_TEST, Evaluation, Implementation, Task, provenance
from lmr_author.core.task.ledger import LedgerEntry
from lmr_author.core.task.provenance import Provenance, drafted_by
from lmr_author.core.texts import counted, listed
from lmr_author.proof.checks.ledger import JudgedEntry, judged_entries
from lmr_author.proof.contents import FileEntry, TaskContents, once
from lmr_author.proof.leaks.statements import compare, of_function
from lmr_author.proof.leaks.tree import solutions
from lmr_author.proof.retrieval import own_nodes
from lmr_author.proof.targets import Pair
from lmr_author.release.review.checklist import CodeLine, Evidence, QuestionEvidence
from lmr_author.release.review.under_test import TargetUnderTest
from lmr_author.runtime.environment.base_images import released

YEARS_NEWER = 2
"""Years after the paper from which a version is reported."""
_PIN = re.compile(r"^([\w.\[\]-]+==\S+)", re.M)
_BASE_IMAGE = re.compile(r"^(?:FROM|ARG\s+BASE_IMAGE).*$", re.M)
_TORCH_TAG = re.compile(r"\bpytorch/pytorch:(\d+\.\d+\.\d+)")
_MOST_FILES = 2000
_MOST_ALIKE = 3
_ALIKE = 0.05
"""Share of a golden's statements from which a function is reported as similar."""


def abstract_of(title: str, pages: Mapping[int, str]) -> Evidence:
    first = pages[min(pages)] if pages else ""
    return Evidence(f"Paper: {title or 'no title'}", prose=abstract(first) or "no abstract was found")


# The repository


@once
def mentions(contents: TaskContents, implementation: Implementation) -> tuple[str, ...]:
    """Return the lines of other files that mention the function (of a method, its class) as ``file:line``."""
    name = implementation.class_name.rpartition(".")[2] or implementation.goal_function
    word = re.compile(rf"\b{re.escape(name)}\b")
    mentioned: list[str] = []
    for path, entry in _other_files(contents, ".py", ".md", ".ipynb"):
        if path != implementation.goal_file:
            lines = (contents.text(contents.path(entry)) or "").splitlines()
            numbers = [number for number, line in enumerate(lines, 1) if word.search(line)]
            mentioned += [f"{path}:{number}" for number in numbers[:2]]
    return tuple(mentioned)


def _other_files(contents: TaskContents, *suffixes: str) -> Iterator[tuple[str, FileEntry]]:
    for path, entry in islice(contents.repository_files.items(), _MOST_FILES):
        if entry.suffix in suffixes and not path.startswith(f"{UNIT_TEST}/"):
            yield path, entry


def nearest(contents: TaskContents) -> Evidence:
    """Return the functions in the agent's tree that are most similar to a golden; a paraphrase would be among them."""
    masked = {(target.goal_file, target.qualname) for target in contents.implementations}
    shares: list[tuple[float, str]] = []
    for path, entry in _other_files(contents, ".py"):
        data = contents.read_entry(entry) or b""
        goldens = [solution.statements for solution in solutions(contents) if solution.may_be_in(data)]
        module = contents.module(contents.path(entry)) if goldens else None
        for function in module.definitions if module else ():
            if isinstance(function.node, FunctionNode) and (path, function.qualname) not in masked:
                statements = of_function(function.node)
                share = max(compare(golden, statements).similarity for golden in goldens)
                shares.append((share, f"{path}:{function.line} {function.qualname}"))
    closest = nlargest(_MOST_ALIKE, shares, key=itemgetter(0))
    lines = [f"{share:.0%} of a golden: {name}" for share, name in closest if share >= _ALIKE]
    return Evidence.of("Functions most similar to a golden", lines, "none is similar")


def names_used(files: Pair) -> set[str]:
    names: set[str] = set()
    for function in _goldens(files):
        names.update(map(last_name, each(function, ast.Name, ast.Attribute)))
    return names


def local_names(files: Pair) -> set[str]:
    names: set[str] = set()
    for function in _goldens(files):
        stored = {node.id for node in each(function, ast.Name) if isinstance(node.ctx, ast.Store)}
        names |= stored - {node.arg for node in each(function, ast.arg)}
    return names


def _goldens(files: Pair) -> list[ast.AST]:
    return [target.golden.node for target in files.targets if target.golden]


def names_in(contents: TaskContents, path: str) -> set[str]:
    """Return the names that a Python file defines."""
    entry = contents.repository_files.get(path)
    module = contents.module(contents.path(entry)) if entry else None
    if module is None:
        return set()
    # Research code sets constants below `if`, too.
    return {definition.name for definition in module.definitions} | set(bindings(own_nodes(module.tree)))


def drafted(task: Task) -> QuestionEvidence:
    """Return which parts a model wrote; a person has to confirm all of them."""
    record = drafted_by(task)
    if record is None:
        return QuestionEvidence(())
    line = f"{record.model} wrote on {record.date[:10]}: {', '.join(record.parts)}"
    return QuestionEvidence(
        (Evidence("Drafted by a model", (line,)),), ("a model drafted it, and nobody has confirmed it yet",)
    )


def changed_code(task: Task, contents: TaskContents) -> QuestionEvidence:
    """Return how the code differs from the published commit."""
    origin = provenance.load(task).repository
    if origin.own_code:
        line = "the code is stored with the recipe; nothing shows that the paper's authors published it"
        return QuestionEvidence(
            (Evidence("Origin of the code", (line,)),), ("no published commit has this code",)
        )
    if origin.patch is None:
        return QuestionEvidence(())
    title = f"Patch on commit {origin.commit[:12]}: {origin.patch.reason}"
    text = contents.text(task.patch_path)
    piece = Evidence(title, diff=text) if text else Evidence(title, ("the patch is missing",))
    return QuestionEvidence((piece,), (f"the authors' code is patched: {origin.patch.reason}",))


# The environment


DatedVersion = tuple[str, str, date | None]
"""A part of the environment, its version, and the day from which it is; None when unknown."""


def _years_after(day: date | None, year: int) -> int:
    return day.year - year if day and year else 0


def _beside(day: date | None, year: int) -> str:
    """Compare a day with a year: ``3 years newer``."""
    if day is None or not year:
        return "unknown"
    after = _years_after(day, year)
    return f"{counted(abs(after), 'year')} {'newer' if after > 0 else 'older'}" if after else "the same year"


def environment(task: Task, contents: TaskContents, proof: Evaluation | None) -> QuestionEvidence:
    """Return the versions that ``proof`` ran with, else the Dockerfile's, with their dates beside the paper's year."""
    origin, year = provenance.load(task), contents.info.year or 0
    dockerfile, lock = contents.text(task.dockerfile) or "", contents.text(task.lock) or ""
    used = proof.sandbox if proof else None
    parts = _versions(origin, dockerfile, lock, used.torch if used else "")
    rows = [("", "version", "date", "compared with the paper"), ("paper", "", str(year or "unknown"), "")]
    rows += [(name, version, str(day or "unknown"), _beside(day, year)) for name, version, day in parts]
    declared = []
    for need in origin.environment.requirements:
        guessed = ", guessed" if need.guessed else ""
        declared.append(f"{need.requirement} ({need.origin}{guessed})")
    packages = [
        f"declared: {', '.join(declared) or 'nothing'}",
        f"locked: {listed(_PIN.findall(lock), 30) or 'nothing'}",
        f"Dockerfile: {'; '.join(_BASE_IMAGE.findall(dockerfile)[:3]) or 'no base image'}",
    ]
    doubts = list(_doubts(parts, year, origin.paper.year))
    if proof and used:
        ran = {"Python": used.python, "PyTorch": used.torch, "NumPy": used.numpy}
        versions = ", ".join(f"{name} {version}" for name, version in ran.items() if version)
        packages.append(f"evaluated in {proof.place}: {versions or 'versions unknown'}")
        doubts += filter(None, [proof.doubts])
    pieces = Evidence("Versions", table=tuple(rows)), Evidence("Packages", tuple(packages))
    return QuestionEvidence(pieces, tuple(doubts))


def _doubts(parts: Sequence[DatedVersion], year: int, recorded: int | None) -> Iterator[str]:
    for name, _, day in parts:
        if _years_after(day, year) >= YEARS_NEWER:
            yield f"{name} is {_beside(day, year)} than the paper"
    if not year:
        yield "the paper's year is unknown"
    elif recorded not in (None, year):
        yield f"the paper is of {year} in info.json, of {recorded} in authoring/provenance.json"
    if not any(day for _, _, day in parts):
        yield "no version has a date"


def _versions(origin: Provenance, dockerfile: str, lock: str, ran: str) -> tuple[DatedVersion, ...]:
    commit = _day(origin.repository.commit_date)
    image = _TORCH_TAG.search(dockerfile)
    torch = ran or (image[1] if image else origin.environment.base_image.torch)
    pins = counted(len(_PIN.findall(lock)), "package")
    return (
        ("the repository's commit", origin.repository.commit[:12] or "none", commit),
        ("the lock", pins, commit if origin.environment.lock.pinned else None),
        ("PyTorch", torch or "unknown", released(torch.partition("+")[0])),
    )


def _day(moment: str) -> date | None:
    return date.fromisoformat(moment[:10]) if moment else None


# The licence


def licence(task: Task, contents: TaskContents) -> QuestionEvidence:
    """Return the licence by source, and the first lines of its file."""
    origin, stated = provenance.load(task).repository, contents.info.license or ""
    spdx, name = recognise_licence(contents.repository) if contents.repository else ("", "")
    text = contents.text(contents.repository / name) if contents.repository and name else None
    sources = {"info.json": stated, name or "licence file": spdx, "when it was cloned": origin.license}
    rows = [("says", "licence")]
    rows += [(source, value or "not recognised") for source, value in sources.items()]
    doubts = []
    if stop := licence_stop(spdx, name):
        doubts.append(stop)
    elif not spdx:
        doubts.append(f"{name} is not a licence that the program recognises: read it")
    elif {stated, origin.license or spdx} != {spdx}:
        doubts.append("; ".join(f"{source} says {value or 'nothing'}" for source, value in sources.items()))
    head = filter(None, map(str.strip, (text or "").splitlines()))
    begin = Evidence.of(f"{name or 'Licence file'} begins", islice(head, 6), "there is none")
    return QuestionEvidence((Evidence("Licence, by source", table=tuple(rows)), begin), tuple(doubts))


# The ledger


def ordered(contents: TaskContents) -> list[JudgedEntry]:
    """Return the ledger's entries: additions first, then deviations."""
    order = ("adds", "deviates", "implements")
    return sorted(judged_entries(contents), key=lambda judged: order.index(judged.entry.relation))


def ledger_entries(contents: TaskContents, index: int) -> list[JudgedEntry]:
    return [judged for judged in ordered(contents) if judged.entry.index == index]


def ledger_of(contents: TaskContents, target: TargetUnderTest) -> QuestionEvidence:
    """Return each entry about a target with its quotation, its lines, and where a deviation is disclosed."""
    own = ledger_entries(contents, target.implementation.index)
    doubts = [
        f"a deviation from the paper is waived, {lines_of(judged.entry)}: {judged.entry.waived}"
        for judged in own
        if judged.entry.waived and judged.entry.relation == "deviates"
    ]
    return QuestionEvidence(tuple(_ledger_piece(target, judged) for judged in own), tuple(doubts))


def additions(contents: TaskContents, target: TargetUnderTest) -> tuple[Evidence, ...]:
    own = [judged.entry for judged in ledger_entries(contents, target.implementation.index)]
    lines = tuple(f"{lines_of(entry)}: {entry.note}" for entry in own if entry.relation == "adds")
    return (Evidence("Not in the paper, according to the ledger", lines),) if lines else ()


def _ledger_piece(target: TargetUnderTest, judged: JudgedEntry) -> Evidence:
    entry, golden = judged.entry, target.files.golden
    facts = [f"“{entry.quote}”" if entry.quote else "", entry.note, disclosure(entry)]
    facts += [f"does not hold: {flaw.field}: {flaw.message}" for flaw in judged.flaws]
    code: tuple[CodeLine, ...] = ()
    if golden and not judged.is_misplaced:
        code = tuple(CodeLine(number, golden.line_text(number).rstrip()) for number in entry.span)
    title = ", ".join(filter(None, (in_paper(entry), lines_of(entry))))
    return Evidence(f"{entry.relation}: {title}", tuple(filter(None, facts)), code=code)


def in_paper(entry: LedgerEntry) -> str:
    return ", ".join(filter(None, (entry.where, f"page {entry.page}" if entry.page else "")))


def lines_of(entry: LedgerEntry) -> str:
    return f"line{'s' if '-' in entry.lines else ''} {entry.lines}"


def disclosure(entry: LedgerEntry) -> str:
    """Return where the task discloses a deviation; "" for an entry that is none."""
    if entry.instruction:
        return f"the instruction says: “{entry.instruction}”"
    if entry.check:
        return f"the tests compare {entry.check} as the annotator chose"
    return f"disclosed nowhere: {entry.waived}" if entry.waived else ""
