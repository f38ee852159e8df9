"""Settings in git's format, as strangers wrote them: read here, obeyed by nobody."""

from __future__ import annotations

import configparser
import io
import os
from contextlib import suppress
from pathlib import Path

from lmr_author.core import foreign, processes

MOST_BYTES = 1024 * 1024


def read_settings(data: bytes) -> dict[str, dict[str, str]]:
    """Return the sections of a text; files that it includes are not read."""
    processes.require("git")
    from git.config import GitConfigParser

    file = io.BytesIO(data)
    file.name = "settings"  # which GitPython asks for
    with suppress(configparser.Error, UnicodeDecodeError):
        settings = GitConfigParser(file, read_only=True, merge_includes=False)
        return {section: dict(settings.items(section)) for section in settings.sections()}
    return {}


def read_origin(repository: Path) -> str:
    """Return the address of the remote ``origin`` in a repository's settings; "" for none."""
    data = foreign.read_regular(str(_settings_file(repository)), MOST_BYTES)
    return read_settings(data or b"").get('remote "origin"', {}).get("url", "")


def _settings_file(repository: Path) -> Path:
    """Return where the settings of a clone, a linked work tree, a submodule or a bare repository lie."""
    folder = repository / ".git"
    if pointer := foreign.read_regular(str(folder), MOST_BYTES):
        folder = repository / os.fsdecode(pointer.removeprefix(b"gitdir:").strip())
        common = foreign.read_regular(str(folder / "commondir"), MOST_BYTES) or b""
        folder /= os.fsdecode(common.strip())
    elif not folder.is_dir():
        folder = repository
    return folder / "config"
