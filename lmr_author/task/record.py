"""The base of every JSON document that a task keeps: typed, read strictly, written atomically."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, ClassVar, Self, TypeVar

import msgspec

from lmr_author import files
from lmr_author.errors import LmrError

R = TypeVar("R")
Text = Annotated[str, msgspec.Meta(min_length=1)]
Digest = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]
Code = Annotated[str, msgspec.Meta(pattern="^LMR[0-9]{3}$")]
Time = Annotated[str, msgspec.Meta(extra_json_schema={"format": "date-time"})]
Index = Annotated[int, msgspec.Meta(ge=1)]
Count = Annotated[int, msgspec.Meta(ge=0)]
Seconds = Annotated[float, msgspec.Meta(ge=0)]
RESTORE = "correct the file, restore it from version control, or move it away"


class Record:
    """A frozen dataclass that is stored as a JSON object. Unknown keys are ignored when reading.

    The schemas in ``schemas/`` are generated from the subclasses (``scripts/generate-docs``); the
    ``Attributes:`` section of a docstring becomes the descriptions of the keys.

    Attributes:
        optional: keys that a document may lack; the schema requires every other key.
    """

    optional: ClassVar[tuple[str, ...]] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the document as plain dicts, lists and scalars."""
        data: dict[str, Any] = msgspec.to_builtins(self)
        return data

    @classmethod
    def from_json(cls, data: object) -> Self:
        """Convert a parsed document. Raises LmrError naming the key that is wrong."""
        try:
            return msgspec.convert(data, cls)
        except (msgspec.ValidationError, LmrError) as error:
            raise LmrError(f"not as its schema says: {error}", RESTORE) from error

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a file. Raises LmrError naming the file, and the line or the key that is wrong."""
        data = files.read_json(path)
        try:
            return cls.from_json(data)
        except LmrError as error:
            raise LmrError(f"{path}: {error.message}", RESTORE) from error

    @classmethod
    def read_if_valid(cls, path: Path) -> Self | None:
        """Read a file that is only shown: None when it is missing, damaged, or a symbolic link."""
        try:
            return cls.read(path) if path.is_file() and not path.is_symlink() else None
        except (LmrError, OSError):
            return None

    def write(self, path: Path) -> None:
        """Write the document atomically."""
        files.write_json(path, self.to_json())


def convert_each(entries: object, kind: type[R]) -> tuple[R, ...]:
    """Convert the entries of a list that are valid and skip the others; empty for anything but a list."""
    found = []
    for entry in entries if isinstance(entries, list) else []:
        try:
            found.append(msgspec.convert(entry, kind))
        except (msgspec.ValidationError, LmrError):
            continue
    return tuple(found)
