"""Read a Dockerfile: its instructions, what COPY takes from the task, and which packages it installs.

Our own parser: dockerfile-parse 2.0 takes the lines of a heredoc for instructions (a ``FROM`` in one becomes the base
image) and ends a RUN at an empty continuation line.
"""

from __future__ import annotations

import ast
import fnmatch
import json
import posixpath
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from lmr_author.checks.lookup import clean_path, pairs
from lmr_author.checks.view import FileEntry, TaskView

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


def read(task: TaskView) -> Dockerfile | None:
    """Return the task's Dockerfile; None when it is missing, or too large to be one."""

    def find() -> Dockerfile | None:
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

    return task.memo("dockerfile", find)


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

    def find(pattern: str) -> Iterator[FileEntry]:
        depth = pattern.count("/") + 1
        matches = re.compile(fnmatch.translate(pattern)).match
        for entry in task.entries:
            above = "/".join(entry.relative.split("/", depth)[:depth])
            inside = pattern in ("", "*") or above == pattern or matches(above)
            if inside and entry.kind != "folder" and not _is_ignored(task, entry.relative):
                yield entry

    found: list[FileEntry] = []
    for pattern in map(in_context, sources):
        found += task.memo(("copied", pattern), lambda pattern=pattern: list(find(pattern)))  # type: ignore[misc]
    return found


def _is_ignored(task: TaskView, relative: str) -> bool:
    """Return True when ``.dockerignore`` keeps a file out of the build context."""

    def rules() -> list[str]:
        lines = (line.strip() for line in (task.text(task.task.dockerignore) or "").splitlines())
        return [line for line in lines if line and not line.startswith("#")]

    patterns = task.memo("dockerignore rules", rules)
    if not patterns:
        return False
    from docker.utils.build import PatternMatcher  # most tasks are validated without it

    matcher = task.memo("dockerignore", lambda: PatternMatcher(patterns))
    return bool(matcher.matches(relative))  # type: ignore[arg-type]  # the stubs want a Path


# packages

_PIP = re.compile(
    r"\b(?:(?:pip[\d.]*|uv pip|python[\d.]* -m pip)\s+(?:-\S+\s+)*install|(?:poetry|pdm|rye|uv)\s+add|pipenv\s+install)"
    r"\s+(.*)",
    re.DOTALL,
)
_CONDA = re.compile(r"\b(?:conda|mamba|micromamba)\s+install\s+(.*)", re.DOTALL)
_CONDA_FILE = re.compile(
    r"\b(?:conda|mamba|micromamba)\s+(?:env\s+)?\w+\b.*?\s(?:-f|--file)[= ]\s*(\S+\.ya?ml)"
)
_WITH_VALUE = frozenset(
    """
    -i --index-url --extra-index-url -f --find-links --target -t --timeout -G --group --source -E --extras -c
    --channel -n --name -p --prefix --constraint > >> 2> &>
    """.split()  # noqa: SIM905
)
_NOT_PACKAGES = frozenset(("pip", "setuptools", "wheel", "uv", "python", "cpuonly", "nomkl"))


def normalised(name: str) -> str:
    """Return a package's name as indexes compare it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower().strip("-")


def name_in(requirement: str) -> str:
    """Return the package's name at the beginning of a requirement, as it is written."""
    return re.split(r"[\s=<>!~\[;@#]", requirement, maxsplit=1)[0]


