"""Find blocks of scripts and long functions that the paper describes, and that ``extract`` can turn into functions."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from lmr_author.authoring.extracting.events import Function
from lmr_author.authoring.extracting.extract import extract
from lmr_author.authoring.extracting.selection import ScopeNode, Suite, is_elif, last_line, suites
from lmr_author.authoring.suggesting import PaperText
from lmr_author.authoring.suggesting.criteria import LARGE, Prospect, is_test
from lmr_author.authoring.suggesting.paper import Description, Descriptions, FunctionWords
from lmr_author.authoring.suggesting.ranking import judge, read_paper, score_of
from lmr_author.authoring.suggesting.sections import best_section
from lmr_author.core import code, files, foreign, indexing
from lmr_author.core.errors import LmrError
from lmr_author.core.indexing import MAX_BYTES, NEEDS_GPU, Index, IndexEntry
from lmr_author.core.paper.sections import Section, sections
from lmr_author.core.task import UNIT_TEST, Task

BLOCKS = 5
"""Blocks that are shown."""
SMALLEST = 5
"""Statements below which a block is no task."""
LONG = 20
"""Statements up to which a function is read as a whole."""
WHOLE = 0.8
"""Share of a function's statements from which a block is the function itself, which `mask` takes as it is."""
CLEAR = 0.5
"""Share of the best description that a block must have where no section stands out."""
WORTH = 0.25
"""Share of the best score below which a block is not shown."""
TRIED = 16
"""The best described blocks, which are tried to be extracted: each takes some tenths of a second."""

_FILLER = frozenset(
    "a an and by for from in is it of on or our that the this to we with".split()  # noqa: SIM905
)


@dataclass(frozen=True)
class Block:
    """A block that ``extract`` accepts.

    Attributes:
        path, start, end: its lines.
        name: a free name for the function.
        heading: the comment above it; "" for none.
        statements: how many it has.
        score: as that of a function, 0 to 100.
        section: of the paper that it implements, as "section 3.2 (Loss)"; "" when none stands out.
        terms: that it shares with the paper.
        warnings: reasons against it, in a few words each.
    """

    path: str
    start: int
    end: int
    name: str
    heading: str
    statements: int
    score: float
    section: str
    terms: tuple[str, ...]
    warnings: tuple[str, ...]

    @property
    def place(self) -> str:
        """The lines, as ``extract`` takes them."""
        return f"{self.path}:{self.start}-{self.end}"

    def to_json(self) -> dict[str, Any]:
        """Return the block as a JSON object."""
        return {
            "place": self.place,
            "name": self.name,
            "heading": self.heading,
            "statements": self.statements,
            "score": round(self.score, 1),
            "section": self.section,
            "terms": list(self.terms),
            "warnings": list(self.warnings),
        }


@dataclass(frozen=True)
class _Candidate:
    """A block before it was tried: its file, its lines, and what the index would say of it as a function."""

    module: code.Module
    start: int
    end: int
    heading: str
    entry: IndexEntry


def blocks_of_repository(
    repository: Path, paper: Path | None, top: int, globs: Sequence[str] = ()
) -> list[Block]:
    """Return the best blocks of a repository that is no task yet; none without a paper."""
    return find_blocks(repository, read_paper(paper) if paper else PaperText({}), top, globs)


def blocks_of_task(task: Task, top: int, globs: Sequence[str] = ()) -> list[Block]:
    """Return the best blocks of a task's repository; of masked files none, as ``extract`` refuses them."""
    info = task.load()
    path = task.paper_json(info)
    paper = PaperText.from_json(files.read_json(path)) if path.is_file() else PaperText({})
    masked = {entry.goal_file for entry in info.implementations}
    return find_blocks(task.repository(info), paper, top, globs, masked)


def find_blocks(
    repository: Path, paper: PaperText, top: int, globs: Sequence[str] = (), without: Collection[str] = ()
) -> list[Block]:
    """Return the blocks of a repository that the paper describes, the best first.

    Where no section stands out, nor the words, a block is seldom the method: it loads data, logs or plots.

    Args:
        globs: only blocks of files that one of these matches.
        without: files that are left out.
    """
    titled = sections(paper.pages)
    if not titled:
        return []
    index = indexing.build(repository, without=(UNIT_TEST,))
    candidates: list[_Candidate] = []
    for name in index.files:
        is_wanted = not globs or any(fnmatchcase(name, glob) for glob in globs)
        if is_wanted and name not in without and not is_test(name):
            candidates += _read(repository, name)
    if not candidates:
        return []
    # Each is described and judged as the function that it would be, among those that there are.
    whole = replace(index, functions=(*index.functions, *(candidate.entry for candidate in candidates)))
    descriptions = Descriptions(whole, paper)
    described = []
    for number, candidate in enumerate(candidates, len(index.functions)):
        description = descriptions.describe(number)
        described.append((_score(candidate.entry, whole, description)[0], candidate, description))
    described.sort(key=lambda scored: -scored[0])
    blocks: list[Block] = []
    for _, candidate, description in described[:TRIED]:
        if not any(_overlap(candidate, block) for block in blocks):
            block = _tried(candidate, whole, description, titled, repository.name)
            blocks += [block] if block is not None else []
    best = max((block.score for block in blocks), default=0.0)
    worth = [block for block in blocks if block.score >= WORTH * best]
    return sorted(worth, key=lambda block: -block.score)[:top]


