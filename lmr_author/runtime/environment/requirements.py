"""Read requirements as pip, conda and installation commands name them; nothing that they say is executed."""

from __future__ import annotations

import codecs
import posixpath
import re
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from lmr_author.core import files
from lmr_author.core.errors import LmrError
from lmr_author.core.texts import printable
from lmr_author.runtime.environment.needs import NOTHING, Declared, Fact, Unused
from lmr_author.runtime.environment.packages import pattern, table

MAX_BYTES = 1024 * 1024
_PLACES = {"git": "a repository", "url": "an address", "path": "a path"}
_INCLUDE = re.compile(r"^(?P<option>-r|--requirement|-c|--constraint)[\s=]*(?P<path>\S.*)$")
_EDITABLE = re.compile(r"^(?:-e|--editable)[\s=]*(?P<target>\S.*)$")
_OWN = re.compile(r"(\.|\./|\$\{?PWD\}?)(\[[\w,\s-]*\])?")

# Commands, each without `sudo`, a prompt, and a notebook's `!` or `%` before it.
_PIP = re.compile(
    r"^(?:(?:python[\d.]* -m )?(?:uv )?pip[\d.]* (?:-\S+ )*install|(?:uv|poetry|pdm) add|pipenv install)\b(.*)$"
)
_CONDA = re.compile(r"^(?:micro)?(?:conda|mamba) (install|create|env create|env update)\b(.*)$")
_APT = re.compile(r"^(?:apt|apt-get|aptitude) (?:-\S+ )*install\b(.*)$")
_PREFIX = re.compile(
    r"^\s*(?:(?:[$>%]|\(\w[\w.-]*\)\s*\$?|In \[\d+\]:)\s+)?(?:[A-Z_]+=\S* +)*(?:sudo (?:-\S+ )*)?[!%]?"
)
_WITH_VALUE = re.compile(
    r"-[fitcCp]|--(find-links|index-url|extra-index-url|target|timeout|retries|prefix|root|platform|python-version"
    r"|no-binary|only-binary|global-option|install-option|config-settings|python|trusted-host|cache-dir"
    r"|upgrade-strategy|torch-backend|group|source|index|constraint)"
)
"""Options of pip, uv and poetry that are followed by a value."""
_CONDA_WITH_VALUE = re.compile(r"-[a-zA-Z]*[cnp]|--(channel|name|prefix|solver)")
"""Short options may be joined, as in `conda create -yn NAME`; the last one takes the value."""


@dataclass
class Manifest:
    """The content of one file, filled in by its reader.

    Attributes:
        declared: requirements of the repository.
        python: specifier of the Python version it asks for.
        project: normalised name of the repository's package, with its ``version`` as written.
        problems: what could not be read, for a person.
        unused: requirements that cannot be used.
        suggested: requirements that are only mentioned.
        stated: versions that prose names ("tested with transformers==4.28.1"), for packages that are needed anyway.
        constraints: versions that apply if the package is installed at all (lock files, ``-c``).
        includes: requirement and conda files that a command of this file installs.
        apt: packages of the operating system that it installs.
    """

    path: str
    declared: list[Declared] = field(default_factory=list)
    python: Fact = NOTHING
    project: str = ""
    version: str = ""
    problems: list[str] = field(default_factory=list)
    unused: list[Unused] = field(default_factory=list)
    suggested: list[Declared] = field(default_factory=list)
    stated: list[Declared] = field(default_factory=list)
    constraints: list[Declared] = field(default_factory=list)
    includes: list[str] = field(default_factory=list)
    apt: list[Fact] = field(default_factory=list)

    @property
    def says_more_than_problems(self) -> bool:
        """Return whether anything in the file was used."""
        return self != Manifest(self.path, problems=self.problems)

    def add(self, item: Declared | Unused) -> None:
        """Add a requirement, or the reason why it is not used."""
        if isinstance(item, Declared):
            self.declared.append(item)
        else:
            self.unused.append(item)


