"""Run ``uv pip compile``, and read its messages."""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from datetime import date as Date
from pathlib import Path

from packaging.utils import canonicalize_name
from packaging.version import Version

from lmr_author.core import files
from lmr_author.core.errors import LmrError
from lmr_author.core.task import TORCH_FAMILY
from lmr_author.core.task.provenance import BaseImageOrigin
from lmr_author.core.texts import printable
from lmr_author.runtime.environment import interpreters, uv_command
from lmr_author.runtime.environment.lock_file import UnpinnedReason
from lmr_author.runtime.environment.needs import DeclaredNeed, Needs
from lmr_author.runtime.environment.packages import names, newest_patch
from lmr_author.runtime.environment.uv_command import UvRun

_NO_INDEX = re.compile(
    r"network was disabled|Failed to fetch: `[^`]*/`|error sending request|dns error|Could not connect"
    r"|client error \(Connect\)"
)
_ABOUT_PYTHON = re.compile(
    r"^warning: A managed Python download.*?(?=^\S|\Z)|^warning: The requested Python.*?$", re.M | re.S
)


@dataclass
class Question:
    """A set of requirements to resolve.

    Attributes:
        base: the image with the Python and C library for the packages.
        date: exclude newer packages; None for today.
        constraints: requirements that apply only if a package is needed.
        excluded: names that are never installed.
        only_wheels: names for which sources are excluded.
        prereleases: names for which pre-releases are allowed.
        later: name → later date limit of this package.
        undated: names without a date limit, as the index lacks their upload dates.
        resolve: add dependencies.
    """

    requirements: list[DeclaredNeed]
    base: BaseImageOrigin
    date: datetime | None = None
    constraints: list[DeclaredNeed] = field(default_factory=list)
    excluded: tuple[str, ...] = ()
    only_wheels: list[str] = field(default_factory=list)
    prereleases: list[str] = field(default_factory=list)
    later: dict[str, Date] = field(default_factory=dict)
    undated: list[str] = field(default_factory=list)
    resolve: bool = True


@dataclass(frozen=True)
class Package:
    version: str
    has_wheel: bool


@dataclass(frozen=True)
class ResolverAnswer:
    """uv's answer: the packages by normalised name; None if it failed."""

    packages: dict[str, Package] | None
    stderr: str
    timed_out: bool


def ask(question: Question, seconds: float) -> ResolverAnswer:
    """Run uv once. Raises LmrError if it is missing, or its output is not a lock."""
    constraints = [bound.text for bound in question.constraints]
    constraints += [f"{name}>=0.dev0" for name in question.prereleases]
    same = interpreters.find(question.base.python)
    python = same.path if same else Path(sys.executable)  # for builds, the image's version if available here
    with files.temporary_folder("lmr-author-lock-") as folder:
        folder.chmod(0o755)
        _write(folder / "requirements.in", [requirement.text for requirement in question.requirements])
        _write(folder / "constraints.txt", constraints)
        _write(folder / "excludes.txt", question.excluded)
        arguments = [*_arguments(question), "--python", str(python)]
        done = uv_command.run(arguments, uv_command.settings(), folder=folder, python=python, seconds=seconds)
    return _answer(done)


def _answer(done: UvRun) -> ResolverAnswer:
    """Read a ``pylock.toml`` (PEP 751)."""
    if done.exit_code != 0:
        return ResolverAnswer(None, done.stderr, done.timed_out)
    packages: dict[str, Package] = {}
    try:
        for package in tomllib.loads(done.stdout.decode("utf-8", "replace")).get("packages", []):
            has_wheel = bool(package.get("wheels"))
            packages[canonicalize_name(package["name"])] = Package(
                str(Version(package["version"])), has_wheel
            )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        hint = "lmr-author does not support the output of this uv: please report it, with `uv --version`"
        raise LmrError(f"uv wrote an invalid lock: {printable(str(error), 200)}", hint) from error
    return ResolverAnswer(packages, done.stderr, done.timed_out)


def _write(path: Path, lines: Sequence[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    path.chmod(0o644)


def _arguments(question: Question) -> list[str]:
    base = question.base
    # The image's C library: Ubuntu 18.04's (2.27) in images before 1.13, then 2.31 or newer.
    old = bool(base.torch) and Version(base.torch) < Version("1.13")
    arguments = ["pip", "compile", "requirements.in", "--excludes", "excludes.txt", "--constraints"]
    arguments += ["constraints.txt", "--no-header", "--color", "never", "--no-progress"]
    arguments += ["--format", "pylock.toml", "--python-version", newest_patch(base.python)]
    arguments += ["--python-platform", "x86_64-manylinux2014" if old else "x86_64-manylinux_2_28"]
    for name in question.only_wheels:
        arguments += ["--only-binary", name]
    if question.date is not None:
        arguments += ["--exclude-newer", question.date.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")]
        for name, until in question.later.items():
            arguments += ["--exclude-newer-package", f"{name}={until.isoformat()}"]
        for name in question.undated:
            arguments += ["--exclude-newer-package", f"{name}=false"]
    return arguments + ([] if question.resolve else ["--no-deps"])


def excluded(base: BaseImageOrigin, needs: Needs, declared: Sequence[DeclaredNeed]) -> tuple[str, ...]:
    """Return the names that a lock never contains: PyTorch's and CUDA's, backports, and the repository's own package.

    The image has matching versions of PyTorch's dependencies; an older one of the commit's date would break a newer
    image's ``import torch``. They are pinned only if the repository requires them or does not use PyTorch: a local
    environment then has no PyTorch to bring them.
    """
    old = bool(base.torch) and Version(base.torch) < Version("2.0")
    excluded_names = TORCH_FAMILY | names("backports")
    if needs.torch:
        of_torch = frozenset({"typing-extensions"}) if old else names("torch_needs")
        excluded_names |= of_torch - {each.name for each in declared}
    # Torch depends on CUDA's libraries; like torch, they come from the base image.
    for part in names("cuda_parts"):
        excluded_names |= {f"nvidia-{part}-cu11", f"nvidia-{part}-cu12", f"nvidia-{part}-cu13"}
    return tuple(sorted(excluded_names | {needs.project} - {""}))


def index_failure(text: str) -> tuple[UnpinnedReason, str] | None:
    if match := re.search(r"Because ([\w.-]+) was not found in the cache", text):
        cause = f"the package index was not asked, and uv's cache does not have {match[1]}"
        return UnpinnedReason.NOT_CACHED, cause
    if _NO_INDEX.search(text):
        return UnpinnedReason.NO_ANSWER, str(UnpinnedReason.NO_ANSWER)
    return None


def undated(text: str) -> str:
    """Return the package that uv rejected for its missing upload date; "" for none."""
    hints = re.findall(r"hint: `([\w.-]+)` was filtered by `exclude-newer`(.*?)(?=hint:|$)", text)
    lacking = re.findall(r"`([\w.]+?)-\d[^`]*` is missing an upload date", text)
    names_lacking = set(map(canonicalize_name, lacking))
    return next((name for name, why in hints if "published at" not in why and name in names_lacking), "")


def message(stderr: str) -> str:
    return " ".join(_ABOUT_PYTHON.sub("", stderr).split())


def cause(stderr: str) -> str:
    text = _ABOUT_PYTHON.sub("", stderr)
    match = re.search(r"(?:cause|╰─▶|error): +(.*?)(?:\n\nhint|\Z)", text, re.S)
    reason = match[1] if match else text
    return printable(re.sub(r"^.*?cause: ", "", reason, flags=re.S), 300)
