"""Choose the official PyTorch image that fits a repository: by its torch requirement and its date.

The images are data: ``schemas/base-images.json``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from lmr_author import resources
from lmr_author.environment.recipe import Declared, Recipe, applies, is_exact
from lmr_author.errors import LmrError

REPOSITORY = "pytorch/pytorch"
_REFERENCE = re.compile(
    r"^[A-Za-z0-9][\w.-]*(?::\d+)?(?:/[\w.-]+)*(?::[\w.-]{1,128})?(?:@sha256:[0-9a-f]{64})?$"
)
COMPANIONS = ("torchvision", "torchaudio", "torchtext", "triton")
OUT_OF_DATE = timedelta(days=540)
"""How much older than the commit an image may be for the sake of an exact Python version."""

FALLBACK_PYTHON = "3.11"
"""Python that is assumed in an image of which nothing is known."""


@dataclass(frozen=True)
class BaseImage:
    """A base image.

    Attributes:
        reference: what stands after ``FROM``.
        torch, cuda, cudnn: versions by its tag; "" for an image that is not in the table.
        kind: ``"runtime"`` or ``"devel"`` (with compiler); "" when unknown.
        python: version inside, as far as known.
        python_certain: whether somebody looked into the image.
        reason: why it was chosen.
    """

    reference: str
    torch: str
    cuda: str
    cudnn: str
    kind: str
    python: str
    python_certain: bool
    reason: str


@dataclass(frozen=True)
class _Release:
    """A PyTorch version with its images' builds, the one that the package index ships first."""

    torch: Version
    released: date
    python: str
    python_certain: bool
    builds: tuple[tuple[str, str], ...]
    companions: tuple[tuple[str, str], ...] = ()


@cache
def _releases() -> tuple[_Release, ...]:
    data = json.loads((resources.folder("schemas") / "base-images.json").read_text("utf-8"))
    return tuple(
        _Release(
            Version(item["torch"]),
            date.fromisoformat(item["released"]),
            item["python"],
            item["python_certain"],
            tuple((build["cuda"], build["cudnn"]) for build in item["builds"]),
            tuple(item.get("companions", {}).items()),
        )
        for item in sorted(data["releases"], key=lambda item: Version(item["torch"]))
    )


def choose_base(recipe: Recipe, image: str | None = None, python: str | None = None) -> BaseImage:
    """The image for a recipe, or facts about ``image`` when one is given; ``python`` overrides its version.

    An exact torch requirement decides; otherwise the newest torch that the requirement allows and that
    was out before the commit. Raises LmrError for a reference that is none.
    """
    chosen = _named(image) if image is not None else _choose(recipe)
    if python is None:
        return chosen
    if not re.fullmatch(r"3\.\d{1,2}", python):
        old = "a task's code runs in Python 3; " if re.fullmatch(r"2(\.\d+)*", python) else ""
        raise LmrError(f"not a Python version: {python!r}", f"{old}give major and minor, like 3.11")
    return BaseImage(**{**chosen.__dict__, "python": python, "python_certain": True})


def _named(image: str) -> BaseImage:
    if not _REFERENCE.match(image):
        raise LmrError(
            f"not an image: {image!r}", "give a reference like pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime"
        )
    match = re.search(r"pytorch/pytorch:(\d[\d.]*)-cuda([\d.]+)-cudnn(\d+)-(runtime|devel)$", image)
    release = next((item for item in _releases() if match and str(item.torch) == match[1]), None)
    if match is None or release is None:
        return BaseImage(image, "", "", "", "", FALLBACK_PYTHON, False, "given by the annotator")
    return BaseImage(
        image,
        match[1],
        match[2],
        match[3],
        match[4],
        release.python,
        release.python_certain,
        "given by the annotator",
    )


def _choose(recipe: Recipe) -> BaseImage:
    wanted = _wanted(recipe)
    specifier, local = _specifier(wanted)
    release, reason = _release(recipe, wanted, specifier)
    cuda, cudnn = _build(release, local)
    kind = "devel" if recipe.devel else "runtime"
    reason += f"; devel, because {recipe.devel}" if recipe.devel else ""
    reference = f"{REPOSITORY}:{release.torch}-cuda{cuda}-cudnn{cudnn}-{kind}"
    return BaseImage(
        reference, str(release.torch), cuda, cudnn, kind, release.python, release.python_certain, reason
    )


def _wanted(recipe: Recipe) -> list[Declared]:
    """Requirements on torch: as declared, else by its companions, else by the repository's lock file."""
    wanted = [item for item in recipe.torch if item.name == "torch" and applies(item)]
    if any(Requirement(item.text).specifier for item in wanted):
        return wanted
    return _by_companions(recipe) or [item for item in recipe.constraints if item.name == "torch"] or wanted


def _by_companions(recipe: Recipe) -> list[Declared]:
    """The torch that belongs to pinned torchvision, torchaudio, torchtext or triton: ``torchvision==0.8.1``."""
    pinned = [
        (item, Requirement(item.text).specifier)
        for item in (*recipe.torch, *recipe.requirements)
        if is_exact(item) and applies(item)
    ]
    for item, specifier in pinned:
        exact = re.sub(r"\+[\w.]+", "", str(specifier))
        fitting = (
            [
                release
                for release in _releases()
                if dict(release.companions).get(item.name, "") in SpecifierSet(exact)
            ]
            if item.name in COMPANIONS
            else []
        )
        if fitting:
            text = f"torch=={fitting[-1].torch}"
            return [Declared("torch", text, f"the one for {item.text}, {item.origin}")]
    return []


