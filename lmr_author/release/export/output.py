"""Helpers of all formats: filled templates, and reproducible archives."""

from __future__ import annotations

import gzip
import os
import shlex
import tarfile
from collections.abc import Iterable
from pathlib import Path

from jinja2 import Environment, StrictUndefined

from lmr_author.core import quoting, resources


def render(template: str, **values: object) -> str:
    """Fill a template of ``templates/``.

    Its filters quote foreign text: ``toml``, ``markdown``, ``code`` (in Markdown), and ``quote`` for the shell.
    """
    environment = Environment(
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
    )
    environment.filters |= {
        "toml": quoting.toml,
        "markdown": quoting.markdown,
        "code": quoting.markdown_code,
        "quote": shlex.quote,
    }
    return environment.from_string(resources.template(template)).render(values)


def write_tar(destination: Path, root: Path, paths: Iterable[Path], top: str) -> None:
    """Pack files and links below a folder into ``top``; the same files always give the same bytes.

    Order, times, owners and permissions do not depend on the machine.
    """
    destination.parent.mkdir(parents=True, exist_ok=True)
    with (
        destination.open("wb") as raw,
        gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for path in sorted(paths, key=lambda path: path.relative_to(root).as_posix()):
            entry = tarfile.TarInfo(f"{top}/{path.relative_to(root).as_posix()}")
            status = path.lstat()
            entry.mode = 0o755 if status.st_mode & 0o100 else 0o644
            if path.is_symlink():
                entry.type, entry.linkname = tarfile.SYMTYPE, str(path.readlink())
                archive.addfile(entry)
            else:
                entry.size = status.st_size
                with path.open("rb") as file:
                    archive.addfile(entry, file)


def files_and_links(root: Path) -> list[Path]:
    paths = []
    for folder, folders, names in os.walk(root):
        paths += [Path(folder, name) for name in (*folders, *names)]
    return [path for path in paths if path.is_symlink() or path.is_file()]
