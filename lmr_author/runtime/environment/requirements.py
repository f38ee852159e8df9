"""Read requirements in the formats of pip and conda, without executing anything."""

from __future__ import annotations

import codecs
import posixpath
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from lmr_author.core import files
from lmr_author.core.errors import LmrError
from lmr_author.core.texts import printable
from lmr_author.runtime.environment.needs import NOTHING, DeclaredNeed, Fact, has_version
from lmr_author.runtime.environment.packages import table

MAX_BYTES = 1024 * 1024
_REASONS = (
    (r"(\.|\./|\$\{?PWD\}?)(\[[\w,\s-]*\])?$", "the repository runs from its folder"),
    (r"(git|hg|svn|bzr)\+|git[:@]", "{} comes from a repository"),
    (r"(?!file:)[\w+]+://", "{} comes from an address"),
    (r"\.|.*([/:]|\.whl$|\.gz$)", "{} comes from a path"),
    (r"", "no requirement by name and version"),
)
"""Start of an unsupported requirement → reason; the first match counts."""
_INCLUDE = re.compile(r"^(?:-r|--requirement)[\s=]*(?P<path>\S.*)$")
_EDITABLE = re.compile(r"^(?:-e|--editable)[\s=]*(?P<target>\S.*)$")


@dataclass
class Manifest:
    """The content of one file, filled in by its reader.

    Attributes:
        declared: requirements of the repository.
        python: specifier of the required Python version.
        project: normalised name of the repository's package, with its raw ``version``.
        problems: messages about unreadable or unused parts.
        stated: versions in a README, for packages that are required anyway.
    """

    path: str
    declared: list[DeclaredNeed] = field(default_factory=list)
    python: Fact = NOTHING
    project: str = ""
    version: str = ""
    problems: list[str] = field(default_factory=list)
    stated: list[DeclaredNeed] = field(default_factory=list)

    @property
    def says_more_than_problems(self) -> bool:
        return self != Manifest(self.path, problems=self.problems)

    def add(self, requirement: DeclaredNeed | str) -> None:
        if isinstance(requirement, str):
            self.problems.append(requirement)
        else:
            self.declared.append(requirement)

    def add_conda(self, spec: str, origin: str) -> None:
        """Add a conda dependency; the first Python counts."""
        name, requirement = conda_requirement(spec)
        if name == "python":
            self.python = self.python if self.python.text or not requirement else Fact(requirement, origin)
        elif requirement:
            parsed = parse_requirement(requirement, origin)
            if isinstance(parsed, DeclaredNeed):
                parsed = replace(parsed, mentioned=has_version(parsed))
            self.add(parsed)


def read_text(path: Path) -> str:
    """Read a small text file, decoded by its byte order mark, else as UTF-8, else as Latin-1.

    Raises LmrError if the file is larger than 1 MiB, unreadable, or not text.
    """
    try:
        if path.stat().st_size > MAX_BYTES:
            raise LmrError(f"{path.name} is larger than {MAX_BYTES} bytes")
        data = path.read_bytes()
    except OSError as error:
        raise LmrError(f"{path.name} cannot be read ({error.strerror})") from error
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", "replace")
    if b"\0" in data and b"\n" not in data:
        raise LmrError(f"{path.name} is not a text file")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def parse_requirement(text: str, origin: str, shown: str = "") -> DeclaredNeed | str:
    """Read a requirement; return a message if it is an address, a path, or invalid.

    Args:
        shown: text for the message, if not the requirement's.
    """
    name, address = "it", text.strip().split(" ")[0]
    try:
        requirement = Requirement(text)
        name = canonicalize_name(requirement.name)
        if not requirement.url:
            return DeclaredNeed(name, str(requirement), origin)
        address = requirement.url
    except (InvalidRequirement, ValueError, RecursionError):
        pass
    reason = next(reason for pattern, reason in _REASONS if re.match(pattern, address, re.DOTALL))
    return _not_used(shown or text, origin, reason.format(name))


