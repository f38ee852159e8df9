"""Choose the official PyTorch image for a repository, and compare its Python with the required one.

The images are data: ``base_images.toml``.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from pathlib import Path

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from lmr_author.core.errors import Hint, LmrError, Setting
from lmr_author.core.task.provenance import BaseImageOrigin
from lmr_author.runtime.environment.needs import DeclaredNeed, Needs, applies, exact_version, has_version
from lmr_author.runtime.environment.packages import table

REPOSITORY = "pytorch/pytorch"
_REFERENCE = re.compile(
    r"^[A-Za-z0-9][\w.-]*(?::\d+)?(?:/[\w.-]+)*(?::[\w.-]{1,128})?(?:@sha256:[0-9a-f]{64})?$"
)
_TAG = re.compile(r"pytorch/pytorch:(\d[\d.]*)-cuda([\d.]+)-cudnn(\d+)-(runtime|devel)$")
FALLBACK_PYTHON = "3.11"
"""Assumed Python of an unknown image."""
INSTALLED_BY = ("pyproject.toml", "setup.cfg", "setup.py")
"""Files whose Python is mandatory: pip refuses to install the repository in another."""
_FOLLOWED = timedelta(days=180)
"""Time until compiled packages have wheels for a new Python (sentencepiece took 170 days)."""
_BUILDS = datetime(2019, 2, 6, tzinfo=UTC)
"""The day after setuptools 40.8: uv and pip cannot build a ``setup.py`` with an earlier one."""


@dataclass(frozen=True)
class _Release:
    """A PyTorch version with its images, with the same build (CUDA, cuDNN) as on the package index."""

    torch: Version
    released: date
    python: str
    python_certain: bool
    build: tuple[str, str]

    def image(self, kind: str, reason: str) -> BaseImageOrigin:
        cuda, cudnn = self.build
        return BaseImageOrigin(
            reference=f"{REPOSITORY}:{self.torch}-cuda{cuda}-cudnn{cudnn}-{kind}", torch=str(self.torch), cuda=cuda,
            python=self.python, python_certain=self.python_certain, reason=reason,
        )  # fmt: skip


def base_of(dockerfile: str) -> str:
    """Return the image in a Dockerfile's last FROM, with the defaults of its ARGs; "" if there is none."""
    joined = re.sub(r"\\[ \t]*\n", " ", dockerfile)
    arguments = dict(re.findall(r"^\s*ARG\s+(\w+)=[\"']?([^\s\"']*)", joined, re.M | re.I))
    images = re.findall(r"^\s*FROM\s+(?:--\S+\s+)*(\S+)", joined, re.M | re.I)
    variable = re.compile(r"\$(?:\{(\w+)(?::?-([^}]*))?\}|(\w+))")
    last = str(images[-1]) if images else ""
    return variable.sub(lambda match: arguments.get(match[1] or match[3], "") or match[2] or "", last)


def dummies_of(dockerfile: str) -> dict[str, str]:
    """Return the variables that a Dockerfile sets to ``dummy`` for keys that the code requires."""
    return dict(re.findall(r"^ENV (\w+)=(dummy)\s*$", dockerfile, re.M))


def released(torch: str) -> date | None:
    release = _release_of(torch)
    return release.released if release else None


def _release_of(torch: str) -> _Release | None:
    return next((release for release in _releases() if str(release.torch) == torch), None)


def has_compiler(base: BaseImageOrigin) -> bool:
    return bool(base.torch) and base.reference.endswith("-devel")


@cache
def _releases() -> tuple[_Release, ...]:
    data = tomllib.loads(Path(__file__).with_name("base_images.toml").read_text("utf-8"))
    releases = []
    for torch, row in data.items():
        build = (row["cuda"], row["cudnn"])
        releases.append(
            _Release(Version(torch), row["released"], row["python"], row["python_certain"], build)
        )
    return tuple(sorted(releases, key=lambda release: release.torch))


def choose_base(needs: Needs, image: str | None = None, python: str | None = None) -> BaseImageOrigin:
    """Return the image for some needs, or the facts about ``image``.

    An exact torch requirement decides; otherwise the newest allowed torch that was released before the commit,
    preferably with the given Python.

    Raises LmrError for an invalid reference, and for a Python that the image lacks.
    """
    if image is not None and not is_reference(image):
        hint = "use a reference such as pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime"
        raise LmrError(f"not an image: {image!r}", Hint(hint, (Setting("--base-image"),)))
    if python is not None and not re.fullmatch(r"3\.\d{1,2}", python):
        old = "tasks require Python 3; " if re.fullmatch(r"2(\.\d+)*", python) else ""
        hint = f"{old}use major and minor version, such as 3.11"
        raise LmrError(f"not a Python version: {python!r}", Hint(hint, (Setting("--python-version"),)))
    chosen = _choose(needs, python) if image is None else known_image(image)
    if python is None:
        return chosen
    _require_python(chosen, python)
    return replace(chosen, python=python, python_certain=True)


def is_reference(image: str) -> bool:
    return bool(_REFERENCE.match(image))


def _require_python(base: BaseImageOrigin, python: str) -> None:
    release, row = _release_of(base.torch), table("pythons").get(python)
    if release is None or release.python == python:
        return
    if release.python_certain or (row and row["released"] > release.released):
        others = [other for other in _releases() if other.python == python]
        named = f", such as {others[0].image('runtime', '').reference}" if others else ""
        raise LmrError(
            f"{base.reference} has Python {release.python}, not {python}",
            Hint(
                f"omit the Python version, or choose an image that has it{named}",
                (Setting("--python-version"),),
            ),
        )


