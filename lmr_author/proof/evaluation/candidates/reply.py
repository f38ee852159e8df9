"""A reply that was read: its blocks of code, and which of them defines the function."""

from __future__ import annotations

import ast
import copy
import re
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from lmr_author.core.code import Definition, Module, each, parse
from lmr_author.core.errors import LmrError

WRAPPER = "if True:\n"
"""It stands above what is indented."""


class Invalid(LmrError):
    """An answer that cannot be put into the task: not Python, or not the function that was asked for."""


@dataclass(frozen=True)
class Block:
    """Code of a reply as a module, in which ``if True:`` stands above what was indented.

    Attributes:
        statements: those at its top level, without ``if True:``; an import statement for each name.
        is_whole: it was Python as it stood, and not picked out of other text.
        path: of the file that it is, where the reply names one.
    """

    module: Module
    statements: tuple[ast.stmt, ...]
    is_whole: bool = True
    path: str = ""

    @classmethod
    def of(cls, module: Module, *, is_whole: bool = True) -> Block:
        return cls(module, tuple(flat(module.tree.body)), is_whole)

    @property
    def names(self) -> set[str]:
        return {node.id for node in each(self.module.tree, ast.Name)}

    @property
    def functions(self) -> list[Definition]:
        functions = (definition for definition in self.module.definitions if definition.kind == "function")
        return [function for function in functions if not function.is_overload]


@dataclass(frozen=True)
class Unread:
    """Code that cannot be read.

    Attributes:
        name: of the function that it is; "" for a block of Python.
        number: of the blocks before it.
    """

    name: str
    text: str
    number: int = 0

    @property
    def message(self) -> str:
        return f"the last {self.name or 'code'} is not Python: {python_error(self.text)}"


@dataclass(frozen=True)
class Reply:
    """The blocks of a reply in their order, edits applied.

    Attributes:
        seen: what else there is, in words.
    """

    blocks: tuple[Block, ...]
    unread: tuple[Unread, ...] = ()
    elsewhere: tuple[str, ...] = ()
    seen: tuple[str, ...] = ()

    def function(self, target: Definition) -> tuple[Block, Definition] | None:
        """Return the last complete definition of a target; the last stub where nothing is complete.

        One of the target's full name, or at the top, comes before one in another function or class. Of several in a
        block, those with the same decorators are meant: a property has a getter and a setter.
        """
        owner, written = target.class_name.rpartition(".")[2], _decorators(target)
        ranked = []
        for number, block in enumerate(self.blocks):
            for definition in block.functions:
                inside = definition.class_name.rpartition(".")[2]
                if definition.name != target.name or inside not in ("", owner):
                    continue
                rank = (
                    not _is_stub(definition),
                    definition.qualname in (target.qualname, target.name),
                    number,
                    definition.qualname == target.qualname,
                    _decorators(definition) == written,
                )
                ranked.append((rank, block, definition))
        if not ranked:
            return None
        _, block, definition = max(reversed(ranked), key=lambda entry: entry[0])
        return block, definition


def _decorators(definition: Definition) -> list[str]:
    return [ast.dump(decorator) for decorator in definition.node.decorator_list]


def _is_stub(definition: Definition) -> bool:
    """Return True for a function without statements of its own, and for one in which ``...`` stands for some."""
    texts = [ast.unparse(statement) for statement in definition.statements]
    return "..." in texts or all(text == "pass" or "NotImplementedError" in text for text in texts)


def flat(statements: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    for statement in statements:
        match statement:
            case ast.If(test=ast.Constant(value=True), body=body):
                yield from flat(body)
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                for alias in names:
                    alone = copy.copy(statement)
                    alone.names = [alias]
                    yield alone
            case _:
                yield statement


def parsed_module(data: bytes | str) -> Module | None:
    try:
        return Module.parse(data.encode() if isinstance(data, str) else data, "the answer")
    except (LmrError, UnicodeEncodeError):
        return None


def parsed_block(text: str, what: str) -> Block:
    module = parsed_module(text)
    if module is None:
        raise Invalid(f"{what} is not Python: {python_error(text)}")
    return Block.of(module)


def as_python(text: str) -> Block | None:
    lines = [line for line in text.split("\n") if line.strip()]
    code, indents = text.lstrip("\n"), [re.match(r"[ \t]*", line)[0] for line in lines[:2]]  # type: ignore[index]
    if not lines:
        return None
    choices = [WRAPPER + code] if indents[0] else [text, WRAPPER + indents[-1] + code]
    modules = filter(None, map(parsed_module, choices))
    return next((Block.of(module) for module in modules if module.tree.body), None)


def is_data(block: Block) -> bool:
    """Return True for JSON, several lines of it, or JSON behind a word and a colon, which are Python, too."""
    for statement in block.statements:
        match statement:
            case ast.Expr(value=ast.Dict() | ast.List()) | ast.AnnAssign(annotation=ast.Dict() | ast.List()):
                continue
        return False
    return True


def python_error(text: str) -> str:
    text = re.sub(r"^[`~]{3,}.*", "", text, flags=re.MULTILINE)
    try:
        parse(textwrap.dedent(text))  # a method's indentation is no error
    except SyntaxError as error:
        return f"line {error.lineno}: {error.msg}"
    except (ValueError, RecursionError, MemoryError) as error:
        return str(error) or type(error).__name__
    return "it cannot be read"
