"""Read a Dockerfile: its instructions, the files that COPY takes from the task, and the packages it installs.

A parser of our own: dockerfile-parse 2.0 reads the lines of a heredoc as instructions (a ``FROM`` in one becomes the
base image) and ends a RUN at an empty continuation line.
"""

from __future__ import annotations

import fnmatch
import posixpath
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from packaging.utils import canonicalize_name

from lmr_author.core.parsing import json_data
from lmr_author.proof.contents import FileEntry, TaskContents, once
from lmr_author.proof.targets import pairs

_KNOWN = frozenset(
    """
    FROM ARG ENV RUN COPY ADD WORKDIR USER CMD ENTRYPOINT EXPOSE LABEL VOLUME SHELL ONBUILD HEALTHCHECK
    STOPSIGNAL MAINTAINER
    """.split()  # noqa: SIM905
)
_VARIABLE = re.compile(r"\$(?P<brace>\{)?(?P<name>\w+)(?(brace)(?::?(?P<sign>[-+])(?P<other>[^}]*))?\})")
_OPTIONS = re.compile(r"^(--\S+\s+)+")
_SHELL = re.compile(r"""\b(?:ba|z|da)?sh\s+-\w*c\s+(["'])(.*?)\1""", re.DOTALL)
MAX_TEXT = 128 * 1024
MAX_VALUE, MAX_VARIABLES = 1000, 1000
"""Limits of a value's length and of the variables replaced in a text: repeated ``A=$A$A`` would explode."""


@dataclass(frozen=True)
class Instruction:
    """One instruction: its name in capitals, its arguments on one line (a heredoc with its text), its first line."""

    name: str
    text: str
    line: int


@dataclass(frozen=True)
class Dockerfile:
    instructions: tuple[Instruction, ...]
    comments: tuple[tuple[int, str], ...] = ()
    arguments: dict[str, str] = field(default_factory=dict)

    def named(self, *names: str) -> list[Instruction]:
        return [instruction for instruction in self.instructions if instruction.name in names]

    def expand(self, text: str) -> str:
        def value(match: re.Match[str]) -> str:
            if match["sign"] == "+":  # ${NAME:+other}
                return match["other"]
            return self.arguments.get(match["name"]) or match["other"] or match[0]

        return _VARIABLE.sub(value, text, count=MAX_VARIABLES)

    @cached_property
    def commands(self) -> list[tuple[Instruction, str]]:
        commands = []
        for instruction in self.named("RUN"):
            parts = map(str.strip, re.split(r"&&|\|\||;|\n|\|", shell_text(instruction.text)))
            commands += [(instruction, command) for command in parts if command]
        return commands

    @cached_property
    def copies(self) -> list[tuple[Instruction, list[str], str]]:
        """Return (instruction, sources, destination) of each COPY and ADD from the build context, expanded."""
        copies = []
        for instruction in self.named("COPY", "ADD"):
            if "--from" in instruction.text or "<<" in instruction.text:
                continue  # from another image, or from a heredoc
            paths = [self.expand(word) for word in words(instruction.text) if not word.startswith("--")]
            if len(paths) >= 2:
                copies.append((instruction, paths[:-1], paths[-1]))
        return copies


def parse(text: str) -> Dockerfile:
    """Parse a Dockerfile, skipping unknown instructions; never fails."""
    lines = text.splitlines()
    instructions: list[Instruction] = []
    comments: list[tuple[int, str]] = []
    next_line = 0
    while next_line < len(lines):
        first = next_line
        pieces, next_line = _continued(lines, first, comments)
        name, arguments = [*" ".join(pieces).split(None, 1), "", ""][:2]
        for word in re.findall(r"<<-?\s*[\"']?(\w+)[\"']?", arguments):
            document, next_line = _heredoc(lines, next_line, word)
            arguments = "\n".join([arguments, *document])
        if name.upper() in _KNOWN:
            instructions.append(Instruction(name.upper(), arguments.strip(), first + 1))
    return Dockerfile(tuple(instructions), tuple(comments), _variables(instructions))


