"""Run ``uv pip compile`` in the sandbox, and read its messages.

To learn what a package without a wheel needs, uv runs the package's own build: foreign code. So it runs in bubblewrap
with the network, without the user's home, settings that hold secrets, or the user's cache, which an installation could
trust later. Without bubblewrap nothing is built: uv runs here, and takes wheels alone.
"""

from __future__ import annotations

import fcntl
import os
import re
import sys
import time
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from datetime import date as Date
from pathlib import Path

from packaging.utils import canonicalize_name
from packaging.version import Version

from lmr_author import files, processes
from lmr_author.environment import interpreters
from lmr_author.environment.base_images import BaseImage
from lmr_author.environment.packages import names, newest_patch
from lmr_author.environment.recipe import Declared
from lmr_author.errors import LmrError
from lmr_author.sandbox.base import Command, Limits, Mount
from lmr_author.sandbox.local import LocalSandbox
from lmr_author.task import TORCH_FAMILY
from lmr_author.texts import printable

NO_DATES = "the package index gives no upload dates, so versions as of the commit's date cannot be told"
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
        base: the image whose Python and C library the packages are for.
        date: newer packages are not used; None for today.
        constraints: requirements that apply if a package is needed at all.
        excluded: names that are not installed, whoever needs them.
        only_wheels: names of which no source is used.
        prereleases: names of which a pre-release is taken.
        later: name → day until which this package may be newer than the date.
        resolve: whether what packages need is added.
    """

    requirements: list[Declared]
    base: BaseImage
    date: datetime | None = None
    constraints: list[Declared] = field(default_factory=list)
    excluded: tuple[str, ...] = ()
    only_wheels: list[str] = field(default_factory=list)
    prereleases: list[str] = field(default_factory=list)
    later: dict[str, Date] = field(default_factory=dict)
    resolve: bool = True


@dataclass(frozen=True)
class Package:
    """A package of a resolution: its version, and its files that fit the image."""

    version: str
    has_wheel: bool
    uploaded: Date | None


@dataclass(frozen=True)
class Answer:
    """The answer of uv: the packages by their normalised names; None when it failed."""

    packages: dict[str, Package] | None
    stderr: str
    timed_out: bool


def can_build() -> bool:
    """Return whether uv may run the builds of foreign packages: in bubblewrap, with no secret among its settings."""
    return LocalSandbox().isolating and not any(
        re.search(r"PASSWORD|TOKEN|USERNAME", key) or re.search(r"://[^/@\s]+@", value)
        for key, value in _settings().items()
    )


def ask(question: Question, seconds: float) -> Answer:
    """Run uv once. Raises LmrError when it is missing, or writes what is no lock."""
    try:
        import uv

        program = Path(uv.find_uv_bin())
    except (ImportError, FileNotFoundError) as error:
        raise LmrError("the program uv is missing", "install lmr-author again") from error
    constraints = [item.text for item in question.constraints]
    constraints += [f"{name}>=0.dev0" for name in question.prereleases]
    with files.temporary_folder("lmr-author-lock-") as folder:
        folder.chmod(0o755)
        _write(folder / "requirements.in", [item.text for item in question.requirements])
        _write(folder / "constraints.txt", constraints)
        _write(folder / "excludes.txt", question.excluded)
        arguments = _arguments(question)
        if can_build():
            return _in_sandbox(program, arguments, folder, question.base.python, seconds)
        env = {
            key: value for key, value in os.environ.items() if key != "VIRTUAL_ENV"
        } | interpreters.UV_SETTINGS
        own = ["--python", sys.executable, "--only-binary", ":all:"]
        done = processes.run([str(program), *arguments, *own], cwd=folder, env=env, seconds=seconds)
        return _answer(done.exit_code, done.stdout, done.stderr, done.timed_out)


def _answer(exit_code: int, output: bytes, stderr: str, timed_out: bool) -> Answer:
    """Read a ``pylock.toml`` (PEP 751)."""
    if exit_code != 0:
        return Answer(None, stderr, timed_out)
    found: dict[str, Package] = {}
    try:
        for package in tomllib.loads(output.decode("utf-8", "replace")).get("packages", []):
            wheels = package.get("wheels", [])
            listed = [*wheels, *([package["sdist"]] if "sdist" in package else [])]
            times = [item["upload-time"] for item in listed if isinstance(item.get("upload-time"), datetime)]
            found[canonicalize_name(package["name"])] = Package(
                str(Version(package["version"])), bool(wheels), min(times).date() if times else None
            )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        hint = "this uv prints what lmr-author does not know: report it, with `uv --version`"
        raise LmrError(f"uv wrote what is no lock: {printable(str(error), 200)}", hint) from error
    return Answer(found, stderr, timed_out)


def _in_sandbox(program: Path, arguments: list[str], folder: Path, python: str, seconds: float) -> Answer:
    """Run uv in bubblewrap with the network; builds use the image's Python, where this machine has it."""
    began = time.monotonic()
    same = (item.path for item in interpreters.interpreters() if item.minor == python)
    interpreter = next(same, Path(sys.executable))
    settings = _settings()
    mounts = [Mount(folder, "/uv/work"), Mount(program, "/uv/uv"), *_local_indexes(settings)]
    certificates = Path(os.environ.get("SSL_CERT_FILE", ""))
    if certificates.is_file():
        # As a copy: in the sandbox /etc has a user of its own, and the file may be anywhere.
        files.write_bytes(folder / "certificates.pem", certificates.read_bytes())
        (folder / "certificates.pem").chmod(0o644)
        settings["SSL_CERT_FILE"] = "/uv/work/certificates.pem"
    configured = Path.home() / ".config" / "uv" / "uv.toml"
    if configured.is_file() and "UV_NO_CONFIG" not in settings and "@" not in configured.read_text("utf-8"):
        mounts.append(Mount(configured, "/uv/uv.toml"))
        settings["UV_CONFIG_FILE"] = "/uv/uv.toml"
    cache = files.user_cache() / "resolver"
    cache.mkdir(parents=True, exist_ok=True)
    with (cache.parent / ".resolver.lock").open("w") as alone:
        # For a run as root the cache belongs to the sandbox's user meanwhile: one at a time.
        fcntl.flock(alone, fcntl.LOCK_EX)
        done = LocalSandbox(interpreter).run(
            Command(
                ("/uv/uv", *arguments, "--python", str(interpreter)),
                mounts=(*mounts, Mount(cache, "/uv/cache", writable=True)),
                cwd="/uv/work",
                env={**settings, "UV_CACHE_DIR": "/uv/cache", **interpreters.UV_SETTINGS},
                limits=Limits(seconds=max(1.0, seconds - (time.monotonic() - began))),
                network=True,
            )
        )
    return _answer(done.exit_code, done.stdout, done.stderr.decode("utf-8", "replace"), done.timed_out)


