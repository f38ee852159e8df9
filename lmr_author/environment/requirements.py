"""Read requirements files (pip's format) without executing anything they say."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from lmr_author import files
from lmr_author.environment.recipe import Declared, Manifest, parse_requirement
from lmr_author.errors import LmrError
from lmr_author.processes import printable

MAX_BYTES = 1024 * 1024
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_CODING = re.compile(rb"^[ \t]*#.*?coding[:=][ \t]*([-\w.]+)", re.M)
_INCLUDE = re.compile(r"^(?:-r|--requirement)[\s=]*(?P<path>\S.*)$")


def read_requirements(root: Path, path: str) -> Manifest:
    """Read a requirements file and those that it includes with ``-r``, if they lie in the repository.

    Options (``--index-url`` …), editable installs, addresses and paths are reported and not used.
    """
    declared: list[Declared] = []
    problems: list[str] = []
    _read(root, path, declared, problems, ())
    return Manifest(path, tuple(declared), problems=tuple(problems))


def read_text(path: Path) -> str:
    """A small text file: by its byte order mark, its coding comment, UTF-8, else Latin-1.

    Raises LmrError when it is larger than ``MAX_BYTES`` or cannot be read.
    """
    try:
        if path.stat().st_size > MAX_BYTES:
            raise LmrError(f"{path.name} is larger than {MAX_BYTES} bytes")
        data = path.read_bytes()
    except OSError as error:
        raise LmrError(f"{path.name} cannot be read ({error.strerror})") from error
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return data[len(mark) if encoding == "utf-8" else 0 :].decode(encoding, "replace")
    match = _CODING.search(b"\n".join(data.splitlines()[:2]))
    names = ([match[1].decode("ascii", "replace")] if match else []) + ["utf-8"]
    for name in names:
        try:
            return data.decode(name)
        except (UnicodeDecodeError, LookupError):
            continue
    return data.decode("latin-1")


def _read(
    root: Path, path: str, declared: list[Declared], problems: list[str], within: tuple[str, ...]
) -> None:
    if path in within or len(within) > 10:
        problems.append(f"{within[-1]}: includes {printable(path)} again; ignored")
        return
    try:
        text = read_text(files.inside(root, path))
    except LmrError as error:
        problems.append(f"{within[-1]}: {error.message}" if within else f"{path}: {error.message}")
        return
    for number, line in _logical_lines(text):
        origin = f"{printable(path)}:{number}"
        include = _INCLUDE.match(line)
        if include:
            target = str(PurePosixPath(path).parent / include["path"].strip("'\""))
            _read(root, _normal(target), declared, problems, (*within, path))
        elif line.startswith("-"):
            problems.append(f"{origin}: not used, an option: {printable(line, 120)}")
        else:
            # Options of one requirement (--hash=…) follow it after white space.
            parsed = parse_requirement(re.split(r"\s+--?[a-zA-Z]", line)[0], origin)
            if isinstance(parsed, str):
                problems.append(parsed)
            else:
                declared.append(parsed)


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


def _normal(path: str) -> str:
    """``a/../b`` → ``b``; what leads out of the repository stays so, and :func:`files.inside` refuses it."""
    parts: list[str] = []
    for part in PurePosixPath(path).parts:
        if part == ".." and parts and parts[-1] != "..":
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts) or path