def _heredoc(lines: list[str], first: int, word: str) -> tuple[list[str], int]:
    for number in range(first, len(lines)):
        if lines[number].strip() == word:
            return lines[first:number], number + 1
    return [], first


def _continued(lines: list[str], first: int, comments: list[tuple[int, str]]) -> tuple[list[str], int]:
    """Return the pieces of the instruction that begins at a line, and the line after it; collect comments."""
    pieces: list[str] = []
    for number, text in enumerate(lines[first:], first + 1):
        line = text.strip()
        if line.startswith("#"):
            comments.append((number, line))
            is_end = not pieces
        else:
            pieces += [line.removesuffix("\\").strip()] if line else []
            is_end = bool(line) or not pieces  # an empty line does not end a continued instruction
        if is_end and not line.endswith("\\"):
            return pieces, number
    return pieces, len(lines)


def _variables(instructions: list[Instruction]) -> dict[str, str]:
    variables: dict[str, str] = {}
    for instruction in instructions:
        if instruction.name not in ("ARG", "ENV"):
            continue
        tokens = words(instruction.text)
        if instruction.name == "ENV" and len(tokens) > 1 and "=" not in tokens[0]:
            tokens = [f"{tokens[0]}={' '.join(tokens[1:])}"]  # the old form, `ENV NAME VALUE`
        for name, equals, value in (word.partition("=") for word in tokens):
            if equals:
                variables[name] = Dockerfile((), (), variables).expand(value)[:MAX_VALUE]
    return variables


def words(text: str) -> list[str]:
    plain = _OPTIONS.sub("", text)
    try:
        if plain.startswith("["):
            return [str(word) for word in json_data(plain)]
        return shlex.split(text)
    except ValueError:
        return text.split()


def shell_text(text: str) -> str:
    """Return the shell command of a RUN in shell or JSON form, unwrapping ``bash -c "..."``."""
    plain = _OPTIONS.sub("", text)
    if plain.startswith("["):
        tokens = words(plain)
        is_shell = len(tokens) > 2 and tokens[1].endswith("c") and "sh" in tokens[0]
        return tokens[2] if is_shell else shlex.join(tokens)
    return _SHELL.sub(r"\2", plain)


@once
def read(task: TaskContents) -> Dockerfile | None:
    text = task.text(task.task.root / "Dockerfile")
    if text is None or len(text) > MAX_TEXT:
        return None
    parsed = parse(text)
    if "DIR" in parsed.arguments and task.repository is not None:
        # LMR204 reports a wrong default. A build passes the repository's folder, or the task's from its parent folder.
        above = parsed.arguments["DIR"].strip("./") == task.task.name
        folder = "." if above else task.repository.name
        return replace(parsed, arguments=parsed.arguments | {"DIR": folder})
    return parsed


def in_context(source: str) -> str:
    """Return a source of COPY as a path in the task's folder: ``./src/.`` is ``src``; "" for the folder itself."""
    return posixpath.normpath("/" + source.strip()).strip("/")


def copied(task: TaskContents, sources: list[str]) -> list[FileEntry]:
    return [entry for source in sources for entry in _matching(task, in_context(source))]


@once
def _matching(task: TaskContents, pattern: str) -> list[FileEntry]:
    depth = pattern.count("/") + 1
    matches = re.compile(fnmatch.translate(pattern)).match
    entries = []
    for entry in _context(task):
        above = "/".join(entry.relative.split("/", depth)[:depth])
        if entry.kind != "folder" and (pattern in ("", "*") or above == pattern or matches(above)):
            entries.append(entry)
    return entries


