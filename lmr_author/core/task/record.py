"""The base of every JSON document that a task keeps: typed, read strictly, written atomically."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Self

import msgspec

from lmr_author.core import files, foreign
from lmr_author.core.errors import LmrError
from lmr_author.core.parsing import NotParsed, json_data

Text = Annotated[str, msgspec.Meta(min_length=1)]
Digest = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]
Code = Annotated[str, msgspec.Meta(pattern="^LMR[0-9]{3}$")]
Time = Annotated[str, msgspec.Meta(extra_json_schema={"format": "date-time"})]
Index = Annotated[int, msgspec.Meta(ge=1)]
Count = Annotated[int, msgspec.Meta(ge=0)]
Seconds = Annotated[float, msgspec.Meta(ge=0)]
MOST_BYTES = 256 * 1024 * 1024
"""Size above which a record that is only shown is not read."""
RESTORE = "correct the file, restore it from version control, or move it away"


class Record:
    """A frozen dataclass that is stored as a JSON object. Unknown keys are ignored when reading.

    The schemas in ``schemas/`` are generated from the subclasses (``scripts/generate-docs``); the
    ``Attributes:`` section of a docstring becomes the descriptions of the keys.
    """

    def to_json(self) -> dict[str, Any]:
        data: dict[str, Any] = msgspec.to_builtins(self)
        return data

    @classmethod
    def from_json(cls, data: object) -> Self:
        """Convert a parsed document. Raises LmrError naming the key that is wrong."""
        try:
            return msgspec.convert(data, cls)
        except (ValueError, LmrError) as error:  # msgspec's errors are ValueErrors
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
        """Read a file that is only shown: None when it is missing, damaged, too large, or no regular file."""
        data = foreign.read_regular(str(path), MOST_BYTES)
        try:
            return cls.from_json(json_data(data or b"null"))
        except (LmrError, NotParsed):
            return None

    def write(self, path: Path) -> None:
        files.write_json(path, self.to_json())
