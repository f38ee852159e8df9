"""Read requirements files (pip's format) without executing anything they say."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from lmr_author import files
from lmr_author.environment.parsing import parse_requirement
from lmr_author.environment.recipe import Declared, Manifest, Unused
from lmr_author.errors import LmrError
from lmr_author.texts import printable

MAX_BYTES = 1024 * 1024
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_CODING = re.compile(rb"^[ \t]*#.*?coding[:=][ \t]*([-\w.]+)", re.M)
_INCLUDE = re.compile(r"^(?P<option>-r|--requirement|-c|--constraint)[\s=]*(?P<path>\S.*)$")
_EDITABLE = re.compile(r"^(?:-e|--editable)[\s=]*(?P<target>\S.*)$")


@dataclass
class _Found:
    """What is being read."""

    root: Path
    declared: list[Declared] = field(default_factory=list)
    constraints: list[Declared] = field(default_factory=list)
    unused: list[Unused] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def read_requirements(root: Path, path: str) -> Manifest:
    """Read a requirements file and those that it includes with ``-r``, if they lie in the repository.

    Options (``--index-url`` …), editable installs, addresses and paths are reported and not used. Files
    named with ``-c`` give constraints.
    """
    found = _Found(root)
    _read(found, path, ())
    return Manifest(
        path,
        tuple(found.declared),
        problems=tuple(found.problems),
        unused=tuple(found.unused),
        constraints=tuple(found.constraints),
    )


def read_text(path: Path, limit: int = MAX_BYTES) -> str:
    """A small text file: by its byte order mark, its coding comment, UTF-8, else Latin-1.

    UTF-16 without a mark, as a shell on Windows writes it, is recognised by its zero bytes. Raises LmrError
    when the file is larger than ``limit`` bytes, cannot be read, or is no text.
    """
    try:
        if path.stat().st_size > limit:
            raise LmrError(f"{path.name} is larger than {limit} bytes")
        data = path.read_bytes()
    except OSError as error:
        raise LmrError(f"{path.name} cannot be read ({error.strerror})") from error
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return data[len(mark) if encoding == "utf-8" else 0 :].decode(encoding, "replace")
    if b"\0" in data:
        return _with_zeros(path, data)
    match = _CODING.search(b"\n".join(data.splitlines()[:2]))
    names = ([match[1].decode("ascii", "replace")] if match else []) + ["utf-8"]
    for name in names:
        try:
            return data.decode(name)
        except (UnicodeDecodeError, LookupError):
            continue
    return data.decode("latin-1")


def _with_zeros(path: Path, data: bytes) -> str:
    """Text of two bytes a character: every other byte of what is mostly ASCII is zero."""
    for encoding, zeros in (("utf-16-le", data[1::2]), ("utf-16-be", data[::2])):
        if len(data) % 2 == 0 and zeros.count(0) > 0.8 * len(zeros):
            return data.decode(encoding, "replace")
    if data.count(0) <= 0.1 * len(data) and b"\n" in data:
        return data.decode("utf-8", "replace")
    raise LmrError(f"{path.name} is no text file")


def _read(found: _Found, path: str, within: tuple[str, ...], *, constraints: bool = False) -> None:
    if path in within or len(within) > 10:
        found.problems.append(f"{within[-1]}: includes {printable(path)} again; ignored")
        return
    try:
        text = read_text(files.inside(found.root, path))
    except LmrError as error:
        place = within[-1] if within else path
        found.problems.append(f"{place}: {error.message}")
        return
    for number, line in _logical_lines(text):
        origin = f"{printable(path)}:{number}"
        include = _INCLUDE.match(line)
        if include:
            target = str(PurePosixPath(path).parent / include["path"].strip("'\""))
            only = constraints or include["option"] in ("-c", "--constraint")
            _read(found, normal_path(target), (*within, path), constraints=only)
        elif line.startswith("-"):
            found.unused.append(_option(line, origin))
        else:
            # Options of one requirement (--hash=…) follow it after white space.
            parsed = parse_requirement(re.split(r"\s+--?[a-zA-Z]", line)[0], origin)
            if isinstance(parsed, Unused):
                found.unused.append(parsed)
            else:
                (found.constraints if constraints else found.declared).append(parsed)


def _option(line: str, origin: str) -> Unused:
    editable = _EDITABLE.match(line)
    if editable is None:
        return Unused(printable(line, 120), origin, "option", "an option")
    return own_or_unused(editable["target"], origin, printable(line, 120))


def own_or_unused(target: str, origin: str, line: str) -> Unused:
    """An editable install: of this repository (``-e .``), or of something elsewhere."""
    if re.fullmatch(r"(\.|\./|\$\{?PWD\}?)(\[[\w,\s-]*\])?", target.strip("'\"")):
        return Unused(line, origin, "own", "an option; the repository runs from its folder")
    parsed = parse_requirement(target.strip("'\""), origin)
    if isinstance(parsed, Unused):
        return Unused(line, origin, parsed.kind, f"an option; {parsed.reason}", parsed.name)
    return Unused(line, origin, "path", "an option; a folder is installed")


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines joined at a final backslash, without comments and blank lines, with their first line's number."""
    pending, first = "", 0
    for number, line in enumerate(text.splitlines(), 1):
        first = first or number
        if line.endswith("\\") and not line.lstrip().startswith("#"):
            pending += line[:-1] + " "
            continue
        whole = re.sub(r"(^|\s+)#.*$", "", pending + line).strip()
        if whole:
            yield first, whole
        pending, first = "", 0
    if pending.strip():
        yield first, pending.strip()


def normal_path(path: str) -> str:
    """``a/../b`` → ``b``; what leads out of the repository stays so, and :func:`files.inside` refuses it."""
    parts: list[str] = []
    for part in PurePosixPath(path).parts:
        if part == ".." and parts and parts[-1] != "..":
            parts.pop()
        elif part != ".":
            parts.append(part)
    return str(PurePosixPath(*parts)) if parts else path
