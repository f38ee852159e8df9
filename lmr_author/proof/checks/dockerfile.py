"""Read a Dockerfile: its instructions, what COPY takes from the task, and which packages it installs.

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

from packaging.utils import canonicalize_name

from lmr_author.proof.checks.lookup import pairs
from lmr_author.proof.checks.view import FileEntry, TaskView, once

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
    arguments: dict[str, str] = {}
    for item in instructions:
        given = words(item.text) if item.name in ("ARG", "ENV") else []
        if item.name == "ENV" and len(given) > 1 and "=" not in given[0]:
            given = [f"{given[0]}={' '.join(given[1:])}"]
        for name, equals, value in (word.partition("=") for word in given):
            if equals:
                arguments[name] = Dockerfile((), (), arguments).expand(value)[:MAX_VALUE]
    return Dockerfile(tuple(instructions), tuple(comments), arguments)


def words(text: str) -> list[str]:
    """Return the words of an instruction, in shell or in JSON form."""
    plain = _OPTIONS.sub("", text)
    try:
        if plain.startswith("["):
            return [str(word) for word in json.loads(plain)]
        return shlex.split(text)
    except (ValueError, RecursionError):
        return text.split()


def shell_text(text: str) -> str:
    """Return what a shell reads of a RUN: its text, its JSON form, or the inside of ``bash -c "..."``."""
    plain = _OPTIONS.sub("", text)
    if plain.startswith("["):
        given = words(plain)
        is_shell = len(given) > 2 and given[1].endswith("c") and "sh" in given[0]
        return given[2] if is_shell else shlex.join(given)
    return _SHELL.sub(r"\2", plain)


@once
def read(task: TaskView) -> Dockerfile | None:
    """Return the task's Dockerfile; None when it is missing, or too large to be one."""
    text = task.text(task.task.root / place(task))
    if text is None or len(text) > MAX_TEXT:
        return None
    parsed = parse(text)
    if "DIR" in parsed.arguments and task.repository is not None:
        # LMR204 reports a wrong default. The build gets the repository's folder, or this task's from the one above.
        above = parsed.arguments["DIR"].strip("./") == task.task.name
        folder = "." if above else task.repository.name
        return replace(parsed, arguments=parsed.arguments | {"DIR": folder})
    return parsed


def place(task: TaskView) -> str:
    """Return the path of the task's Dockerfile, or of the file that is meant to be it."""
    top = [entry.name for entry in task.entries if not entry.folder and entry.kind == "file"]
    misnamed = [name for name in top if name.lower() in MISNAMED]
    return misnamed[0] if misnamed and "Dockerfile" not in top else "Dockerfile"


def in_context(source: str) -> str:
    """Return a source of COPY as a path in the task's folder: ``./src/.`` is ``src``; "" for the folder itself."""
    return posixpath.normpath("/" + source.strip()).strip("/")


def copied(task: TaskView, sources: list[str]) -> list[FileEntry]:
    """Return the files that COPY puts into the image, for sources with variables expanded."""
    return [entry for source in sources for entry in _matching(task, in_context(source))]


@once
def _matching(task: TaskView, pattern: str) -> list[FileEntry]:
    depth = pattern.count("/") + 1
    matches = re.compile(fnmatch.translate(pattern)).match
    found = []
    for entry in _context(task):
        above = "/".join(entry.relative.split("/", depth)[:depth])
        if entry.kind != "folder" and (pattern in ("", "*") or above == pattern or matches(above)):
            found.append(entry)
    return found


@once
def _context(task: TaskView) -> list[FileEntry]:
    """Return everything in the task folder that ``.dockerignore`` leaves in the build context."""
    lines = (line.strip() for line in (task.text(task.task.root / ".dockerignore") or "").splitlines())
    patterns = [line for line in lines if line and not line.startswith("#")]
    if not patterns:
        return list(task.entries)
    from docker.utils.build import PatternMatcher  # most tasks are validated without it

    matches = PatternMatcher(patterns).matches
    return [entry for entry in task.entries if not matches(entry.relative)]  # type: ignore[arg-type]  # stubs: Path


