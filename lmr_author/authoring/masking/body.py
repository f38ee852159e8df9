"""Write and read a masked body, its comment and docstring; mask functions of one file in memory, and restore them."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from lmr_author.core import code
from lmr_author.core.errors import SourceError, TargetError
from lmr_author.core.texts import shortened


@dataclass(frozen=True)
class MaskNotes:
    """The annotator's words in a masked body: the text below the TODO, and a docstring for a function without one."""

    comment: str = ""
    docstring: str = ""

    def lines(self, name: str) -> list[str]:
        """Return the comment lines for a function, not indented. :func:`read_comment` is the inverse."""
        written = (f"# {one_line(line)}".rstrip() for line in self.comment.strip().splitlines())
        return [f"# TODO: implement {name}.", *written]


@dataclass(frozen=True)
class FunctionNotes:
    """Notes, context and category of one function; None or "" where not given."""

    notes: MaskNotes | None = None
    instruction: str = ""
    category: str = ""
    retrieval: tuple[str, ...] | None = None


def masked_body(name: str, notes: MaskNotes, *, generator: bool) -> list[str]:
    return _raising(notes.lines(name), generator)


def left_out_body(*, generator: bool) -> list[str]:
    return _raising(["# Left out, and not to be implemented."], generator)


def _raising(comment: list[str], generator: bool) -> list[str]:
    body = [*comment, "raise NotImplementedError"]
    if generator:
        body.append("yield  # keeps this function a generator")
    return body


def read_comment(lines: Sequence[str]) -> str:
    """Return the text of a masked body's comment: the lines above its raise, without the TODO."""
    stripped = [line.strip() for line in lines]
    end = max((number for number, line in enumerate(stripped) if line.startswith("raise ")), default=0)
    start = end
    while start and stripped[start - 1].startswith("#"):
        start -= 1
    return "\n".join(line[1:].removeprefix(" ") for line in stripped[start + 1 : end])


def one_line(text: str) -> str:
    """Return text on one line, without control characters."""
    return " ".join(re.sub(r"[\x00-\x1f\x7f]", " ", text).split())


# docstrings

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


def clean_docstring(text: str) -> str:
    """Return a docstring's text as `inspect.cleandoc` would give it back, without blanks behind its lines."""
    lines = (line.rstrip() for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))
    cleaned = inspect.cleandoc("\n".join(lines)).strip()
    return inspect.cleandoc(cleaned)  # text whose first line stood alone has a margin only now


def docstring_lines(text: str, can_hold: Callable[[str], bool] = lambda text: True) -> list[str]:
    """Return the lines of a docstring literal, not indented, whose cleaned value is ``clean_docstring(text)``.

    Args:
        text: the docstring; not empty.
        can_hold: tells whether the file's encoding has every character of a text. What it has not is later
            written as ``\\uXXXX``, which a raw literal would not understand.
    """
    text = clean_docstring(text)
    several = "\n" in text
    fits_raw = '"""' not in text and not _CONTROL.search(text) and can_hold(text)
    if "\\" in text and fits_raw and (several or not text.endswith(('"', "\\"))):
        prefix = "r"
    else:
        prefix = ""
        body = text if several else text.rstrip('"')
        closing = len(text) - len(body)
        text = body.replace("\\", "\\\\").replace('"""', r"\"\"\"") + r"\"" * closing
        text = _CONTROL.sub(lambda match: f"\\x{ord(match.group()):02x}", text)
    lines = f'{prefix}"""{text}'.split("\n")
    return [*lines, '"""'] if several else [lines[0] + '"""']


@dataclass(frozen=True)
class MaskedFile:
    """The bytes of a masked file, and remarks for the annotator."""

    data: bytes
    remarks: tuple[str, ...]


def mask_source(
    module: code.Module,
    definitions: Sequence[code.Definition],
    notes: Mapping[str, MaskNotes] | None = None,
    along: Sequence[code.Definition] = (),
) -> MaskedFile:
    """Mask functions of a file: signature, decorators and docstring stay, the body becomes a raise.

    Args:
        notes: docstring and comment by :attr:`~lmr_author.core.code.Definition.label`.
        along: look-alikes that are emptied too; nobody has to implement them.

    Raises:
        TargetError: a function is already masked, or has a docstring where another one is given.
        SourceError: the masked file would not parse: a bug, or an encoding that cannot be cut.
    """
    notes = notes or {}
    bodies: dict[code.Definition, Sequence[str]] = {}
    remarks: list[str] = []
    for definition in definitions:
        own = notes.get(definition.label, MaskNotes())
        bodies[definition] = _body(module, definition, own)
        remarks += _remarks(module, definition, own)
    for definition in along:
        bodies[definition] = left_out_body(generator=code.is_generator(definition.function))
    data = code.splice(module, bodies)
    _assert_faithful(module, data, [*definitions, *along], notes)
    return MaskedFile(data, tuple(remarks))


