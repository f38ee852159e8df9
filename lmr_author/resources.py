"""Schemas and templates: beside the package in a checkout, inside it in an installed wheel."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from lmr_author.errors import LmrError

_PACKAGE = Path(__file__).resolve().parent


def folder(name: str) -> Path:
    """The folder ``schemas`` or ``templates``. Raises LmrError in a broken installation."""
    for candidate in (_PACKAGE / name, _PACKAGE.parent / name):
        if candidate.is_dir():
            return candidate
    raise LmrError(f"the installation lacks its folder {name}/", "install lmr-author again")


@cache
def schema(name: str) -> dict[str, Any]:
    """A JSON schema by its short name: ``schema("info")`` is ``schemas/info.schema.json``."""
    data: dict[str, Any] = json.loads((folder("schemas") / f"{name}.schema.json").read_text("utf-8"))
    return data


def template(name: str) -> str:
    """The text of a template file below ``templates/``."""
    return (folder("templates") / name).read_text("utf-8")


def probe_folder() -> Path:
    """The folder of the probe: what is copied into a task's environment."""
    return _PACKAGE / "probe"