def requirements(task: TaskView, parsed: Dockerfile) -> Iterator[tuple[Instruction, str]]:
    """Yield (instruction, requirement) of everything that pip and conda install; requirements files are opened."""
    for item, command in parsed.commands:
        text = parsed.expand(command)
        if match := _CONDA_FILE.search(text):
            yield from ((item, one) for one in _environment(_text(task, parsed, match[1])))
        elif match := _CONDA.search(text):
            for one in _arguments(task, parsed, match[1]):
                yield item, re.sub(r"^([\w.-]+)=(?!=)", r"\1==", one)
        elif match := _PIP.search(text):
            constraints = re.findall(r"(?<!\S)(?:-c|--constraint)[= ]\s*(\S+)", match[1])
            lines = [line for name in constraints for line in _lines(task, parsed, name) if "==" in line]
            pins = {normalised(name_in(line)): line for line in lines}
            for one in _arguments(task, parsed, match[1]):
                # poetry writes numpy@1.26 for numpy==1.26; @^1.26 pins nothing
                plain = re.sub(r"^([\w.\[\],-]+)@(?=\d)", r"\1==", one)
                yield item, plain if "==" in plain else pins.get(normalised(name_in(plain)), plain)


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


def _environment(text: str) -> Iterator[str]:
    """Yield the requirements of conda's ``environment.yml``, as pip writes them."""
    section = ""
    for line in text.splitlines():
        head, item = re.match(r"(\w+):", line), re.match(r"\s*-\s+[\"']?([^\s\"'#][^\"'#]*)", line)
        section = head[1] if head else section
        plain = item[1].strip().rpartition("::")[2] if item and section == "dependencies" else ""
        if plain and not plain.endswith(":") and normalised(name_in(plain)) not in _NOT_PACKAGES:
            yield re.sub(r"^([\w.-]+)\s*=(?!=)", r"\1==", plain)


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
    src lib libs utils util models model data dataset datasets code core common tests test scripts script
    tools tool evaluate evaluation eval metrics metric losses loss layers modules module nets networks
    training train trainer trainers tasks task optim config configs examples experiments main app helpers
    tokenizers attention
    """.split()  # noqa: SIM905
)
"""Names of folders that say nothing: somebody has published a package of most of them."""
_NOT_PACKAGED = frozenset(
    """
    examples example scripts script tests test docs notebooks experiments benchmarks demo
    """.split()  # noqa: SIM905
)
"""Folders beside a package that are not installed with it, unless they are packages themselves."""


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
        name, text = normalised(name_in(requirement)), requirement.lower()
        if name in self.sure or self.is_named_in(text):
            return True
        egg = re.search(r"[#&]egg=([\w.-]+)", text)
        fork = re.search(r"://[^/\s]+/[^/\s]+/([\w.-]+?)(?:\.git)?(?:[/@#]|$)", text)
        is_fork = fork is not None and self.address.rpartition("/")[2] == fork[1]
        by_egg = egg is not None and normalised(egg[1]) in self.sure | self.likely
        return False if name in self.likely or is_fork or by_egg else None

    def is_named_in(self, text: str) -> bool:
        """Return True when a text in lower case contains the repository's address."""
        plain = text.replace("git@", "").replace(":", "/")
        pattern = rf"(?<![\w-]){re.escape(self.address)}(?![\w-])"
        return bool(self.address) and re.search(pattern, plain) is not None

    def is_fetched_by(self, command: str) -> bool:
        """Return True when a command clones or downloads the original repository."""
        fetches = re.search(r"\bgit\s+clone\b|\bcurl\b|\bwget\b|^https?://", command)
        return fetches is not None and self.is_named_in(command.lower())


def published(task: TaskView) -> Published:
    """Return the names under which a goal file of the task may be installed."""
    return task.memo("published", lambda: _published(task))


