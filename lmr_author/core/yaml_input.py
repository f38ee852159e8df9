"""YAML that a person wrote, as typed values; what is wrong in it is named by file and field."""

from __future__ import annotations

import dataclasses
import difflib
import re
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from lmr_author.core.errors import LmrError
from lmr_author.core.parsing import NotParsed, yaml_data
from lmr_author.core.texts import did_you_mean, shortened

T = TypeVar("T")


class FieldError(LmrError):
    """An error in a file of fields.

    Args:
        field: the field that has to change, as ``targets[0].record.command``; "" for none.
        value: a value to write there; None where none is known.
    """

    def __init__(self, file: Path | str, field: str, problem: str, hint: str = "", value: Any = None) -> None:
        super().__init__(f"{file}: {field}: {problem}" if field else f"{file}: {problem}", hint)
        self.file = file
        self.field = field
        self.problem = problem
        self.value = value


_WITH_PLACE = re.compile(r"(?P<message>.*) - at `\$\.?(?P<place>.*)`", re.DOTALL)
"""An error of msgspec: "Expected `str`, got `int` - at `$.entries[2].quote`"."""


def parse(data: bytes | str, file: Path | str) -> Any:
    """Parse YAML; every scalar is text. Raises FieldError."""
    try:
        return yaml_data(data if isinstance(data, str) else data.decode("utf-8"), as_text=True)
    except UnicodeDecodeError as error:
        raise FieldError(file, "", "not a UTF-8 text file", "save it as UTF-8") from error
    except NotParsed as error:
        place, problem = f"{file}{error.place}", f"not valid YAML: {error.reason}"
        raise FieldError(place, "", problem, "quote text that contains a colon") from error


def convert(data: Any, kind: type[T], file: Path | str, hint: str) -> T:
    """Make a value of parsed YAML, texts read as the types of their fields. ``hint``: where fields are described."""
    try:
        value = msgspec.convert(data, kind, strict=False)
    except ValueError as error:  # msgspec's errors are ValueErrors
        placed = _WITH_PLACE.fullmatch(str(error))
        place, problem = (placed["place"], placed["message"]) if placed else ("", str(error))
        raise FieldError(file, shortened(place, 80), shortened(problem, 300), hint) from error
    _refuse_unknown(data, value, file)
    return value


def _refuse_unknown(data: Any, part: Any, file: Path | str, where: str = "") -> None:
    """Raise FieldError for a key without a field, at any depth; ``where``: the fields around it, with a final dot."""
    if isinstance(data, list):
        for number, (entry, value) in enumerate(zip(data, part, strict=True)):
            _refuse_unknown(entry, value, file, f"{where.removesuffix('.')}[{number}].")
    elif isinstance(data, dict):
        values = part
        if dataclasses.is_dataclass(part):
            values = {entry.name: getattr(part, entry.name) for entry in dataclasses.fields(part)}
        for key, entry in data.items():
            if key not in values:
                close = difflib.get_close_matches(str(key), values, 1, 0.5)
                hint = did_you_mean(close, f"known fields: {', '.join(values)}")
                raise FieldError(file, f"{where}{shortened(str(key), 80)}", "unknown field", hint)
            _refuse_unknown(entry, values[key], file, f"{where}{key}.")
