"""Detect what a repository needs: a pure function of its files and its commit's date."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from packaging.requirements import Requirement

from lmr_author import files
from lmr_author.environment import gpu, imports, places
from lmr_author.environment.code import Code, read_code
from lmr_author.environment.contradictions import contradictions
from lmr_author.environment.python_version import asked_for
from lmr_author.environment.recipe import (
    BUILT_WITH_TORCH,
    TORCH_FAMILY,
    Declared,
    Fact,
    Manifest,
    Recipe,
    Unused,
    applies,
    is_freeze,
    wheel_version,
)
from lmr_author.environment.system import packages_for, unknown

PLACEHOLDERS = {
    "sklearn": "scikit-learn",
    "faiss": "faiss-cpu",
    "pytorch": "torch",
    "pil": "pillow",
    "opencv": "opencv-python-headless",
    "cv2": "opencv-python-headless",
    "skimage": "scikit-image",
    "yaml": "pyyaml",
    "dotenv": "python-dotenv",
    "bs4": "beautifulsoup4",
    "dateutil": "python-dateutil",
}
"""Names under which the index has an empty, broken or foreign package, and what is meant by them."""


@dataclass(frozen=True)
class _Chosen:
    """The requirements that are used, and what is to be said about the choice."""

    declared: tuple[Declared, ...]
    problems: tuple[str, ...]


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
    chosen = _choose(found, code, suggested, project, parts)
    kept, own = _without_own(chosen.declared, project)
    clashes = contradictions((item for manifest in found for item in manifest.declared), suggested)
    pythons = tuple(Fact(item.python, item.python_origin) for item in found if item.python)
    python = asked_for(found)
    apt = [fact for manifest in found for fact in manifest.apt]
    cuda = [*gpu.extensions(repo), *(fact for file in code.files for fact in file.cuda)]
    problems = [problem for manifest in found for problem in manifest.problems]
    problems += [*map(str, unused), *chosen.problems, *map(str, clashes), *own]
    if deeper:
        problems.append(f"not used, for a part of the repository only: {places.some(deeper)}")
    problems += _cuda_sources(repo, cuda) + _said_of_code(code, parts) + unknown(apt)
    return Recipe(
        requirements=tuple(item for item in kept if item.name not in TORCH_FAMILY and not _nvidia(item)),
        torch=tuple(item for item in kept if item.name in TORCH_FAMILY),
        python=python.text,
        python_origin=python.origin,
        project=project,
        devel=_devel(kept, cuda),
        source_folder=_source_folder(repo),
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
        imported=imports.imported_names(code, parts),
    )


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


def _renamed(declared: list[Declared]) -> tuple[list[Declared], list[str]]:
    """Names that are placeholders on the index, as the packages that are meant."""
    meant, said = [], []
    for item in declared:
        name = PLACEHOLDERS.get(item.name)
        if name is None:
            meant.append(item)
            continue
        said.append(
            f"{item.origin}: {item.name} is taken as {name}: on the index that name is something else"
        )
        if all(other.name != name for other in declared):
            meant.append(replace(item, name=name, text=name))
    return meant, said


def _choose(
    found: list[Manifest], code: Code, suggested: list[Declared], project: str, parts: list[str]
) -> _Chosen:
    """Declared requirements, else mentioned ones, and what the code imports beside them."""
    declared, problems = _renamed(_merge(item for manifest in found for item in manifest.declared))
    needed = imports.imported_packages(code, parts=parts)
    hints = _hints(suggested)
    if not declared:
        problems.append("no requirements are declared: they were derived from the imports")
        declared = [_with_hint(item, hints) for item in needed]
    else:
        known = {item.name for item in declared} | {project}
        added = [] if is_freeze(declared) else imports.imported_packages(code, at_once=True, parts=parts)
        added = [_with_hint(item, hints) for item in added if not known & _equals(item.name)]
        declared = [_with_torch_hint(item, hints) for item in declared] + added
        problems += [f"{item.name} is not declared but needed: {item.origin}" for item in added]
    return _Chosen(tuple(declared + _mentioned_torch(declared, hints, code, needed)), tuple(problems))


def _hints(suggested: Iterable[Declared]) -> dict[str, Declared]:
    """One suggestion per package: the first that names a version, else the first."""
    chosen: dict[str, Declared] = {}
    for item in suggested:
        if item.name not in chosen or (not _versioned(chosen[item.name]) and _versioned(item)):
            chosen[item.name] = item
    return chosen


def _with_hint(item: Declared, hints: dict[str, Declared]) -> Declared:
    """An import with the version that a README (an extra, a Dockerfile, CI) names."""
    hint = next((hints[name] for name in sorted(_equals(item.name)) if name in hints), None)
    if hint is None or hint.name in PLACEHOLDERS:
        return item
    origin = f"{item.origin}, {hint.origin}"
    return replace(item, name=hint.name, text=hint.text, origin=origin, mentioned=_versioned(hint))


def _equals(name: str) -> set[str]:
    """A package and others that bring the same module."""
    return {name, *imports.SAME_MODULE.get(name, ())}


def _with_torch_hint(item: Declared, hints: dict[str, Declared]) -> Declared:
    """Torch declared without a version: that of the README, so that the right image is chosen."""
    hint = hints.get(item.name)
    if item.name not in TORCH_FAMILY or _versioned(item) or hint is None or not _versioned(hint):
        return item
    return replace(item, text=hint.text, origin=f"{item.origin}, {hint.origin}")


def _mentioned_torch(
    declared: list[Declared], hints: dict[str, Declared], code: Code, needed: list[Declared]
) -> list[Declared]:
    """Torch that nobody declares, but that the README names or the code imports."""
    if any(item.name == "torch" for item in declared):
        return []
    if "torch" in hints and _versioned(hints["torch"]):
        return [hints["torch"]]
    return [item for item in needed if item.name == "torch"][:1]


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


def _merge(declared: Iterable[Declared]) -> list[Declared]:
    """One file's say per package: the first that names a version. Its several lines (markers) are kept."""
    chosen: dict[str, list[Declared]] = {}
    for item in declared:
        if not applies(item):
            continue
        before = chosen.get(item.name)
        if before is None or (not any(map(_versioned, before)) and _versioned(item)):
            chosen[item.name] = [item]
        elif _file(before[0]) == _file(item) and item.text not in {other.text for other in before}:
            before.append(item)
    return [item for items in chosen.values() for item in items]


def _versioned(item: Declared) -> bool:
    return bool(Requirement(item.text).specifier)


def _file(item: Declared) -> str:
    return item.origin.rpartition(":")[0] or item.origin


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


def _said_of_code(code: Code, parts: list[str]) -> list[str]:
    said = (
        [] if code.files or code.unreadable else ["there are no Python files beside tests and documentation"]
    )
    if code.unreadable:
        said.append(f"not read, too large or no Python of this version: {places.some(code.unreadable)}")
    if code.left_out:
        said.append(f"{code.left_out} Python files were not looked at: there are too many")
    aside = imports.example_packages(code, parts)
    if aside:
        said.append(
            f"not installed, only examples import it: {places.some([item.name for item in aside], 12)}"
        )
    return said


def _source_folder(repo: Path) -> str:
    """``src`` when packages lie in it (``src/peft/__init__.py``) and it is no package itself."""
    folder = repo / "src"
    if not folder.is_dir() or folder.is_symlink() or (folder / "__init__.py").exists():
        return ""
    return "src" if any(folder.glob("*/__init__.py")) or any(folder.glob("*.py")) else ""
