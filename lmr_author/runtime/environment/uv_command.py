"""Run uv on untrusted packages: in the sandbox, or outside with wheels only.

Building a package runs its code; so does starting a Python whose environment contains it (``.pth`` files). So uv runs
in bubblewrap: with the network, but without the user's home, settings with secrets, or the user's cache, which a later
installation could trust. Without bubblewrap, or if an index needs a password, uv runs outside, installs only wheels,
and does not compile them.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from lmr_author.core import files, locks, processes
from lmr_author.core.errors import LmrError
from lmr_author.core.task import Progress
from lmr_author.runtime.sandbox.base import Command, Limits, Mount
from lmr_author.runtime.sandbox.local import LocalSandbox

NO_DOWNLOADS = {"UV_PYTHON_DOWNLOADS": "never", "NO_COLOR": "1"}
"""For each run of uv: never download a Python."""
_OF_THE_SHELL = ("VIRTUAL_ENV", "PYTHONPATH", "PYTHONHOME")
_SETTING = re.compile(
    r"UV_(?!CACHE_DIR|CONFIG_FILE|PYTHON|PROJECT|TOOL|WORKING)\w+|(?i:https?_proxy|no_proxy|all_proxy)"
)
_SECRET_NAME = re.compile(r"PASSWORD|TOKEN|USERNAME")
_SECRET_ADDRESS = re.compile(r"://[^/@\s]+@")
_PATH = re.compile(r"(?:file://|(?<![^\s,=]))(/[^\s,]+)")
_WITHOUT_BUBBLEWRAP = "bubblewrap is not installed or does not work here (apt install bubblewrap)"
_WITH_PASSWORD = "a package index setting contains a password, which builds must not see"


@dataclass(frozen=True)
class UvRun:
    exit_code: int
    stdout: bytes
    stderr: str
    timed_out: bool


def settings() -> dict[str, str]:
    return {key: value for key, value in os.environ.items() if _SETTING.fullmatch(key)}


def settings_with_pip() -> dict[str, str]:
    """Return the settings with pip's, which locate wheels on this machine, such as PyTorch's; uv ignores those."""
    chosen = settings()
    if links := os.environ.get("PIP_FIND_LINKS"):
        chosen.setdefault("UV_FIND_LINKS", ",".join(links.split()))
    if (address := os.environ.get("PIP_INDEX_URL")) and "UV_INDEX_URL" not in chosen:
        chosen.setdefault("UV_DEFAULT_INDEX", address)
    return chosen


def why_only_wheels(chosen: Mapping[str, str]) -> str:
    """Return why uv must not run code of packages, not even to compile them; "" if it may, in bubblewrap."""
    if not LocalSandbox().isolating:
        return _WITHOUT_BUBBLEWRAP
    secret = any(_SECRET_NAME.search(key) or _SECRET_ADDRESS.search(value) for key, value in chosen.items())
    configured = _configuration(chosen)
    if secret or (
        configured and re.search(r"(?i)password|://[^/@\s]+@", configured.read_text("utf-8", "replace"))
    ):
        return _WITH_PASSWORD
    return ""


def run(
    arguments: Sequence[str],
    chosen: Mapping[str, str],
    *,
    folder: Path,
    python: Path,
    seconds: float,
    writable: Sequence[Path] = (),
    say: Progress | None = None,
) -> UvRun:
    """Run uv once, in the sandbox unless :func:`why_only_wheels` forbids it.

    Args:
        chosen: settings, from :func:`settings`.
        folder: working folder, mounted read-only.
        python: an interpreter to mount, with its folders.
        writable: folders that it may change. All paths are the same inside.
        say: called with each line of its messages, and if it waits for another process.

    Raises LmrError if uv is missing.
    """
    if not why_only_wheels(chosen):
        return _in_sandbox(arguments, chosen, folder, python, seconds, writable, say)
    env = {key: value for key, value in os.environ.items() if key not in _OF_THE_SHELL}
    wheels = ("--only-binary", ":all:") if arguments[0] == "pip" else ()
    done = processes.run(
        [str(program()), *arguments, *wheels],
        cwd=folder,
        env={**env, **chosen, **NO_DOWNLOADS},
        seconds=seconds,
        on_line=say,
    )
    return UvRun(done.exit_code, done.stdout, done.stderr, done.timed_out)


def program() -> Path:
    """Return uv's program. Raises LmrError if it is missing."""
    try:
        import uv

        return Path(uv.find_uv_bin())
    except (ImportError, FileNotFoundError) as error:
        raise LmrError("the program uv is missing", "install lmr-author again") from error


def _in_sandbox(
    arguments: Sequence[str], chosen: Mapping[str, str], folder: Path, python: Path, seconds: float,
    writable: Sequence[Path], say: Progress | None,
) -> UvRun:  # fmt: skip
    began = time.monotonic()
    env = {**chosen, **NO_DOWNLOADS, "UV_CACHE_DIR": "/uv/cache", "UV_LINK_MODE": "copy"}
    mounts = [Mount(program(), "/uv/uv"), Mount(folder, str(folder)), *_local_indexes(chosen)]
    mounts += [Mount(path, str(path), writable=True) for path in writable]
    certificates = Path(os.environ.get("SSL_CERT_FILE", ""))
    if certificates.is_file():
        # As a copy: the sandbox's user may be unable to read the original.
        copy = folder / "certificates.pem"
        copy.write_bytes(certificates.read_bytes())
        copy.chmod(0o644)
        env["SSL_CERT_FILE"] = str(copy)
    if configured := _configuration(chosen):
        mounts.append(Mount(configured, "/uv/uv.toml"))
        env["UV_CONFIG_FILE"] = "/uv/uv.toml"
    cache = files.user_cache() / "resolver"
    cache.mkdir(parents=True, exist_ok=True)
    mounts.append(Mount(cache, "/uv/cache", writable=True))
    # In a run as root, the cache belongs to the sandbox's user.
    one_at_a_time = alone(cache.parent / ".resolver.lock", say) if os.geteuid() == 0 else nullcontext()
    with one_at_a_time:
        limits = Limits(seconds=max(1.0, seconds - (time.monotonic() - began)), processes=1024, file_mb=8192)
        done = LocalSandbox(python).run(
            Command(
                ("/uv/uv", *arguments), tuple(mounts), str(folder), env, limits, network=True, on_line=say
            )
        )
    return UvRun(done.exit_code, done.stdout, done.stderr.decode("utf-8", "replace"), done.timed_out)


def alone(lock: Path, say: Progress | None = None) -> AbstractContextManager[None]:
    tell = say or (lambda _: None)
    return locks.exclusive(
        lock, lambda: tell("waiting for another lmr-author process that installs packages")
    )


def _configuration(chosen: Mapping[str, str]) -> Path | None:
    path = Path(os.environ.get("UV_CONFIG_FILE") or Path.home() / ".config" / "uv" / "uv.toml")
    return path if path.is_file() and "UV_NO_CONFIG" not in chosen else None


def _local_indexes(chosen: Mapping[str, str]) -> list[Mount]:
    paths = {path for value in chosen.values() for path in _PATH.findall(value)}
    return [Mount(Path(path), path) for path in sorted(paths) if Path(path).exists()]
