"""What an image installs, and under which names the repository itself is published."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

from lmr_author.checks import dockerfile
from lmr_author.checks.dockerfile import Dockerfile, Instruction
from lmr_author.checks.lookup import pairs
from lmr_author.checks.view import TaskView

_PIP = re.compile(r"\b(?:pip3?|uv pip|python3? -m pip)\s+(?:[\w-]+=?\S*\s+)*?install\s+(.*)", re.DOTALL)


def requirements(view: TaskView, parsed: Dockerfile) -> Iterator[tuple[Instruction, str]]:
    """(instruction, requirement) of everything that pip installs, requirements files of the task opened."""
    for item, command in parsed.commands:
        match = _PIP.search(parsed.expand(command))
        if match is None:
            continue
        try:
            words = shlex.split(match[1], comments=True)
        except ValueError:
            words = match[1].split()
        skip = False
        for number, word in enumerate(words):
            if skip:
                skip = False
            elif word in ("-r", "--requirement"):
                skip = True
                if number + 1 < len(words):
                    yield from ((item, line) for line in _file_requirements(view, parsed, words[number + 1]))
            elif word.startswith(("-r", "--requirement=")) and len(word) > 2:
                yield from (
                    (item, line)
                    for line in _file_requirements(view, parsed, re.sub(r"^(-r|--requirement=)", "", word))
                )
            elif word in (
                "-e",
                "--editable",
                "-c",
                "-i",
                "--index-url",
                "--extra-index-url",
                "-f",
                "--find-links",
                "--target",
                "-t",
                "--timeout",
            ):
                skip = True
            elif not word.startswith(("-", ".", "/", ">", "2>", "$", "\\")) and word not in (
                "pip",
                "setuptools",
                "wheel",
                "uv",
            ):
                yield item, word


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
    return [line for line in lines if line and not line.startswith(("#", "-", ".", "/"))]


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


def package_names(view: TaskView) -> dict[str, bool]:
    """Names under which the goal file may be published; True for those the repository gives itself."""
    names: dict[str, bool] = {}
    if view.repository is None:
        return names
    for one in pairs(view):
        if one.goal_path is None:
            continue
        parts = list(one.goal_path.relative_to(view.repository).parts[:-1])
        for depth, part in enumerate(parts):
            folder = view.repository.joinpath(*parts[: depth + 1])
            if (folder / "__init__.py").is_file():
                # Only a telling name: `utils` or `src` is also the name of somebody's package.
                if part not in GENERIC:
                    names.setdefault(normalised(part), False)
                break
    patterns = (
        ("setup.py", r"\bname\s*=\s*[\"']([\w.-]+)[\"']"),
        ("setup.cfg", r"(?m)^name\s*=\s*([\w.-]+)"),
        ("pyproject.toml", r"(?m)^name\s*=\s*[\"']([\w.-]+)[\"']"),
    )
    for file, pattern in patterns:
        match = re.search(pattern, view.text(view.repository / file) or "")
        if match:
            names[normalised(match[1])] = True
    return names