def _not_used(text: str, origin: str, reason: str) -> str:
    return f"{origin}: not used, {reason}: {printable(text, 120)}"


def is_address(text: str) -> bool:
    return "://" in text or text.startswith("git+")


def pip_line(line: str, origin: str) -> DeclaredNeed | str:
    if match := _EDITABLE.match(line):
        target = parse_requirement(match["target"].strip("'\""), origin, shown=line)
        return target if isinstance(target, str) else _not_used(line, origin, "a folder is installed")
    if line.startswith("-"):
        return _not_used(line, origin, "an option")
    # Options of one requirement (--hash=…) follow it after whitespace.
    return parse_requirement(re.split(r"\s+--?[a-zA-Z]", line)[0], origin)


def read_requirements(root: Path, path: str, manifest: Manifest | None = None) -> Manifest:
    """Read a requirements file and those that it includes with ``-r``, if they are inside the repository.

    Args:
        manifest: manifest of the including file, to add to.
    """
    manifest = manifest or Manifest(path)
    _read_lines(root, (path,), manifest)
    return manifest


def _read_lines(root: Path, chain: tuple[str, ...], manifest: Manifest) -> None:
    *including, path = chain
    if path in including:
        manifest.problems.append(f"{including[-1]}: includes {printable(path)} again; ignored")
        return
    try:
        text = read_text(files.inside(root, path))
    except LmrError as error:
        manifest.problems.append(f"{including[-1] if including else path}: {error.message}")
        return
    for number, joined in join_lines(enumerate(text.splitlines(), 1)):
        line = re.sub(r"(^|\s+)#.*$", "", joined).strip()
        if not line:
            continue
        if include := _INCLUDE.match(line):
            below = str(PurePosixPath(path).parent / include["path"].strip("'\""))
            # `files.inside` rejects paths out of the repository.
            _read_lines(root, (*chain, posixpath.normpath(below)), manifest)
        else:
            manifest.add(pip_line(line, f"{printable(path)}:{number}"))


def join_lines(numbered: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Yield lines joined at a final backslash, with the first line's number; drop comments inside."""
    pending, first = "", 0
    for number, line in numbered:
        is_comment = line.lstrip().startswith("#")
        if pending and is_comment:
            continue
        first = first if pending else number
        if line.rstrip().endswith("\\") and not is_comment:
            pending += line.rstrip()[:-1] + " "
            continue
        yield first, pending + line
        pending = ""
    if pending:
        yield first, pending


def conda_requirement(spec: str) -> tuple[str, str]:
    """Return a conda dependency as (conda's name, requirement); for ``python`` only the version specifier.

    The requirement is "" if the package index lacks the package (system libraries, CUDA).
    """
    match = re.match(r"^(?P<name>[\w.-]+)\s*(?:\[.*\])?\s*(?P<version>.*)$", spec.strip().rpartition("::")[2])
    if match is None:
        return "", ""
    name, version = match["name"].lower(), _conda_version(match["version"].strip())
    if name == "python":
        return name, version
    if re.match(table("conda_other"), name):
        return name, ""
    return name, f"{table('conda').get(name, name)}{version}"


def _conda_version(text: str) -> str:
    """``=1.19.2=py38h…`` is an exact version, ``=1.19`` a prefix (conda's match specification)."""
    if match := re.match(r"=(?!=)\s*([^=]+?)\s*(=.*)?$", text):
        # A build string, or three numbers, mean one release.
        is_prefix = not match[2] and re.fullmatch(r"\d+(\.\d+)?", match[1])
        return f"=={match[1]}.*" if is_prefix else f"=={match[1]}"
    if match := re.match(r"\d[^\s=]*", text):
        return f"=={match[0]}"
    # Alternatives ("1.2|1.3") and build strings after a space have no counterpart.
    return re.sub(r"\s+", "", text.partition("|")[0]) if text[:1] in tuple("<>=!~") else ""
