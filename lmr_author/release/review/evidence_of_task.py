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
from lmr_author.core.code import FunctionNode, bindings, children, each
from lmr_author.core.code.tree import last_name
from lmr_author.core.repo.tree import recognise_licence
from lmr_author.core.task import UNIT_TEST, Implementation, Task, provenance
from lmr_author.core.task.provenance import Provenance, drafted_by
from lmr_author.core.texts import counted, listed
from lmr_author.proof.contents import FileEntry, TaskContents, once
from lmr_author.proof.leaks.statements import compare, of_function
from lmr_author.proof.leaks.tree import solutions
from lmr_author.proof.targets import Pair
from lmr_author.release.review.evidence import Evidence, QuestionEvidence
from lmr_author.runtime.environment.base_images import released

YEARS_NEWER = 2
"""Years after the paper from which a version is worth a word."""
_PIN = re.compile(r"^([\w.\[\]-]+==\S+)", re.M)
_BASE_IMAGE = re.compile(r"^(?:FROM|ARG\s+BASE_IMAGE).*$", re.M)
_TORCH_TAG = re.compile(r"\bpytorch/pytorch:(\d+\.\d+\.\d+)")
_MOST_FILES = 2000
_MOST_ALIKE = 3
_ALIKE = 0.05
"""Share of a golden's statements from which a function is worth a look."""


def abstract_of(title: str, pages: Mapping[int, str]) -> Evidence:
    first = pages[min(pages)] if pages else ""
    return Evidence(f"Paper: {title or 'no title'}", prose=abstract(first) or "no abstract was found")


# The repository


@once
def mentions(contents: TaskContents, implementation: Implementation) -> tuple[str, ...]:
    """Return the lines of other files that mention the function, as ``file:line``; of a method, its class."""
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
    """Yield those of the repository's first files that end in a suffix, without those of ``unit_test/``."""
    for path, entry in islice(contents.repository_files.items(), _MOST_FILES):
        if entry.suffix in suffixes and not path.startswith(f"{UNIT_TEST}/"):
            yield path, entry


def nearest(contents: TaskContents) -> Evidence:
    """Return the functions of the agent's tree that are most like a golden; a paraphrase is among them."""
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
    return Evidence.of("Functions that are most like a golden", lines, "none is like one")


def names_used(files: Pair) -> set[str]:
    """Return the names that the golden's targets use, annotations included."""
    names: set[str] = set()
    for function in _goldens(files):
        names.update(map(last_name, each(function, ast.Name, ast.Attribute)))
    return names


def local_names(files: Pair) -> set[str]:
    """Return the variables of the golden's targets that their signatures do not have."""
    names: set[str] = set()
    for function in _goldens(files):
        stored = {node.id for node in each(function, ast.Name) if isinstance(node.ctx, ast.Store)}
        names |= stored - {node.arg for node in each(function, ast.arg)}
    return names


def _goldens(files: Pair) -> list[ast.AST]:
    return [target.golden.node for target in files.targets if target.golden]


def names_in(contents: TaskContents, path: str) -> set[str]:
    """Return what a Python file of the repository defines: functions, classes, their methods, variables."""
    entry = contents.repository_files.get(path)
    module = contents.module(contents.path(entry)) if entry else None
    if module is None:
        return set()
    names = {definition.name for definition in module.definitions}
    for statement in module.tree.body:
        if isinstance(statement, ast.Assign | ast.AnnAssign):
            names.update(bindings(children(statement)))
    return names


def drafted(task: Task) -> QuestionEvidence:
    """Return what a model wrote of a task, all of which a person has to confirm; nothing where a person wrote it."""
    record = drafted_by(task)
    if record is None:
        return QuestionEvidence(())
    line = f"{record.model} wrote on {record.date[:10]}: {', '.join(record.parts)}"
    return QuestionEvidence(
        (Evidence("Drafted by a model", (line,)),), ("a model drafted it, and nothing is confirmed yet",)
    )


def changed_code(task: Task, contents: TaskContents) -> QuestionEvidence:
    """Return how the code differs from what its authors published: a patch, or no published commit at all."""
    origin = provenance.load(task).repository
    if origin.own_code:
        line = "it lies beside the task's recipe: nothing shows that it is what the paper's authors published"
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


def environment(task: Task, contents: TaskContents) -> QuestionEvidence:
    """Return the environment's versions with their dates beside the paper's year."""
    origin, year = provenance.load(task), contents.info.year or 0
    dockerfile, lock = contents.text(task.dockerfile) or "", contents.text(task.lock) or ""
    parts = _versions(origin, dockerfile, lock)
    rows = [("", "version", "date", "beside the paper"), ("paper", "", str(year or "unknown"), "")]
    rows += [(name, version, str(day or "unknown"), _beside(day, year)) for name, version, day in parts]
    declared = []
    for need in origin.environment.requirements:
        guessed = ", guessed" if need.guessed else ""
        declared.append(f"{need.requirement} ({need.origin}{guessed})")
    packages = (
        f"declared: {', '.join(declared) or 'nothing'}",
        f"locked: {listed(_PIN.findall(lock), 30) or 'nothing'}",
        f"Dockerfile: {'; '.join(_BASE_IMAGE.findall(dockerfile)[:3]) or 'no base image'}",
    )
    pieces = Evidence("Versions", table=tuple(rows)), Evidence("Packages", packages)
    return QuestionEvidence(pieces, tuple(_doubts(parts, year, origin.paper.year)))


def _doubts(parts: Sequence[DatedVersion], year: int, recorded: int | None) -> Iterator[str]:
    """Yield why the versions say little, or speak against the environment.

    Args:
        year: of the paper in info.json; 0 if unknown.
        recorded: of the paper in the task's provenance.
    """
    for name, _, day in parts:
        if _years_after(day, year) >= YEARS_NEWER:
            yield f"{name} is {_beside(day, year)} than the paper"
    if not year:
        yield "the paper's year is unknown"
    elif recorded not in (None, year):
        yield f"the paper is of {year} in info.json, of {recorded} in authoring/provenance.json"
    if not any(day for _, _, day in parts):
        yield "no version has a date"


def _versions(origin: Provenance, dockerfile: str, lock: str) -> tuple[DatedVersion, ...]:
    commit = _day(origin.repository.commit_date)
    image = _TORCH_TAG.search(dockerfile)
    torch = image[1] if image else origin.environment.base_image.torch
    pins = counted(len(_PIN.findall(lock)), "package")
    return (
        ("the repository's commit", origin.repository.commit[:12] or "none", commit),
        ("the lock", pins, commit if origin.environment.lock.pinned else None),
        ("PyTorch", torch or "unknown", released(torch)),
    )


def _day(moment: str) -> date | None:
    return date.fromisoformat(moment[:10]) if moment else None


# The licence


def licence(task: Task, contents: TaskContents) -> QuestionEvidence:
    """Return what info.json, the licence's file and the clone's record say of the licence, and the file's beginning."""
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
        doubts.append(f"{name} is not a licence that the program knows: read it")
    elif {stated, origin.license or spdx} != {spdx}:
        doubts.append("; ".join(f"{source} says {value or 'nothing'}" for source, value in sources.items()))
    head = filter(None, map(str.strip, (text or "").splitlines()))
    begin = Evidence.of(f"{name or 'Licence file'} begins", islice(head, 6), "there is none")
    return QuestionEvidence((Evidence("Licence, by source", table=tuple(rows)), begin), tuple(doubts))