def torchtext(base: BaseImage) -> str:
    """The version of torchtext that belongs to an image's torch; "" when it is not known."""
    release = next((item for item in _releases() if str(item.torch) == base.torch), None)
    return dict(release.companions).get("torchtext", "") if release else ""


def _specifier(wanted: Sequence[Declared]) -> tuple[SpecifierSet, str]:
    """All version requirements on torch together, without local labels, and such a label (``cu118``)."""
    text = ",".join(
        str(Requirement(item.text).specifier) for item in wanted if Requirement(item.text).specifier
    )
    label = re.search(r"\+([a-z0-9]+)", text)
    return SpecifierSet(re.sub(r"\+[\w.]+", "", text), prereleases=True), label[1] if label else ""


def _release(recipe: Recipe, wanted: Sequence[Declared], specifier: SpecifierSet) -> tuple[_Release, str]:
    exact = next(
        (Version(part.version) for part in specifier if part.operator == "==" and "*" not in part.version),
        None,
    )
    said = ", ".join(map(str, wanted))
    if exact is not None:
        same = [item for item in _releases() if item.torch == exact]
        if same:
            return same[0], f"the repository asks for {said}"
        near = _nearest(exact)
        return near, f"the repository asks for {said}; there is no image of it, {near.torch} is the nearest"
    allowed = [item for item in _releases() if item.torch in specifier]
    suited = _for_python(allowed or list(_releases()), recipe)
    before = [item for item in suited if recipe.date is None or item.released <= recipe.date.date()]
    chosen = before[-1] if before else suited[0]
    if wanted and allowed:
        asked = f"the repository asks for {said}"
    elif wanted:
        asked = f"no image satisfies what the repository asks for, {said}"
    else:
        asked = "the repository asks for no torch version"
    if recipe.date is None:
        return chosen, f"{asked}; {chosen.torch} is the newest"
    when = recipe.date.date().isoformat()
    if before:
        return chosen, f"{asked}; {chosen.torch} was the newest when it was committed ({when})"
    return chosen, f"{asked}; {chosen.torch} is the oldest that fits, though newer than the commit ({when})"


def _nearest(exact: Version) -> _Release:
    """The nearest image of the same minor version, else of the next older version, else the oldest."""
    same = [item for item in _releases() if item.torch.release[:2] == exact.release[:2]]
    if same:
        micro = exact.micro
        return min(same, key=lambda item: (abs(item.torch.micro - micro), -item.torch.micro))
    older = [item for item in _releases() if item.torch < exact]
    return older[-1] if older else _releases()[0]


def _for_python(releases: list[_Release], recipe: Recipe) -> list[_Release]:
    """Those whose Python the repository accepts; all when that leaves none.

    One exact version (conda's ``python=3.9``) gives way to a newer one when the images that have it were
    long out of date at the commit: code of 2025 does not run with the PyTorch of 2022.
    """
    if not recipe.python:
        return releases
    suited = [item for item in releases if _has_python(item, recipe.python)]
    exact = re.fullmatch(r"==(3\.\d+)(\..*)?", recipe.python)
    if exact is None or recipe.date is None:
        return suited or releases
    newest = max((item.released for item in suited if item.released <= recipe.date.date()), default=date.min)
    if newest < recipe.date.date() - OUT_OF_DATE:
        return [item for item in releases if _has_python(item, f">={exact[1]}")] or suited or releases
    return suited


def _has_python(release: _Release, specifier: str) -> bool:
    """Whether an image's Python fits: "3.11" stands for some 3.11.x, so that ">=3.11.4" accepts it."""
    accepted = SpecifierSet(specifier, prereleases=True)
    return any(f"{release.python}.{patch}" in accepted for patch in range(30))


def image_with(specifiers: Sequence[str], base: BaseImage) -> BaseImage | None:
    """The image whose Python fits all, or else the first, and whose PyTorch is nearest to that of ``base``."""
    fitting = [item for item in _releases() if all(_has_python(item, one) for one in specifiers)]
    fitting = fitting or [item for item in _releases() if _has_python(item, specifiers[0])]
    if not fitting:
        return None
    order = [item.torch for item in _releases()]
    torch = Version(base.torch) if base.torch else order[-1]
    near = min(fitting, key=lambda item: abs(order.index(item.torch) - sum(one < torch for one in order)))
    cuda, cudnn = near.builds[0]
    kind = base.kind or "runtime"
    reference = f"{REPOSITORY}:{near.torch}-cuda{cuda}-cudnn{cudnn}-{kind}"
    return _named(reference)


def _build(release: _Release, label: str) -> tuple[str, str]:
    """CUDA and cuDNN: what the requirement's label names, else the first of the table."""
    for cuda, cudnn in release.builds:
        if label == "cu" + cuda.replace(".", ""):
            return cuda, cudnn
    return release.builds[0]