# packages

_PIP = re.compile(
    r"\b(?:(?:pip[\d.]*|uv pip|python[\d.]* -m pip)\s+(?:-\S+\s+)*install|uv\s+add)"
    r"\s+(.*)",
    re.DOTALL,
)
_CONDA = re.compile(r"\b(?:conda|mamba|micromamba)\s+install\s+(.*)", re.DOTALL)
_WITH_VALUE = frozenset(
    """
    -i --index-url --extra-index-url -f --find-links --target -t --timeout -G --group --source -E --extras -c
    --channel -n --name -p --prefix --constraint > >> 2> &>
    """.split()  # noqa: SIM905
)
_NOT_PACKAGES = frozenset(("pip", "setuptools", "wheel", "uv", "python", "cpuonly", "nomkl"))


def name_in(requirement: str) -> str:
    """Return the package's name at the beginning of a requirement, as it is written."""
    return re.split(r"[\s=<>!~\[;@#]", requirement, maxsplit=1)[0]


def requirements(task: TaskView, parsed: Dockerfile) -> Iterator[tuple[Instruction, str]]:
    """Yield (instruction, requirement) of everything that pip and conda install; requirements files are opened."""
    for item, command in parsed.commands:
        text = parsed.expand(command)
        if match := _CONDA.search(text):
            for one in _arguments(task, parsed, match[1]):
                yield item, re.sub(r"^([\w.-]+)=(?!=)", r"\1==", one)
        elif (match := _PIP.search(text)) and not re.search(r"(?<!\S)(?:-c|--constraint)[= ]", match[1]):
            # A constraints file pins what a command installs.
            yield from ((item, one) for one in _arguments(task, parsed, match[1]))


def _arguments(task: TaskView, parsed: Dockerfile, text: str) -> Iterator[str]:
    try:
        given = iter(shlex.split(text, comments=True))
    except ValueError:
        given = iter(text.split())
    for word in given:
        if word in ("-r", "--requirement") or re.match(r"-r\S|--requirement=", word):
            name = re.sub(r"^(?:-r|--requirement)=?", "", word) or next(given, "")
            yield from _lines(task, parsed, name)
        elif word in ("-e", "--editable"):
            address = next(given, "")
            if "+" in address:  # a folder is the repository itself, which is masked
                yield address
        elif word in _WITH_VALUE:
            next(given, None)
        elif word[:1] not in "-./$>\\" and not word.startswith("2>") and word not in _NOT_PACKAGES:
            yield word.rpartition("::")[2]


def _lines(task: TaskView, parsed: Dockerfile, name: str, depth: int = 0) -> Iterator[str]:
    for line in _text(task, parsed, name).splitlines():
        plain = re.sub(r"(?:^|\s)#.*", "", line).strip().rstrip("\\").strip()
        other = re.match(r"(?:-r|--requirement)[ =]?\s*(\S+)", plain)
        plain = re.sub(r"^(?:-e|--editable)[ =]\s*(?=[\w.]+\+)", "", plain)
        if other and depth < 5:
            yield from _lines(task, parsed, other[1], depth + 1)
        elif plain and plain[0] not in "-./":
            yield plain


def _text(task: TaskView, parsed: Dockerfile, name: str) -> str:
    """Return the text of a file of the image, looked up by its name in the task; "" when there is none."""
    wanted = name.rpartition("/")[2]
    inside: list[FileEntry] = []
    for _, sources, target in parsed.copies:
        files = copied(task, sources)
        if len(files) == 1 and target.rpartition("/")[2] == wanted:  # copied under another name
            return task.text(task.path(files[0])) or ""
        inside += [entry for entry in files if entry.name == wanted]
    nearest = min(inside or task.named(wanted), key=lambda entry: entry.relative.count("/"), default=None)
    return (task.text(task.path(nearest)) if nearest else None) or ""


