"""Pin a recipe's packages as they were on the day of the commit, with ``uv pip compile --exclude-newer``."""

from __future__ import annotations

import os
import re
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from lmr_author import processes
from lmr_author.environment.base_images import BaseImage
from lmr_author.environment.recipe import (
    BUILT_WITH_TORCH,
    TORCH_FAMILY,
    Declared,
    Recipe,
    is_exact,
    is_freeze,
)
from lmr_author.errors import LmrError
from lmr_author.processes import printable

SECONDS = 60.0
ATTEMPTS = 25
"""How often what stands in the way of a resolution is put aside before giving up."""

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

_NO_WHEEL = re.compile(r"Wheels are required for `([\w.-]+)`")

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Lock:
    """What ``requirements.lock`` holds.

    Attributes:
        text: the file: comments, and one requirement a line; never an option or an address.
        pinned: every package, also indirect ones, has one exact version.
        note: how it was made, or why it is not pinned.
        left_out: requirements that were put aside, each with the reason.
    """

    text: str
    pinned: bool
    note: str
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Attempt:
    """What the next call of uv is given."""

    declared: tuple[Declared, ...]
    as_is: tuple[Declared, ...] = ()
    built: tuple[str, ...] = ()
    later: tuple[str, ...] = ()
    resolve: bool = True
    left_out: tuple[str, ...] = ()
    remarks: tuple[str, ...] = field(default=())


def lock(
    recipe: Recipe, base: BaseImage, *, seconds: float = SECONDS, progress: Progress | None = None
) -> Lock:
    """Pin a recipe for a base image; offline, or when no versions fit together, it is not, and says why.

    PyTorch and CUDA packages are left to the base image. uv builds a package only to learn what it
    needs, and only when there is no wheel of it. With ``seconds`` 0 no index is asked at all: exact
    requirements are then taken as the repository names them.
    """
    if not recipe.requirements:
        return _written(Lock("", True, "the repository needs nothing beside PyTorch"), recipe, base)
    if seconds <= 0:
        return _written(_offline(_first(recipe.requirements)), recipe, base)
    attempt, cause = _first(recipe.requirements), "no time left"
    deadline = time.monotonic() + seconds
    for _ in range(ATTEMPTS):
        left = deadline - time.monotonic()
        if left <= 1:
            cause = f"uv took longer than {seconds:.0f} s"
            break
        done = _compile(attempt, recipe, base, left)
        if done.timed_out:
            cause = f"uv took longer than {seconds:.0f} s"
            break
        if done.exit_code == 0:
            return _written(_pinned(attempt, done.stdout.decode("utf-8", "replace"), recipe), recipe, base)
        following = _next(attempt, done.stderr)
        if isinstance(following, str):
            cause = following
            break
        if progress is not None and following.remarks:
            progress(following.remarks[-1])
        attempt = following
    return _written(_unpinned(attempt, cause), recipe, base)


def _first(declared: tuple[Declared, ...]) -> _Attempt:
    """A full list is an environment that existed: looked up, not resolved, contradictory as it may be."""
    if not is_freeze(declared):
        return _Attempt(declared)
    remark = "the repository lists a whole environment, which is installed as it stands"
    return _Attempt(declared, resolve=False, remarks=(remark,))


