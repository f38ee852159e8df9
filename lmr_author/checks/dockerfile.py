"""Read a Dockerfile, and what COPY takes from the task.

Our own parser: dockerfile-parse 2.0 takes the lines of a heredoc for instructions (a ``FROM`` in one becomes the base
image) and ends a RUN at an empty continuation line.
"""

from __future__ import annotations

import fnmatch
import json
import posixpath
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

from lmr_author.checks.listing import Entry
from lmr_author.checks.view import TaskView

MISNAMED = frozenset({"dockerfile", "dockerfile.txt"})
"""Names, in lower case, of files that are meant to be the Dockerfile."""
_KNOWN = frozenset(
    """
    FROM ARG ENV RUN COPY ADD WORKDIR USER CMD ENTRYPOINT EXPOSE LABEL VOLUME SHELL ONBUILD HEALTHCHECK
    STOPSIGNAL MAINTAINER
    """.split()  # noqa: SIM905
)
_VARIABLE = re.compile(r"\$(?:\{(\w+)(?:(:?[-+])([^}]*))?\}|(\w+))")
_OPTIONS = re.compile(r"^(--\S+\s+)+")
_SHELL = re.compile(r"""\b(?:ba|z|da)?sh\s+-\w*c\s+(["'])(.*?)\1""", re.DOTALL)
MAX_TEXT = 128 * 1024
MAX_VALUE, MAX_VARIABLES = 1000, 1000
"""``A=$A$A``, often repeated, is huge: so much of a value is kept, so many variables of a text are replaced."""


@dataclass(frozen=True)
class Instruction:
    """One instruction: its name in capitals, its arguments on one line (a heredoc with its text), its first line."""

    name: str
    text: str
    line: int


@dataclass(frozen=True)
class Dockerfile:
    """A parsed Dockerfile.

    Attributes:
        comments: (line, text) of every comment.
        arguments: defaults of ARG and values of ENV, expanded.
    """

    instructions: tuple[Instruction, ...]
    comments: tuple[tuple[int, str], ...] = ()
    arguments: dict[str, str] = field(default_factory=dict)

    def named(self, *names: str) -> list[Instruction]:
        """Return the instructions of some names."""
        return [item for item in self.instructions if item.name in names]

    def expand(self, text: str) -> str:
        """Return text with the known variables replaced; unknown ones stay."""

        def value(match: re.Match[str]) -> str:
            if match[2] and "+" in match[2]:
                return str(match[3])
            return self.arguments.get(match[1] or match[4]) or (match[3] if match[2] else "") or match[0]

        return _VARIABLE.sub(value, text, count=MAX_VARIABLES)

    @cached_property
    def commands(self) -> list[tuple[Instruction, str]]:
        """Return (instruction, command) of each shell command of each RUN."""
        pieces = [(item, re.split(r"&&|\|\||;|\n|\|", shell_text(item.text))) for item in self.named("RUN")]
        return [(item, part.strip()) for item, parts in pieces for part in parts if part.strip()]

    @cached_property
    def copies(self) -> list[tuple[Instruction, list[str], str]]:
        """Return (instruction, sources, destination) of each COPY and ADD from the build context, expanded."""
        found = []
        for item in self.named("COPY", "ADD"):
            plain = [self.expand(word) for word in words(item.text) if not word.startswith("--")]
            if len(plain) >= 2 and "--from" not in item.text and "<<" not in item.text:
                found.append((item, plain[:-1], plain[-1]))
        return found


def parse(text: str) -> Dockerfile:
    """Parse a Dockerfile; never fails, as unknown instructions are skipped."""
    lines, at = text.splitlines(), 0
    instructions: list[Instruction] = []
    comments: list[tuple[int, str]] = []
    while at < len(lines):
        start, pieces = at, []
        while at < len(lines):
            line = lines[at].strip()
            at += 1
            if line.startswith("#"):
                comments.append((at, line))
            elif line:
                pieces.append(line.removesuffix("\\").strip())
            if not line.endswith("\\") and ((line and not line.startswith("#")) or not pieces):
                break
        name, rest = [*" ".join(pieces).split(None, 1), "", ""][:2]
        for word in re.findall(r"<<-?\s*[\"']?(\w+)[\"']?", rest):
            ends = [number for number in range(at, len(lines)) if lines[number].strip() == word]
            if ends:
                rest, at = "\n".join([rest, *lines[at : ends[0]]]), ends[0] + 1
        if name.upper() in _KNOWN:
            instructions.append(Instruction(name.upper(), rest.strip(), start + 1))
    return Dockerfile(tuple(instructions), tuple(comments), _arguments(instructions))


