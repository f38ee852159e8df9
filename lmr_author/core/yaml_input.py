"""YAML that a person wrote, as typed values; what is wrong in it is named by file and field."""

from __future__ import annotations

import dataclasses
import difflib
import re
from typing import Any, TypeVar

import msgspec

from lmr_author.core.errors import LmrError
from lmr_author.core.parsing import NotParsed, yaml_data
from lmr_author.core.texts import shortened

T = TypeVar("T")
_WITH_PLACE = re.compile(r"(?P<message>.*) - at `\$\.?(?P<place>.*)`", re.DOTALL)
"""An error of msgspec: "Expected `str`, got `int` - at `$.entries[2].quote`"."""


def parse(data: bytes | str, where: str) -> Any:
    """Parse YAML; every scalar is text. Raises LmrError.

    Args:
        where: name of the file in errors.
    """
    try:
        return yaml_data(data if isinstance(data, str) else data.decode("utf-8"), as_text=True)
    except UnicodeDecodeError as error:
        raise LmrError(f"{where}: not a UTF-8 text file", "save it as UTF-8") from error
    except NotParsed as error:
        message = f"{where}{error.place}: not valid YAML: {error.reason}"
        raise LmrError(message, "put text with a colon into quotes") from error


def convert(data: Any, kind: type[T], where: str, hint: str) -> T:
    """Make a value of parsed YAML; a text is the number or truth value that its field wants. Raises LmrError.

    Args:
        hint: where all fields are described.
    """
    try:
        value = msgspec.convert(data, kind, strict=False)
    except ValueError as error:  # msgspec's errors are ValueErrors
        placed = _WITH_PLACE.fullmatch(str(error))
        message = f"{placed['place']}: {placed['message']}" if placed else str(error)
        raise LmrError(f"{where}: {shortened(message, 300)}", hint) from error
    _refuse_unknown(data, value, f"{where}: ")
    return value


def _refuse_unknown(data: Any, part: Any, where: str) -> None:
    """Raise LmrError for a key of the file for which there is no field, at any depth.

    Args:
        part: the value that was made of the data.
    """
    if isinstance(data, list):
        for number, (entry, value) in enumerate(zip(data, part, strict=True)):
            _refuse_unknown(entry, value, f"{where.removesuffix('.')}[{number}].")
    elif isinstance(data, dict):
        values = part
        if dataclasses.is_dataclass(part):
            values = {entry.name: getattr(part, entry.name) for entry in dataclasses.fields(part)}
        for key, entry in data.items():
            if key not in values:
                near = difflib.get_close_matches(str(key), values, 1, 0.5)
                hint = f"did you mean {near[0]}?" if near else f"there are: {', '.join(values)}"
                raise LmrError(f"{where}{shortened(str(key), 80)}: there is no such field", hint)
            _refuse_unknown(entry, values[key], f"{where}{key}.")
