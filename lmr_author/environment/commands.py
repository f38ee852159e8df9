"""Read installation commands of a README, a shell script or a Dockerfile: as words, never run."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from lmr_author import files
from lmr_author.environment.manifests import Line, conda_requirement, make, unreadable
from lmr_author.environment.recipe import Fact, Manifest, Unused
from lmr_author.environment.requirements import editable, read_text
from lmr_author.errors import LmrError
from lmr_author.texts import printable

_PIP = re.compile(
    r"^(?:sudo (?:-\S+ )*)?[!%]?(?:python[\d.]* -m )?(?:uv )?pip[\d.]* (?:-\S+ )*install\b(?P<rest>.*)$"
    r"|^(?:uv|poetry|pdm) add\b(?P<add>.*)$|^pipenv install\b(?P<pipenv>.*)$"
)
_CONDA = re.compile(
    r"^(?:sudo )?[!%]?(?:micro)?(?:conda|mamba) (?P<verb>install|create|env create|env update)\b(?P<rest>.*)$"
)
_APT = re.compile(r"^(?:sudo )?(?:apt|apt-get|aptitude) (?:-\S+ )*install\b(?P<rest>.*)$")
_PYTHON = re.compile(
    r"^(?:sudo )?(?:uv (?:venv|python (?:install|pin))\b.*?|pyenv (?:install|local|global)\b.*?|virtualenv\b.*?python)"
    r"[ =]?(3\.\d+)(?:\.\d+)?(?=\s|$)|^(?:sudo )?python(3\.\d+) -m venv\b"
)
_ASSIGNED = re.compile(r"^(?:[A-Z_]+=\S* +)+")
_PROMPT = re.compile(r"^\s*(?:[$>%]|\(\w[\w.-]*\)\s*\$?|In \[\d+\]:)\s+")
_REQUIREMENT = re.compile(r"^[A-Za-z0-9][\w.-]*(\[[\w,\s-]*\])?\s*($|[=<>!~;@])")
_PIP_WITH_VALUE = frozenset(
    [
        "-f",
        "--find-links",
        "-i",
        "--index-url",
        "--extra-index-url",
        "-t",
        "--target",
        "--timeout",
        "--retries",
        "--prefix",
        "--root",
        "--platform",
        "--python-version",
        "--no-binary",
        "--only-binary",
        "--global-option",
        "--install-option",
        "--config-settings",
        "--python",
        "--trusted-host",
        "--cache-dir",
        "--upgrade-strategy",
        "--torch-backend",
        "--group",
        "--source",
        "--index",
        "-C",
        "-p",
    ]
)
_CONDA_WITH_VALUE = frozenset(["-c", "--channel", "-n", "--name", "-p", "--prefix", "--solver"])


_LinesOf = Callable[[list[tuple[int, str]]], Iterable[tuple[int, str]]]


@dataclass
class Commands:
    """Everything that commands install, each with its origin.

    Attributes:
        lines: requirements, as written.
        unused: addresses, paths and options.
        requirements: files given with ``-r`` or to ``conda env create -f``.
        pythons: specifiers of the Python version that conda (uv, pyenv, apt) installs.
        apt: packages of the operating system.
    """

    lines: list[Line] = field(default_factory=list)
    unused: list[Unused] = field(default_factory=list)
    requirements: list[str] = field(default_factory=list)
    pythons: list[Fact] = field(default_factory=list)
    apt: list[Fact] = field(default_factory=list)

    def manifest(self, path: str, *, declares: bool = False) -> Manifest:
        """Return the manifest: suggestions, or declarations for a script that installs the repository."""
        made = make(
            path, self.lines if declares else (), python=self.pythons[0] if self.pythons else Fact("", ""),
            suggested=() if declares else self.lines, unused=self.unused,
        )  # fmt: skip
        names = (name for name in self.requirements if name and printable(name) == name)
        return Manifest(
            made.path, made.declared, made.python, problems=made.problems, unused=made.unused,
            suggested=made.suggested, python_origin=made.python_origin,
            includes=tuple(name.removeprefix("./") for name in names), apt=tuple(self.apt),
        )  # fmt: skip


def read_readme(root: Path, path: str) -> Manifest:
    """Read the commands of a README: fenced, indented, or in backticks."""
    return _read_file(root, path, _code)


def read_script(root: Path, path: str) -> Manifest:
    """Read a shell script that sets the repository up (``install.sh``): its commands declare requirements."""
    return _read_file(root, path, lambda numbered: numbered, declares=True)


def read_dockerfile(root: Path, path: str) -> Manifest:
    """Read a Dockerfile of the repository: its base image's torch and Python, and what it installs."""
    return _read_file(root, path, lambda numbered: numbered)


def read_version_file(root: Path, path: str) -> Manifest:
    """Read ``.python-version`` (pyenv, uv) or ``runtime.txt`` (``python-3.8.10``)."""
    try:
        text = read_text(files.inside(root, path))
    except LmrError as error:
        return unreadable(path, error)
    match = re.search(r"^\s*(?:cpython-|python-)?(3\.\d+)(?:\.\d+)?\s*$", text, re.M)
    return make(path, (), python=Fact(f"=={match[1]}.*", f"{path}:1") if match else Fact("", ""))


