"""The packages that an image installs, and the published package that contains the task's own code."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lmr_author.checks import dockerfile
from lmr_author.checks.dockerfile import Dockerfile, Instruction
from lmr_author.checks.lookup import clean_path
from lmr_author.checks.pairing import pairs
from lmr_author.checks.view import TaskView

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
GENERIC = frozenset(
    """
    src lib libs utils util models model data dataset datasets code core common tests test scripts script
    tools tool evaluate evaluation eval metrics metric losses loss layers modules module nets networks
    training train trainer trainers tasks task optim config configs examples experiments main app helpers
    tokenizers attention
    """.split()  # noqa: SIM905
)
"""Names of folders that say nothing: somebody has published a package of most of them."""


def requirements(task: TaskView, parsed: Dockerfile) -> Iterator[tuple[Instruction, str]]:
    """Yield (instruction, requirement) of everything that pip and conda install; requirements files are opened."""
    for item, command in parsed.commands:
        text = parsed.expand(command)
        if match := _CONDA_FILE.search(text):
            yield from ((item, one) for one in _environment(_text(task, parsed, match[1])))
        elif match := _CONDA.search(text):
            yield from (
                (item, re.sub(r"^([\w.-]+)=(?!=)", r"\1==", one))
                for one in _arguments(task, parsed, match[1])
            )
        elif match := _PIP.search(text):
            # poetry writes numpy@1.26 for numpy==1.26; @^1.26 pins nothing
            found = (
                re.sub(r"^([\w.\[\],-]+)@(?=\d)", r"\1==", one) for one in _arguments(task, parsed, match[1])
            )
            files = re.findall(r"(?<!\S)(?:-c|--constraint)[= ]\s*(\S+)", match[1])
            pins = {
                package_of(line): line
                for name in files
                for line in _lines(task, parsed, name)
                if "==" in line
            }
            yield from ((item, one if "==" in one else pins.get(package_of(one), one)) for one in found)


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
    """Yield what conda's ``environment.yml`` asks for, as pip writes it."""
    section = ""
    for line in text.splitlines():
        head, item = re.match(r"(\w+):", line), re.match(r"\s*-\s+[\"']?([^\s\"'#][^\"'#]*)", line)
        section = head[1] if head else section
        plain = item[1].strip().rpartition("::")[2] if item and section == "dependencies" else ""
        if plain and not plain.endswith(":") and package_of(plain) not in _NOT_PACKAGES:
            yield re.sub(r"^([\w.-]+)\s*=(?!=)", r"\1==", plain)


def _text(task: TaskView, parsed: Dockerfile, name: str) -> str:
    """Return the text of a file of the image, looked up by its name in the task; "" when there is none."""
    wanted = name.rpartition("/")[2]
    for _, sources, target in parsed.copies:
        files = dockerfile.copied(task, sources)
        if len(files) == 1 and target.rpartition("/")[2] == wanted:  # copied under another name
            return task.text(task.path(files[0])) or ""
    inside = [entry for _, sources, _ in parsed.copies for entry in dockerfile.copied(task, sources)]
    found = [entry for entry in inside if entry.name == wanted] or [*task.named(wanted)]
    nearest = min(found, key=lambda entry: entry.relative.count("/"), default=None)
    return (task.text(task.path(nearest)) if nearest else None) or ""


def normalised(name: str) -> str:
    """Return a package's name as indexes compare it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower().strip("-")


def name_in(requirement: str) -> str:
    """Return the package's name at the beginning of a requirement, as it is written."""
    return re.split(r"[\s=<>!~\[;@#]", requirement, maxsplit=1)[0]


def package_of(requirement: str) -> str:
    """Return the normalised name of the package that a requirement asks for."""
    return normalised(name_in(requirement))


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
        name, text = package_of(requirement), requirement.lower()
        if name in self.sure or self.is_named_in(text):
            return True
        egg = re.search(r"[#&]egg=([\w.-]+)", text)
        fork = re.search(r"://[^/\s]+/[^/\s]+/([\w.-]+?)(?:\.git)?(?:[/@#]|$)", text)
        known = self.sure | self.likely
        is_fork = fork is not None and self.address.rpartition("/")[2] == fork[1]
        return False if name in self.likely or is_fork or (egg and normalised(egg[1]) in known) else None

    def is_named_in(self, text: str) -> bool:
        """Return whether a text in lower case holds the repository's address."""
        plain = text.replace("git@", "").replace(":", "/")
        return (
            bool(self.address)
            and re.search(rf"(?<![\w-]){re.escape(self.address)}(?![\w-])", plain) is not None
        )

    def is_fetched_by(self, command: str) -> bool:
        """Return whether a command clones or downloads the original repository."""
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
        package = _package(task.repository, one.goal_path)
        sure |= own
        if package and package not in GENERIC:
            base = normalised(package)
            likely |= {base, f"py{base}", f"{base}-pytorch", f"pytorch-{base}", f"{base}-torch"}
            likely |= {f"{owner}-{base}", f"{base}-{owner}"} if owner else set()
        if (package or own) and repository and repository not in GENERIC:
            likely.add(normalised(repository))
    return Published(frozenset(sure), frozenset(likely - sure), address)


def _package(repository: Path, goal: Path) -> str:
    """Return the top-level package that a goal file is in; "" for a script."""
    parents = [
        folder for folder in goal.parents if folder.is_relative_to(repository) and folder != repository
    ]
    return next((folder.name for folder in reversed(parents) if (folder / "__init__.py").is_file()), "")


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


_NOT_PACKAGED = frozenset(
    """
    examples example scripts script tests test docs notebooks experiments benchmarks demo
    """.split()  # noqa: SIM905
)
"""Folders beside a package that are not installed with it, unless they are packages themselves."""


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
    constants = {
        target.id: node.value
        for node in nodes
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
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
        sure: whether the repository gives itself that name; if not, it follows from its folders.
    """

    path: str
    line: int
    requirement: str
    sure: bool


def own_requirements(task: TaskView) -> Iterator[OwnRequirement]:
    """Yield the requirements of the repository that install the package which contains a goal file."""
    files = re.compile(r"(?i)(?:.*requirements.*\.(?:txt|in)|(?:environment|conda|env).*\.ya?ml)")
    for entry in task.repository_entries:
        listed = entry.suffix == ".txt" and entry.folder.endswith("/requirements")
        if entry.kind == "file" and (listed or files.fullmatch(entry.name)):
            for number, line in enumerate((task.text(task.path(entry)) or "").splitlines(), 1):
                match = re.match(r"^\s*(?:-\s+)?([\"']?)([A-Za-z].*?)\1\s*(?:#.*)?$", line)
                sure = published(task).contains(match[2]) if match else None
                if match and sure is not None:
                    yield OwnRequirement(task.in_repository(entry), number, match[2], sure)