def _overlap(candidate: _Candidate, block: Block) -> bool:
    same = candidate.module.name == block.path
    return same and candidate.start <= block.end and block.start <= candidate.end


def _read(repository: Path, name: str) -> Iterator[_Candidate]:
    """Yield the blocks of a file that are large enough, in scripts and functions that are too long."""
    data = foreign.read_regular(str(repository / name), MAX_BYTES) or b""
    try:
        module = code.Module.parse(data, name)
    except LmrError:
        return
    obstacle = ""
    if b"parse_args" in data and (demand := code.demanded(module.tree)):
        obstacle = f"no test can import it: the file {demand}"
    for suite in suites(module.tree):
        scope = next(owner for owner in reversed(suite.owners) if isinstance(owner, ScopeNode))
        if isinstance(scope, ast.ClassDef) or (isinstance(scope, Function) and _count([scope]) <= LONG):
            continue
        largest = min(LARGE, int(WHOLE * _count([scope]))) if isinstance(scope, Function) else LARGE
        for statements in _groups(module, suite):
            if SMALLEST <= _count(statements) <= largest and not _defines(statements):
                yield _candidate(module, statements, obstacle)


def _groups(module: code.Module, suite: Suite) -> Iterator[Sequence[ast.stmt]]:
    """Yield what a reader sees as one: a loop, a branch, and the statements below a comment or a blank line."""
    group: list[ast.stmt] = []
    if is_elif(module, suite):
        return
    if not isinstance(suite.owners[-1], ScopeNode):
        yield suite.statements
    for statement in suite.statements:
        above = module.line_text(code.first_line(statement) - 1).strip() if statement.lineno > 1 else ""
        if group and (not above or above.startswith("#")):
            if len(group) > 1:
                yield group
            group = []
        group.append(statement)
        if isinstance(statement, ast.For | ast.While | ast.If | ast.With) and len(suite.statements) > 1:
            yield [statement]
    if len(group) > 1 and group != suite.statements:
        yield group


def _defines(statements: Sequence[ast.stmt]) -> bool:
    return any(
        isinstance(statement, code.DefinitionNode | ast.Import | ast.ImportFrom) for statement in statements
    )


def _count(statements: Sequence[ast.stmt]) -> int:
    return sum(isinstance(node, ast.stmt) for statement in statements for node in ast.walk(statement))


def _candidate(module: code.Module, statements: Sequence[ast.stmt], obstacle: str) -> _Candidate:
    start, end = code.first_line(statements[0]), last_line(statements[-1])
    lines = [module.line_text(number) for number in range(start, end + 1)]
    comments = [match[1] for line in lines if (match := re.search(r"(?:^|\s)#+\s*(\w.*)$", line))]
    above = module.line_text(start - 1).strip() if start > 1 else ""
    heading = above.lstrip("#! ").strip() if above.startswith("#") else ""
    names, calls = indexing.names_and_calls(node for statement in statements for node in ast.walk(statement))
    if not obstacle and "cuda" in names + calls:
        obstacle = f"{NEEDS_GPU}: `record --cuda-as-cpu` runs it on the CPU"
    name = _name(heading)
    entry = IndexEntry(
        path=module.name, qualname=name, kind="block", class_name="", function_name=name, line=start,
        end_line=end, nth=1, siblings=1, comments="\n".join([heading, *comments]),
        statements=_count(statements), branches=0, returns=True, names=names, calls=calls,
        obstacle=obstacle,
    )  # fmt: skip
    return _Candidate(module, start, end, heading, entry)


def _name(text: str) -> str:
    """Return a function's name from the words of a comment or title; "" when they give none."""
    words = [word for word in re.findall(r"[a-z][a-z0-9]+", text.lower()) if word not in _FILLER]
    return "_".join(words[:4])


def _score(
    entry: IndexEntry, index: Index, description: Description, repository: str = ""
) -> tuple[float, tuple[str, ...]]:
    judgements = judge(Prospect(entry, index, description, repository))
    return score_of(judgements), tuple(judged.warning for judged in judgements if judged.warning)


def _tried(
    candidate: _Candidate, index: Index, description: Description, titled: Sequence[Section], repository: str
) -> Block | None:
    """Return a block if the paper describes it and it can be extracted, judged by the function that it becomes."""
    words = FunctionWords(
        candidate.entry.name, "", (), candidate.entry.identifiers, (candidate.entry.comments,)
    )
    section = best_section(titled, words)
    if section is None and description.share < CLEAR:
        return None
    proposals = (candidate.entry.name, _name(section.title) if section else "", f"block_{candidate.start}")
    for name in filter(None, proposals):
        try:
            made = extract(candidate.module, candidate.start, candidate.end, name)
        except LmrError:
            continue
        entry = replace(
            candidate.entry,
            qualname=name,
            function_name=name,
            parameters=made.inputs,
            returns=bool(made.outputs),
        )
        score, warnings = _score(entry, index, description, repository)
        return Block(
            entry.path, candidate.start, candidate.end, name, candidate.heading, entry.statements, score,
            section.named if section else "", tuple(match.term for match in description.matches), warnings,
        )  # fmt: skip
    return None
