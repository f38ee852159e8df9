"""Draft the instruction of a function.

A draft names what is to be implemented and where, the section of the paper, inputs, outputs, and what may be ignored.
It says nothing of the body: its words come from the signature, the docstring, and the comment that was confirmed.
"""

from __future__ import annotations

import ast

from lmr_author.authoring.masking.body import MaskNotes, one_line
from lmr_author.authoring.masking.docstrings import Documented, DocumentedParameter, read_docstring, sentences
from lmr_author.authoring.suggesting import PaperText
from lmr_author.authoring.suggesting.paper import FunctionWords
from lmr_author.authoring.suggesting.sections import best_section
from lmr_author.core import code, files
from lmr_author.core.errors import LmrError
from lmr_author.core.paper.sections import sections
from lmr_author.core.task import Task, TaskInfo
from lmr_author.proof.checks.instruction import GAP, quotations


def draft_instruction(
    path: str, definition: code.Definition, notes: MaskNotes | None = None, section: str = ""
) -> str:
    """Draft an instruction for a function or class. Nothing in it is cut short.

    Args:
        path: of the goal file, in the repository.
        definition: the function in the golden.
        notes: the structured comment that was confirmed.
        section: of the paper, as in ``section 3 (Method)``; "" when it is not known.
    """
    confirmed = notes or MaskNotes()
    own = _without_solution(read_docstring(definition.docstring), definition.node)
    purpose = _purpose(confirmed.objective or own.summary)
    kind = f"{definition.kind} `{definition.function_name}`"
    if definition.class_name and definition.kind == "function":
        kind = f"method `{definition.function_name}` of the class `{definition.class_name}`"
    where = f"{section} of the paper" if section else "the paper"
    names = _parameters(definition)
    texts = {name: own.parameters.get(name, DocumentedParameter()) for name in names}
    inputs = tuple(
        f"`{name}`: {entry.text or entry.type}".removesuffix(": ") for name, entry in texts.items()
    )
    unused = _unused(definition.node, names)
    parts = [
        f"Implement the {kind} in `{path}` as {where} describes it.",
        f"Its purpose: {purpose or GAP}.",
        _listed("Inputs", confirmed.inputs or inputs),
        _listed("Outputs", confirmed.outputs or own.returns)
        or f"Return what {'its docstring and ' if definition.docstring else ''}its callers expect.",
        f"May be ignored: {', '.join(unused)}." if unused else "",
        "Keep its signature, and leave everything else as it is.",
    ]
    return " ".join(part for part in parts if part)


def _purpose(text: str) -> str:
    """Return a purpose without its full stop, and without sentences whose colon announces what does not follow."""
    complete = [sentence for sentence in sentences(one_line(text)) if not sentence.endswith(":")]
    return " ".join(complete).rstrip(".")


def _without_solution(own: Documented, node: code.DefinitionNode) -> Documented:
    """Return the content of a docstring without the sentences that quote the body: they are the answer."""
    if isinstance(node, ast.ClassDef):
        return own

    def cleaned(text: str) -> str:
        return " ".join(sentence for sentence in sentences(text) if not quotations(node, sentence))

    parameters = {
        name: DocumentedParameter(entry.type, cleaned(entry.text)) for name, entry in own.parameters.items()
    }
    return Documented(cleaned(own.summary), parameters, tuple(map(cleaned, own.returns)))


def _listed(title: str, entries: tuple[str, ...]) -> str:
    shown = [one_line(entry).rstrip(".:; ") for entry in entries]
    return f"{title}: {'; '.join(filter(None, shown))}." if any(shown) else ""


def _unused(node: code.DefinitionNode, names: list[str]) -> list[str]:
    """Return the parameters that the original never uses: an agent need not wonder what they are for."""
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
    """Draft an instruction for a function; it names the section of the paper only where one stands out."""
    try:
        data = files.read_object_or_empty(task.paper_json(info))
    except LmrError:
        data = {}
    section = best_section(sections(PaperText.from_json(data).pages), words_of(definition)) if data else None
    return draft_instruction(path, definition, notes, section.named if section else "")


def words_of(definition: code.Definition) -> FunctionWords:
    """Return the words in a function, by which sections and categories are found."""
    node = definition.node
    arguments = [argument.arg for argument in code.each(node, ast.arg)]
    names = [name.id for name in code.each(node, ast.Name)]
    names += [attribute.attr for attribute in code.each(node, ast.Attribute)]
    return FunctionWords(
        definition.name, definition.class_name, arguments, names, (definition.docstring or "",)
    )
