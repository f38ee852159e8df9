"""Read versions that a README, or a script of installation commands, names. They are hints; nothing is executed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from lmr_author.core import files
from lmr_author.core.errors import LmrError
from lmr_author.runtime.environment.needs import DeclaredNeed
from lmr_author.runtime.environment.requirements import Manifest, join_lines, parse_requirement, read_text

_INSTALLS = re.compile(r"\b(?:pip[\d.]*|conda|mamba|micromamba) (?:install|create)\b(.*)")
_VERSIONED = re.compile(r"[A-Za-z][\w.-]*(?:\[[\w,-]*\])?[=<>~!]{1,2}\d[\w.*+=,<>!]*")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_IN_PROSE = re.compile(r"(?<![\w=/.-])([A-Za-z][\w.-]*?)`?\s?(==)\s?`?v?(\d+(?:\.\d+)+)(?!\.?\w|[+*])")
"""A package and its exact version, as in "tested on `torch==2.0.1`"; no development or local version."""
_LIST_ITEM = re.compile(
    r"^\s*[-*+]\s+[`*]*([A-Za-z][\w.-]*)[`*]*\s*(==|>=|=|:)?\s*`?v?(\d+(?:\.\d+)+)`?\.?\s*$"
)
"""An item of a list with a package and its version alone, as in "- PyTorch 1.7.1"."""


def read_readme(root: Path, path: str) -> Manifest:
    """Read the versions in installation commands, list items and prose; a ``.sh`` file is all commands."""
    manifest = Manifest(path)
    try:
        lines = list(enumerate(read_text(files.inside(root, path)).splitlines(), 1))
    except LmrError as error:
        manifest.problems.append(f"{path}: {error.message}")
        return manifest
    is_script = path.endswith(".sh")
    for number, line in join_lines(lines if is_script else _fenced(lines)):
        for command in re.split(r"&&|;", line.partition(" #")[0]):
            if installs := _INSTALLS.search(command):
                for word in installs[1].replace("'", " ").replace('"', " ").split():
                    if _VERSIONED.fullmatch(word):
                        manifest.add_conda(word, f"{path}:{number}")
    in_commands, manifest.declared = manifest.declared, []
    manifest.stated = [] if is_script else list(_stated(lines, path))
    manifest.stated += [replace(each, mentioned=True) for each in in_commands]
    return manifest


def _fenced(lines: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    is_fenced = False
    for number, line in lines:
        if re.match(r"^\s*(```|~~~)", line):
            is_fenced = not is_fenced
        elif is_fenced:
            yield number, line.strip()


def _stated(lines: Iterable[tuple[int, str]], path: str) -> Iterator[DeclaredNeed]:
    for number, line in lines:
        text = _LINK.sub(r"\1", line)
        match = _LIST_ITEM.match(text)
        for name, operator, version in [match.groups()] if match else _IN_PROSE.findall(text):
            package = "torch" if name.lower() == "pytorch" else name
            bound = f"{package}{'>=' if operator == '>=' else '=='}{version}"
            requirement = parse_requirement(bound, f"{path}:{number}")
            if isinstance(requirement, DeclaredNeed):
                yield replace(requirement, mentioned=True)
