"""Draft the instruction of a function.

A draft names what is to be implemented and where, the section of the paper, inputs, outputs, and what may be ignored.
It says nothing of the body: its words come from the signature, the docstring, and the comment that was confirmed.
"""

from __future__ import annotations

import ast
import inspect
import re
from itertools import takewhile

from lmr_author.authoring.masking.body import MaskNotes, one_line
from lmr_author.authoring.suggesting import PaperText
from lmr_author.authoring.suggesting.paper import FunctionWords, best_section
from lmr_author.core import code, files
from lmr_author.core.errors import LmrError
from lmr_author.core.paper.parts import sections
from lmr_author.core.task import Task, TaskInfo
from lmr_author.proof.checks.instruction import GAP, quotations

_RULE = re.compile(r"[-=]{3,}")
_SECTION = re.compile(r"[A-Z][\w ]*:\s*$|[-*\s`]*\w+[`*]* ?[(\[].*[)\]]\s*:|:\w+[^:]*:")
"""A line that begins the description of parameters."""
_NO_PURPOSE = re.compile(
    r"""\W*(todo|fixme|deprecated|_?summary_?\b|>>>|```|copyright\b|licen[sc]ed?\b|authors?:|adapted\ from|copied\ from
    |https?://|see\b|(forward|backward)(\ pass)?\W*$|defines\ the\ computation\ performed|\W*$)""",
    re.IGNORECASE | re.VERBOSE,
)
"""Beginnings of sentences that do not say what a function is for."""
_ABBREVIATED = re.compile(r"\b(e\.g|i\.e|cf|vs|etc|resp|al|Eq|Fig|Sec|Tab|approx|w\.r\.t|[A-Z])\.$")


def draft_instruction(
    path: str, definition: code.Definition, notes: MaskNotes | None = None, section: str = ""
) -> str:
    """Draft an instruction for a function or class, never cut short.

    Args:
        definition: the function in the golden.
        section: of the paper, as in ``section 3 (Method)``; "" when unknown.
    """
    first = inspect.cleandoc(definition.docstring or "").split("\n\n")[0]
    said = (
        notes.comment
        if notes and notes.comment
        else _without_solution(stated_purpose(first), definition.node)
    )
    purpose = _purpose(said)
    kind = f"{definition.kind} `{definition.function_name}`"
    if definition.class_name and definition.kind == "function":
        kind = f"method `{definition.function_name}` of the class `{definition.class_name}`"
    where = f"{section} of the paper" if section else "the paper"
    names = _parameters(definition)
    unused = _unused(definition.node, names)
    parts = [
        f"Implement the {kind} in `{path}` as {where} describes it.",
        f"Its purpose: {purpose or GAP}.",
        f"Inputs: {', '.join(f'`{name}`' for name in names)}." if names else "",
        f"Return what {'its docstring and ' if definition.docstring else ''}its callers expect.",
        f"May be ignored: {', '.join(unused)}." if unused else "",
        "Keep its signature, and leave everything else as it is.",
    ]
    return " ".join(part for part in parts if part)


def _purpose(text: str) -> str:
    """Return a purpose without its full stop, and without sentences whose colon announces what does not follow."""
    complete = [sentence for sentence in _sentences(one_line(text)) if not sentence.endswith(":")]
    return " ".join(complete).rstrip(".")


def _without_solution(text: str, node: code.DefinitionNode) -> str:
    """Return a text without the sentences that quote the body: they are the answer."""
    if isinstance(node, ast.ClassDef):
        return text
    return " ".join(sentence for sentence in _sentences(text) if not quotations(node, sentence))


def stated_purpose(paragraph: str) -> str:
    """Return what the first paragraph of a docstring says a function is for; "" when it says nothing."""
    lines = takewhile(lambda line: not _SECTION.match(line), paragraph.splitlines())
    sentences = _sentences(one_line(_RULE.sub("", " ".join(lines))))
    return " ".join(takewhile(lambda sentence: not _NO_PURPOSE.match(sentence), sentences))


def _sentences(text: str) -> list[str]:
    result: list[str] = []
    for part in re.split(r"(?<=[.!?])\s+(?=[A-Z\[(`\"'¿¡]|[^\x00-\x7f])", text):
        if result and _ABBREVIATED.search(result[-1]):
            result[-1] += f" {part}"
        elif part:
            result.append(part)
    return result


def _unused(node: code.DefinitionNode, names: list[str]) -> list[str]:
    used = {name.id for statement in node.body for name in code.each(statement, ast.Name)}
    if used & {"locals", "vars", "eval", "exec"}:
        return []
    return [f"`{name}`" for name in names if name not in used]


def _parameters(definition: code.Definition) -> list[str]:
    if isinstance(definition.node, ast.ClassDef):
        return []
    names = [argument.arg for argument in code.arguments(definition.node)]
    # A method of a class in a function has no class name; there only `self` is sure to be none of its inputs.
    return [name for name in names if name not in ("self", definition.receiver)]


# of a task


def drafted(
    task: Task, info: TaskInfo, path: str, definition: code.Definition, notes: MaskNotes | None
) -> str:
    """Draft an instruction; it names the paper's section only where one stands out."""
    try:
        data = files.read_object_or_empty(task.paper_json(info))
    except LmrError:
        data = {}
    section = best_section(sections(PaperText.from_json(data).pages), words_of(definition)) if data else None
    return draft_instruction(path, definition, notes, section.named if section else "")


def words_of(definition: code.Definition) -> FunctionWords:
    """Return the words of a function by which its section and category are found."""
    node = definition.node
    arguments = [argument.arg for argument in code.each(node, ast.arg)]
    names = [name.id for name in code.each(node, ast.Name)]
    names += [attribute.attr for attribute in code.each(node, ast.Attribute)]
    return FunctionWords(
        definition.name, definition.class_name, arguments, names, (definition.docstring or "",)
    )