def known_image(image: str) -> BaseImageOrigin:
    reason, tag = "you chose it (--base-image)", _TAG.search(image)
    release = _release_of(tag[1]) if tag else None
    if tag is None or release is None:
        return BaseImageOrigin(reference=image, python=FALLBACK_PYTHON, reason=reason)
    return replace(release.image(tag[4], reason), reference=image, cuda=tag[2])


def _choose(needs: Needs, given: str | None) -> BaseImageOrigin:
    wanted = [
        requirement for requirement in needs.torch if requirement.name == "torch" and applies(requirement)
    ]
    if not any(map(has_version, wanted)):
        wanted = _companion(needs) or wanted
    text = ",".join(str(Requirement(requirement.text).specifier) for requirement in wanted)
    specifier = SpecifierSet(re.sub(r"\+[\w.]+", "", text).strip(","), prereleases=True)
    release, reason = _release(needs, wanted, specifier, given)
    if needs.devel:
        return release.image("devel", f"{reason}; devel, because {needs.devel}")
    return release.image("runtime", reason)


def _companion(needs: Needs) -> list[DeclaredNeed]:
    """Return the PyTorch that an exact triton or torchvision requires."""
    for declared in filter(applies, needs.torch):
        minor = ".".join(exact_version(declared.text).split(".")[:2])
        if torch := table("made_for_torch").get(declared.name, {}).get(minor):
            return [DeclaredNeed("torch", f"torch=={torch}.*", f"for {declared}")]
    return []


def _release(
    needs: Needs, wanted: Sequence[DeclaredNeed], specifier: SpecifierSet, given: str | None
) -> tuple[_Release, str]:
    """Return the release for a requirement of PyTorch, and the reason.

    Args:
        given: the Python that the annotator wants; None for any.
    """
    request = ", ".join(map(str, wanted))
    for part in specifier:
        if part.operator == "==" and "*" not in part.version:
            return _pinned_release(Version(part.version), request)
    allowed = [release for release in _releases() if release.torch in specifier]
    suited = allowed or list(_releases())
    # An exact version (conda's `python=3.9`) is only a lower bound: its images may be years older than the code.
    python = re.sub(r"^==(3\.\d+)(\..*)?$", r">=\1", needs.python)
    if given is None:
        suited = [release for release in suited if allows(python, release.python)] or suited
    else:
        suited = [release for release in suited if release.python == given] or suited
    if not wanted:
        reason = "the repository asks for no torch version"
    elif allowed:
        reason = f"the repository asks for {request}"
    else:
        reason = f"no image satisfies {request}"
    if needs.date is None:
        return suited[-1], f"{reason}; {suited[-1].torch} is the newest"
    when = needs.date.date()
    before = [release for release in suited if release.released <= when]
    if before:
        return before[-1], f"{reason}; {before[-1].torch} was the newest when it was committed ({when})"
    oldest = suited[0]
    return oldest, f"{reason}; {oldest.torch} is the oldest that fits, though newer than the commit ({when})"


def _pinned_release(torch: Version, request: str) -> tuple[_Release, str]:
    older = [release for release in _releases() if release.torch <= torch]
    nearest = older[-1] if older else _releases()[0]
    missing = f"; there is no image of it, {nearest.torch} is the nearest" if nearest.torch != torch else ""
    return nearest, f"the repository asks for {request}{missing}"


def other_python(needs: Needs, base: BaseImageOrigin) -> str:
    if not unmet(needs, base.python):
        return ""
    certainty, advice = "", "name an image that has it with --base-image"
    if not base.python_certain:
        certainty = " as far as known"
        advice += "; or `env lock --python-version X.Y`, if this image has another"
    return (
        f"{asking(needs)}, but the lock is for {base.python}, the Python of {base.reference}{certainty}, and the code"
        f" may not run there; {advice}"
    )


def first_day(python: str) -> datetime:
    """Return the day from which packages support a Python, and their sources build with it."""
    row = table("pythons").get(python)
    return max(_BUILDS, datetime.combine(row["released"], time(), UTC) + _FOLLOWED) if row else _BUILDS


def allows(specifier: str, version: str) -> bool:
    """Return whether some patch release of ``version`` satisfies a specifier."""
    patches = [version] if version.count(".") > 1 else [f"{version}.{patch}" for patch in range(30)]
    return any(patch in SpecifierSet(specifier, prereleases=True) for patch in patches)


def unmet(needs: Needs, python: str) -> bool:
    """Return whether the repository requires a Python other than ``python``, and it matters.

    Code mostly runs in later Pythons, so a request for an older one matters only if pip would refuse to install.
    """
    if not needs.python or allows(needs.python, python):
        return False
    if needs.python_origin.startswith(INSTALLED_BY):
        return True
    minor = int(python.partition(".")[2])
    return not any(allows(needs.python, f"3.{earlier}") for earlier in range(minor))


def asking(needs: Needs) -> str:
    """Return ``the repository asks for Python >=3.12 (pyproject.toml:5)``."""
    return f"the repository asks for Python {needs.python} ({needs.python_origin})"
