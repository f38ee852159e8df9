"""Find the file of the repository that a target names as typed, with "did you mean" over all of it."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from lmr_author import code, files, indexing
from lmr_author.errors import LmrError, SourceError, TargetError
from lmr_author.task import Implementation, Target

MAX_SOURCE = 4 * 1024 * 1024
"""Python files larger than this (bytes) are data, not code to mask: parsing takes 500 times their size."""


def locate(repository: Path, text: str, here: Path) -> Target:
    """Read a target and make its path relative to the repository.

    Args:
        repository: the task's repository folder.
        text: the node id as typed. Its path may be relative to the repository, to the current folder,
            or to the task folder.
        here: the current folder.

    Raises:
        TargetError: no such file (with suggestions), or it lies outside the repository.
    """
    try:
        target = Target.parse(text)
    except TargetError as error:
        raise TargetError(error.message, _meant(repository, text, here) or error.hint) from error
    for candidate in (repository / target.path, here / target.path, repository.parent / target.path):
        resolved = _resolved(candidate, target.path)
        if candidate.is_file() and resolved.is_relative_to(repository.resolve()):
            relative = resolved.relative_to(repository.resolve()).as_posix()
            return Target(relative, target.qualname, target.nth, target.line)
    for candidate in (repository / target.path, here / target.path):
        if _resolved(candidate, target.path).is_file():
            raise TargetError(
                f"{target.path} lies outside the repository {repository.name}/",
                "name a file of the task's repository, relative to it; a link out of it does not count",
            )
        if os.path.lexists(candidate):
            raise TargetError(f"{target.path} is {_kind(candidate)}, not a file", "name a .py file")
    as_typed = text.strip().partition("::")[0]
    if "\\" in as_typed and any((folder / as_typed).is_file() for folder in (repository, here)):
        raise TargetError(
            f"the name of {as_typed} holds a backslash, which info.json cannot name", "rename the file"
        )
    raise TargetError(f"no file {target.path!r} in {repository.name}/", _similar_files(repository, target))


def _meant(repository: Path, text: str, here: Path) -> str:
    """Suggest targets for a text without ``::``: a line or a file of the repository, or a function; "" for none."""
    path, _, line = text.strip().partition(":")
    for name in (path, os.path.relpath(here / path, repository)):
        if name.endswith(".py") and not name.startswith("..") and (repository / name).is_file():
            try:
                definitions = parse(repository, name).definitions
            except LmrError:
                return ""
            if line and not line.isdecimal():
                return _named(repository, name, line)
            if line.isdecimal():
                around = [item for item in definitions if item.line <= int(line) <= item.end_line]
                known = [f"{name}::{item.qualname}:{item.line}" for item in around[-1:]]
            else:
                known = [f"{name}::{item.qualname}" for item in definitions if item.kind == "function"][:3]
            return f"did you mean {' or '.join(known)}?" if known else f"{name} has no function there"
    if ":" in text or "/" in text:
        return ""
    target = Target("", text.strip())
    found = _similar(repository, target)
    found = [item for item in found if item.qualname == target.qualname] or found
    return f"did you mean {' or '.join(item.node_id for item in found[:4])}?" if found else ""


def _named(repository: Path, file: str, name: str) -> str:
    """Suggest a target for ``FILE:NAME``: the function that it names, else those that are spelled alike."""
    target = Target(file, ".".join(part.strip() for part in name.split(":") if part.strip()))
    module = parse(repository, file)
    known = any(item.qualname == target.qualname for item in module.definitions)
    return f"did you mean {target}?" if known else code.suggestion(module, target)


def _resolved(path: Path, text: str) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError) as error:  # a RuntimeError until Python 3.12
        raise TargetError(f"{text} is a symbolic link that leads in a circle", "name a .py file") from error


def _kind(path: Path) -> str:
    if path.is_dir():
        return "a folder"
    if path.is_symlink():
        return "a symbolic link to nothing"
    return "a named pipe" if path.is_fifo() else "a device or a socket"


def parse(repository: Path, path: str) -> code.Module:
    """Parse a file of the repository. Raises SourceError, UnsafePathError or TargetError."""
    file = files.inside(repository, path)
    if file.is_symlink() or not file.is_file():
        raise TargetError(f"{path} is not a regular file", "name the file itself, not a link to it")
    if file.suffix != ".py":
        export = "export the notebook to a script (jupyter nbconvert --to script) and name that"
        hint = export if file.suffix == ".ipynb" else "a target lies in a .py file"
        raise SourceError(f"{path} is not a Python file", hint)
    if file.stat().st_size > MAX_SOURCE:
        raise SourceError(
            f"{path} is larger than {MAX_SOURCE // 2**20} MB", "choose a target in another file"
        )
    return code.Module.parse(file.read_bytes(), path)


def find(repository: Path, target: Target) -> tuple[code.Module, code.Definition]:
    """The file and definition of a target; an unknown name is looked for in the whole repository."""
    module = parse(repository, target.path)
    try:
        return module, code.find(module, target)
    except TargetError as error:
        if any(item.qualname == target.qualname for item in module.definitions):
            raise
        elsewhere = [item.node_id for item in _similar(repository, target) if item.path != target.path]
        hint = error.hint
        if elsewhere and not hint.startswith("did you mean"):
            hint = f"did you mean {' or '.join(elsewhere[:4])}?"
        raise TargetError(error.message, hint) from error


def meant(repository: Path, target: Target, found: Sequence[Implementation]) -> list[Implementation]:
    """Of the masked functions of a target's name those that its number or line means: all when it has none."""
    nth = target.nth
    if target.line is not None:
        nth = code.find(parse(repository, target.path), target).nth
    return [item for item in found if nth is None or item.nth in (None, nth)]


def python_files(repository: Path) -> Iterator[Path]:
    """The Python files of a repository, ``unit_test/`` included; no links, and none above ``MAX_SOURCE``."""
    for path in files.walk(repository):
        if path.suffix == ".py" and path.stat().st_size <= MAX_SOURCE:
            yield path


def _similar(repository: Path, target: Target) -> list[indexing.Entry]:
    """Definitions of the target's last name anywhere in the repository, the likeliest first, else of similar names."""
    index = indexing.build(repository)

    def unlike(entry: indexing.Entry) -> tuple[bool, float]:
        alike = difflib.SequenceMatcher(None, entry.path, target.path).ratio()
        return entry.qualname != target.qualname, -alike

    return sorted(index.named(target.name), key=unlike) or index.similar(target.name)


def _similar_files(repository: Path, target: Target) -> str:
    found = [item.node_id for item in _similar(repository, target)]
    if found:
        return f"did you mean {' or '.join(found[:4])}?"
    known = [path.relative_to(repository).as_posix() for path in python_files(repository)]
    same_name = [path for path in known if path.rpartition("/")[2] == target.path.rpartition("/")[2]]
    close = same_name + difflib.get_close_matches(target.path, known, 3, 0.7)
    if close:
        return f"did you mean {' or '.join(dict.fromkeys(close))}?"
    return "paths are relative to the repository folder"