def read_text(path: Path, limit: int = MAX_BYTES) -> str:
    """Read a small text file: by its byte order mark, else UTF-8, else Latin-1.

    Raises LmrError when the file is larger than ``limit`` bytes, cannot be read, or is no text.
    """
    try:
        if path.stat().st_size > limit:
            raise LmrError(f"{path.name} is larger than {limit} bytes")
        data = path.read_bytes()
    except OSError as error:
        raise LmrError(f"{path.name} cannot be read ({error.strerror})") from error
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", "replace")
    if b"\0" in data and b"\n" not in data:
        raise LmrError(f"{path.name} is no text file")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def parse_requirement(text: str, origin: str) -> Declared | Unused:
    """Read a requirement; return why it is not used when it is an address, a path, or none at all."""
    try:
        requirement = Requirement(text)
    except (InvalidRequirement, ValueError, RecursionError):
        return _from_elsewhere(text, origin, text.strip().split(" ")[0])
    name = canonicalize_name(requirement.name)
    if requirement.url:
        return _from_elsewhere(text, origin, requirement.url, name)
    return Declared(name, str(requirement), origin)


def _from_elsewhere(text: str, origin: str, address: str, name: str = "") -> Unused:
    """An address or a path, whose package's name may follow as ``#egg=name``; this repository; or nonsense."""
    shown = printable(text, 120)
    if _OWN.fullmatch(address):
        return Unused(shown, origin, "own", "the repository runs from its folder")
    if not re.search(r"[/:]|^\.|\.whl$|\.gz$", address):
        return Unused(shown, origin, "unreadable", "no requirement by name and version")
    if address.startswith(("git+", "hg+", "svn+", "bzr+", "git:", "git@")):
        kind = "git"
    else:
        kind = "url" if "://" in address and not address.startswith("file:") else "path"
    place, _, fragment = address.partition("#")
    last = place.rstrip("/").rpartition("/")[2].partition("@")[0]
    if not name and (egg := re.search(r"egg=([\w.-]+)", fragment)):
        name = egg[1]
    elif not name and last.endswith((".whl", ".tar.gz", ".zip")):
        name = last.partition("-")[0]
    elif not name and kind == "git":
        name = last.removesuffix(".git")
    name = canonicalize_name(name)
    return Unused(shown, origin, kind, f"{name or 'it'} comes from {_PLACES[kind]}", name)


def pip_line(line: str, origin: str) -> Declared | Unused:
    """Read a line of a requirements file or of conda's pip part; options are not used."""
    if match := _EDITABLE.match(line):
        found = parse_requirement(match["target"].strip("'\""), origin)
        if isinstance(found, Declared):
            return Unused(printable(line, 120), origin, "path", "a folder is installed")
        return replace(found, text=printable(line, 120))
    if line.startswith("-"):
        return Unused(printable(line, 120), origin, "option", "an option")
    # Options of one requirement (--hash=…) follow it after white space.
    return parse_requirement(re.split(r"\s+--?[a-zA-Z]", line)[0], origin)


def read_requirements(root: Path, path: str, found: Manifest | None = None) -> Manifest:
    """Read a requirements file and those that it includes with ``-r``, if they lie in the repository.

    Options (``--index-url`` …), editable installs, addresses and paths are reported and not used. Files
    named with ``-c`` give constraints.

    Args:
        found: the manifest that includes this file, to which its content is added.
    """
    made = Manifest(path) if found is None else found

    def read(name: str, within: tuple[str, ...], target: list[Declared]) -> None:
        if name in within:
            made.problems.append(f"{within[-1]}: includes {printable(name)} again; ignored")
            return
        try:
            lines = enumerate(read_text(files.inside(root, name)).splitlines(), 1)
        except LmrError as error:
            made.problems.append(f"{within[-1] if within else name}: {error.message}")
            return
        for number, joined in join_lines(lines):
            line = re.sub(r"(^|\s+)#.*$", "", joined).strip()
            if include := _INCLUDE.match(line):
                below = str(PurePosixPath(name).parent / include["path"].strip("'\""))
                only = include["option"] in ("-c", "--constraint")
                # What leads out of the repository stays so, and `files.inside` refuses it.
                read(posixpath.normpath(below), (*within, name), made.constraints if only else target)
            elif line:
                parsed = pip_line(line, f"{printable(name)}:{number}")
                if isinstance(parsed, Declared):
                    target.append(parsed)
                else:
                    made.unused.append(parsed)

    read(path, (), made.declared)
    return made


