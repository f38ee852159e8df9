"""Installation commands in a README, a Dockerfile or a CI workflow: read as words, never run."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from lmr_author.environment import conda
from lmr_author.environment.manifests import Line, pip_line
from lmr_author.environment.recipe import Fact, Unused

_PIP = re.compile(
    r"^(?:sudo (?:-\S+ )*)?[!%]?(?:python[\d.]* -m )?(?:uv )?pip[\d.]* (?:-\S+ )*install\b(?P<rest>.*)$"
)
_ADD = re.compile(r"^(?:uv|poetry|pdm) add\b(?P<rest>.*)$|^pipenv install\b(?P<pipenv>.*)$")
_CONDA = re.compile(
    r"^(?:sudo )?[!%]?(?:micro)?(?:conda|mamba) (?P<verb>install|create|env create|env update)\b(?P<rest>.*)$"
)
_APT = re.compile(r"^(?:sudo )?(?:apt|apt-get|aptitude) (?:-\S+ )*install\b(?P<rest>.*)$")
_PYTHON = re.compile(
    r"^(?:sudo )?(?:uv (?:venv|python (?:install|pin))\b.*?|pyenv (?:install|local|global)\b.*?|virtualenv\b.*?python)"
    r"[ =]?(3\.\d+)(?:\.\d+)?(?=\s|$)|^(?:sudo )?python(3\.\d+) -m venv\b"
)
_ASSIGNED = re.compile(r"^(?:[A-Z_]+=\S* +)+")
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
_PROMPT = re.compile(r"^\s*(?:[$>%]|\(\w[\w.-]*\)\s*\$?|In \[\d+\]:)\s+")


@dataclass
class Commands:
    """What commands install, each with its origin.

    Attributes:
        lines: requirements, as written.
        unused: addresses, paths and options.
        requirements: files given with ``-r`` or to ``conda env create -f``.
        pythons: specifiers of the Python version that conda (uv, pyenv, apt) is told to install.
        apt: packages of the operating system.
    """

    lines: list[Line] = field(default_factory=list)
    unused: list[Unused] = field(default_factory=list)
    requirements: list[str] = field(default_factory=list)
    pythons: list[Fact] = field(default_factory=list)
    apt: list[Fact] = field(default_factory=list)


def read_commands(numbered: Iterable[tuple[int, str]], path: str) -> Commands:
    """Read lines of shell; what is no installation is skipped. Lines joined by a backslash are one."""
    found = Commands()
    for number, line in joined(numbered):
        for part in re.split(r"&&|\|\||;(?![^'\"]*['\"])|\|", line):
            _read(_ASSIGNED.sub("", _PROMPT.sub("", part).strip()), f"{path}:{number}", found)
    return found


def joined(numbered: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Lines joined at a final backslash, with their first line's number; comments inside are dropped."""
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


def _read(command: str, origin: str, found: Commands) -> None:
    command = re.sub(r"\s+", " ", command)
    if named := _PYTHON.match(command):
        found.pythons.append(Fact(f"=={named[1] or named[2]}.*", origin))
        return
    pip, add, conda_, apt = (pattern.match(command) for pattern in (_PIP, _ADD, _CONDA, _APT))
    if pip or add:
        rest = pip["rest"] if pip else (add["rest"] or add["pipenv"] or "") if add else ""
        _pip(_words(rest), origin, found)
    elif conda_:
        _conda(_words(conda_["rest"]), origin, found, environment=conda_["verb"].startswith("env"))
    elif apt:
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
        name, equals, value = word.partition("=")
        if word in ("-r", "--requirement", "-c", "--constraint", "-e", "--editable"):
            _pip_option(word, next(rest, ""), origin, found)
        elif equals and name in ("--requirement", "--constraint", "--editable"):
            _pip_option(name, value, origin, found)
        elif word in _PIP_WITH_VALUE:
            next(rest, "")
        elif not word.startswith("-") and not re.search(r"[$<>{}*]|^\.{3}|…", _bare(word)):
            found.lines.append((word, origin)) if _is_requirement(word) else _target(word, origin, found)


def _bare(word: str) -> str:
    """A word without the comparisons that a version may have."""
    return re.sub(r"(?<=[\w\]])[<>]=?\s*\d[\w.]*", "", word)


def _is_requirement(word: str) -> bool:
    return bool(re.match(r"^[A-Za-z0-9][\w.-]*(\[[\w,\s-]*\])?\s*($|[=<>!~;@])", word)) and "/" not in word


def _pip_option(option: str, value: str, origin: str, found: Commands) -> None:
    if option in ("-e", "--editable"):
        _target(value, origin, found)
    elif option in ("-r", "--requirement"):
        found.requirements.append(value)


def _target(word: str, origin: str, found: Commands) -> None:
    """An address or a path; this repository itself (``.``) is nothing to say."""
    if re.match(r"^(\.|\./)(\[|$)", word):
        return
    read = pip_line(f"-e {word}", origin)
    if isinstance(read, Unused) and read.kind in ("git", "url", "path"):
        found.unused.append(
            Unused(word[:120], origin, read.kind, read.reason.removeprefix("an option; "), read.name)
        )


def _conda(words: list[str], origin: str, found: Commands, *, environment: bool) -> None:
    rest = iter(words)
    for word in rest:
        if word in ("-f", "--file"):
            found.requirements.append(next(rest, ""))
        elif word in _CONDA_WITH_VALUE:
            next(rest, "")
        elif not word.startswith("-") and not environment:
            name, requirement = conda.requirement(word)
            if name == "python" and requirement:
                found.pythons.append(Fact(requirement, origin))
            elif requirement and name != "python":
                found.lines.append((requirement, origin))
