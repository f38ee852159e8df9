"""Read a Dockerfile, however it is written, and know what its image will hold."""

from __future__ import annotations

import fnmatch
import json
import posixpath
import re
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache

from lmr_author.checks.dockerignore import ignored
from lmr_author.checks.listing import Entry
from lmr_author.checks.view import TaskView

_DIR = re.compile(r"\$(?:DIR\b|\{DIR\b)")
_NAME = "Dockerfile"
MISNAMED = frozenset({"dockerfile", "dockerfile.txt"})
"""Names, in lower case, that a Dockerfile has where it is not found by its own."""

_VARIABLE = re.compile(r"\$(?:\{(\w+)(?:(:?[-+])([^}]*))?\}|(\w+))")
_KNOWN = frozenset(
    [
        "FROM",
        "ARG",
        "ENV",
        "RUN",
        "COPY",
        "ADD",
        "WORKDIR",
        "USER",
        "CMD",
        "ENTRYPOINT",
        "EXPOSE",
        "LABEL",
        "VOLUME",
        "SHELL",
        "ONBUILD",
        "HEALTHCHECK",
        "STOPSIGNAL",
        "MAINTAINER",
    ]
)

MAX_TEXT = 128 * 1024
"""Characters of a Dockerfile at most."""

MAX_VALUE, MAX_VARIABLES = 1000, 1000
"""Of a value so many characters are kept, of a text so many variables replaced: A=$A$A, often repeated, is huge."""


@dataclass(frozen=True)
class Instruction:
    """One instruction: its name in capitals, its arguments on one line, and the line it starts at."""

    name: str
    text: str
    line: int


@dataclass(frozen=True)
class Dockerfile:
    """A Dockerfile read.

    Attributes:
        instructions: in order, continuation lines joined, heredocs with their text.
        comments: (line, text) of every comment line.
        arguments: defaults of ARG and values of ENV, expanded.
    """

    instructions: tuple[Instruction, ...]
    comments: tuple[tuple[int, str], ...]
    arguments: dict[str, str] = field(default_factory=dict)

    def named(self, *names: str) -> list[Instruction]:
        """The instructions of some names."""
        return [item for item in self.instructions if item.name in names]

    def expand(self, text: str) -> str:
        """Text with the variables that are known replaced; unknown ones stay."""
        return _VARIABLE.sub(self._value, text, count=MAX_VARIABLES)

    def _value(self, match: re.Match[str]) -> str:
        name = match[1] or match[4]
        if match[2] and "+" in match[2]:
            return match[3]
        return self.arguments.get(name) or (match[3] if match[2] else "") or match[0]

    @cached_property
    def commands(self) -> list[tuple[Instruction, str]]:
        """(instruction, command) of each shell command of each RUN."""
        found = []
        for item in self.named("RUN"):
            text = shell_text(item.text)
            found += [
                (item, part.strip())
                for part in re.split(r"&&|\|\||;|\n|(?<!\|)\|(?!\|)", text)
                if part.strip()
            ]
        return found

    @cached_property
    def copies(self) -> list[tuple[Instruction, list[str]]]:
        """(instruction, sources) of each COPY and ADD from the build context, variables expanded."""
        found = []
        for item in self.named("COPY", "ADD"):
            words = _words(item.text)
            if any(word.startswith("--from") for word in words) or "<<" in item.text:
                continue
            plain = [self.expand(word) for word in words if not word.startswith("--")]
            if len(plain) >= 2:
                found.append((item, plain[:-1]))
        return found

    def target(self, instruction: Instruction) -> str:
        """Where a COPY or ADD writes to, variables expanded."""
        return self.expand(_words(instruction.text)[-1])

    @cached_property
    def destinations(self) -> set[str]:
        """Last parts of what COPY and ADD write to: a copied file may get another name."""
        words = [[self.expand(word) for word in _words(item.text)] for item in self.named("COPY", "ADD")]
        return {found[-1].rpartition("/")[2] for found in words if found} - {"", "."}


def read(view: TaskView) -> Dockerfile | None:
    """The task's Dockerfile; None when it is absent, or so large that it is none."""
    return view.memo("dockerfile", lambda: _read(view))


def place(view: TaskView) -> str:
    """The path of the task's Dockerfile, or of what is meant to be it: ``dockerfile``, ``Dockerfile.txt``."""
    misnamed = [
        entry.name
        for entry in view.entries
        if not entry.folder and entry.kind == "file" and entry.name.lower() in MISNAMED
    ]
    return misnamed[0] if misnamed and not view.kind(_NAME) else _NAME


def _read(view: TaskView) -> Dockerfile | None:
    text = view.text(view.task.root / place(view))
    if text is None or len(text) > MAX_TEXT:
        return None
    parsed = parse(text)
    if "DIR" in parsed.arguments and view.repository is not None:
        # LMR204 reports a wrong default; what the build is meant to get is the repository's folder, or, where it
        # starts from the folder of all tasks, this one.
        above = parsed.arguments["DIR"].strip("./") == view.task.name or is_below(
            parsed, view.repository.name
        )
        meant = "." if above else view.repository.name
        return replace(parsed, arguments=parsed.arguments | {"DIR": meant})
    return parsed


def is_below(parsed: Dockerfile, folder: str) -> bool:
    """Whether all that is copied from DIR is a folder in it, as in ``COPY ${DIR}/margin-ranking``."""
    words = [word for item in parsed.named("COPY", "ADD") for word in _words(item.text)[:-1]]
    sources = [word for word in words if _DIR.search(word)]
    below = re.compile(rf"\$(?:DIR|\{{DIR\}})/{re.escape(folder)}(?![\w.-])")
    return bool(sources) and all(map(below.match, sources))


