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

_CONDA = re.compile(r"\b(?:conda|mamba|micromamba)\s+install\s+(.*)", re.DOTALL)

_ADDRESS = re.compile(r"[\w.]+\+\w+://")
_WITH_VALUE = frozenset(
    ("-c", "-i", "--index-url", "--extra-index-url", "-f", "--find-links", "--target", "-t", "--timeout")
)
_INSTALLERS = frozenset(("pip", "setuptools", "wheel", "uv"))


def requirements(view: TaskView, parsed: Dockerfile) -> Iterator[tuple[Instruction, str]]:
    """(instruction, requirement) of everything that pip installs, requirements files of the task opened."""
    for item, command in parsed.commands:
        conda = _CONDA.search(parsed.expand(command))
        if conda is not None:
            yield from ((item, requirement) for requirement in _conda(conda[1].split()))
        match = _PIP.search(parsed.expand(command))
        if match is None:
            continue
        try:
            words = shlex.split(match[1], comments=True)
        except ValueError:
            words = match[1].split()
        for kind, word in _arguments(words):
            if kind == "file":
                yield from ((item, line) for line in _file_requirements(view, parsed, word))
            else:
                yield item, word


def _conda(words: list[str]) -> Iterator[str]:
    """What ``conda install`` is given, as pip writes it: ``numpy=1.26`` is ``numpy==1.26``."""
    rest = iter(words)
    for word in rest:
        if word in ("-c", "--channel", "-n", "--name", "-p", "--prefix", "--file"):
            next(rest, None)
        elif not word.startswith("-"):
            plain = word.strip("\"'").rpartition("::")[2]
            yield re.sub(r"^([\w.-]+)=(?!=)", r"\1==", plain)


def _arguments(words: list[str]) -> Iterator[tuple[str, str]]:
    """("file", name) of each requirements file and ("package", requirement) of pip's arguments."""
    rest = iter(words)
    for word in rest:
        if word in ("-r", "--requirement"):
            yield from (("file", name) for name in itertools.islice(rest, 1))
        elif word.startswith(("-r", "--requirement=")):
            yield "file", re.sub(r"^(-r|--requirement=)", "", word)
        elif word in ("-e", "--editable"):
            # A folder is the repository itself, which is masked; an address is what is installed.
            yield from (("package", name) for name in itertools.islice(rest, 1) if _ADDRESS.match(name))
        elif word in _WITH_VALUE:
            next(rest, None)
        elif not word.startswith(("-", ".", "/", ">", "2>", "$", "\\")) and word not in _INSTALLERS:
            yield "package", word


def _file_requirements(view: TaskView, parsed: Dockerfile, name: str) -> list[str]:
    """The requirements of a file that the image installs, looked up by its name in the task."""
    wanted = name.rpartition("/")[2]
    options = [entry for entry in view.entries if entry.kind == "file" and entry.name == wanted]
    from_copies = [
        entry
        for _, sources in parsed.copies
        for entry in dockerfile.copied(view, sources)
        if entry.name == wanted
    ]
    chosen = sorted(from_copies or options, key=lambda entry: entry.relative.count("/"))
    text = view.text(view.path(chosen[0])) if chosen else None
    lines = (re.sub(r"\s#.*", "", line).strip().rstrip("\\").strip() for line in (text or "").splitlines())
    bare = (re.sub(r"^(?:-e|--editable)[ =]\s*(?=[\w.]+\+)", "", line) for line in lines)
    return [line for line in bare if line and not line.startswith(("#", "-", ".", "/"))]


def normalised(name: str) -> str:
    """A package's name as indexes compare it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower().strip("-")


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