def _settings() -> dict[str, str]:
    """The variables that say where packages are."""
    ours = re.compile(r"UV_(?!CACHE_DIR|PYTHON|PROJECT|TOOL|WORKING)\w+|(?i:https?_proxy|no_proxy|all_proxy)")
    return {key: value for key, value in os.environ.items() if ours.fullmatch(key)}


def _local_indexes(settings: dict[str, str]) -> list[Mount]:
    """Folders of this machine that the settings name as indexes."""
    words = {
        word.removeprefix("file://") for value in settings.values() for word in re.split(r"[,\s]+", value)
    }
    return [Mount(Path(word), word) for word in sorted(words) if word.startswith("/") and Path(word).exists()]


def _write(path: Path, lines: Sequence[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    path.chmod(0o644)


def _arguments(question: Question) -> list[str]:
    base = question.base
    # The image's C library: Ubuntu 18.04's (2.27) in images before 1.13, later ones have 2.31 or newer.
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
    return arguments + ([] if question.resolve else ["--no-deps"])


def excluded(base: BaseImage, project: str, declared: Sequence[Declared]) -> tuple[str, ...]:
    """Return the names that a lock never has: PyTorch's and CUDA's, backports, and the repository's own package.

    Of what PyTorch needs the image has versions that fit; an older one as of the commit's date would break a newer
    image's ``import torch``. It is pinned only when the repository asks for it.
    """
    old = bool(base.torch) and Version(base.torch) < Version("2.0")
    needs = frozenset({"typing-extensions"}) if old else names("torch_needs")
    own = [project] if project else []
    # Torch brings them; they stay the base image's, like torch itself.
    cuda = [
        f"nvidia-{name}-{version}"
        for version in ("cu11", "cu12", "cu13")
        for name in sorted(names("cuda_parts"))
    ]
    left = needs - {item.name for item in declared}
    return (*sorted(TORCH_FAMILY), *cuda, *own, *sorted(left), *sorted(names("backports")))


def index_failure(text: str) -> str:
    """Return why the index cannot be used, by uv's message on one line; "" when that is not the failure."""
    if match := re.search(r"Because ([\w.-]+) was not found in the cache", text):
        return f"the package index was not asked, and uv's cache does not have {match[1]}"
    if _NO_INDEX.search(text):
        return "the package index does not answer"
    without = "missing an upload date" in text and "filtered by `exclude-newer`" in text
    return NO_DATES if without and "published at" not in text else ""


def message(stderr: str) -> str:
    """Return uv's message on one line, without its remarks about interpreters."""
    return " ".join(_ABOUT_PYTHON.sub("", stderr).split())


def cause(stderr: str) -> str:
    """Return the reason in uv's message, on one line."""
    text = _ABOUT_PYTHON.sub("", stderr)
    match = re.search(r"(?:cause|╰─▶|error): +(.*?)(?:\n\nhint|\Z)", text, re.S)
    found = match[1] if match else text
    return printable(re.sub(r"^.*?cause: ", "", found, flags=re.S), 300)