def uses_directory(parsed: Dockerfile) -> bool:
    """Whether any instruction uses the variable DIR."""
    return any(_DIR.search(item.text) for item in parsed.instructions)


def parse(text: str) -> Dockerfile:
    """Read a Dockerfile's text. Never fails: what is no instruction is left out."""
    instructions: list[Instruction] = []
    comments: list[tuple[int, str]] = []
    lines = text.splitlines()
    at = 0
    while at < len(lines):
        start = at
        if not lines[at].strip():
            at += 1
            continue
        if lines[at].lstrip().startswith("#"):
            comments.append((at + 1, lines[at].strip()))
            at += 1
            continue
        pieces, at = _joined(lines, at, comments)
        name, rest = [*" ".join(pieces).split(None, 1), "", ""][:2]
        rest, at = _with_heredoc(rest.strip(), lines, at)
        if name.upper() in _KNOWN:
            instructions.append(Instruction(name.upper(), rest, start + 1))
    return Dockerfile(tuple(instructions), tuple(comments), _arguments(instructions))


def _joined(lines: list[str], at: int, comments: list[tuple[int, str]]) -> tuple[list[str], int]:
    pieces: list[str] = []
    while at < len(lines):
        line = lines[at].rstrip()
        at += 1
        if pieces and line.lstrip().startswith("#"):
            comments.append((at, line.strip()))
            continue
        if pieces and not line.strip():
            continue
        if line.endswith("\\"):
            pieces.append(line[:-1].strip())
            continue
        pieces.append(line.strip())
        break
    return pieces, at


def _with_heredoc(rest: str, lines: list[str], at: int) -> tuple[str, int]:
    for word in re.findall(r"<<-?\s*[\"']?(\w+)[\"']?", rest) if "<<" in rest else ():
        if word not in [line.strip() for line in lines[at:]]:
            continue
        end = next(number for number in range(at, len(lines)) if lines[number].strip() == word)
        rest += "\n" + "\n".join(lines[at:end])
        at = end + 1
    return rest, at


def _arguments(instructions: list[Instruction]) -> dict[str, str]:
    found: dict[str, str] = {}
    for item in instructions:
        if item.name not in ("ARG", "ENV"):
            continue
        words = _words(item.text)
        if item.name == "ENV" and words and "=" not in words[0] and len(words) > 1:
            words = (f"{words[0]}={' '.join(words[1:])}",)
        for word in words:
            name, equals, value = word.partition("=")
            if equals:
                found[name] = Dockerfile((), (), found).expand(value)[:MAX_VALUE]
    return found


@lru_cache(maxsize=1024)
def _words(text: str) -> tuple[str, ...]:
    """The words of an instruction, in shell or in JSON form."""
    stripped = re.sub(r"^(--\S+\s+)+", "", text)
    if stripped.startswith("["):
        try:
            words = json.loads(stripped)
            return tuple(str(word) for word in words)
        except ValueError:
            pass
    try:
        return tuple(shlex.split(text))
    except ValueError:
        return tuple(text.split())


_SHELL = re.compile(r"""\b(?:ba|z|da)?sh\s+-\w*c\s+(["'])(.*?)\1""", re.DOTALL)


def shell_text(text: str) -> str:
    """What a shell reads of a RUN: its text, that of its JSON form, and the inside of ``bash -c "..."``."""
    text = re.sub(r"^(--\S+\s+)+", "", text)
    if text.startswith("["):
        try:
            words = [str(word) for word in json.loads(text)]
        except ValueError:
            return text
        return (
            words[2] if len(words) > 2 and words[1].endswith("c") and "sh" in words[0] else shlex.join(words)
        )
    return _SHELL.sub(r"\2", text)


def copied(view: TaskView, sources: list[str]) -> list[Entry]:
    """The files of the task that COPY puts into the image, for some sources with variables expanded."""
    return [entry for source in sources for entry in _copied(view, source)]


def _copied(view: TaskView, source: str) -> tuple[Entry, ...]:
    pattern = in_context(source)
    return view.memo(("copied", pattern), lambda: tuple(_found(view, pattern)))


def in_context(source: str) -> str:
    """A source of COPY as a path in the task's folder: ``./src/.`` is ``src``; "" for the folder itself."""
    plain = posixpath.normpath("/" + source.strip()).strip("/")
    return "" if plain == "." else plain


def _found(view: TaskView, pattern: str) -> Iterator[Entry]:
    kept_out = ignored(view).covers
    for entry in _meant(view, pattern):
        if entry.kind != "folder" and not kept_out(entry.relative):
            yield entry


def _meant(view: TaskView, pattern: str) -> Iterable[Entry]:
    """What a source means, what is kept out of the build context included."""
    if pattern in ("", ".", "*"):
        return view.entries
    if any(char in pattern for char in "*?["):
        below = pattern + "/"
        return [
            entry
            for entry in view.entries
            if entry.relative.startswith(below) or _fits(entry.relative, pattern)
        ]
    exact = view.by_path.get(pattern)
    return [*([exact] if exact else []), *view.below(pattern)]


def _fits(relative: str, pattern: str) -> bool:
    """Whether a path, or a folder above it, fits a pattern; ``*`` does not cross a ``/``."""
    parts, wanted = relative.split("/"), pattern.split("/")
    return len(parts) >= len(wanted) and all(
        fnmatch.fnmatchcase(part, one) for part, one in zip(parts, wanted, strict=False)
    )