def _published(task: TaskView) -> Published:
    address = re.sub(r"^(?:\w+\+)?(?:\w+://)?(?:www\.|[\w.-]+@)?", "", task.info.repo_url.strip().lower())
    address = re.sub(r"(?:\.git)?/*$", "", address.replace(":", "/", 1))
    address = "/".join(address.split("/")[:3]).removesuffix(".git") if address.count("/") >= 2 else ""
    owner, _, repository = address.partition("/")[2].partition("/")
    sure: set[str] = set()
    likely: set[str] = set()
    for one in pairs(task):
        first = clean_path(one.implementation.goal_file).partition("/")[0]
        if task.is_empty and normalised(first) == normalised(repository):
            likely.add(normalised(first))
        if one.goal_path is None or task.repository is None:
            continue
        own = {normalised(name) for name in _own_names(task, task.repository, one.goal_path)}
        folders = [parent for parent in one.goal_path.parents if task.repository in parent.parents]
        packages = [folder.name for folder in folders if task.is_file(folder / "__init__.py")]
        package = packages[-1] if packages else ""  # the outermost
        sure |= own
        if package and package not in GENERIC:
            base = normalised(package)
            likely |= {base, f"py{base}", f"{base}-pytorch", f"pytorch-{base}", f"{base}-torch"}
            likely |= {f"{owner}-{base}", f"{base}-{owner}"} if owner else set()
        if (package or own) and repository and repository not in GENERIC:
            likely.add(normalised(repository))
    return Published(frozenset(sure), frozenset(likely - sure), address)


def _own_names(task: TaskView, repository: Path, goal: Path) -> Iterator[str]:
    """Yield the names of distributions that include a goal file: a package below their build file, not a script."""
    for folder in goal.parents:
        parts = goal.relative_to(folder).parts
        apart = parts[0] in _NOT_PACKAGED and not task.is_file(folder / parts[0] / "__init__.py")
        listed = re.compile(r"py[_-]modules[\"']?\s*=[^\]]*\b" + re.escape(goal.stem) + r"\b")
        for file in ("setup.py", "setup.cfg", "pyproject.toml"):
            text = task.text(folder / file) or ""
            name = _setup_name(text) if file == "setup.py" else _configured_name(text)
            if name and (listed.search(text) if len(parts) == 1 else not apart):
                yield name
        if folder == repository:
            return


def _configured_name(text: str) -> str:
    """Return the name that setup.cfg or pyproject.toml gives."""
    section = re.search(r"(?ms)^\[(?:metadata|project|tool\.poetry)\][ \t]*$(.*?)(?=^\[|\Z)", text)
    match = re.search(r"(?m)^name\s*=\s*[\"']?([\w.-]+)", section[1]) if section else None
    return match[1] if match else ""


def _setup_name(text: str) -> str:
    """Return the name in the call of ``setup``, which may be a constant of the file."""
    try:
        nodes = list(ast.walk(ast.parse(text)))
    except (SyntaxError, ValueError, RecursionError):
        match = re.search(r"\bname\s*=\s*[\"']([\w.-]+)[\"']", text)
        return match[1] if match else ""
    constants = {ast.unparse(node.targets[0]): node.value for node in nodes if isinstance(node, ast.Assign)}
    calls = [
        node for node in nodes if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("setup")
    ]
    for keyword in (keyword for call in calls for keyword in call.keywords if keyword.arg == "name"):
        value = constants.get(keyword.value.id) if isinstance(keyword.value, ast.Name) else keyword.value
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            return value.value
    return ""


@dataclass(frozen=True)
class OwnRequirement:
    """A line of a requirements file or a conda environment that asks for the repository's own package.

    Attributes:
        path: the file, relative to the repository.
        sure: the repository gives itself that name; if not, it follows from its folders.
    """

    path: str
    line: int
    requirement: str
    sure: bool


def own_requirements(task: TaskView) -> Iterator[OwnRequirement]:
    """Yield the requirements of the repository that install the package which contains a goal file."""
    files = re.compile(r"(?i)(?:.*requirements.*\.(?:txt|in)|(?:environment|conda|env).*\.ya?ml)")
    for path, entry in task.repository_files.items():
        listed = entry.suffix == ".txt" and entry.folder.endswith("/requirements")
        if listed or files.fullmatch(entry.name):
            for number, line in enumerate((task.text(task.path(entry)) or "").splitlines(), 1):
                match = re.match(r"^\s*(?:-\s+)?([\"']?)([A-Za-z].*?)\1\s*(?:#.*)?$", line)
                sure = published(task).contains(match[2]) if match else None
                if match and sure is not None:
                    yield OwnRequirement(path, number, match[2], sure)
