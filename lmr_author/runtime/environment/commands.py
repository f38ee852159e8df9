"""Read installation commands of a README or a script, and versions that its prose names; nothing is executed."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from lmr_author.core import files
from lmr_author.core.errors import LmrError
from lmr_author.core.texts import printable
from lmr_author.runtime.environment.needs import Declared
from lmr_author.runtime.environment.requirements import (
    ELSEWHERE,
    Manifest,
    join_lines,
    parse_requirement,
    pip_line,
    read_text,
)

_PROMPT = re.compile(r"^\s*(?:[$>%]\s+|\(\w[\w.-]*\)\s*\$?\s+)?(?:sudo (?:-\S+ )*)?[!%]?")
"""Before a command: a shell's or an environment's prompt, ``sudo``, a notebook's ``!``."""
_PIP = re.compile(r"^(?:python[\d.]* -m )?(?:uv )?pip[\d.]* (?:-\S+ )*install\b(.*)$")
_CONDA = re.compile(
    r"^(?:micro)?(?:conda|mamba) (?P<verb>install|create|env create|env update)\b(?P<words>.*)$"
)
_PIP_WITH_VALUE = re.compile(
    r"-[refitC]|--(requirement|editable|find-links|index-url|extra-index-url|target|prefix|python|trusted-host"
    r"|config-settings|global-option|no-binary|only-binary|index|torch-backend)"
)
"""Options that are followed by a value."""
_CONDA_WITH_VALUE = re.compile(r"-f|-[a-zA-Z]*[cnp]|--(file|channel|name|prefix|solver)")
"""Short options may be joined, as in `conda create -yn NAME`; the last one takes the value."""
_PLACEHOLDER = re.compile(r"[$<>{}*]|^\.{3}|…")
_COMPARISON = re.compile(r"(?<=[\w\]])[<>]=?\s*\d[\w.]*")

_IN_PROSE = re.compile(r"(?<![\w=/.-])([A-Za-z][\w.-]*?)`?\s?(==)\s?`?v?(\d+(?:\.\d+)+)(?!\.?\w|[+*])")
"""A package and its exact version, as in "tested on `torch==2.0.1`"; no development or local version."""
_LIST_ITEM = re.compile(r"^\s*[-*+]\s+`?([A-Za-z][\w.-]*)`?\s*(==|>=|=|:)?\s*`?v?(\d+(?:\.\d+)+)`?\.?\s*$")
"""An item of a list with a package and its version alone, as in "- PyTorch 1.7.1"."""


def read_readme(root: Path, path: str) -> Manifest:
    """Read a README, or a script of such commands. Its requirements are suggestions."""
    manifest = Manifest(path)
    try:
        lines = list(enumerate(read_text(files.inside(root, path)).splitlines(), 1))
    except LmrError as error:
        manifest.problems.append(f"{path}: {error.message}")
        return manifest
    is_script = path.endswith(".sh")
    if not is_script:
        manifest.stated += _stated(lines, path)
    for number, line in join_lines(lines if is_script else _code_of(lines)):
        for command in re.split(r"&&|\|\||;(?![^'\"]*['\"])|\|", line):
            _read_command(manifest, " ".join(_PROMPT.sub("", command).split()), f"{path}:{number}")
    manifest.declared, manifest.suggested = [], manifest.declared
    return manifest


def _code_of(lines: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Yield the commands of a README: fenced, indented, or in backticks."""
    is_fenced = False
    for number, line in lines:
        if re.match(r"^\s*(```|~~~)", line):
            is_fenced = not is_fenced
        elif is_fenced or re.match(r"^( {4}|\t| {0,3}\$ )\s*\S", line):
            yield number, line.strip()
        else:
            for text in re.findall(r"`{1,2}([^`\n]* install [^`\n]*)`{1,2}", line):
                yield number, text


def _stated(lines: Iterable[tuple[int, str]], path: str) -> Iterator[Declared]:
    for number, line in lines:
        match = _LIST_ITEM.match(line)
        for name, operator, version in [match.groups()] if match else _IN_PROSE.findall(line):
            package = "torch" if name.lower() == "pytorch" else name
            text = f"{package}{'>=' if operator == '>=' else '=='}{version}"
            requirement = parse_requirement(text, f"{path}:{number}")
            if isinstance(requirement, Declared):
                yield replace(requirement, mentioned=True)


def _read_command(manifest: Manifest, command: str, origin: str) -> None:
    if pip := _PIP.match(command):
        _read_pip(manifest, _words(pip[1]), origin)
    elif conda := _CONDA.match(command):
        _read_conda(manifest, _words(conda["words"]), origin, is_file=conda["verb"].startswith("env"))


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text, comments=True)
    except ValueError:
        return text.partition(" #")[0].split()


def _arguments(words: list[str], with_value: re.Pattern[str]) -> Iterator[tuple[str, str]]:
    """Yield the options that have a value, with it, and other words after an empty option."""
    remaining = iter(words)
    for word in remaining:
        if with_value.fullmatch(word):
            yield word, next(remaining, "")
        elif not word.startswith("-"):
            yield "", word


def _include(manifest: Manifest, name: str) -> None:
    if name and printable(name) == name:
        manifest.includes.append(name.removeprefix("./"))


def _read_pip(manifest: Manifest, words: list[str], origin: str) -> None:
    for option, value in _arguments(words, _PIP_WITH_VALUE):
        if option in ("-r", "--requirement"):
            _include(manifest, value)
        elif option in ("-e", "--editable"):
            _add(manifest, f"-e {value}", origin)
        elif not option and not _PLACEHOLDER.search(_COMPARISON.sub("", value)):
            _add(manifest, value, origin)


def _add(manifest: Manifest, line: str, origin: str) -> None:
    requirement = pip_line(line, origin)
    # This repository itself (`.`) is nothing to report, nor is a word that is no requirement.
    if isinstance(requirement, Declared) or requirement.kind in ELSEWHERE:
        manifest.add(requirement)


def _read_conda(manifest: Manifest, words: list[str], origin: str, *, is_file: bool) -> None:
    for option, value in _arguments(words, _CONDA_WITH_VALUE):
        if option in ("-f", "--file"):
            _include(manifest, value)
        elif not option and not is_file:
            manifest.add_conda(value, origin)
