"""Read a model's reply as a person does: the blocks of Python in it, and of several versions the last complete one.

Thoughts are left out, a fence ends where the code in it is complete, and edits become the file that they make. A reply
is foreign text: its reader takes bounded time.
"""

from __future__ import annotations

import ast
import copy
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from lmr_author.core.code import Definition, Module, parse
from lmr_author.core.errors import LmrError
from lmr_author.core.parsing import NotParsed, json_data
from lmr_author.proof.evaluation.candidates import edits

MAX_ANSWER = 2 * 2**20
"""Characters of an answer; a longer one is invalid."""
_MAX_PARSED = 16 * 2**20
"""Characters that are parsed to find the code in a reply."""
_MAX_FENCES = 400
_MAX_CLOSINGS = 30

_QUOTE = "[\"'`]"
_THOUGHTS = "think|thinking|reasoning|thought|thoughts|scratchpad"
# Code that handles such tags has them beside quotes.
_TAG = re.compile(rf"(?<!{_QUOTE})<(?P<end>/?)(?P<name>{_THOUGHTS})>(?!{_QUOTE})", re.IGNORECASE)
_OPENING = re.compile(r"^(?P<before>[^`\n]*?)(?P<fence>`{3,}|~{3,})[^\n`]*\n", re.MULTILINE)
_BEGINS = re.compile(r"[ \t]*(?:(?:def|class|async|import|from)\b|@|[A-Za-z_]\w*\s*(?::[^=]+)?=[^=])")
_DEF = re.compile(r"\s*(async )?def\b")
_WRAPPER = "if True:\n"


class Invalid(LmrError):
    """An answer that cannot be put into the task: not Python, or not the function that was asked for."""


@dataclass(frozen=True)
class Block:
    """Code of a reply as a module, in which ``if True:`` stands above what was indented.

    Attributes:
        statements: those at its top level, without ``if True:``; an import statement for each name.
        is_whole: it was Python as it stood, and not picked out of other text.
    """

    module: Module
    statements: tuple[ast.stmt, ...]
    is_whole: bool = True

    @classmethod
    def of(cls, module: Module, *, is_whole: bool = True) -> Block:
        return cls(module, tuple(_flat(module.tree.body)), is_whole)

    @property
    def functions(self) -> list[Definition]:
        """The functions at any depth, without overloads."""
        functions = (definition for definition in self.module.definitions if definition.kind == "function")
        return [function for function in functions if not function.is_overload]


@dataclass(frozen=True)
class Reply:
    """The blocks of a reply in their order.

    Attributes:
        problem: why it could not be read.
        elsewhere: other files that it changes.
    """

    blocks: tuple[Block, ...]
    problem: str = ""
    elsewhere: tuple[str, ...] = ()

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


def _flat(statements: list[ast.stmt]) -> Iterator[ast.stmt]:
    for statement in statements:
        match statement:
            case ast.If(test=ast.Constant(value=True), body=body):
                yield from _flat(body)
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                for alias in names:
                    alone = copy.copy(statement)
                    alone.names = [alias]
                    yield alone
            case _:
                yield statement


def read(text: str, goal: Module, targets: tuple[Definition, ...]) -> Reply:
    """Read a reply. Raises Invalid: too long, or empty.

    Args:
        goal: the goal file as the model saw it, to apply edits to.
        targets: the functions that are looked for.
    """
    if len(text) > MAX_ANSWER:
        raise Invalid(f"the answer has {len(text)} characters, more than {MAX_ANSWER}")
    text = re.sub(r"\r\n?", "\n", text.removeprefix("\ufeff"))
    if not text.strip():
        raise Invalid("the answer is empty")
    text = _without_thoughts(_from_json(text))
    reader = _Reader()
    edited = edits.apply_edits(text, goal, targets[0])
    blocks = reader.blocks(edited.before)
    if edited.made is not None and (module := _module(edited.made)):
        blocks.append(Block.of(module))
    blocks += reader.blocks(edited.after)
    problem = edited.problem
    if not problem and not any(map(Reply(tuple(blocks)).function, targets)):
        blocks += reader.pieces(edited.before + edited.after)
    if edited.elsewhere and edited.made is None:
        problem = problem or f"the answer changes {', '.join(edited.elsewhere[:3])}, and not {goal.name}"
    if not blocks:
        problem = problem or f"the answer is not Python: {_error(text)}"
    return Reply(tuple(blocks), problem, edited.elsewhere)


def _without_thoughts(text: str) -> str:
    """Return a reply without what stands between tags such as ``<think>``, whose first one may be missing."""
    answer, depth, position = "", 0, 0
    for tag in _TAG.finditer(text):
        if depth == 0:
            answer = "" if tag["end"] else answer + text[position : tag.start()]
        depth = max(depth - 1, 0) if tag["end"] else depth + 1
        position = tag.end()
    return answer if depth else answer + text[position:]