def join_lines(numbered: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Yield lines joined at a final backslash, with their first line's number; comments inside are dropped."""
    pending, first = "", 0
    for number, line in numbered:
        if pending and line.lstrip().startswith("#"):
            continue
        first = first if pending else number
        if line.rstrip().endswith("\\") and not line.lstrip().startswith("#"):
            pending += line.rstrip()[:-1] + " "
            continue
        yield first, pending + line
        pending = ""
    if pending:
        yield first, pending


def conda_requirement(spec: str) -> tuple[str, str]:
    """Return a conda dependency as (conda's name, requirement); for ``python`` the version specifier alone.

    The requirement is "" for what the package index does not have (system libraries, CUDA).
    """
    match = re.match(r"^(?P<name>[\w.-]+)\s*(?:\[.*\])?\s*(?P<rest>.*)$", spec.strip().rpartition("::")[2])
    if match is None:
        return "", ""
    name, version = match["name"].lower(), _conda_version(match["rest"].strip())
    if name == "python":
        return name, version
    known = "" if re.match(pattern("conda_other"), name) else table("conda").get(name, name)
    return name, f"{known}{version}" if known else ""


def _conda_version(rest: str) -> str:
    """``=1.19.2=py38h…`` is an exact version, ``=1.19`` a prefix (conda's match specification)."""
    if rest.startswith("=") and not rest.startswith("=="):
        version, _, build = rest[1:].partition("=")
        # Three numbers name one release.
        prefix = not build and re.fullmatch(r"\d+(\.\d+)?", version.strip())
        return f"=={version.strip()}.*" if prefix else f"=={version.strip()}"
    if rest[:1].isdigit():
        return f"=={rest.split()[0].split('=')[0]}"
    # Alternatives ("1.2|1.3") and build strings after a blank have no counterpart.
    return re.sub(r"\s+", "", rest.split("|")[0]) if re.match(r"^[<>=!~]", rest) else ""


def read_commands(root: Path, path: str) -> Manifest:
    """Read the installation commands of a README, a shell script or a Dockerfile.

    A script that sets the repository up (``install.sh``) declares requirements; the others only suggest them.
    A Dockerfile's base image names PyTorch and Python.
    """
    found = Manifest(path)
    try:
        numbered = list(enumerate(read_text(files.inside(root, path)).splitlines(), 1))
    except LmrError as error:
        found.problems.append(f"{path}: {error.message}")
        return found
    script, docker = path.endswith((".sh", ".bash")), "dockerfile" in path.lower()
    if not script and not docker:
        found.stated += _stated(numbered, path)
    for number, line in join_lines(numbered if script or docker else _code_of(numbered)):
        origin = f"{path}:{number}"
        if docker:
            instruction, _, rest = line.strip().partition(" ")
            if instruction.upper() == "FROM":
                if torch := re.search(r"pytorch/pytorch:(\d+\.\d+(?:\.\d+)?)", rest):
                    found.add(parse_requirement(f"torch=={torch[1]}", origin))
                if tag := re.search(r"(?:^|/|:)python:?(3\.\d+)", rest):
                    _ask_for_python(found, f"=={tag[1]}.*", origin)
            line = re.sub(r"^(--\S+\s+)+", "", rest.strip()) if instruction.upper() == "RUN" else ""
        for command in re.split(r"&&|\|\||;(?![^'\"]*['\"])|\|", line):
            _read_command(found, re.sub(r"\s+", " ", _PREFIX.sub("", command)).strip(), origin)
    if not script:
        found.declared, found.suggested = [], found.declared
    return found


def _code_of(numbered: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Yield the commands of a README: fenced, indented, or in backticks."""
    fenced = False
    for number, line in numbered:
        if re.match(r"^\s*(```|~~~)", line):
            fenced = not fenced
        elif fenced or re.match(r"^( {4}|\t| {0,3}\$ )\s*\S", line):
            yield number, line.strip()
        else:
            for text in re.findall(r"`{1,2}([^`\n]+)`{1,2}", line):
                if " install " in text:
                    yield number, text


_IN_PROSE = re.compile(r"(?<![\w=/.-])([A-Za-z][\w.-]*?)`?\s?(==)\s?`?v?(\d+(?:\.\d+)+)(?!\.?\w|[+*])")
"""A package and its exact version, as in "tested on `torch==2.0.1`"; no development or local version."""
_LIST_ITEM = re.compile(r"^\s*[-*+]\s+`?([A-Za-z][\w.-]*)`?\s*(==|>=|=|:)?\s*`?v?(\d+(?:\.\d+)+)`?\.?\s*$")
"""An item of a list with a package and its version alone, as in "- PyTorch 1.7.1"."""


def _stated(numbered: Iterable[tuple[int, str]], path: str) -> Iterator[Declared]:
    """Yield the packages whose version the prose of a README names."""
    for number, line in numbered:
        item = _LIST_ITEM.match(line)
        matches = [item] if item else _IN_PROSE.finditer(line)
        for name, operator, version in (match.groups() for match in matches):
            package = "torch" if name.lower() == "pytorch" else name
            text = f"{package}{'>=' if operator == '>=' else '=='}{version}"
            requirement = parse_requirement(text, f"{path}:{number}")
            if isinstance(requirement, Declared):
                yield replace(requirement, mentioned=True)


def _read_command(found: Manifest, command: str, origin: str) -> None:
    """Read one command; what is no installation is skipped."""
    if pip := _PIP.match(command):
        _read_pip(found, _words(pip[1]), origin)
    elif conda := _CONDA.match(command):
        _read_conda(found, _words(conda[2]), origin, environment=conda[1].startswith("env"))
    elif apt := _APT.match(command):
        for name in _words(apt[1]):
            if re.fullmatch(r"[a-z0-9][a-z0-9+.-]+(=\S+)?", name):
                found.apt.append(Fact(name.partition("=")[0], origin))
                if python := re.match(r"python(3\.\d+)\b", name):
                    _ask_for_python(found, f"=={python[1]}.*", origin)


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text, comments=True)
    except ValueError:
        return text.partition(" #")[0].split()


def _ask_for_python(found: Manifest, specifier: str, origin: str) -> None:
    """The first Python that a file names counts."""
    found.python = found.python if found.python.text else Fact(specifier, origin)


def _include(found: Manifest, name: str) -> None:
    if name and printable(name) == name:
        found.includes.append(name.removeprefix("./"))


def _read_pip(found: Manifest, words: list[str], origin: str) -> None:
    rest = iter(words)
    for word in rest:
        option, equals, value = word.partition("=")
        if _WITH_VALUE.fullmatch(word):
            next(rest, "")
            continue
        if option in ("-r", "--requirement"):
            _include(found, value if equals else next(rest, ""))
            continue
        if option in ("-e", "--editable"):
            word = f"-e {value if equals else next(rest, '')}"
        # A placeholder, a variable or a glob is no requirement; the comparison of a version may look like one.
        elif word.startswith("-") or re.search(
            r"[$<>{}*]|^\.{3}|…", re.sub(r"(?<=[\w\]])[<>]=?\s*\d[\w.]*", "", word)
        ):
            continue
        item = pip_line(word, origin)
        # This repository itself (`.`) is nothing to report, nor is a word that is no requirement.
        if isinstance(item, Declared) or item.kind in _PLACES:
            found.add(item)


def _read_conda(found: Manifest, words: list[str], origin: str, *, environment: bool) -> None:
    rest = iter(words)
    for word in rest:
        if word in ("-f", "--file"):
            _include(found, next(rest, ""))
        elif _CONDA_WITH_VALUE.fullmatch(word):
            next(rest, "")
        elif not word.startswith("-") and not environment:
            name, requirement = conda_requirement(word)
            item = parse_requirement(requirement, origin) if requirement else None
            if name == "python" and requirement:
                _ask_for_python(found, requirement, origin)
            elif isinstance(item, Declared):
                found.declared.append(replace(item, mentioned=True))
