"""A parsed reply: its blocks of code, the block that defines the function, and its edits."""

from __future__ import annotations

import ast
import copy
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from lmr_author.core.code import Definition, Module, each, parse
from lmr_author.core.errors import LmrError

WRAPPER = "if True:\n"
"""The line above indented code."""


class InvalidAnswer(LmrError):
    """An answer that cannot be spliced into the task: not Python, or not the required function."""


@dataclass(frozen=True)
class Block:
    """Code of a reply as a module; ``if True:`` precedes indented code.

    Attributes:
        statements: those at its top level, without ``if True:``; an import statement for each name.
        is_whole: the text was Python, not extracted from prose.
        path: file named by the reply, or "".
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
class UnreadCode:
    """Code that is not Python.

    Attributes:
        name: the function's name; "" for a block of Python.
        number: number of blocks before it.
    """

    name: str
    text: str
    number: int = 0

    @property
    def message(self) -> str:
        return f"the last {self.name or 'code'} is not Python: {python_error(self.text)}"


@dataclass(frozen=True)
class AnswerReply:
    """The blocks of a reply in order, edits applied.

    Attributes:
        seen: other contents, for the error message.
    """

    blocks: tuple[Block, ...]
    unread: tuple[UnreadCode, ...] = ()
    elsewhere: tuple[str, ...] = ()
    seen: tuple[str, ...] = ()

    def function(self, target: Definition) -> tuple[Block, Definition] | None:
        """Return the last complete definition of a target, or the last stub if none is complete.

        A definition with the target's full name, or at the top, wins over one in another function or class. Of several
        in a block, those with the same decorators count: a property has a getter and a setter.
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
    """Return whether a function has no statements of its own, or ``...`` in place of some."""
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
        raise InvalidAnswer(f"{what} is not Python: {python_error(text)}")
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
    """Return whether a block is JSON, JSON lines, or JSON after a word and a colon: all parse as Python."""
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
    return "it cannot be parsed"


# edits: search/replace blocks, and hunks of diffs, whose line numbers models miscount

_SEARCH, _MIDDLE, _END = (
    re.compile(rf"[ \t]*{mark}") for mark in (r"<{5,9} ?\w", r"={5,9}[ \t]*$", r">{5,9} ?\w")
)
_FILE = re.compile(r"\+\+\+ (?:b/)?(?P<path>[^\t]*)|\*\*\* (?:Update|Add|Delete) File: (?P<other>.*)")

PATH = re.compile(r"[\w./-]*\w\.(?:pyi?|ipynb|md|rst|txt|toml|cfg|ini|ya?ml|json|sh)\b")
_HEADING = re.compile(
    rf"[\W\d]*(?:file(?:name)?|path)?[\s:=*`\"']*(?P<path>{PATH.pattern})[\s*`\"':)\]]*", re.IGNORECASE
)
_MOST_OF_PATH = 200
"""Characters of a line that names a file."""
COMMAND = re.compile(r"\s*(?:\$ )?(?:(?:sed|perl)\s+-\w*i|cat\s[^\n]{0,200}?<<)")
"""A command of the shell that writes a file."""
_HERE = re.compile(
    r"\s*(?:\$ )?cat\s+(?:>\s*(?P<path>\S+)\s*<<|<<)-?\s*[\"']?(?P<mark>\w+)[\"']?(?:\s*>\s*(?P<path_2>\S+))?\s*"
)


@dataclass(frozen=True)
class Edit:
    """Lines to search and their replacement, in a file if one is named.

    Attributes:
        line: insert after this line, without a search.
        is_file: the lines are the whole new file.
        unread: an unsupported command that changes the file.
    """

    search: list[str]
    replace: list[str]
    path: str = ""
    line: int | None = None
    is_file: bool = False
    unread: str = ""


