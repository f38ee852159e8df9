"""Results line by line, also where the last line was cut off: a full disk or a kill leaves such a file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lmr_author.core.errors import LmrError


class JsonLines:
    """The lines of a JSONL file with their numbers, without blank ones and without a last line that was cut off.

    Attributes:
        cut: number of the line that was cut off, once all are read; 0 for none.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.cut = 0

    def __iter__(self) -> Iterator[tuple[int, Any]]:
        """Yield each line. Raises LmrError for one that is not JSON."""
        with self._path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if not line.strip():
                    continue
                try:
                    data = json.loads(line.decode("utf-8", "replace"))
                except (ValueError, RecursionError) as error:
                    if not line.endswith(b"\n"):
                        self.cut = number
                        return
                    raise LmrError(
                        f"{self._path}:{number}: not JSON ({error})",
                        "remove the line; `lmr-author evaluate --predictions` with the same --out judges its answer "
                        "again",
                    ) from error
                yield number, data