def _body(module: code.Module, definition: code.Definition, notes: MaskNotes) -> list[str]:
    name = f"{definition.qualname} in {module.name}"
    if is_masked(definition):
        raise TargetError(f"{name} is already masked", "to mask it again, run `lmr-author unmask` first")
    body = masked_body(definition.name, notes, generator=code.is_generator(definition.function))
    if not clean_docstring(notes.docstring):
        return body
    if definition.docstring is not None:
        raise TargetError(
            f"{name} has a docstring, which masking never changes",
            "leave out --docstring; --comment adds text below it",
        )
    return [*docstring_lines(notes.docstring, module.can_hold), *body]


def unmask_source(golden: code.Module, goal: code.Module, qualname: str, nth: int | None = None) -> bytes:
    """Return the goal file with one function's original region restored. Raises TargetError if the files differ."""
    pair = code.matching(golden, goal, qualname, nth)
    if pair is None:
        raise TargetError(
            f"{qualname} is not in both the golden and {goal.name}",
            "restore the goal file from the golden by hand",
        )
    original, masked = pair
    return code.splice_regions(goal, {masked: code.region_bytes(golden, original)})


def is_masked(definition: code.Definition) -> bool:
    """Return True when a body is nothing but a docstring and ``raise NotImplementedError`` (and a yield)."""
    statements = definition.statements
    if not statements or not raises_not_implemented(statements[0]):
        return False
    return all(isinstance(node, ast.Expr) and isinstance(node.value, ast.Yield) for node in statements[1:])


def raises_not_implemented(node: ast.stmt) -> bool:
    raised = node.exc if isinstance(node, ast.Raise) else None
    raised = raised.func if isinstance(raised, ast.Call) else raised
    return isinstance(raised, ast.Name) and raised.id == "NotImplementedError"


def notes_in(module: code.Module, definition: code.Definition) -> MaskNotes:
    where = code.region(module, definition)
    return MaskNotes(read_comment(module.text[where.start : where.end].splitlines()))


def _remarks(module: code.Module, definition: code.Definition, notes: MaskNotes) -> Iterator[str]:
    name = definition.qualname
    if definition.docstring is None and not notes.docstring:
        yield f"{name} has no docstring: the instruction alone must say what it does (or give --docstring)"
    yield from import_remarks(module, definition)


GUARD = (
    'recreate the task with a patch that moves this under `if __name__ == "__main__":` (`lmr-author new-task --patch '
    "FILE --patch-reason TEXT`), or choose a function in another file"
)


def import_remarks(module: code.Module, definition: code.Definition) -> Iterator[str]:
    """Yield reasons why no test could import the masked file."""
    name = definition.qualname
    if line := _called_on_import(module, name):
        yield (
            f"{name} is called when the file is imported (line {line}): the masked file cannot be imported, "
            "so no test can judge an answer; choose another function"
        )
    if demand := code.demanded(module.tree):
        yield f"the file {demand}: no test can import it; {GUARD}"
    elif (program := code.program_on_import(module.tree)) is not None:
        shown = shortened(ast.unparse(program).partition("\n")[0], 60)
        yield (
            f"the file runs a program when it is imported (line {program.lineno}: `{shown}`), and so would every test; "
            f"{GUARD}"
        )
    if gone := code.python_2_names(module.tree, definition.node):
        yield (
            f"{name}, or a function of its file that it calls, uses {', '.join(gone)}, which Python 3 lacks: it cannot "
            "run; choose another function"
        )


def _called_on_import(module: code.Module, name: str) -> int:
    """Return the line on which a function is called, or decorates another, on import; 0 for none."""
    for node in code.running(module.tree.body, as_script=False):
        called = [node.func] if isinstance(node, ast.Call) else getattr(node, "decorator_list", [])
        for function in called:
            if isinstance(function, ast.Name) and function.id == name:
                return function.lineno
    return 0


def _assert_faithful(
    module: code.Module,
    data: bytes,
    definitions: Sequence[code.Definition],
    notes: Mapping[str, MaskNotes],
) -> None:
    """Raise SourceError unless the masked file parses and differs from the original in the regions only."""
    masked = code.Module.parse(data, module.name)
    wanted = {(definition.qualname, definition.nth) for definition in definitions}
    now = [definition for definition in masked.definitions if (definition.qualname, definition.nth) in wanted]
    same = len(now) == len(wanted) and code.outside(module, definitions) == code.outside(masked, now)
    if not same or not all(_has_docstring(definition, notes) for definition in now):
        raise SourceError(
            f"{module.name}: masking would change more than the body",
            "report this file to the lmr-author project",
        )


def _has_docstring(definition: code.Definition, notes: Mapping[str, MaskNotes]) -> bool:
    given = clean_docstring(notes.get(definition.label, MaskNotes()).docstring)
    return not given or inspect.cleandoc(definition.docstring or "") == given
