"""Instructions: drafts, with the section of the paper that seems to describe the function. And categories."""

from __future__ import annotations

import ast
import difflib
from dataclasses import replace

from lmr_author import files, source
from lmr_author.errors import LmrError, UsageError
from lmr_author.masking.instructing import draft_instruction
from lmr_author.masking.mask import notes_in
from lmr_author.masking.notes import MaskNotes
from lmr_author.model import CATEGORIES, Finding, Implementation, TaskInfo
from lmr_author.suggesting import PaperText
from lmr_author.suggesting.passages import FunctionWords
from lmr_author.suggesting.sections import best_section, sections
from lmr_author.taskdir import TaskDir
from lmr_author.validation.run import select_checks, validate

RULES = "LMR6"
"""Beginning of the codes of the checks about instructions."""


def drafted(
    task: TaskDir, info: TaskInfo, path: str, definition: source.Definition, notes: MaskNotes | None
) -> str:
    """A first instruction for a function; the section is named only when one stands out."""
    return draft_instruction(path, definition, notes, section_for(task, info, definition))


def section_for(task: TaskDir, info: TaskInfo, definition: source.Definition) -> str:
    """The section that describes a function, as in ``section 3 (Method)``; "" when none stands out."""
    try:
        data = files.read_object_or_empty(task.paper_json(info))
    except LmrError:
        return ""
    found = best_section(sections(PaperText.from_json(data).pages), words_of(definition))
    return found.named if found else ""


def words_of(definition: source.Definition) -> FunctionWords:
    """What a function says of itself."""
    nodes = list(ast.walk(definition.node))
    arguments = [node.arg for node in nodes if isinstance(node, ast.arg)]
    names = [node.id for node in nodes if isinstance(node, ast.Name)]
    names += [node.attr for node in nodes if isinstance(node, ast.Attribute)]
    return FunctionWords(
        definition.name, definition.class_name, arguments, names, (definition.docstring or "",)
    )


def draft_for(task: TaskDir, one: Implementation) -> str:
    """A draft for a function that is masked already, from its golden and the comment in its masked body.

    Raises LmrError when the golden is missing or has no such function.
    """
    info = task.load()
    golden = task.golden(one)
    if not golden.is_file():
        raise LmrError(f"{one.golden_file} is missing", "run `lmr-author validate`")
    module = source.Module.parse(golden.read_bytes(), one.golden_file)
    definition = source.find(module, one.target)
    return drafted(task, info, one.goal_file, definition, _notes(task, info, one))


def _notes(task: TaskDir, info: TaskInfo, one: Implementation) -> MaskNotes | None:
    """The comment in the masked body; None when the goal file cannot be read."""
    try:
        goal = source.Module.parse(task.goal(info, one).read_bytes(), one.goal_file)
        masked = source.find(goal, one.target)
    except (LmrError, OSError):
        return None
    return None if masked.kind == "class" else notes_in(goal, masked)


def set_instruction(task: TaskDir, one: Implementation, text: str) -> None:
    """Write an instruction into ``info.json``. Raises UsageError for an empty one."""
    if not text.strip():
        raise UsageError("the instruction is empty", "say what to implement, or keep the old one")
    info = task.load()
    now = next(item for item in info.implementations if item.index == one.index)
    task.save(info.with_implementation(replace(now, instruction=text.strip())))


def set_category(task: TaskDir, one: Implementation, name: str) -> None:
    """Write a category into ``info.json``. Raises UsageError for one that is none of the nine."""
    if name not in CATEGORIES:
        near = [item for item in CATEGORIES if name.strip().lower() in item.lower()] if name.strip() else []
        near = near or difflib.get_close_matches(name, CATEGORIES, n=1)
        guess = f"did you mean {near[0]!r}? " if len(near) == 1 else ""
        raise UsageError(f"unknown category {name!r}", f"{guess}one of: {'; '.join(CATEGORIES)}")
    info = task.load()
    now = next(item for item in info.implementations if item.index == one.index)
    task.save(info.with_implementation(replace(now, category=name)))


def broken_rules(task: TaskDir, index: int) -> tuple[Finding, ...]:
    """What the checks of instructions find about one implementation."""
    found = validate([task], select_checks(select=[RULES])).findings
    return tuple(item for item in found if item.implementation in (None, index))
