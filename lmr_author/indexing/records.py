"""One Python file to its entries: what a worker process does, and all that it imports.

The result is kept as JSON: ``{"definitions": [row, …], "calls": {name: count}}``, or ``{"reason": …}`` for a
file that cannot be read. A row is an :class:`~lmr_author.indexing.entry.Entry` without its path. An *outline*
is the same without words, comments and calls, which cost as much as all else that is not the parser.
"""

from __future__ import annotations

import ast
import errno
import hashlib
import io
import json
import os
import stat
import sys
import tokenize
from collections import Counter
from collections.abc import Sequence
from itertools import filterfalse
from typing import Any

from lmr_author.indexing.statements import BRANCHES, Found, definitions
from lmr_author.indexing.words import Text, calls, comments, no_words
from lmr_author.source.targets import is_generator
from lmr_author.source.tree import parse

FORMAT = 200 + sys.version_info.minor
"""Number of the rows' format and meaning: raise its hundreds with every change in what this package reads.

What one version of Python cannot read the next one may.
"""

NOT_PARSED = f"not Python {sys.version_info.major}.{sys.version_info.minor}"

MAX_BYTES = 2 * 1024 * 1024
"""Larger Python files are generated tables, not code."""


_JSON = json.JSONEncoder(separators=(",", ":"))
_KINDS = {ast.FunctionDef: "function", ast.AsyncFunctionDef: "async", ast.ClassDef: "class"}


def read_file(path: str, words: bool = True) -> tuple[str, bytes]:
    """(digest of its content, its record as JSON) of a file. Never raises for what is in it.

    A link, a FIFO, a device or a file that is too large has the digest "": there is nothing to cache.
    """
    data, reason = content(path)
    return (digest(data), record(data, words)) if data is not None else ("", unread(reason))


def content(path: str) -> tuple[bytes | None, str]:
    """(content of a regular file, "") or (None, why it is not read). Never waits for a FIFO."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        linked = error.errno == errno.ELOOP
        return None, "a symbolic link" if linked else f"cannot be opened: {error.strerror}"
    try:
        with os.fdopen(handle, "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                return None, "not a regular file"
            if status.st_size > MAX_BYTES:
                return None, f"{status.st_size / 2**20:.1f} MB: too large to be code"
            return file.read(MAX_BYTES), ""
    except OSError as error:
        return None, f"cannot be read: {error.strerror}"


def digest(data: bytes) -> str:
    """The key of a file's content."""
    return hashlib.sha256(data).hexdigest()


def unread(reason: str) -> bytes:
    """The record of a file that is not read."""
    return json.dumps({"reason": reason}).encode()


def record(data: bytes, words: bool = True) -> bytes:
    """The record of a file's content as JSON, in ASCII; without words its outline. Never raises."""
    try:
        return _JSON.encode(_record(data, words)).encode()
    except SyntaxError as error:
        place = f"line {error.lineno}: " if error.lineno else ""
        return unread(f"{NOT_PARSED}: {place}{error.msg}")
    except (RecursionError, MemoryError):
        return unread("nested too deeply for Python's parser")
    except (UnicodeDecodeError, LookupError, ValueError) as error:
        return unread(f"{NOT_PARSED}: {error}")


def _record(data: bytes, words: bool) -> dict[str, Any]:
    tree = parse(data)
    found = definitions(tree)
    text = Text(_decoded(data)) if words or b"yield" in data else None
    rows = _rows(found, text if b"yield" in data else None)
    if text is None or not words:
        return {"definitions": [[*row, "", ""] for row in rows], "calls": {}}
    tokens = [_tokens(item, text) for item in found]
    counted = text.counted()
    skipped = no_words(counted)  # asked once for the file: functions have the same ones again and again
    for row, item, own in zip(rows, found, tokens, strict=True):
        row.append(" ".join(filterfalse(skipped.__contains__, own)))
        commented = bool(own) and text.has("#", item.node.lineno, item.node.end_lineno)
        row.append(comments(own) if commented else "")
    return {"definitions": rows, "calls": calls(counted, (item.parts[-1] for item in found), skipped)}


