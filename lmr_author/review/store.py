"""Reviews on disk: one file per reviewer, valid for one state of the task."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from lmr_author import files
from lmr_author.errors import LmrError, UsageError
from lmr_author.review.checklist import Item, signs_off

FORMAT = "lmr-review/1"


@dataclass(frozen=True)
class StoredReview:
    """A review as found: who, whether it signed off, and the state of the task it holds for."""

    reviewer: str
    signed_off: bool
    content_digest: str

    def holds(self, content_digest: str) -> bool:
        """Whether it is a sign-off of this very state."""
        return self.signed_off and self.content_digest == content_digest


def path_for(folder: Path, reviewer: str) -> Path:
    """The file of a reviewer. Raises UsageError for a name that is no file name."""
    if not re.fullmatch(r"[\w][\w .@+-]{0,80}", reviewer):
        raise UsageError(f"not a reviewer's name: {reviewer!r}", "use letters, digits, space and . @ + - _")
    return folder / f"{reviewer}.json"


def save(folder: Path, reviewer: str, items: Sequence[Item], content_digest: str) -> StoredReview:
    """Write a review; an earlier one of the same reviewer is kept beside it as ``<reviewer>.json.N``."""
    path = path_for(folder, reviewer)
    if path.exists():
        number = 1
        while (older := path.with_name(f"{path.name}.{number}")).exists():
            number += 1
        files.write_bytes(older, path.read_bytes())
    document = {
        "format": FORMAT,
        "reviewer": reviewer,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "content_digest": content_digest,
        "items": [item.to_json() for item in items],
        "signed_off": signs_off(items),
    }
    files.write_json(path, document)
    return StoredReview(reviewer, signs_off(items), content_digest)


def load_all(folder: Path) -> list[StoredReview]:
    """Every review of a task; a file that is none is passed over."""
    reviews = []
    for path in sorted(folder.glob("*.json")) if folder.is_dir() else []:
        try:
            data: Any = files.read_json(path)
        except LmrError:
            continue
        if isinstance(data, dict) and data.get("format") == FORMAT:
            reviews.append(
                StoredReview(
                    str(data.get("reviewer", path.stem)),
                    data.get("signed_off") is True,
                    str(data.get("content_digest", "")),
                )
            )
    return reviews