def _compile(attempt: _Attempt, recipe: Recipe, base: BaseImage, seconds: float) -> processes.Finished:
    """One call of uv, in an empty folder, so that no file of the repository configures it."""
    try:
        import uv

        program = uv.find_uv_bin()
    except (ImportError, FileNotFoundError) as error:
        raise LmrError("the program uv is missing", "install lmr-author again") from error
    with tempfile.TemporaryDirectory(prefix="lmr-author-lock-") as name:
        folder = Path(name)
        (folder / "requirements.in").write_text(
            "".join(f"{item.text}\n" for item in attempt.declared), "utf-8"
        )
        own = [recipe.project] if recipe.project else []
        own += sorted(TORCH_NEEDS - {item.name for item in attempt.declared})
        (folder / "excludes.txt").write_text(
            "\n".join([*sorted(TORCH_FAMILY), *NVIDIA, *own]) + "\n", "utf-8"
        )
        arguments = [program, "pip", "compile", "requirements.in", "--excludes", "excludes.txt"]
        arguments += ["--no-header", "--no-annotate", "--color", "never", "--no-progress"]
        arguments += ["--python-version", base.python, "--python-platform", _platform(base)]
        arguments += ["--only-binary", ":all:"]
        for package in attempt.built:
            arguments += ["--no-binary", package]
        for package in attempt.later:
            arguments += ["--exclude-newer-package", package]
        if not attempt.resolve:
            arguments.append("--no-deps")
        if recipe.date is not None:
            arguments += ["--exclude-newer", recipe.date.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")]
        env = {key: value for key, value in os.environ.items() if key != "VIRTUAL_ENV"}
        env |= {"UV_PYTHON_DOWNLOADS": "never", "NO_COLOR": "1"}
        return processes.run(arguments, cwd=folder, env=env, seconds=seconds)


def _platform(base: BaseImage) -> str:
    """The image's C library: Ubuntu 18.04's (2.27) in images before 1.13, later ones have 2.31 or newer."""
    old = bool(base.torch) and Version(base.torch) < Version("1.13")
    return "x86_64-manylinux2014" if old else "x86_64-manylinux_2_28"


def _next(attempt: _Attempt, stderr: str) -> _Attempt | str:
    """What to do about uv's message: the next attempt, or the reason to give up."""
    names = {item.name for item in attempt.declared}
    text = " ".join(stderr.split())
    if re.search(
        r"network was disabled|Failed to fetch|error sending request|dns error|Could not connect", text
    ):
        return "the package index does not answer"
    if (
        "missing an upload date" in text
        and "filtered by `exclude-newer`" in text
        and "published at" not in text
    ):
        return "the package index gives no upload dates, so versions as of the commit's date cannot be told"
    if match := re.search(
        r"`([\w.-]+)` was filtered by `exclude-newer`.*? published at (\d{4}-\d\d-\d\d)", text
    ):
        return _allow_later(attempt, match[1], match[2])
    if match := re.search(r"Because ([\w.-]+) was not found in the package registry", text):
        return _leave_out(attempt, match[1], "it is not on the package index", names, text)
    if match := re.search(r"Failed to (?:build|download and build|prepare)[^`]*`([\w.-]+?)(?:==|@|`)", text):
        return _leave_out(attempt, match[1], "it cannot be built to learn what it needs", names, text)
    missing = [name for name in _NO_WHEEL.findall(text) if name not in attempt.built]
    if missing:
        return _without_wheel(attempt, missing[0], names, text)
    guessed = next(
        (item for item in attempt.declared if item.guessed and re.search(rf"\b{item.name}\b", text)), None
    )
    if guessed:
        return _leave_out(attempt, guessed.name, "no version of it fits, and nobody declares it", names, text)
    return f"no versions fit together: {_cause(stderr)}"


def _without_wheel(attempt: _Attempt, name: str, names: set[str], text: str) -> _Attempt | str:
    """A package of which there is only the source: uv has to run its build to learn what it needs."""
    canonical = canonicalize_name(name)
    if canonical in BUILT_WITH_TORCH:
        why = "its source needs PyTorch and a CUDA compiler to be installed"
        return _leave_out(attempt, name, why, names, text)
    if not attempt.resolve:
        return replace(
            attempt,
            declared=tuple(item for item in attempt.declared if item.name != canonical),
            as_is=(*attempt.as_is, *(item for item in attempt.declared if item.name == canonical)),
        )
    remark = f"no wheel of {name}: its source is read to learn what it needs"
    return replace(attempt, built=(*attempt.built, name), remarks=(*attempt.remarks, remark))


def _leave_out(attempt: _Attempt, name: str, why: str, names: set[str], text: str) -> _Attempt | str:
    canonical = canonicalize_name(name)
    if canonical not in names:
        return f"{canonical}, which another package needs, cannot be had: {printable(text, 300)}"
    gone = next(item for item in attempt.declared if item.name == canonical)
    remark = f"{gone} is left out: {why}"
    return replace(
        attempt,
        declared=tuple(item for item in attempt.declared if item.name != canonical),
        left_out=(*attempt.left_out, remark),
        remarks=(*attempt.remarks, remark),
    )


def _allow_later(attempt: _Attempt, name: str, published: str) -> _Attempt | str:
    """The repository names a version that came after its last commit: allow this one package to be as new."""
    if any(item.startswith(f"{name}=") for item in attempt.later):
        return f"no version of {name} fits"
    day = (datetime.fromisoformat(published) + timedelta(days=1)).date().isoformat()
    remark = f"{name} is newer than the commit ({published}), because the repository asks for it"
    return replace(attempt, later=(*attempt.later, f"{name}={day}"), remarks=(*attempt.remarks, remark))


def _pinned(attempt: _Attempt, output: str, recipe: Recipe) -> Lock:
    lines = [line for line in output.splitlines() if line.strip() and not line.startswith("#")]
    kept = [_checked(line) for line in sorted([*lines, *(item.text for item in attempt.as_is)])]
    how = f"pinned as of {recipe.date.date().isoformat()}" if recipe.date else "pinned"
    exact = all("==" in line and ".*" not in line for line in kept)
    return Lock(
        "".join(f"{line}\n" for line in kept), exact, "; ".join((how, *attempt.remarks)), attempt.left_out
    )


def _checked(line: str) -> str:
    """A line of uv's output as a plain requirement; anything else is a bug worth hearing of."""
    try:
        requirement = Requirement(line)
    except InvalidRequirement as error:
        raise LmrError(f"uv wrote a line that is no requirement: {printable(line)}", "report this") from error
    if requirement.url:
        raise LmrError(f"uv wrote an address: {printable(line)}", "report this")
    return str(requirement)


def _offline(attempt: _Attempt) -> Lock:
    """The requirements as declared; a lock only if the repository itself pins each of them."""
    if not all(map(is_exact, attempt.declared)):
        return _unpinned(attempt, "the package index was not asked")
    lines = "".join(f"{item.text}\n" for item in sorted(attempt.declared, key=lambda item: item.name))
    return Lock(lines, True, "pinned as the repository pins them; the package index was not asked", ())


def _unpinned(attempt: _Attempt, cause: str) -> Lock:
    declared = sorted([*attempt.declared, *attempt.as_is], key=lambda item: item.name)
    lines = "".join(f"{item.text}\n" for item in declared)
    note = f"NOT pinned: {cause}"
    return Lock(lines, False, "; ".join((note, *attempt.remarks)), attempt.left_out)


def _written(made: Lock, recipe: Recipe, base: BaseImage) -> Lock:
    """The lock with the comment that says what it is."""
    comments = [made.note, f"for Python {base.python}; PyTorch and CUDA are the base image's", *made.left_out]
    head = "".join(f"# {printable(comment, 600)}\n" for comment in comments)
    return replace(made, text=head + made.text)


def _cause(stderr: str) -> str:
    match = re.search(r"(?:cause|╰─▶|error): +(.*?)(?:\n\nhint|\Z)", stderr, re.S)
    text = match[1] if match else stderr
    return printable(re.sub(r"^.*?cause: ", "", text, flags=re.S) if "cause: " in text else text, 300)