def _from_json(text: str) -> str:
    """Return the longest string of a reply in JSON; any other text as it is."""
    inner = re.fullmatch(r"\s*(?:```\w*\n)?(?P<json>[\[{\"].*?)(?:```)?\s*", text, re.DOTALL)
    try:
        data = json_data(inner["json"]) if inner else []
    except NotParsed:
        return text
    match data:
        case dict():
            values = list(data.values())
        case list():
            values = data
        case _:
            values = [data]
    return max((value for value in values if isinstance(value, str)), key=len, default=text)


def _module(data: bytes | str) -> Module | None:
    try:
        return Module.parse(data.encode() if isinstance(data, str) else data, "the answer")
    except (LmrError, UnicodeEncodeError):
        return None


class _Reader:
    """Finds code in text, and gives up when it has parsed too much."""

    def __init__(self) -> None:
        self._left = _MAX_PARSED

    def blocks(self, text: str) -> list[Block]:
        """Return the code of the Markdown fences; of a text that is Python, or has no fence, the code in it."""
        if whole := self._parsed(text):
            return [whole]
        blocks: list[Block] = []
        fences = 0
        position = 0
        while fences < _MAX_FENCES and (opening := _OPENING.search(text, position)):
            fences += 1
            content, position = self._content(text, opening)
            content = _from_json(content)
            block = self._parsed(content)
            blocks += [block] if block else self.pieces(content)
        return blocks if fences else self.pieces(text)

    def _content(self, text: str, opening: re.Match[str]) -> tuple[str, int]:
        """Return the text of a fence and the place behind it. A fence that cuts code in two is in a string of it."""
        fence = re.escape(opening["fence"])
        closing = re.compile(rf"(?P<fence>{fence}{fence[-1]}*)[ \t]*$", re.MULTILINE)
        indent = "" if opening["before"].strip() else opening["before"]
        first = None
        for end in islice(closing.finditer(text, opening.end()), _MAX_CLOSINGS):
            if self._left < 0:
                break
            content = re.sub(rf"^{indent}", "", text[opening.end() : end.start()], flags=re.MULTILINE)
            first = first or (content, end.end())
            if self._parsed(content):
                return content, end.end()
        return first or (text[opening.end() :], len(text))

    def _parsed(self, text: str) -> Block | None:
        """Parse text as it is, indented as a whole, or with the indentation that its first line lost."""
        lines = [line for line in text.split("\n") if line.strip()]
        self._left -= len(text)
        if not lines or self._left < 0:
            return None
        code, indents = text.lstrip("\n"), [re.match(r"[ \t]*", line)[0] for line in lines[:2]]  # type: ignore[index]
        choices = [_WRAPPER + code] if indents[0] else [text, _WRAPPER + indents[-1] + code]
        modules = filter(None, map(_module, choices))
        return next((Block.of(module) for module in modules if module.tree.body), None)

    def pieces(self, text: str) -> list[Block]:
        """Return the definitions, imports and assignments that stand between other text, as a block, if there are."""
        lines, number = text.split("\n"), 0
        code: list[str] = []
        while number < len(lines):
            begin = lines[number]
            end = self._end(lines, number) if _BEGINS.match(begin) else 0
            if end:
                code += [_WRAPPER.strip()] if begin[0] in " \t" else []
                code += lines[number:end]
                number = end
                continue
            number += 1
            if _DEF.match(begin):  # the rest of an unfinished function is no code of its own
                while number < len(lines) and _is_below(lines[number], begin):
                    number += 1
        module = _module("\n".join(code)) if code else None
        return [Block.of(module, is_whole=False)] if module else []

    def _end(self, lines: list[str], begin: int) -> int:
        """Return the end of the shortest run of lines that is Python, with all lines that are deeper; 0 for none."""
        for end in range(begin + 1, len(lines) + 1):
            if end < len(lines) and _is_below(lines[end], lines[begin]):
                continue
            if self._left < 0:
                break
            if self._parsed("\n".join(lines[begin:end])):
                return end
        return 0


def _is_below(line: str, begin: str) -> bool:
    """Return True for a line that is empty, or indented deeper than another one."""
    return not line.strip() or len(line) - len(line.lstrip()) > len(begin) - len(begin.lstrip())


def _error(text: str) -> str:
    fence = _OPENING.search(text)
    text = re.sub(r"^[`~]{3,}.*", "", text[fence.end() :] if fence else text, flags=re.MULTILINE)
    try:
        parse(textwrap.dedent(text))  # a method's indentation is no error
    except SyntaxError as error:
        return f"line {error.lineno}: {error.msg}"
    except (ValueError, RecursionError, MemoryError) as error:
        return str(error) or type(error).__name__
    return "it cannot be read"
