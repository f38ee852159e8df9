"""Detect a repository's needs: a pure function of its files and its commit's date."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import chain
from pathlib import Path

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from lmr_author.core import files
from lmr_author.core.task import TORCH_FAMILY, Task, provenance
from lmr_author.core.task.provenance import BaseImageOrigin, BuiltEnvironment
from lmr_author.core.texts import printable
from lmr_author.runtime.environment.base_images import (
    INSTALLED_BY,
    base_of,
    choose_base,
    is_reference,
    other_python,
)
from lmr_author.runtime.environment.code import Code, imported_packages, providing, read_code
from lmr_author.runtime.environment.manifests import read_manifests
from lmr_author.runtime.environment.needs import (
    NOTHING,
    DeclaredNeed,
    Fact,
    Needs,
    SystemPackage,
    applies,
    exact_version,
    has_version,
    is_freeze,
)
from lmr_author.runtime.environment.packages import (
    interchangeable,
    system_packages,
    table,
)
from lmr_author.runtime.environment.requirements import Manifest
from lmr_author.runtime.replay import staging

BESIDE_TORCH = {"torchaudio", "torchvision"}
_CUDA = re.compile(r"nvidia-.*-cu\d+$")
_UNDECLARED = "no requirements are declared: they were derived from the imports"


def read_needs(repo: Path, commit_date: datetime | None = None, goals: Sequence[str] = ()) -> Needs:
    """Return the needs of the repository in the folder ``repo``.

    Declared requirements come from its top folder: requirements files first, then conda's environment,
    pyproject.toml, setup.cfg and setup.py; earlier files win. Undeclared imports of the main code are added; if
    nothing is declared, all imports of the code are used. The README only helps to choose versions.

    Args:
        goals: require only the imports of these files; other declared requirements become constraints.
    """
    manifests = read_manifests(repo)
    code = read_code(repo)
    project = next((manifest.project for manifest in manifests if manifest.project), "")
    chosen, undeclared, remarks = _choose(manifests, code, project)
    # Installing the published package of the repository itself would ship the solution.
    own = [each for each in chosen if each.name == project]
    remarks += [f"{each.origin}: not used, {project} is this repository's own package" for each in own]
    torch = [each for each in chosen if each.name in TORCH_FAMILY - {project}]
    # The base image provides CUDA's packages, like PyTorch.
    others = [each for each in chosen if each not in (*own, *torch) and not _CUDA.match(each.name)]
    python, unreadable = _python(manifests)
    needs = Needs(
        requirements=tuple(others),
        torch=tuple(torch),
        beside_torch=_beside_torch(torch, code),
        python=python.text,
        python_origin=python.origin,
        project=project,
        own_version=_own_version(manifests) if project and code.asks_version else "",
        source_folder=staging.source_folder(repo),
        date=commit_date,
        sources=tuple(manifest.path for manifest in manifests if manifest.says_more_than_problems),
        system=_system(others),
        credentials=code.credentials(),
    )
    if goals:
        needs = _only(needs, code, goals)
    required = {requirement.name for requirement in (*needs.requirements, *needs.torch)}
    for package in undeclared:
        if package.name in required:
            remarks.append(f"{package.name} is not declared but needed: {package.origin}")
    problems = list(chain.from_iterable(manifest.problems for manifest in manifests))
    problems += [*unreadable, *remarks]
    if not code.files:
        problems.append("there are no Python files beside tests and documentation")
    devel = _compiled_for_cuda(needs.requirements)
    return replace(needs, devel=devel, problems=tuple(dict.fromkeys(problems)))


def _beside_torch(asked_for: Sequence[DeclaredNeed], code: Code) -> tuple[str, ...]:
    names = BESIDE_TORCH & {requirement.name for requirement in asked_for}
    imported = {package.name for package in imported_packages(code, code.files)} if names else set()
    return tuple(sorted(names & imported))


def _compiled_for_cuda(requirements: Sequence[DeclaredNeed]) -> str:
    """Return the package that needs a compiler at run time; no lock contains those that need one to install."""
    return next((f"{each} compiles CUDA code" for each in requirements if each.name == "deepspeed"), "")


def _first_of_each(lists: Iterable[list[DeclaredNeed]]) -> dict[str, DeclaredNeed]:
    return {name: next(filter(has_version, lines), lines[0]) for name, lines in _by_name(lists).items()}


def _by_name(lists: Iterable[list[DeclaredNeed]]) -> dict[str, list[DeclaredNeed]]:
    """Return each package's lines in the first file that names a version, else in the first file.

    A file may have several lines per package, with markers.
    """
    by_name: dict[str, list[DeclaredNeed]] = {}
    for of_file in lists:
        lines_by_name: dict[str, dict[str, DeclaredNeed]] = {}
        for requirement in filter(applies, of_file):
            lines_by_name.setdefault(requirement.name, {}).setdefault(requirement.text, requirement)
        for name, lines in lines_by_name.items():
            before = by_name.setdefault(name, list(lines.values()))
            if any(map(has_version, lines.values())) and not any(map(has_version, before)):
                by_name[name] = list(lines.values())
    return by_name


def base_in_use(task: Task, needs: Needs, image: str | None, python: str | None) -> BaseImageOrigin:
    """Return the base image for some needs: the given one, else the Dockerfile's, else the best match.

    Its Python is the given one, else the one found by a build, or given by the annotator earlier.

    Raises LmrError for an invalid reference, which a hand-written Dockerfile may contain.
    """
    in_dockerfile = base_of(files.read_text_or_empty(task.dockerfile))
    if image is None and is_reference(in_dockerfile):
        image = in_dockerfile
    if image is None:
        return choose_base(needs, None, python)
    base, own = choose_base(needs, image, python or _known_python(task, image)), choose_base(needs)
    return replace(base, reason=own.reason) if base.reference == own.reference else base


def _known_python(task: Task, image: str) -> str | None:
    built = BuiltEnvironment.read_if_valid(task.environment_path)
    recorded = provenance.load(task).environment.base_image
    version = ""
    if built and built.base_image == image:
        version = built.python
    elif recorded.reference == image and recorded.python_certain:
        version = recorded.python
    match = re.match(r"3\.\d+", version)
    return match[0] if match else None


def problems(needs: Needs, base: BaseImageOrigin) -> tuple[str, ...]:
    return (*filter(None, [other_python(needs, base)]), *needs.problems)


def _python(manifests: Sequence[Manifest]) -> tuple[Fact, list[str]]:
    readable, unreadable = [], []
    for fact in (manifest.python for manifest in manifests if manifest.python.text):
        try:
            SpecifierSet(fact.text)
            readable.append(fact)
        except InvalidSpecifier:
            unreadable.append(f"{fact.origin}: the Python version {printable(fact.text, 60)} cannot be read")
    readable.sort(key=lambda fact: not fact.origin.startswith(INSTALLED_BY))
    return next(iter(readable), NOTHING), unreadable


def _only(needs: Needs, code: Code, goals: Sequence[str]) -> Needs:
    imported = imported_packages(code, code.reachable(goals))
    providers: set[str] = set()
    for package in imported:
        providers |= providing(package, needs.requirements)
    required = [requirement for requirement in needs.requirements if requirement.name in providers]
    provided = {name for each in required for name in interchangeable(each.name)}
    provided |= TORCH_FAMILY | {needs.project}
    required += _missing(imported, provided)
    bounds = [other for other in needs.requirements if other not in required and exact_version(other.text)]
    return replace(needs, requirements=tuple(required), constraints=tuple(bounds))


def _choose(
    manifests: Sequence[Manifest], code: Code, project: str
) -> tuple[list[DeclaredNeed], list[DeclaredNeed], list[str]]:
    lines = _by_name(manifest.declared for manifest in manifests)
    declared, remarks = _renamed(list(chain.from_iterable(lines.values())))
    undeclared: list[DeclaredNeed] = []
    stated = _first_of_each(manifest.stated for manifest in manifests)
    imported = imported_packages(code, code.main())
    if declared:
        chosen = [each if has_version(each) else _with_version(each, stated) for each in declared]
        provided = {requirement.name for requirement in declared} | {project}
        missing = [] if is_freeze(declared) else _missing(imported, provided)
        undeclared = [_with_version(package, stated) for package in missing]
        chosen += undeclared
    else:
        remarks.append(_UNDECLARED)
        chosen = [_with_version(package, stated) for package in imported]
    return chosen, undeclared, remarks


def _missing(imported: Iterable[DeclaredNeed], provided: set[str]) -> list[DeclaredNeed]:
    unprovided = [package for package in imported if not provided & interchangeable(package.name)]
    return [replace(package, guessed=True) for package in unprovided if not package.guessed]


def _renamed(declared: list[DeclaredNeed]) -> tuple[list[DeclaredNeed], list[str]]:
    meant, remarks = [], []
    for requirement in declared:
        name = table("renamed").get(requirement.name)
        if name is None:
            meant.append(requirement)
            continue
        wrong = f"{requirement.name} is taken as {name}: on the index that name is something else"
        remarks.append(f"{requirement.origin}: {wrong}")
        if all(other.name != name for other in declared):
            meant.append(replace(requirement, name=name, text=name))
    return meant, remarks


def _with_version(requirement: DeclaredNeed, mentioned: dict[str, DeclaredNeed]) -> DeclaredNeed:
    alternatives = sorted(interchangeable(requirement.name) & mentioned.keys() - table("renamed").keys())
    if not alternatives:
        return requirement
    hint = mentioned[alternatives[0]]
    if requirement.name in TORCH_FAMILY and not has_version(hint):
        return requirement
    origin = f"{requirement.origin}, {hint.origin}"
    return replace(requirement, name=hint.name, text=hint.text, origin=origin, mentioned=has_version(hint))


def _system(declared: Iterable[DeclaredNeed]) -> tuple[SystemPackage, ...]:
    packages: dict[str, SystemPackage] = {}
    for requirement in declared:
        for name in system_packages(requirement.name):
            packages.setdefault(name, SystemPackage(name, f"for {requirement.name}", requirement.origin))
    if "default-jdk-headless" in packages:
        packages.pop("default-jre-headless", None)
    return tuple(packages[name] for name in sorted(packages))


def _own_version(manifests: Sequence[Manifest]) -> str:
    """Return the version of a repository's package; ``0`` if it is computed or missing."""
    for manifest in manifests:
        try:
            return str(Version(manifest.version))
        except InvalidVersion:
            continue
    return "0"
