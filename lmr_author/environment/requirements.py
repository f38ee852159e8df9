"""Read requirements files (pip's format), and single requirements, without executing anything they say."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from lmr_author import files
from lmr_author.environment.recipe import Declared, Manifest, Unused
from lmr_author.errors import LmrError
from lmr_author.texts import printable

MAX_BYTES = 1024 * 1024
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_CODING = re.compile(rb"^[ \t]*#.*?coding[:=][ \t]*([-\w.]+)", re.M)
_INCLUDE = re.compile(r"^(?P<option>-r|--requirement|-c|--constraint)[\s=]*(?P<path>\S.*)$")
_EDITABLE = re.compile(r"^(?:-e|--editable)[\s=]*(?P<target>\S.*)$")
_PLACES = {"git": "a repository", "url": "an address", "path": "a path"}


def parse_requirement(text: str, origin: str) -> Declared | Unused:
    """Read a requirement; return why it is not used when it is an address, a path, or none at all."""
    try:
        requirement = Requirement(text)
    except (InvalidRequirement, ValueError, RecursionError):
        return _address(text, origin)
    name = canonicalize_name(requirement.name)
    if requirement.url:
        kind = _kind(requirement.url)
        return Unused(printable(text, 120), origin, kind, f"{name} comes from {_PLACES[kind]}", name)
    return Declared(name, str(requirement), origin)


def _address(text: str, origin: str) -> Unused:
    """Pip also takes a bare address or path, and its package's name may follow as ``#egg=name``."""
    word = text.strip().split(" ")[0]
    kind = _kind(word)
    egg = word.partition("#egg=")[2].partition("&")[0].partition("[")[0]
    name = canonicalize_name(egg or (_name_in(word) if kind != "path" else ""))
    if kind == "path" and "/" not in word and not word.startswith(".") and not word.endswith((".whl", ".gz")):
        return Unused(printable(text, 120), origin, "unreadable", "no requirement by name and version")
    return Unused(printable(text, 120), origin, kind, f"{name or 'it'} comes from {_PLACES[kind]}", name)


def _kind(address: str) -> str:
    if address.startswith(("git+", "hg+", "svn+", "bzr+", "git:", "git@")):
        return "git"
    return "url" if "://" in address and not address.startswith("file:") else "path"


def _name_in(address: str) -> str:
    """``https://…/torch-0.4.0-cp36-….whl`` → ``torch``; ``git+https://…/CLIP.git@main`` → ``clip``."""
    last = address.partition("#")[0].rstrip("/").rpartition("/")[2].partition("@")[0]
    if last.endswith((".whl", ".tar.gz", ".zip")):
        return last.partition("-")[0]
    return last.removesuffix(".git") if _kind(address) == "git" else ""


def wheel_version(unused: Unused) -> Declared | None:
    """Return the version in the name of a wheel that is given by its address: ``…/torch-0.4.0-cp36-….whl``."""
    match = re.search(r"/([A-Za-z0-9_.]+)-(\d[A-Za-z0-9_.]*)(?:(?:\+|%2B)[\w.]+)?-(?:cp|py)\d", unused.text)
    if unused.kind != "url" or match is None:
        return None
    made = parse_requirement(f"{match[1].replace('_', '-')}=={match[2]}", unused.origin)
    return made if isinstance(made, Declared) else None


def editable(target: str, origin: str, line: str) -> Unused:
    """Return an editable install as what is not used: this repository (``-e .``), or something elsewhere."""
    if re.fullmatch(r"(\.|\./|\$\{?PWD\}?)(\[[\w,\s-]*\])?", target.strip("'\"")):
        return Unused(line, origin, "own", "an option; the repository runs from its folder")
    parsed = parse_requirement(target.strip("'\""), origin)
    if isinstance(parsed, Unused):
        return Unused(line, origin, parsed.kind, f"an option; {parsed.reason}", parsed.name)
    return Unused(line, origin, "path", "an option; a folder is installed")


def pip_line(line: str, origin: str) -> Declared | Unused:
    """Read a line of a requirements file or of conda's pip part; options are not used."""
    if match := _EDITABLE.match(line):
        return editable(match["target"], origin, printable(line, 120))
    if line.startswith("-"):
        return Unused(printable(line, 120), origin, "option", "an option")
    # Options of one requirement (--hash=…) follow it after white space.
    return parse_requirement(re.split(r"\s+--?[a-zA-Z]", line)[0], origin)


def read_requirements(root: Path, path: str) -> Manifest:
    """Read a requirements file and those that it includes with ``-r``, if they lie in the repository.

    Options (``--index-url`` …), editable installs, addresses and paths are reported and not used. Files
    named with ``-c`` give constraints.
    """
    declared: list[Declared] = []
    constraints: list[Declared] = []
    unused: list[Unused] = []
    problems: list[str] = []

    def read(name: str, within: tuple[str, ...], target: list[Declared]) -> None:
        if name in within or len(within) > 10:
            problems.append(f"{within[-1]}: includes {printable(name)} again; ignored")
            return
        try:
            text = read_text(files.inside(root, name))
        except LmrError as error:
            problems.append(f"{within[-1] if within else name}: {error.message}")
            return
        for number, line in _logical_lines(text):
            if include := _INCLUDE.match(line):
                below = str(PurePosixPath(name).parent / include["path"].strip("'\""))
                only = include["option"] in ("-c", "--constraint")
                read(normal_path(below), (*within, name), constraints if only else target)
                continue
            parsed = pip_line(line, f"{printable(name)}:{number}")
            if isinstance(parsed, Declared):
                target.append(parsed)
            else:
                unused.append(parsed)

    read(path, (), declared)
    return Manifest(
        path, tuple(declared), problems=tuple(problems), unused=tuple(unused), constraints=tuple(constraints)
    )


def read_text(path: Path, limit: int = MAX_BYTES) -> str:
    """Read a small text file: by its byte order mark, its coding comment, UTF-8, else Latin-1.

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
            return data.decode(encoding, "replace")
    if b"\0" in data:
        for encoding, zeros in (("utf-16-le", data[1::2]), ("utf-16-be", data[::2])):
            if len(data) % 2 == 0 and zeros.count(0) > 0.8 * len(zeros):
                return data.decode(encoding, "replace")
        if data.count(0) > 0.1 * len(data) or b"\n" not in data:
            raise LmrError(f"{path.name} is no text file")
    match = _CODING.search(b"\n".join(data.splitlines()[:2]))
    for name in ([match[1].decode("ascii", "replace")] if match else []) + ["utf-8"]:
        try:
            return data.decode(name)
        except (UnicodeDecodeError, LookupError):
            continue
    return data.decode("latin-1")


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield lines joined at a final backslash, without comments and blank lines, with their first line's number."""
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
    """Return ``b`` for ``a/../b``; what leads out of the repository stays so, and `files.inside` refuses it."""
    parts: list[str] = []
    for part in PurePosixPath(path).parts:
        if part == ".." and parts and parts[-1] != "..":
            parts.pop()
        elif part != ".":
            parts.append(part)
    return str(PurePosixPath(*parts)) if parts else path
