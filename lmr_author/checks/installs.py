"""What an image installs."""

from __future__ import annotations

import itertools
import re
import shlex
from collections.abc import Iterator

from lmr_author.checks import dockerfile
from lmr_author.checks.dockerfile import Dockerfile, Instruction
from lmr_author.checks.view import TaskView

_PIP = re.compile(r"\b(?:pip3?|uv pip|python3? -m pip)\s+(?:[\w-]+=?\S*\s+)*?install\s+(.*)", re.DOTALL)

_ADDED = re.compile(r"\b(?:(?:poetry|pdm|rye|uv)\s+add|pipenv\s+install)\s+(.*)", re.DOTALL)

_CONDA = re.compile(r"\b(?:conda|mamba|micromamba)\s+install\s+(.*)", re.DOTALL)

_CONDA_FILE = re.compile(
    r"\b(?:conda|mamba|micromamba)\s+(?:env\s+)?(?:create|update|install)\b.*?\s(?:-f|--file)[= ]\s*(\S+\.ya?ml)"
)

_REDIRECTION = re.compile(r"(?:\d|&)?>>?&?(?:\d$)?")

_ADDRESS = re.compile(r"[\w.]+\+\w+://")
_WITH_VALUE = frozenset(
    """
    -i --index-url --extra-index-url -f --find-links --target -t --timeout -G --group --source -E --extras
    """.split()  # noqa: SIM905
)
_INSTALLERS = frozenset(("pip", "setuptools", "wheel", "uv"))
_CHOICES = frozenset(("cpuonly", "nomkl"))
"""Packages of conda without content: they choose how others were built."""


def requirements(view: TaskView, parsed: Dockerfile) -> Iterator[tuple[Instruction, str]]:
    """(instruction, requirement) of everything that pip installs, requirements files of the task opened."""
    for item, command in parsed.commands:
        text = parsed.expand(command)
        conda = _CONDA.search(text)
        if conda is not None:
            yield from ((item, requirement) for requirement in _conda(conda[1].split()))
        described = _CONDA_FILE.search(text)
        if described is not None:
            found = _environment(_text(view, parsed, described[1]))
            yield from ((item, requirement) for requirement in found)
        added = _ADDED.search(text)
        match = added or _PIP.search(text)
        if match is None:
            continue
        try:
            words = shlex.split(match[1], comments=True)
        except ValueError:
            words = match[1].split()
        words = [_AT_VERSION.sub(_as_pip, word) for word in words] if added else words
        lines: list[str] = []
        constraints: list[str] = []
        for kind, word in _arguments(words):
            if kind == "package":
                lines.append(word)
            else:
                (constraints if kind == "constraint" else lines).extend(_lines(view, parsed, word))
        yield from ((item, line) for line in _constrained(lines, constraints))


def copies_a_folder(parsed: Dockerfile) -> bool:
    """Whether pip installs a folder of the image as a copy (without ``-e``): the repository, as a rule."""
    for _, command in parsed.commands:
        match = _PIP.search(parsed.expand(command))
        words = match[1].split() if match else []
        before = ["", *words]
        if any(
            _FOLDER.fullmatch(word.strip("'\"")) and last not in _TAKES_A_PATH
            for last, word in zip(before, words, strict=False)
        ):
            return True
    return False


def installs_a_folder(view: TaskView, parsed: Dockerfile) -> bool:
    """Whether pip may install a folder of the image: as a copy, in place, or by a line of a requirements file."""
    return copies_a_folder(parsed) or any(
        _IN_PLACE.search(match[1])
        or any(
            _FOLDER_LINE.search(_text(view, parsed, name))
            for kind, name in _arguments(match[1].split())
            if kind == "file"
        )
        for _, command in parsed.commands
        if (match := _PIP.search(parsed.expand(command)))
    )


_IN_PLACE = re.compile(r"(?:^|\s)(?:-e\b|--editable|[\"']?\.{1,2}[/\[\"']|\$)")
_FOLDER_LINE = re.compile(r"^\s*(?:-e\b|--editable|\.|/|file:)|@\s*(?:file:|\.)", re.MULTILINE)
_FOLDER = re.compile(r"\.|\.?/(?!.*\.(?:whl|txt|gz|zip|ya?ml|in)$)[^\s;&|>]*")
_TAKES_A_PATH = frozenset(
    {"-e", "--editable", "-r", "--requirement", "-c", "--constraint", ">", ">>", *_WITH_VALUE}
)

_AT_VERSION = re.compile(r"^([\w.-]+(?:\[[\w,.-]*\])?)@([~^]?)(?=\d)")


def _as_pip(match: re.Match[str]) -> str:
    """``numpy@1.26``, as poetry takes it, the way pip has it: ``numpy==1.26``; ``@^1.26`` is no pin."""
    return f"{match[1]}{'>=' if match[2] else '=='}"


def _conda(words: list[str]) -> Iterator[str]:
    """What ``conda install`` is given, as pip writes it: ``numpy=1.26`` is ``numpy==1.26``."""
    rest = iter(words)
    for word in rest:
        if word in ("-c", "--channel", "-n", "--name", "-p", "--prefix", "--file"):
            next(rest, None)
        elif not word.startswith("-"):
            plain = word.strip("\"'").rpartition("::")[2]
            if plain not in _CHOICES:
                yield re.sub(r"^([\w.-]+)=(?!=)", r"\1==", plain)


