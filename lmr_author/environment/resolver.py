"""One resolution by ``uv pip compile``, and what its messages mean."""

from __future__ import annotations

import os
import re
import sys
import time
from dataclasses import dataclass
from datetime import UTC
from pathlib import Path

from packaging.version import Version

from lmr_author import files, processes
from lmr_author.environment import interpreters
from lmr_author.environment.base_images import BaseImage
from lmr_author.environment.python_days import builds_from
from lmr_author.environment.recipe import BACKPORTS, Declared, Recipe
from lmr_author.errors import LmrError
from lmr_author.model import TORCH_FAMILY
from lmr_author.texts import printable

TORCH_NEEDS = frozenset(
    {"typing-extensions", "filelock", "sympy", "mpmath", "networkx", "jinja2", "markupsafe"}
)
"""What PyTorch itself needs: the base image has versions that fit its PyTorch, and an older one as of the
commit's date would break a newer image's ``import torch``. Pinned only when the repository asks for it."""

NVIDIA = tuple(
    f"nvidia-{name}-{cuda}"
    for cuda in ("cu11", "cu12", "cu13")
    for name in (
        "cublas", "cuda-cupti", "cuda-nvrtc", "cuda-runtime", "cudnn", "cufft", "cufile", "curand",
        "cusolver",
        "cusparse", "cusparselt", "nccl", "nvjitlink", "nvshmem", "nvtx",
    )
)  # fmt: skip
"""CUDA libraries that torch brings; they stay the base image's, like torch itself."""

_NO_INDEX = re.compile(
    r"network was disabled|Failed to fetch|error sending request|dns error|Could not connect|client error \(Connect\)"
)
_YANKED = re.compile(r"`([\w.-]+==\S+?)` is yanked(?: \(reason: \"(.*?)\"\))?")
_PRERELEASES = re.compile(r"Pre-releases are available for `([\w.-]+)`")
_PRERELEASE_ASKED = re.compile(r"`([\w.-]+)` was requested with a pre-release marker")
_NO_WHEELS = "Wheels are required for"
_DOWNLOADS_PYTHON = re.compile(
    r"^warning: A managed Python download.*?(?=^\S|\Z)|^warning: The requested Python.*?$", re.M | re.S
)


@dataclass(frozen=True)
class Attempt:
    """What one call of uv is given.

    Attributes:
        declared: requirements to resolve.
        constraints: versions that apply if a package is needed at all.
        as_is: requirements that go into the lock without being looked at.
        built: packages of which there is only the source.
        above: versions that are looked at of what others need, each as ``name>version``: earlier ones cannot be built.
        later: packages that may be newer than the date, each as ``name=date``.
        wheels_from: day from which there are wheels for the image's Python, where that is after the date; else "".
        why_later: why some packages may be of that day, in words.
        resolve: whether what packages need is added.
        lowest: whether the oldest version of what is declared is taken, rather than the newest that fits.
        hashes: whether each line gets its hashes.
        offline: whether only uv's cache is asked.
        left_out, remarks: what was put aside, and what was done otherwise than asked.
        changes: what was changed of versions that the repository names.
    """

    declared: tuple[Declared, ...]
    constraints: tuple[Declared, ...] = ()
    as_is: tuple[Declared, ...] = ()
    built: tuple[str, ...] = ()
    above: tuple[str, ...] = ()
    later: tuple[str, ...] = ()
    wheels_from: str = ""
    why_later: str = ""
    resolve: bool = True
    lowest: bool = False
    hashes: bool = False
    offline: bool = False
    left_out: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()


def compile_once(attempt: Attempt, recipe: Recipe, base: BaseImage, seconds: float) -> processes.Finished:
    """One call of uv, in an empty folder, so that no file of the repository configures it.

    It reads through uv's cache, so that what was asked once is known without a network.
    """
    try:
        import uv

        program = uv.find_uv_bin()
    except (ImportError, FileNotFoundError) as error:
        raise LmrError("the program uv is missing", "install lmr-author again") from error
    with files.temporary_folder("lmr-author-lock-") as folder:
        _write(folder / "requirements.in", [item.text for item in attempt.declared])
        _write(folder / "constraints.txt", [*(item.text for item in attempt.constraints), *attempt.above])
        own = [recipe.project] if recipe.project else []
        own += sorted(_torch_needs(base) - {item.name for item in attempt.declared})
        # A backport may refuse the image's Python by an upper bound, which uv does not look at.
        own += sorted(BACKPORTS)
        _write(folder / "excludes.txt", [*sorted(TORCH_FAMILY), *NVIDIA, *own])
        env = {key: value for key, value in os.environ.items() if key != "VIRTUAL_ENV"}
        env |= {"UV_PYTHON_DOWNLOADS": "never", "NO_COLOR": "1"}
        return _without_haste(_arguments(program, attempt, recipe, base), folder, env, seconds)


