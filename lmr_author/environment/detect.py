"""Detect what a repository needs: a pure function of its files and its commit's date."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path

from lmr_author import files, staging
from lmr_author.environment import gpu, imports, places
from lmr_author.environment.choosing import choose
from lmr_author.environment.code import Code, read_code
from lmr_author.environment.contradictions import contradictions
from lmr_author.environment.own_version import version_of
from lmr_author.environment.parsing import wheel_version
from lmr_author.environment.python_version import asked_for
from lmr_author.environment.recipe import (
    BUILT_WITH_TORCH,
    Declared,
    Fact,
    Manifest,
    Recipe,
    Unused,
    applies,
)
from lmr_author.environment.system import packages_for, unknown
from lmr_author.indexing.records import NOT_PARSED
from lmr_author.model import TORCH_FAMILY


def detect(repo: Path, commit_date: datetime | None = None) -> Recipe:
    """What the repository in the folder ``repo`` needs.

    Declared requirements are taken from its top folder: requirements files first, then conda's
    environment, pyproject.toml, setup.cfg, setup.py and Pipfile; what an earlier file pins, a later one does
    not change. What the main code imports at once without declaring it is added; where nothing is
    declared, everything that the code imports is used. README, Dockerfile and CI only help to choose versions.
    """
    found = places.read_all(repo)
    code = read_code(repo)
    deeper = places.deeper(repo)
    parts = sorted({path.rpartition("/")[0] for path in deeper})
    project = next((manifest.project for manifest in found if manifest.project), "")
    unused = _unused(found, code, parts, project)
    suggested = _suggested(found, unused, project)
    chosen = choose(found, code, suggested, project, parts)
    kept, own = _without_own(chosen.declared, project)
    clashes = contradictions((item for manifest in found for item in manifest.declared), suggested)
    pythons = tuple(Fact(item.python, item.python_origin) for item in found if item.python)
    python = asked_for(found)
    apt = [fact for manifest in found for fact in manifest.apt]
    cuda = [*gpu.extensions(repo), *(fact for file in code.files for fact in file.cuda)]
    problems = [problem for manifest in found for problem in manifest.problems]
    problems += [*map(str, unused), *chosen.problems, *map(str, clashes), *own, *_not_used(deeper)]
    problems += _cuda_sources(repo, cuda) + _said_of_code(code, parts, kept) + unknown(apt)
    return Recipe(
        requirements=tuple(item for item in kept if item.name not in TORCH_FAMILY and not _nvidia(item)),
        torch=tuple(item for item in kept if item.name in TORCH_FAMILY),
        python=python.text,
        python_origin=python.origin,
        project=project,
        own_version=version_of(repo) if any(project in file.asked for file in code.files) else "",
        devel=_devel(kept, cuda),
        source_folder=staging.source_folder(repo),
        date=commit_date,
        sources=tuple(item.path for item in found if _says_something(item)),
        problems=tuple(dict.fromkeys(problems)),
        constraints=_constraints(found, project),
        pythons=pythons,
        suggested=_left(suggested, kept),
        unused=tuple(unused),
        contradictions=clashes,
        cuda=tuple(cuda),
        system=packages_for(kept, unused, apt),
        downloads=tuple(item for file in code.files for item in file.downloads),
        imported=imports.imported_names(code, parts, kept),
    )


def _not_used(deeper: Sequence[str]) -> list[str]:
    """What is said of requirements that are for a part of the repository."""
    return [f"not used, for a part of the repository only: {places.some(deeper)}"] if deeper else []


def _says_something(manifest: Manifest) -> bool:
    return bool(
        manifest.declared or manifest.python or manifest.suggested or manifest.constraints or manifest.apt
    )


def _unused(found: list[Manifest], code: Code, parts: list[str], project: str) -> list[Unused]:
    """What cannot be used: each once, and not this repository itself, however it is said."""
    listed = [item for manifest in found for item in manifest.unused]
    own = {project} - {""}
    named = {item.name for item in listed}
    missing = [
        item
        for item in imports.unavailable(code, parts)
        if not any(name == item.name or name.startswith(f"{item.name}-") for name in own | named)
    ]
    return [item for item in dict.fromkeys(listed) if item.name not in own] + missing


def _suggested(found: list[Manifest], unused: list[Unused], project: str) -> list[Declared]:
    """What is mentioned or optional, and the versions in the names of wheels that are not used."""
    listed = [item for manifest in found for item in manifest.suggested if applies(item)]
    wheels = [wheel for wheel in map(wheel_version, unused) if wheel]
    return [item for item in [*wheels, *listed] if item.name != project]


def _left(suggested: list[Declared], kept: Iterable[Declared]) -> tuple[Declared, ...]:
    """Suggestions that were not taken over."""
    used = {(item.name, item.text) for item in kept}
    unique = {(item.text, item.origin): item for item in suggested if (item.name, item.text) not in used}
    return tuple(unique.values())


def _constraints(found: list[Manifest], project: str) -> tuple[Declared, ...]:
    """The first lock file's versions, with those of ``-c`` files."""
    chosen: dict[str, Declared] = {}
    for item in (item for manifest in found for item in manifest.constraints):
        if applies(item) and item.name != project:
            chosen.setdefault(item.name, item)
    return tuple(sorted(chosen.values(), key=lambda item: item.name))