def _arguments(instructions: list[Instruction]) -> dict[str, str]:
    found: dict[str, str] = {}
    for item in instructions:
        given = words(item.text) if item.name in ("ARG", "ENV") else []
        if item.name == "ENV" and len(given) > 1 and "=" not in given[0]:
            given = [f"{given[0]}={' '.join(given[1:])}"]
        for name, equals, value in (word.partition("=") for word in given):
            if equals:
                found[name] = Dockerfile((), (), found).expand(value)[:MAX_VALUE]
    return found


def words(text: str) -> list[str]:
    """Return the words of an instruction, in shell or in JSON form."""
    plain = _OPTIONS.sub("", text)
    try:
        if plain.startswith("["):
            return [str(word) for word in json.loads(plain)]
        return shlex.split(text)
    except ValueError:
        return text.split()


def shell_text(text: str) -> str:
    """Return what a shell reads of a RUN: its text, its JSON form, or the inside of ``bash -c "..."``."""
    plain = _OPTIONS.sub("", text)
    if plain.startswith("["):
        given = words(plain)
        return (
            given[2] if len(given) > 2 and given[1].endswith("c") and "sh" in given[0] else shlex.join(given)
        )
    return _SHELL.sub(r"\2", plain)


def read(task: TaskView) -> Dockerfile | None:
    """Return the task's Dockerfile; None when it is missing, or too large to be one."""
    return task.memo("dockerfile", lambda: _read(task))


def place(task: TaskView) -> str:
    """Return the path of the task's Dockerfile, or of the file that is meant to be it."""
    top = [entry.name for entry in task.entries if not entry.folder and entry.kind == "file"]
    misnamed = [name for name in top if name.lower() in MISNAMED]
    return misnamed[0] if misnamed and "Dockerfile" not in top else "Dockerfile"


def _read(task: TaskView) -> Dockerfile | None:
    text = task.text(task.task.root / place(task))
    if text is None or len(text) > MAX_TEXT:
        return None
    parsed = parse(text)
    if "DIR" in parsed.arguments and task.repository is not None:
        # LMR204 reports a wrong default. The build gets the repository's folder, or this task's from the one above.
        above = parsed.arguments["DIR"].strip("./") == task.task.name
        return replace(parsed, arguments=parsed.arguments | {"DIR": "." if above else task.repository.name})
    return parsed


def in_context(source: str) -> str:
    """Return a source of COPY as a path in the task's folder: ``./src/.`` is ``src``; "" for the folder itself."""
    return posixpath.normpath("/" + source.strip()).strip("/")


def copied(task: TaskView, sources: list[str]) -> list[Entry]:
    """Return the files that COPY puts into the image, for sources with variables expanded."""
    return [entry for source in sources for entry in _copied(task, in_context(source))]


def _copied(task: TaskView, pattern: str) -> list[Entry]:
    def find() -> Iterator[Entry]:
        depth = pattern.count("/") + 1
        for entry in task.entries:
            above = "/".join(entry.relative.split("/")[:depth])
            inside = pattern in ("", "*") or above == pattern or fnmatch.fnmatchcase(above, pattern)
            if inside and entry.kind != "folder" and not is_ignored(task, entry.relative):
                yield entry

    return task.memo(("copied", pattern), lambda: list(find()))


def is_ignored(task: TaskView, relative: str) -> bool:
    """Return whether ``.dockerignore`` keeps a file out of the build context."""
    rules = (task.text(task.task.dockerignore) or "").splitlines()
    patterns = [rule.strip() for rule in rules if rule.strip() and not rule.strip().startswith("#")]
    if not patterns:
        return False
    from docker.utils.build import PatternMatcher  # most tasks are validated without it

    matcher = task.memo("dockerignore", lambda: PatternMatcher(patterns))
    return bool(matcher.matches(relative))  # type: ignore[arg-type]  # the stubs want a Path