def _decoded(data: bytes) -> str:
    encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    return data.decode("utf-8-sig" if encoding == "utf-8" else encoding)


def _rows(found: Sequence[Found], yielding: Text | None) -> list[list[Any]]:
    """What is known of a file's definitions, but for words and comments.

    Args:
        yielding: the file's text, when the word ``yield`` is in it; None spares looking for generators.
    """
    totals = Counter([item.qualname for item in found])
    seen: Counter[str] = Counter()
    rows = []
    for item in found:
        name = item.qualname
        seen[name] += 1
        generator = yielding is not None and _is_generator(item.node, yielding)
        rows.append(_row(item, generator, seen[name], totals[name]))
    return rows


def _is_generator(node: Any, text: Text) -> bool:
    if type(node) is ast.ClassDef or not text.has("yield", node.lineno, node.end_lineno):
        return False
    return is_generator(node)


def _tokens(item: Found, text: Text) -> dict[str, None]:
    """The tokens of a function but for its own name, each once; of a class none."""
    node = item.node
    if type(node) is ast.ClassDef:
        return {}
    found = text.tokens(node.lineno, node.end_lineno, outermost=item.parent < 0)
    found.pop(f"{node.name}(", None)
    return found


def _row(item: Found, generator: bool, nth: int, siblings: int) -> list[Any]:
    """What is known of a definition, but for its words and comments."""
    node = item.node
    kind = type(node)
    decorators = node.decorator_list
    docstring = _docstring(node)
    shape = "".join(sorted(item.shape))
    if docstring is not None:
        shape = shape.replace("e", "", 1)
    return [
        item.qualname,
        _KINDS[kind],
        ".".join(item.parts[: item.leading]),
        ".".join(item.parts[item.leading :]),
        node.lineno,
        node.end_lineno,
        min([decorator.lineno for decorator in decorators]) if decorators else node.lineno,
        nth,
        siblings,
        generator,
        [_dotted(decorator) for decorator in decorators] if decorators else [],
        _parameters(node.args) if kind is not ast.ClassDef else [_source(base) for base in node.bases],
        len(shape),
        sum(map(shape.count, BRANCHES)),
        shape,
        " ".join(dict.fromkeys(item.bound)),
        docstring or "",
    ]


def _docstring(node: Any) -> str | None:
    first = node.body[0]
    if type(first) is ast.Expr and type(first.value) is ast.Constant and isinstance(first.value.value, str):
        return first.value.value
    return None


def _parameters(arguments: ast.arguments) -> list[str]:
    named = arguments.posonlyargs + arguments.args
    result = [_annotated(item) if item.annotation else item.arg for item in named]
    if arguments.vararg:
        result.append("*" + _annotated(arguments.vararg))
    if arguments.kwonlyargs:
        result += map(_annotated, arguments.kwonlyargs)
    if arguments.kwarg:
        result.append("**" + _annotated(arguments.kwarg))
    return result


def _annotated(argument: ast.arg) -> str:
    annotation = argument.annotation
    return f"{argument.arg}: {_source(annotation)}" if annotation else argument.arg


def _dotted(decorator: ast.expr) -> str:
    return _source(decorator.func if isinstance(decorator, ast.Call) else decorator)


def _source(node: ast.expr) -> str:
    """Source of an annotation, a base or a decorator; ``ast.unparse`` is much slower on the usual ones."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return f"{_source(node.value)}.{node.attr}"
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else repr(node.value)
    if isinstance(node, ast.Subscript):
        return f"{_source(node.value)}[{_source(node.slice)}]"
    if isinstance(node, ast.Tuple):
        return ", ".join(map(_source, node.elts))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return f"{_source(node.left)} | {_source(node.right)}"
    return ast.unparse(node)