def _without_own(declared: Iterable[Declared], project: str) -> tuple[list[Declared], list[str]]:
    """Without the repository's own package: installing its published form would ship the solution."""
    own = [item for item in declared if project and item.name == project]
    problems = [f"{item.origin}: not used, {item.name} is this repository's own package" for item in own]
    return [item for item in declared if item not in own], problems


def _nvidia(item: Declared) -> bool:
    return item.name.startswith("nvidia-") and item.name.rpartition("-")[2].startswith("cu")


def _devel(declared: list[Declared], cuda: list[Fact]) -> str:
    """Why the image must have a compiler. The repository's own CUDA code is no reason: it is not compiled."""
    compiling = (item for item in declared if item.name in BUILT_WITH_TORCH or item.name == "deepspeed")
    reason = next((f"{item} compiles CUDA code" for item in compiling), "")
    # Compiled when a function is called, it is a matter of the target: a note, and a smaller image.
    imported = [fact for fact in cuda if fact.text == f"{gpu.COMPILES}, when imported"]
    main = [fact for fact in imported if not imports.is_example(fact.origin)]
    return reason or (f"the code {main[0]}" if main else "")


def _cuda_sources(repo: Path, cuda: list[Fact]) -> list[str]:
    found = [path.relative_to(repo).as_posix() for path in files.walk(repo) if path.suffix == ".cu"]
    advice = (
        "a target that needs them needs a -devel image (--base-image) and a line of its own in the Dockerfile"
    )
    said = [f"CUDA sources are not compiled: {places.some(found)}; {advice}"] if found else []
    called = [fact.origin for fact in cuda if fact.text == f"{gpu.COMPILES}, when run"]
    if called:
        said.append(
            f"compiles CUDA code when it is run: {places.some(called)}; a target there needs a -devel image"
        )
    return said


def _said_of_code(code: Code, parts: list[str], installed: Iterable[Declared]) -> list[str]:
    said = (
        [] if code.files or code.unreadable else ["there are no Python files beside tests and documentation"]
    )
    if code.unreadable:
        unread = f"not read, too large or {NOT_PARSED} (the one lmr-author runs on)"
        said.append(f"{unread}: {places.some(code.unreadable)}")
    if code.left_out:
        said.append(f"{code.left_out} Python files were not looked at: there are too many")
    names = {item.name for item in installed}
    aside = [item.name for item in imports.example_packages(code, parts) if item.name not in names]
    if aside:
        said.append(f"not installed, only examples import it: {places.some(aside, 12)}")
    return said