def read_search(lines: Sequence[str], number: int, path: str) -> tuple[Edit, int] | None:
    """Read a search/replace block, of a file if one is named above; return it and the line after it.

    An unterminated block searches for its own mark, which no file contains.
    """
    if not _SEARCH.match(lines[number]):
        return None
    middle = 0
    for end in range(number + 1, len(lines)):
        if _SEARCH.match(lines[end]):
            break
        if not middle and _MIDDLE.match(lines[end]):
            middle = end
        elif middle and _END.match(lines[end]):
            return Edit(list(lines[number + 1 : middle]), list(lines[middle + 1 : end]), path), end + 1
    return Edit([lines[number]], []), number + 1


def read_command(lines: Sequence[str], number: int) -> tuple[Edit, int] | None:
    line = lines[number]
    if found := _HERE.fullmatch(line):
        end = next((end for end in range(number + 1, len(lines)) if lines[end] == found["mark"]), 0)
        path = found["path"] or found["path_2"]
        return (
            (Edit([], list(lines[number + 1 : end]), path, is_file=True), end + 1) if end and path else None
        )
    words = [word.strip("'\"") for word in line.split()]
    paths = list(filter(PATH.fullmatch, words))
    return (
        (Edit([], [], paths[-1] if paths else "", unread=line.strip()), number + 1)
        if "<<" not in line
        else None
    )


def path_in(line: str) -> str:
    heading = _HEADING.fullmatch(line) if len(line) <= _MOST_OF_PATH else None
    return heading["path"] if heading else ""


def read_path(lines: Sequence[str], number: int) -> tuple[str, int] | None:
    if lines[number].startswith("--- ") and lines[number + 1 : number + 2]:
        number += 1
    match = _FILE.match(lines[number])
    return ((match["path"] or match["other"] or "").strip(), number + 1) if match else None


def read_hunk(lines: Sequence[str], number: int, path: str) -> tuple[Edit, int] | None:
    begin = end = number + lines[number].startswith("@@")
    while end < len(lines) and lines[end][:1] in ("", " ", "+", "-", "\\"):
        if lines[end].startswith("--- ") and read_path(lines, end):
            break
        end += 1
    hunk = "\n".join(lines[begin:end]).rstrip("\n").split("\n")
    if not any(line[:1] in ("+", "-") and line[:1] for line in hunk):
        return None
    before = [line[1:] for line in hunk if line[:1] in ("", " ", "-")]
    return Edit(before, [line[1:] for line in hunk if line[:1] in ("", " ", "+")], path), end


def find_places(edit: Edit, lines: Sequence[str]) -> list[int]:
    if edit.line is not None:
        return [edit.line] if edit.line <= len(lines) else []
    return _starts(lines, edit.search, str.rstrip) or _starts(lines, edit.search, str.strip)


def _starts(lines: Sequence[str], search: Sequence[str], strip: Callable[[str], str]) -> list[int]:
    stripped, wanted = list(map(strip, lines)), list(map(strip, search))
    if not any(wanted):
        return []
    starts = range(len(lines) - len(wanted) + 1)
    return [start for start in starts if stripped[start : start + len(wanted)] == wanted]


def apply_edit(edit: Edit, lines: Sequence[str], start: int) -> list[str]:
    """Apply an edit, with the indentation of the lines that it replaces."""
    if edit.line is not None:
        return [*lines[:start], *edit.replace, *lines[start:]]
    end = start + len(edit.search)
    pairs = zip(edit.search, lines[start:end], strict=True)
    indents = [(_indent(line), _indent(found)) for line, found in pairs if line.strip()]
    new = list(edit.replace)
    first = next((number for number, line in enumerate(new) if line.strip()), None)
    if first is not None and indents[0][0] != indents[0][1]:
        old = _indent(new[first])
        if indents[-1][0] == indents[-1][1]:  # only the first line lost its indentation
            new[first] = indents[0][1] + new[first].lstrip()
        else:
            moved = (line.removeprefix(old) if line.startswith(old) else line for line in new)
            new = [indents[0][1] + line if line.strip() else line for line in moved]
    return [*lines[:start], *new, *lines[end:]]


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def is_of_file(written: str, path: str) -> bool:
    """Return whether a path in a diff, relative to any folder at, above or below the root, names a file; "" does."""
    return not written or f"/{path}".endswith(f"/{written}") or f"/{written}".endswith(f"/{path}")
