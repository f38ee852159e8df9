"""Which requirements are used: of what is declared, imported and mentioned, one say per package."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from packaging.requirements import Requirement

from lmr_author.environment import imports
from lmr_author.environment.code import Code
from lmr_author.environment.recipe import Declared, Manifest, applies, is_freeze
from lmr_author.model import TORCH_FAMILY

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
class Chosen:
    """The requirements that are used, and what is to be said about the choice."""

    declared: tuple[Declared, ...]
    problems: tuple[str, ...]


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


def choose(
    found: list[Manifest], code: Code, suggested: list[Declared], project: str, parts: list[str]
) -> Chosen:
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
    return Chosen(tuple(declared + _mentioned_torch(declared, hints, code, needed)), tuple(problems))


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
