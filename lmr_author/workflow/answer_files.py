"""Files in which people write answers instead of being asked: YAML or JSON, an object with names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lmr_author.errors import UsageError


def read_object(path: Path, option: str, hint: str = "see the command's --help") -> dict[str, Any]:
    """A YAML or JSON file that holds an object. Raises UsageError when it is none.

    Args:
        option: what names the file on the command line.
        hint: how to come by such a file.
    """
    import yaml

    if not path.is_file():
        raise UsageError(f"{option} {path}: there is no such file", hint)
    try:
        data = yaml.safe_load(path.read_bytes())
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(f"{option} {path}: neither YAML nor JSON", "correct the file") from error
    if not isinstance(data, dict):
        raise UsageError(f"{option} {path}: not an object with names", hint)
    return data