# the published package that contains the task's own code

GENERIC = frozenset(
    """
    src lib utils model models data core code common tests scripts tools evaluation eval metrics losses loss
    layers modules nets training train trainers tasks configs examples main app tokenizers attention
    """.split()  # noqa: SIM905
)
"""Names of folders that say nothing: somebody has published a package of most of them."""


@dataclass(frozen=True)
class Published:
    """The names under which the code of a task may be installed.

    Attributes:
        sure: names that the repository gives itself in setup.py, setup.cfg or pyproject.toml.
        likely: names that follow from a package's or the repository's name.
        address: ``github.com/owner/name``, lower case; "" when unknown.
    """

    sure: frozenset[str]
    likely: frozenset[str]
    address: str

    def contains(self, requirement: str) -> bool | None:
        """Return whether a requirement surely (True) or probably (False) contains the goal file; None for neither."""
        name, text = canonicalize_name(name_in(requirement)), requirement.lower()
        if name in self.sure or self.is_named_in(text):
            return True
        repository = re.escape(self.address.rpartition("/")[2])
        is_fork = repository and re.search(rf"://.*/{repository}(?:\.git)?(?:[/@#]|$)", text)
        return False if name in self.likely or is_fork else None

    def is_named_in(self, text: str) -> bool:
        """Return True when a text in lower case contains the repository's address."""
        plain = text.replace("git@", "").replace(":", "/")
        pattern = rf"(?<![\w-]){re.escape(self.address)}(?![\w-])"
        return bool(self.address) and re.search(pattern, plain) is not None

    def is_fetched_by(self, command: str) -> bool:
        """Return True when a command clones or downloads the original repository."""
        fetches = re.search(r"\bgit\s+clone\b|\bcurl\b|\bwget\b|^https?://", command)
        return fetches is not None and self.is_named_in(command.lower())


@once
def published(task: TaskView) -> Published:
    """Return the names under which a goal file of the task may be installed."""
    address = re.sub(r"^(?:\w+\+)?(?:\w+://)?(?:www\.|[\w.-]+@)?", "", task.info.repo_url.strip().lower())
    address = re.sub(r"(?:\.git)?/*$", "", address.replace(":", "/", 1))
    address = "/".join(address.split("/")[:3]).removesuffix(".git") if address.count("/") >= 2 else ""
    repository = address.rpartition("/")[2]
    sure: set[str] = set()
    is_empty = task.repository is None and task.named_repository is not None
    likely: set[str] = {canonicalize_name(repository)} if is_empty else set()
    for one in pairs(task):
        if one.goal_path is None or task.repository is None:
            continue
        above = [folder for folder in one.goal_path.parents if task.repository in folder.parents]
        packages = [folder for folder in above if task.is_file(folder / "__init__.py")]
        if not packages:
            continue  # a script, which no package installs
        likely |= {canonicalize_name(packages[-1].name), canonicalize_name(repository)}
        for folder in (one for one in packages[-1].parents if one.is_relative_to(task.repository)):
            for file in ("setup.py", "setup.cfg", "pyproject.toml"):
                named = _PACKAGE_NAME.search(task.text(folder / file) or "")
                sure |= {canonicalize_name(named[1])} if named else set()
    return Published(frozenset(sure), frozenset(likely - sure - GENERIC - {""}), address)


_PACKAGE_NAME = re.compile(
    r"(?:\bsetup\((?:[^()]|\([^()]*\))*?|^\[(?:metadata|project|tool\.poetry)\]\s*\n(?:(?!\[).*\n)*?)\bname\s*=\s*[\"']?([\w.-]+)",
    re.MULTILINE,
)
"""The name that setup.py, setup.cfg or pyproject.toml gives a package."""