@once
def _context(task: TaskContents) -> list[FileEntry]:
    """Return the entries of the task folder that ``.dockerignore`` does not exclude from the build context."""
    lines = map(str.strip, (task.text(task.task.root / ".dockerignore") or "").splitlines())
    patterns = [line for line in lines if line and not line.startswith("#")]
    if not patterns:
        return list(task.entries)
    from docker.utils.build import PatternMatcher  # most tasks are validated without it

    matches = PatternMatcher(patterns).matches
    return [entry for entry in task.entries if not matches(entry.relative)]  # type: ignore[arg-type]  # stubs: Path


# packages

_INSTALL = re.compile(
    r"\b(?:(?:pip[\d.]*|uv pip|python[\d.]* -m pip)\s+(?:-\S+\s+)*install|uv\s+add|(conda|mamba|micromamba)\s+install)"
    r"\s+(.*)",
    re.DOTALL,
)
_CONSTRAINT = re.compile(r"(?<!\S)(?:-c|--constraint)[= ]")
"""A constraints file pins what a command installs."""
_WITH_VALUE = frozenset(
    """
    -i --index-url --extra-index-url -f --find-links --target -t --timeout -G --group --source -E --extras -c
    --channel -n --name -p --prefix --constraint > >> 2> &>
    """.split()  # noqa: SIM905
)
_NOT_PACKAGES = frozenset(("pip", "setuptools", "wheel", "uv", "python", "cpuonly", "nomkl"))
MAX_INCLUDES = 5
"""Depth to which requirements files that include one another are followed."""


def name_in(requirement: str) -> str:
    return re.split(r"[\s=<>!~\[;@#]", requirement, maxsplit=1)[0]


def requirements(task: TaskContents, parsed: Dockerfile) -> Iterator[tuple[Instruction, str]]:
    """Yield (instruction, requirement) for all packages that pip and conda install, also from requirements files."""
    for instruction, command in parsed.commands:
        match = _INSTALL.search(parsed.expand(command))
        if match is None or (_CONSTRAINT.search(match[2]) and not match[1]):
            continue
        for requirement in _arguments(task, parsed, match[2]):
            # conda writes `name=version`
            yield instruction, re.sub(r"^([\w.-]+)=(?!=)", r"\1==", requirement) if match[1] else requirement


def _arguments(task: TaskContents, parsed: Dockerfile, text: str, depth: int = 0) -> Iterator[str]:
    try:
        arguments = iter(shlex.split(text, comments=True))
    except ValueError:
        arguments = iter(text.split())
    for word in arguments:
        if match := re.match(r"(?:-r|--requirement)=?(.*)", word):
            yield from _file_lines(task, parsed, match[1] or next(arguments, ""), depth + 1)
        elif word in ("-e", "--editable"):
            address = next(arguments, "")
            if "+" in address:  # a plain folder is the masked repository itself
                yield address
        elif word in _WITH_VALUE:
            next(arguments, None)
        elif word not in _NOT_PACKAGES and not word.startswith((*"-./$>\\", "2>")):
            yield word.rpartition("::")[2]


def _file_lines(task: TaskContents, parsed: Dockerfile, name: str, depth: int) -> Iterator[str]:
    text = _text(task, parsed, name) if depth <= MAX_INCLUDES else ""
    for line in text.splitlines():
        plain = re.sub(r"(?:^|\s)#.*", "", line).strip().rstrip("\\").strip()
        if plain.startswith("-"):
            yield from _arguments(task, parsed, plain, depth)
        elif plain and not plain.startswith(("./", "/", "..")):
            yield plain


def _text(task: TaskContents, parsed: Dockerfile, name: str) -> str:
    wanted = name.rpartition("/")[2]
    inside: list[FileEntry] = []
    renamed: list[FileEntry] = []
    for _, sources, target in parsed.copies:
        entries = copied(task, sources)
        inside += [entry for entry in entries if entry.name == wanted]
        if len(entries) == 1 and target.rpartition("/")[2] == wanted:
            renamed = entries
    choices = renamed or inside or task.named(wanted)
    nearest = min(choices, key=lambda entry: entry.relative.count("/"), default=None)
    return (nearest and task.text(task.path(nearest))) or ""


