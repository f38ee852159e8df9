"""Read requirements as pip, conda and installation commands name them; nothing that they say is executed."""

from __future__ import annotations

import codecs
import re
import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from lmr_author import files
from lmr_author.environment.packages import pattern, table
from lmr_author.environment.recipe import Declared, Fact, Manifest, Unused
from lmr_author.errors import LmrError
from lmr_author.texts import printable

MAX_BYTES = 1024 * 1024
_PLACES = {"git": "a repository", "url": "an address", "path": "a path"}
_INCLUDE = re.compile(r"^(?P<option>-r|--requirement|-c|--constraint)[\s=]*(?P<path>\S.*)$")
_EDITABLE = re.compile(r"^(?:-e|--editable)[\s=]*(?P<target>\S.*)$")

# Commands, each without `sudo` and a notebook's `!` or `%` before it.
_PIP = re.compile(
    r"^(?:(?:python[\d.]* -m )?(?:uv )?pip[\d.]* (?:-\S+ )*install|(?:uv|poetry|pdm) add|pipenv install)\b(.*)$"
)
_CONDA = re.compile(r"^(?:micro)?(?:conda|mamba) (install|create|env create|env update)\b(.*)$")
_APT = re.compile(r"^(?:apt|apt-get|aptitude) (?:-\S+ )*install\b(.*)$")
_PREFIX = re.compile(
    r"^\s*(?:(?:[$>%]|\(\w[\w.-]*\)\s*\$?|In \[\d+\]:)\s+)?(?:[A-Z_]+=\S* +)*(?:sudo (?:-\S+ )*)?[!%]?"
)
_NAMED = re.compile(r"^[A-Za-z0-9][\w.-]*(\[[\w,\s-]*\])?\s*($|[=<>!~;@])")
_WITH_VALUE = re.compile(
    r"-[fitcCp]|--(find-links|index-url|extra-index-url|target|timeout|retries|prefix|root|platform|python-version"
    r"|no-binary|only-binary|global-option|install-option|config-settings|python|trusted-host|cache-dir"
    r"|upgrade-strategy|torch-backend|group|source|index|constraint)"
)
"""Options of pip, uv and poetry that are followed by a value."""
_CONDA_WITH_VALUE = frozenset(["-c", "--channel", "-n", "--name", "-p", "--prefix", "--solver"])


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
        return _address(text, origin)
    name = canonicalize_name(requirement.name)
    if requirement.url:
        return _from_elsewhere(text, origin, requirement.url, name)
    return Declared(name, str(requirement), origin)


def _from_elsewhere(text: str, origin: str, address: str, name: str) -> Unused:
    if address.startswith(("git+", "hg+", "svn+", "bzr+", "git:", "git@")):
        kind = "git"
    else:
        kind = "url" if "://" in address and not address.startswith("file:") else "path"
    return Unused(printable(text, 120), origin, kind, f"{name or 'it'} comes from {_PLACES[kind]}", name)


def _address(text: str, origin: str) -> Unused:
    """Pip also takes a bare address or path, and its package's name may follow as ``#egg=name``."""
    word = text.strip().split(" ")[0]
    if not re.search(r"[/:]|^\.|\.whl$|\.gz$", word):
        return Unused(printable(text, 120), origin, "unreadable", "no requirement by name and version")
    address, _, fragment = word.partition("#")
    egg = re.search(r"egg=([\w.-]+)", fragment)
    last = address.rstrip("/").rpartition("/")[2].partition("@")[0]
    archive = last.endswith((".whl", ".tar.gz", ".zip"))
    name = egg[1] if egg else last.partition("-")[0] if archive else last.removesuffix(".git")
    named = egg or archive or "git" in word.partition(":")[0]
    return _from_elsewhere(text, origin, word, canonicalize_name(name) if named else "")


def editable(target: str, origin: str, line: str) -> Unused:
    """Return an editable install as what is not used: this repository (``-e .``), or something elsewhere."""
    target = target.strip("'\"")
    if re.fullmatch(r"(\.|\./|\$\{?PWD\}?)(\[[\w,\s-]*\])?", target):
        return Unused(line, origin, "own", "an option; the repository runs from its folder")
    parsed = parse_requirement(target, origin)
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
        if name in within:
            problems.append(f"{within[-1]}: includes {printable(name)} again; ignored")
            return
        try:
            lines = enumerate(read_text(files.inside(root, name)).splitlines(), 1)
        except LmrError as error:
            problems.append(f"{within[-1] if within else name}: {error.message}")
            return
        for number, joined in join_lines(lines):
            line = re.sub(r"(^|\s+)#.*$", "", joined).strip()
            if include := _INCLUDE.match(line):
                below = str(PurePosixPath(name).parent / include["path"].strip("'\""))
                only = include["option"] in ("-c", "--constraint")
                read(normal_path(below), (*within, name), constraints if only else target)
            elif line:
                parsed = pip_line(line, f"{printable(name)}:{number}")
                if isinstance(parsed, Declared):
                    target.append(parsed)
                else:
                    unused.append(parsed)

    read(path, (), declared)
    return Manifest(
        path, tuple(declared), problems=tuple(problems), unused=tuple(unused), constraints=tuple(constraints)
    )


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


