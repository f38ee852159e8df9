"""Parts of the paper that an instruction names, and instructions that give the solution away."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from lmr_author.authoring.suggesting.paper import PaperText, identifier_terms, stem, text_terms
from lmr_author.core import files
from lmr_author.core.code import FunctionNode
from lmr_author.core.errors import LmrError
from lmr_author.core.paper.parts import NamedPart, Section, named_parts, sections
from lmr_author.core.task import Task, TaskInfo
from lmr_author.proof.targets import parts, statements

_HEAD_OF_ALGORITHM = re.compile(r"^\s*algorithm\s+(\d+)", re.I | re.M)
_EQUATION_AT_END = re.compile(r"\((\d{1,3})\)[ \t]*$", re.M)

# Measured on the instructions of ten starter targets (at most 0.21 of the statements) and twenty targets of the recipes
# (0.43, but for 0.61 and 1.0), and on six that give a function away statement by statement: 0.52 to 0.85.
SPELLED_STATEMENT = 0.7
"""Share of a statement's names and operations from which a text spells it out."""
GIVEN_AWAY = 0.5
"""Share of spelled statements above which an instruction gives the solution away."""
FEWEST_STATEMENTS = 3
_OPERATIONS: dict[type[ast.AST], str] = {
    ast.Add: "add sum plus total accumulate",
    ast.Sub: "subtract minus difference less",
    ast.Mult: "multiply times product scale weight",
    ast.Div: "divide ratio mean average share normalise normalize fraction",
    ast.Pow: "power square exponent root",
    ast.MatMult: "multiply product matrix",
    ast.Lt: "less smaller below fewer under",
    ast.LtE: "most less smaller below",
    ast.Gt: "greater larger above exceeds more over",
    ast.GtE: "least greater larger above reaches",
    ast.Eq: "equal same is",
    ast.NotEq: "different other not",
    ast.In: "in among contains",
    ast.NotIn: "not without",
    ast.Not: "not without unless no",
    ast.Or: "or either",
    ast.And: "and both",
    ast.USub: "negative minus negate",
}


LONG_LINE = 60
"""Characters of a line from which the next one continues it."""
_RUNNING_TEXT = re.compile(r"(?![-*#>] |\d+[.)] )\S")


@dataclass(frozen=True)
class InstructionCitation:
    """The parts of the paper that an instruction names, sections with their subsections.

    ``elsewhere`` has named equations and algorithms outside of these sections; ``readable`` is False if the paper
    has no numbered section at all.
    """

    sections: tuple[Section, ...]
    absent: tuple[str, ...] = ()
    elsewhere: tuple[tuple[str, Section], ...] = ()
    readable: bool = True
    pages: tuple[int, ...] = ()


def paper_pages(task: Task, info: TaskInfo) -> Mapping[int, str]:
    """Return the paper's text by page; {} if it cannot be read, which `validate` reports."""
    try:
        return PaperText.from_json(files.read_object_or_empty(task.paper_json(info))).pages
    except LmrError:
        return {}


def paragraphs(text: str) -> list[str]:
    """Return a text's paragraphs without the line breaks of an editor: those after long lines, before running text."""
    lines: list[str] = []
    is_long = False
    for line in text.strip().splitlines():
        if is_long and _RUNNING_TEXT.match(line):
            lines[-1] += f" {line.strip()}"
        elif line.strip():
            lines.append(line.rstrip())
        is_long = len(line) >= LONG_LINE
    return lines


def cite(instruction: str, pages: Mapping[int, str]) -> InstructionCitation:
    in_paper, named = sections(pages), named_parts(instruction)
    numbers = [part.number for part in named if part.kind == "section"]
    wanted = [
        section
        for section in in_paper
        if any(section.number == number or section.number.startswith(f"{number}.") for number in numbers)
    ]
    there = {section.number for section in in_paper}
    absent = [
        number
        for number in dict.fromkeys(numbers)
        if number not in there and not any(other.startswith(f"{number}.") for other in there)
    ]
    labels = _labels(part for part in named if part.kind in ("equation", "algorithm"))
    elsewhere: list[tuple[str, Section]] = []
    for label in labels if wanted else ():
        homes = [section for section in in_paper if label in labels_in(section.text)]
        if homes and not any(section in wanted for section in homes):
            elsewhere.append((label, homes[0]))
    found_on = _pages_of(wanted, labels, pages)
    return InstructionCitation(tuple(wanted), tuple(absent), tuple(elsewhere), bool(in_paper), found_on)


def labels_in(text: str) -> tuple[str, ...]:
    """Return the equations and algorithms in a text: ``equation (3)``, ``algorithm 1``."""
    equations = [NamedPart("equation", number) for number in _EQUATION_AT_END.findall(text)]
    algorithms = [NamedPart("algorithm", number) for number in _HEAD_OF_ALGORITHM.findall(text)]
    return _labels([*equations, *algorithms])


def _labels(parts: Iterable[NamedPart]) -> tuple[str, ...]:
    whole = {part for part in parts if part.number.isdecimal()}
    return tuple(map(str, sorted(whole, key=lambda part: (part.kind != "equation", int(part.number)))))


def _pages_of(
    wanted: Sequence[Section], labels: Collection[str], pages: Mapping[int, str]
) -> tuple[int, ...]:
    whole = "\n".join(pages[number] for number in sorted(pages))
    spans = [(begin, begin + len(part.text)) for part in wanted if (begin := whole.find(part.text)) >= 0]
    at, numbers = 0, []
    for number in sorted(pages):
        end = at + len(pages[number])
        shared = any(begin < end and at < stop for begin, stop in spans)
        if shared or not set(labels).isdisjoint(labels_in(pages[number])):
            numbers.append(number)
        at = end + 1
    return tuple(numbers)


def gives_away(spelled: int, statements: int) -> bool:
    return statements >= FEWEST_STATEMENTS and spelled > GIVEN_AWAY * statements


def spelled_out(golden: FunctionNode, text: str) -> tuple[int, int]:
    """Count the golden's statements whose names and operations occur in a text, and those that have any."""
    words = {stem(word.lower()) for word in re.findall(r"[^\W\d_]+", text)} | set(text_terms(text))
    words.update(re.findall(r"\w+", text))
    spelled = of = 0
    for node in _steps(golden):
        terms = list(_terms(node))
        if len(terms) >= 2:
            of += 1
            spelled += sum(not words.isdisjoint(term) for term in terms) >= SPELLED_STATEMENT * len(terms)
    return spelled, of


def _steps(golden: FunctionNode) -> Iterator[ast.AST]:
    """Yield the statements of a function; of compound ones, the header."""
    for statement in parts(statements(golden)):
        match statement:
            case ast.For() | ast.AsyncFor():
                yield ast.Tuple([statement.target, statement.iter], ast.Load())
            case ast.If() | ast.While():
                yield statement.test
            case ast.Assign() | ast.AugAssign() | ast.AnnAssign() | ast.Return() | ast.Expr():
                yield statement


def _terms(node: ast.AST) -> Iterator[set[str]]:
    for part in ast.walk(node):
        match part:
            case ast.Name(id=name) | ast.Attribute(attr=name):
                yield set(identifier_terms(name)) or {name}
            case _ if type(part) in _OPERATIONS:
                yield set(map(stem, _OPERATIONS[type(part)].split()))