# the published package that contains the task's own code

GENERIC = frozenset(
    """
    src lib utils model models data core code common tests scripts tools evaluation eval metrics losses loss
    layers modules nets training train trainers tasks configs examples main app tokenizers attention
    """.split()  # noqa: SIM905
)
"""Generic folder names: packages of most of these names exist."""
_PACKAGE_NAME = re.compile(
    r"(?:\bsetup\((?:[^()]|\([^()]*\))*?|^\[(?:metadata|project|tool\.poetry)\]\s*\n(?:(?!\[).*\n)*?)\bname\s*=\s*[\"']?([\w.-]+)",
    re.MULTILINE,
)
"""The name that setup.py, setup.cfg or pyproject.toml gives a package."""


@dataclass(frozen=True)
class PublishedNames:
    """The names under which the code of a task may be installed.

    Attributes:
        sure: names in the repository's setup.py, setup.cfg or pyproject.toml.
        likely: names derived from a package's or the repository's name.
        address: ``github.com/owner/name``, lower case; "" when unknown.
    """

    sure: frozenset[str]
    likely: frozenset[str]
    address: str

    def contains(self, requirement: str) -> bool | None:
        """Return True if a requirement certainly contains the goal file, False if probably, None if not."""
        name, text = canonicalize_name(name_in(requirement)), requirement.lower()
        if name in self.sure or self.is_named_in(text):
            return True
        repository = re.escape(self.address.rpartition("/")[2])
        is_fork = repository and re.search(rf"://.*/{repository}(?:\.git)?(?:[/@#]|$)", text)
        return False if name in self.likely or is_fork else None

    def is_named_in(self, text: str) -> bool:
        plain = text.replace("git@", "").replace(":", "/")
        pattern = rf"(?<![\w-]){re.escape(self.address)}(?![\w-])"
        return bool(self.address) and re.search(pattern, plain) is not None

    def is_fetched_by(self, command: str) -> bool:
        fetches = re.search(r"\bgit\s+clone\b|\bcurl\b|\bwget\b|^https?://", command)
        return fetches is not None and self.is_named_in(command.lower())


@once
def published(task: TaskContents) -> PublishedNames:
    address = _address(task.info.repo_url)
    repository = canonicalize_name(address.rpartition("/")[2])
    sure: set[str] = set()
    likely = {repository} if task.repository is None else set()
    for files in pairs(task):
        package = _package(task, files.goal_path)
        if package is not None:
            likely |= {canonicalize_name(package.name), repository}
            sure |= _own_names(task, package)
    return PublishedNames(frozenset(sure), frozenset(likely - sure - GENERIC - {""}), address)


def _address(url: str) -> str:
    address = re.sub(r"^(?:\w+\+)?(?:\w+://)?(?:www\.|[\w.-]+@)?", "", url.strip().lower())
    address = re.sub(r"(?:\.git)?/*$", "", address.replace(":", "/", 1))
    return "/".join(address.split("/")[:3]).removesuffix(".git") if address.count("/") >= 2 else ""


def _package(task: TaskContents, goal: Path | None) -> Path | None:
    if goal is None or task.repository is None:
        return None
    above = [folder for folder in goal.parents if task.repository in folder.parents]
    packages = [folder for folder in above if task.is_file(folder / "__init__.py")]
    return packages[-1] if packages else None


def _own_names(task: TaskContents, package: Path) -> set[str]:
    assert task.repository is not None
    names: set[str] = set()
    for folder in package.parents:
        if folder.is_relative_to(task.repository):
            for file in ("setup.py", "setup.cfg", "pyproject.toml"):
                match = _PACKAGE_NAME.search(task.text(folder / file) or "")
                names |= {canonicalize_name(match[1])} if match else set()
    return names
