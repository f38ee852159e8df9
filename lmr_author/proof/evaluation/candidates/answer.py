"""Read a model's answer as Python: Markdown fences, indentation, and first lines that lost theirs."""

from __future__ import annotations

import ast
import re
import textwrap
from dataclasses import dataclass

from lmr_author.core.code import Definition, Module, parse
from lmr_author.core.errors import LmrError

MAX_ANSWER = 2 * 2**20
"""Characters of an answer; a longer one is invalid."""

_FENCE = re.compile(r"^(?P<indent>[ \t]*)(?P<fence>`{3,}|~{3,})[ \t]*(?P<info>[^\n`]*)$", re.MULTILINE)
_WRAPPER = "if True:\n"


class Invalid(LmrError):
    """An answer that cannot be put into the task: not Python, or not the function that was asked for."""


@dataclass(frozen=True)
class Parsed:
    """An answer as a module.

    Attributes:
        module: of the answer, with a wrapper line in front when it was indented.
        statements: those at its top level, without the wrapper.
    """

    module: Module
    statements: tuple[ast.stmt, ...]

    def function(self, qualname: str, like: Definition | None = None) -> Definition | None:
        """Return the definition of a target: of its full name, else the only one of its last name.

        Args:
            like: of several definitions, choose one with the same decorators: the setter of a property.
        """
        functions = [
            item for item in self.module.definitions if item.kind == "function" and not item.is_overload
        ]
        exact = [item for item in functions if item.qualname == qualname]
        name = qualname.rpartition(".")[2]
        plain = [item for item in functions if item.qualname == name]
        if exact or plain:
            named = exact or plain
            alike = [item for item in named if like is not None and _decorators(item) == _decorators(like)]
            return (alike or named)[-1]
        anywhere = [item for item in functions if item.name == name and not item.class_name]
        owner = qualname.rpartition(".")[0].rpartition(".")[2]
        methods = [item for item in functions if owner and item.qualname.endswith(f"{owner}.{name}")]
        found = methods or anywhere
        return found[0] if len(found) == 1 else None


def _decorators(definition: Definition) -> list[str]:
    return [ast.dump(item) for item in definition.node.decorator_list]


def parsed(text: str, qualnames: tuple[str, ...]) -> Parsed:
    """Parse the part of an answer that defines most of the wanted functions. Raises Invalid.

    Args:
        text: the answer: code, or prose with code in Markdown fences.
        qualnames: the wanted functions.
    """
    if len(text) > MAX_ANSWER:
        raise Invalid(f"the answer has {len(text)} characters, more than {MAX_ANSWER}")
    text = re.sub(r"\r\n?", "\n", text.removeprefix("\ufeff"))
    if not text.strip():
        raise Invalid("the answer is empty")
    pieces = _blocks(text) or [text]
    choices = [*pieces, *(["\n\n".join(pieces)] if len(pieces) > 1 else [])]
    readable = [found for found in map(_read, choices) if found is not None]
    for number in range(len(qualnames), 0, -1):
        for found in readable:
            if sum(found.function(name) is not None for name in qualnames) >= number:
                return found
    if readable:
        return max(readable, key=lambda found: len(found.module.data))
    raise Invalid(f"the answer is not Python: {_error(max(choices, key=len))}")


def _blocks(text: str) -> list[str]:
    """Return the contents of the Markdown fences that can be Python, including an unclosed last one."""
    found, position = [], 0
    while opening := _FENCE.search(text, position):
        closing = re.compile(rf"^[ \t]*{re.escape(opening['fence'])}[ \t]*$", re.MULTILINE).search(
            text, opening.end()
        )
        end = closing.start() if closing else len(text)
        info = opening["info"].strip().lower().split(" ")[0].strip("{}.")
        if info in {"", "python", "python3", "py", "pycon"}:
            block = text[opening.end() + 1 : end]
            found.append(re.sub(rf"^{opening['indent']}", "", block, flags=re.MULTILINE))
        if closing is None:
            break
        position = closing.end()
    return [block for block in found if block.strip()]


def _read(text: str) -> Parsed | None:
    """Parse an answer as it is, indented as a whole, or with the indentation that its first line lost."""
    lines = [line for line in text.split("\n") if line.strip()]
    indents = [line[: len(line) - len(line.lstrip(" \t"))] for line in lines]
    choices = [(text, False)] if not indents[0] else []
    choices.append((_WRAPPER + text.lstrip("\n"), True))
    if not indents[0] and len(indents) > 1 and indents[1]:
        choices.append((_WRAPPER + indents[1] + text.lstrip("\n"), True))
    for choice, wrapped in choices:
        try:
            module = Module.parse(choice.encode("utf-8", "strict"), "the answer")
        except (LmrError, UnicodeEncodeError):
            continue
        body = module.tree.body
        if wrapped:
            first = body[0]
            assert isinstance(first, ast.If)
            body = [*first.body, *body[1:]]
        return Parsed(module, tuple(body))
    return None


def _error(text: str) -> str:
    try:
        parse(textwrap.dedent(text))  # a method's indentation is no error
    except SyntaxError as error:
        return f"line {error.lineno}: {error.msg}"
    except (ValueError, RecursionError, MemoryError) as error:
        return str(error) or type(error).__name__
    return "it cannot be read"