def normal_path(path: str) -> str:
    """Return ``b`` for ``a/../b``; what leads out of the repository stays so, and `files.inside` refuses it."""
    parts: list[str] = []
    for part in PurePosixPath(path).parts:
        if part == ".." and parts and parts[-1] != "..":
            parts.pop()
        elif part != ".":
            parts.append(part)
    return str(PurePosixPath(*parts)) if parts else path


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


class _Commands:
    """Everything that commands install, each with its origin."""

    def __init__(self) -> None:
        self.declared: list[Declared] = []
        self.unused: list[Unused] = []
        self.includes: list[str] = []
        self.pythons: list[Fact] = []
        self.apt: list[Fact] = []

    def read(self, command: str, origin: str) -> None:
        """Read one command; what is no installation is skipped."""
        command = re.sub(r"\s+", " ", _PREFIX.sub("", command)).strip()
        if pip := _PIP.match(command):
            self._pip(_words(pip[1]), origin)
        elif conda := _CONDA.match(command):
            self._conda(_words(conda[2]), origin, environment=conda[1].startswith("env"))
        elif apt := _APT.match(command):
            names = [w for w in _words(apt[1]) if re.fullmatch(r"[a-z0-9][a-z0-9+.-]+(=\S+)?", w)]
            pythons = [match for name in names if (match := re.match(r"python(3\.\d+)\b", name))]
            self.pythons += [Fact(f"=={match[1]}.*", origin) for match in pythons[:1]]
            self.apt += [Fact(name.partition("=")[0], origin) for name in names]

    def add(self, text: str, origin: str, *, mentioned: bool = False) -> None:
        """Add a requirement, or the reason why it is none."""
        parsed = parse_requirement(text, origin)
        if isinstance(parsed, Declared):
            self.declared.append(Declared(parsed.name, parsed.text, origin, mentioned=mentioned))
        elif parsed.kind in _PLACES:
            self.unused.append(parsed)

    def _pip(self, words: list[str], origin: str) -> None:
        rest = iter(words)
        for word in rest:
            option, equals, value = word.partition("=")
            if _WITH_VALUE.fullmatch(word):
                next(rest, "")
            elif option in ("-r", "--requirement"):
                self.includes.append(value if equals else next(rest, ""))
            elif option in ("-e", "--editable"):
                self._target(value if equals else next(rest, ""), origin)
            # A placeholder, a variable or a glob is no requirement; the comparison of a version may look like one.
            elif not word.startswith("-") and not re.search(
                r"[$<>{}*]|^\.{3}|…", re.sub(r"(?<=[\w\]])[<>]=?\s*\d[\w.]*", "", word)
            ):
                if _NAMED.match(word) and "/" not in word:
                    self.add(word, origin)
                else:
                    self._target(word, origin)

    def _target(self, word: str, origin: str) -> None:
        """An address or a path; this repository itself (``.``) is nothing to report."""
        found = editable(word, origin, word[:120])
        if found.kind in _PLACES:
            reason = found.reason.removeprefix("an option; ")
            self.unused.append(Unused(found.text, origin, found.kind, reason, found.name))

    def _conda(self, words: list[str], origin: str, *, environment: bool) -> None:
        rest = iter(words)
        for word in rest:
            if word in ("-f", "--file"):
                self.includes.append(next(rest, ""))
            elif word in _CONDA_WITH_VALUE:
                next(rest, "")
            elif not word.startswith("-") and not environment:
                name, requirement = conda_requirement(word)
                if name == "python" and requirement:
                    self.pythons.append(Fact(requirement, origin))
                elif requirement and name != "python":
                    self.add(requirement, origin, mentioned=True)


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text, comments=True)
    except ValueError:
        return text.partition(" #")[0].split()


def read_commands(root: Path, path: str) -> Manifest:
    """Read the installation commands of a README, a shell script or a Dockerfile.

    A script that sets the repository up (``install.sh``) declares requirements; the others only suggest them.
    A Dockerfile's base image names PyTorch and Python.
    """
    try:
        numbered: Iterable[tuple[int, str]] = enumerate(read_text(files.inside(root, path)).splitlines(), 1)
    except LmrError as error:
        return Manifest(path, problems=(f"{path}: {error.message}",))
    script, docker = path.endswith((".sh", ".bash")), "dockerfile" in path.lower()
    found = _Commands()
    for number, line in join_lines(numbered if script or docker else _code_of(numbered)):
        origin = f"{path}:{number}"
        if docker:
            instruction, _, rest = line.strip().partition(" ")
            if instruction.upper() == "FROM":
                if torch := re.search(r"pytorch/pytorch:(\d+\.\d+(?:\.\d+)?)", rest):
                    found.add(f"torch=={torch[1]}", origin)
                if tag := re.search(r"(?:^|/)python:(3\.\d+)|:python(3\.\d+)\b", rest):
                    found.pythons.append(Fact(f"=={tag[1] or tag[2]}.*", origin))
            line = re.sub(r"^(--\S+\s+)+", "", rest.strip()) if instruction.upper() == "RUN" else ""
        for command in re.split(r"&&|\|\||;(?![^'\"]*['\"])|\|", line):
            found.read(command, origin)
    declared = tuple(found.declared)
    python = found.pythons[0] if found.pythons else Fact("", "")
    names = (name.removeprefix("./") for name in found.includes if name and printable(name) == name)
    return Manifest(
        path, declared if script else (), python=python.text, unused=tuple(found.unused),
        suggested=() if script else declared, python_origin=python.origin, includes=tuple(names),
        apt=tuple(found.apt),
    )  # fmt: skip


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