def _arguments(words: list[str]) -> Iterator[tuple[str, str]]:
    """("file", name), ("constraint", name) and ("package", requirement) of pip's arguments."""
    rest = iter(words)
    for word in rest:
        if word in ("-r", "--requirement"):
            yield from (("file", name) for name in itertools.islice(rest, 1))
        elif word.startswith(("-r", "--requirement=")):
            yield "file", re.sub(r"^(-r|--requirement=)", "", word)
        elif word in ("-e", "--editable"):
            # A folder is the repository itself, which is masked; an address is what is installed.
            yield from (("package", name) for name in itertools.islice(rest, 1) if _ADDRESS.match(name))
        elif word in ("-c", "--constraint"):
            yield from (("constraint", name) for name in itertools.islice(rest, 1))
        elif _REDIRECTION.fullmatch(word):
            if not word[-1].isdigit():
                next(rest, None)
        elif word in _WITH_VALUE:
            next(rest, None)
        elif not word.startswith(("-", ".", "/", ">", "2>", "$", "\\")) and word not in _INSTALLERS:
            yield "package", word


def _lines(view: TaskView, parsed: Dockerfile, name: str, depth: int = 0) -> list[str]:
    """The requirements of a file that the image installs, with those of the files that it names."""
    lines = (
        re.sub(r"\s#.*", "", line).strip().rstrip("\\").strip()
        for line in _text(view, parsed, name).splitlines()
    )
    found = []
    for line in lines:
        other = re.match(r"(?:-r|--requirement)[ =]?\s*(\S+)", line)
        bare = re.sub(r"^(?:-e|--editable)[ =]\s*(?=[\w.]+\+)", "", line)
        if other and depth < 5:
            found += _lines(view, parsed, other[1], depth + 1)
        elif bare and not bare.startswith(("#", "-", ".", "/")):
            found.append(bare)
    return found


def _constrained(lines: list[str], constraints: list[str]) -> Iterator[str]:
    """Requirements, those that a constraint pins replaced by it."""
    pins = {package_of(line): line for line in constraints if "==" in line}
    yield from (line if "==" in line else pins.get(package_of(line), line) for line in lines)


def _environment(text: str) -> Iterator[str]:
    """What conda's ``environment.yml`` asks for, as pip writes it; Python itself and pip left out."""
    section = ""
    for line in text.splitlines():
        head = re.match(r"(\w+):", line)
        section = head[1] if head else section
        item = re.match(r"\s*-\s+[\"']?([^\s\"'#][^\"'#]*)", line)
        if section != "dependencies" or item is None or item[1].rstrip().endswith(":"):
            continue
        plain = item[1].strip().rpartition("::")[2]
        if package_of(plain) not in ("python", "pip", *_CHOICES):
            yield re.sub(r"^([\w.-]+)\s*=(?!=)", r"\1==", plain)


def _text(view: TaskView, parsed: Dockerfile, name: str) -> str:
    """The text of a file that the image has, looked up by its name in the task; "" when there is none."""
    wanted = name.rpartition("/")[2]
    options = [entry for entry in view.named(wanted) if entry.kind == "file"]
    from_copies = [
        entry
        for _, sources in parsed.copies
        for entry in dockerfile.copied(view, sources)
        if entry.name == wanted
    ]
    renamed = [
        entry
        for item, sources in parsed.copies
        if len(sources) == 1 and parsed.target(item).rpartition("/")[2] == wanted
        for entry in dockerfile.copied(view, sources)
        if dockerfile.in_context(sources[0]) == entry.relative
    ]
    chosen = sorted(renamed or from_copies or options, key=lambda entry: entry.relative.count("/"))
    return (view.text(view.path(chosen[0])) if chosen else None) or ""


def normalised(name: str) -> str:
    """A package's name as indexes compare it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower().strip("-")


def name_in(requirement: str) -> str:
    """The package's name at the beginning of a requirement, as it is written."""
    return re.split(r"[\s=<>!~\[;@#]", requirement, maxsplit=1)[0]


def package_of(requirement: str) -> str:
    """The package that a requirement asks for, by its normalised name."""
    return normalised(name_in(requirement))


GENERIC = frozenset(
    [
        "src",
        "lib",
        "libs",
        "utils",
        "util",
        "models",
        "model",
        "data",
        "dataset",
        "datasets",
        "code",
        "core",
        "common",
        "tests",
        "test",
        "scripts",
        "script",
        "tools",
        "tool",
        "evaluate",
        "evaluation",
        "eval",
        "metrics",
        "metric",
        "losses",
        "loss",
        "layers",
        "modules",
        "module",
        "nets",
        "networks",
        "training",
        "train",
        "trainer",
        "trainers",
        "tasks",
        "task",
        "optim",
        "config",
        "configs",
        "examples",
        "experiments",
        "main",
        "app",
        "helpers",
        "tokenizers",
        "attention",
    ]
)
"""Names of folders that say nothing: somebody has published a package of most of them."""