def _read_file(root: Path, path: str, lines_of: _LinesOf, *, declares: bool = False) -> Manifest:
    try:
        numbered = list(enumerate(read_text(files.inside(root, path)).splitlines(), 1))
    except LmrError as error:
        return Manifest(path, problems=(f"{path}: {error.message}",))
    return read_commands(lines_of(numbered), path).manifest(path, declares=declares)


def _code(numbered: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
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


def read_commands(numbered: Iterable[tuple[int, str]], path: str) -> Commands:
    """Read lines of shell or of a Dockerfile; what is no installation is skipped."""
    found = Commands()
    for number, line in joined(numbered):
        origin = f"{path}:{number}"
        name, _, rest = line.strip().partition(" ")
        if name.upper() == "FROM":
            _image(rest, origin, found)
        elif name.upper() == "RUN":
            line = re.sub(r"^(--\S+\s+)+", "", rest.strip())
        for part in re.split(r"&&|\|\||;(?![^'\"]*['\"])|\|", line):
            _read(_ASSIGNED.sub("", _PROMPT.sub("", part).strip()), origin, found)
    return found


def joined(numbered: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Yield lines joined at a final backslash, with their first line's number; comments inside are dropped."""
    pending, first = "", 0
    for number, line in numbered:
        if pending and line.lstrip().startswith("#"):
            continue
        first = first if pending else number
        stripped = line.rstrip()
        if stripped.endswith("\\"):
            pending += stripped[:-1] + " "
            continue
        yield first, pending + stripped
        pending = ""
    if pending:
        yield first, pending


def _image(text: str, origin: str, found: Commands) -> None:
    """The base image's torch and Python."""
    image = next((word for word in text.split() if not word.startswith("--")), "")
    if torch := re.search(r"pytorch/pytorch:(\d+\.\d+(?:\.\d+)?)", image):
        found.lines.append((f"torch=={torch[1]}", origin))
    if python := re.search(r"(?:^|/)python:(3\.\d+)|:python(3\.\d+)\b", image):
        found.pythons.append(Fact(f"=={python[1] or python[2]}.*", origin))


def _read(command: str, origin: str, found: Commands) -> None:
    command = re.sub(r"\s+", " ", command)
    if named := _PYTHON.match(command):
        found.pythons.append(Fact(f"=={named[1] or named[2]}.*", origin))
    elif pip := _PIP.match(command):
        _pip(_words(pip["rest"] or pip["add"] or pip["pipenv"] or ""), origin, found)
    elif conda := _CONDA.match(command):
        _conda(_words(conda["rest"]), origin, found, environment=conda["verb"].startswith("env"))
    elif apt := _APT.match(command):
        names = [word for word in _words(apt["rest"]) if re.fullmatch(r"[a-z0-9][a-z0-9+.-]+(=\S+)?", word)]
        pythons = [match for name in names if (match := re.match(r"python(3\.\d+)\b", name))]
        found.pythons += [Fact(f"=={match[1]}.*", origin) for match in pythons[:1]]
        found.apt += [Fact(name.partition("=")[0], origin) for name in names]


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text, comments=True)
    except ValueError:
        return text.partition(" #")[0].split()


def _pip(words: list[str], origin: str, found: Commands) -> None:
    rest = iter(words)
    for word in rest:
        option, equals, value = word.partition("=")
        if word in _PIP_WITH_VALUE:
            next(rest, "")
        elif option in ("-r", "--requirement"):
            found.requirements.append(value if equals else next(rest, ""))
        elif option in ("-c", "--constraint"):
            value = value if equals else next(rest, "")
        elif option in ("-e", "--editable"):
            _target(value if equals else next(rest, ""), origin, found)
        # A placeholder, a variable or a glob is no requirement; the comparison of a version may look like one.
        elif not word.startswith("-") and not re.search(
            r"[$<>{}*]|^\.{3}|…", re.sub(r"(?<=[\w\]])[<>]=?\s*\d[\w.]*", "", word)
        ):
            if _REQUIREMENT.match(word) and "/" not in word:
                found.lines.append((word, origin))
            else:
                _target(word, origin, found)


def _target(word: str, origin: str, found: Commands) -> None:
    """An address or a path; this repository itself (``.``) is nothing to report."""
    read = editable(word, origin, word[:120])
    if read.kind in ("git", "url", "path") and not re.match(r"^(\.|\./)(\[|$)", word):
        reason = read.reason.removeprefix("an option; ")
        found.unused.append(Unused(word[:120], origin, read.kind, reason, read.name))


def _conda(words: list[str], origin: str, found: Commands, *, environment: bool) -> None:
    rest = iter(words)
    for word in rest:
        if word in ("-f", "--file"):
            found.requirements.append(next(rest, ""))
        elif word in _CONDA_WITH_VALUE:
            next(rest, "")
        elif not word.startswith("-") and not environment:
            name, requirement = conda_requirement(word)
            if name == "python" and requirement:
                found.pythons.append(Fact(requirement, origin))
            elif requirement and name != "python":
                found.lines.append((requirement, origin))