def _without_haste(
    arguments: list[str], folder: Path, env: dict[str, str], seconds: float
) -> processes.Finished:
    """uv's answer, in which a package has a pre-release only where nothing else stands in the way, or one is asked for.

    To uv by itself a release whose dependency has no wheel is none, and it takes a pre-release before anybody hears
    of the wheel. What a dependency names by its pre-release (``==0.48b0``) has no other version that would do.
    """
    deadline = time.monotonic() + seconds
    allowed: set[str] = set()
    while True:
        left = max(deadline - time.monotonic(), 1)
        done = processes.run([*arguments, "--prerelease", "explicit"], cwd=folder, env=env, seconds=left)
        said = " ".join(done.stderr.split())
        early = set(_PRERELEASE_ASKED.findall(said)) - allowed
        if not early and _NO_WHEELS not in said:
            early = set(_PRERELEASES.findall(said)) - allowed
        if not done.exit_code or not early or time.monotonic() > deadline:
            return done
        allowed |= early
        with (folder / "constraints.txt").open("a", encoding="utf-8") as constraints:
            constraints.writelines(f"{name}>=0.dev0\n" for name in sorted(early))


def _torch_needs(base: BaseImage) -> frozenset[str]:
    """What the image has because its PyTorch needs it: before 2.0 that was nearly nothing."""
    old = bool(base.torch) and Version(base.torch) < Version("2.0")
    return frozenset({"typing-extensions"}) if old else TORCH_NEEDS


def _write(path: Path, lines: list[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")


def _arguments(program: str, attempt: Attempt, recipe: Recipe, base: BaseImage) -> list[str]:
    arguments = [program, "pip", "compile", "requirements.in", "--excludes", "excludes.txt"]
    arguments += ["--constraints", "constraints.txt", "--no-header", "--annotation-style", "line"]
    arguments += ["--color", "never", "--no-progress"]
    arguments += ["--python-version", base.python, "--python-platform", _platform(base)]
    # Without a source to build any Python will do, and this one is here.
    python = interpreters.for_builds(base.python) if attempt.built else Path(sys.executable)
    arguments += ["--python", str(python), "--only-binary", ":all:"]
    for package in attempt.built:
        arguments += ["--no-binary", package]
    for package, day in _later(attempt, recipe, base).items():
        arguments += ["--exclude-newer-package", f"{package}={day}"]
    if not attempt.resolve:
        arguments.append("--no-deps")
    if attempt.lowest:
        arguments += ["--resolution", "lowest-direct"]
    if attempt.offline:
        arguments.append("--offline")
    if attempt.hashes:
        arguments.append("--generate-hashes")
    if recipe.date is not None:
        arguments += ["--exclude-newer", recipe.date.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")]
    return arguments


def _later(attempt: Attempt, recipe: Recipe, base: BaseImage) -> dict[str, str]:
    """Packages that may be newer than the recipe's date, each with its day (ISO, so that they compare as text).

    What builds a source is one of them: earlier than :func:`builds_from` there is none that uv and this Python take.
    """
    later = dict(item.split("=") for item in attempt.later)
    day = builds_from(base.python)
    if attempt.built and recipe.date is not None and recipe.date < day:
        later["setuptools"] = max(later.get("setuptools", ""), day.date().isoformat())
    return later


def _platform(base: BaseImage) -> str:
    """The image's C library: Ubuntu 18.04's (2.27) in images before 1.13, later ones have 2.31 or newer."""
    old = bool(base.torch) and Version(base.torch) < Version("1.13")
    return "x86_64-manylinux2014" if old else "x86_64-manylinux_2_28"


def index_failure(text: str) -> str:
    """Why the index cannot be used, by uv's message on one line; "" when that is not what it says."""
    if match := re.search(r"Because ([\w.-]+) was not found in the cache", text):
        return f"the package index was not asked, and uv's cache does not have {match[1]}"
    if _NO_INDEX.search(text):
        return "the package index does not answer"
    if (
        "missing an upload date" in text
        and "filtered by `exclude-newer`" in text
        and "published at" not in text
    ):
        return NO_DATES
    return ""


NO_DATES = "the package index gives no upload dates, so versions as of the commit's date cannot be told"


def yanked(stderr: str) -> tuple[str, ...]:
    """Versions that were withdrawn from the index, each with the reason given there."""
    return tuple(
        f"{name} was withdrawn from the index{f' ({printable(reason, 200)})' if reason else ''}"
        for name, reason in dict.fromkeys(_YANKED.findall(" ".join(stderr.split())))
    )


def said(stderr: str) -> str:
    """uv's message without what it says about interpreters of its own."""
    return _DOWNLOADS_PYTHON.sub("", stderr)


def cause(stderr: str) -> str:
    """The reason in uv's message, on one line."""
    text = said(stderr)
    match = re.search(r"(?:cause|╰─▶|error): +(.*?)(?:\n\nhint|\Z)", text, re.S)
    found = match[1] if match else text
    return printable(re.sub(r"^.*?cause: ", "", found, flags=re.S) if "cause: " in found else found, 300)
