"""A first instruction for a masked function, made of what stays visible.

It names what is to be implemented and where, the part of the paper, inputs, outputs, and what may be ignored. It
says nothing of the body: its words come from the signature, the docstring, and the comment that was confirmed.
"""

from __future__ import annotations

import ast

from lmr_author import source
from lmr_author.checks.instruction import GAP
from lmr_author.checks.instruction_says import quotations
from lmr_author.masking.documented import Documented, Entry, documented
from lmr_author.masking.notes import MaskNotes, one_line
from lmr_author.masking.purpose import sentences

MOST_WORDS = 14
"""Words said of one input; the docstring has the rest."""
MOST_WORDS_OF_OUTPUT = 40
"""Words said of one output: all of what a function returns may be described in one."""


def draft_instruction(
    path: str, definition: source.Definition, notes: MaskNotes | None = None, section: str = ""
) -> str:
    """A first instruction for a function or class.

    Args:
        path: of the goal file, in the repository.
        definition: as it stands in the golden.
        notes: the structured comment that was confirmed.
        section: of the paper, as in ``section 3 (Method)``; "" when it is not known.
    """
    said = notes or MaskNotes()
    own = _without_solution(documented(definition), definition)
    purpose = one_line(said.objective or own.summary).rstrip(".")
    where = f"as {section} of the paper describes it" if section else "as the paper describes it"
    parts = [
        f"Implement the {_kind(definition)} in `{path}` {where}.",
        f"Its purpose: {purpose or GAP}.",
        _listed("Inputs", said.inputs or _inputs(definition, own), MOST_WORDS),
        _listed("Outputs", said.outputs or own.returns, MOST_WORDS_OF_OUTPUT)
        or f"Return what {'its docstring and ' if definition.docstring else ''}its callers expect.",
        _ignored(definition),
        "Keep its signature, and leave everything else as it is.",
    ]
    return " ".join(part for part in parts if part)


def _without_solution(own: Documented, definition: source.Definition) -> Documented:
    """What a docstring says, without the sentences that quote the body: they are the answer."""
    node = definition.node
    if isinstance(node, ast.ClassDef):
        return own

    def cleaned(text: str) -> str:
        return " ".join(one for one in sentences(text) if not quotations(node, one))

    parameters = {name: Entry(entry.type, cleaned(entry.text)) for name, entry in own.parameters.items()}
    return Documented(cleaned(own.summary), parameters, tuple(cleaned(text) for text in own.returns))


def _kind(definition: source.Definition) -> str:
    if definition.kind == "class":
        return f"class `{definition.qualname}`"
    if definition.class_name:
        name, owner = definition.function_name, definition.class_name
        part = _part_of_property(definition)
        what = f"{part} of the property `{name}`" if part else f"method `{name}`"
        return f"{what} of the class `{owner}`"
    return f"function `{definition.function_name}`"


def _part_of_property(definition: source.Definition) -> str:
    """Which of several functions of one name it is: its getter, setter or deleter; "" for what is none."""
    if definition.siblings == 1:
        return ""
    for item in definition.node.decorator_list:
        if isinstance(item, ast.Attribute) and item.attr in ("setter", "deleter", "getter"):
            return item.attr
        if ast.unparse(item).rpartition(".")[2] in ("property", "cached_property"):
            return "getter"
    return ""


def _inputs(definition: source.Definition, own: Documented) -> tuple[str, ...]:
    """The parameters, each with what the docstring says of it."""
    found = []
    for name in _parameters(definition):
        entry = own.parameters.get(name)
        text = entry.text or entry.type if entry else ""
        found.append(f"`{name}`: {text}" if text else f"`{name}`")
    return tuple(found)


def _listed(title: str, entries: tuple[str, ...], most: int) -> str:
    shown = [_short(entry, most) for entry in entries if entry.strip()]
    text = "; ".join(shown)
    return f"{title}: {text}{'' if text.endswith('…') else '.'}" if shown else ""


def _short(entry: str, most: int) -> str:
    words = one_line(entry).rstrip(".").split()
    return " ".join(words) if len(words) <= most else " ".join(words[:most]) + "…"


def _ignored(definition: source.Definition) -> str:
    """Parameters that the original never uses: an agent need not wonder what they are for."""
    if isinstance(definition.node, ast.ClassDef):
        return ""
    used = {
        node.id
        for statement in definition.node.body
        for node in ast.walk(statement)
        if isinstance(node, ast.Name)
    }
    dynamic = used & {"locals", "vars", "eval", "exec"}
    unused = [] if dynamic else [f"`{name}`" for name in _parameters(definition) if name not in used]
    return f"May be ignored: {', '.join(unused)}." if unused else ""


def _parameters(definition: source.Definition) -> list[str]:
    if isinstance(definition.node, ast.ClassDef):
        return []
    given = definition.node.args
    named = [*given.posonlyargs, *given.args, given.vararg, *given.kwonlyargs, given.kwarg]
    names = [item.arg for item in named if item is not None]
    # A method of a class in a function has no class name; there only `self` is sure to be none of its inputs.
    bound = ("self", "cls") if definition.class_name else ("self",)
    return names[1:] if names[:1] and names[0] in bound else names
