"""Reviews on disk: one file per reviewer, valid for one state of the task."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from lmr_author import files
from lmr_author.errors import UsageError
from lmr_author.review.checklist import Item, signs_off

FORMAT = "lmr-review/1"


@dataclass(frozen=True)
class StoredReview:
    """A review as found.

    Attributes:
        reviewer: who.
        signed_off: whether every item passed.
        content_digest: of the task as it was.
        answers: of the human items, by id.
        comments: of the human items, by id; "" where there is none.
        blind: made before anybody's answers were shown.
        created: when (RFC 3339).
        checklist: name of the list that was asked.
    """

    reviewer: str
    signed_off: bool
    content_digest: str
    answers: Mapping[str, str] = field(default_factory=dict)
    comments: Mapping[str, str] = field(default_factory=dict)
    blind: bool = True
    created: str = ""
    checklist: str = ""

    def holds(self, content_digest: str) -> bool:
        """Whether it is a sign-off of this very state."""
        return self.signed_off and self.content_digest == content_digest


def path_for(folder: Path, reviewer: str) -> Path:
    """The file of a reviewer. Raises UsageError for a name that is no file name."""
    if not re.fullmatch(r"[\w][\w .@+-]{0,80}", reviewer):
        raise UsageError(f"not a reviewer's name: {reviewer!r}", "use letters, digits, space and . @ + - _")
    return folder / f"{reviewer}.json"


def numbered(path: Path) -> Path:
    """The first ``<name>.N`` beside a file that is free: where an earlier version of it is kept."""
    number = 1
    while (older := path.with_name(f"{path.name}.{number}")).exists():
        number += 1
    return older


def save(
    folder: Path,
    reviewer: str,
    items: Sequence[Item],
    content_digest: str,
    *,
    checklist: str = "",
    blind: bool = True,
) -> StoredReview:
    """Write a review; an earlier one of the same reviewer is kept beside it as ``<reviewer>.json.N``."""
    path = path_for(folder, reviewer)
    if path.exists():
        files.write_bytes(numbered(path), path.read_bytes())
    document = {
        "format": FORMAT,
        "reviewer": reviewer,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "content_digest": content_digest,
        "checklist": checklist,
        "blind": blind,
        "items": [item.to_json() for item in items],
        "signed_off": signs_off(items),
    }
    files.write_json(path, document)
    return StoredReview(reviewer, signs_off(items), content_digest)


def load_all(folder: Path) -> list[StoredReview]:
    """The last review of each reviewer; a file that is none is passed over."""
    return [found for path in _paths(folder, "*.json") if (found := _load(path))]


def damaged(folder: Path) -> tuple[str, ...]:
    """Names of finished reviews that count for nothing, because they cannot be read any more."""
    return tuple(
        path.name for path in _paths(folder, "*.json") if "format" not in files.read_object_or_empty(path)
    )


def load_blind(folder: Path, content_digest: str) -> list[StoredReview]:
    """Of each reviewer the last review of this state that was made blind, earlier ones included."""
    latest: dict[str, StoredReview] = {}
    for path in _paths(folder, "*.json*"):
        found = _load(path)
        if found is None or not found.blind or found.content_digest != content_digest:
            continue
        known = latest.get(found.reviewer)
        if known is None or found.created >= known.created:
            latest[found.reviewer] = found
    return [latest[name] for name in sorted(latest)]


def _paths(folder: Path, pattern: str) -> list[Path]:
    return sorted(folder.glob(pattern)) if folder.is_dir() else []


def _load(path: Path) -> StoredReview | None:
    data = files.read_object_or_empty(path)
    if data.get("format") != FORMAT:
        return None
    human = [item for item in files.objects_in(data.get("items")) if item.get("kind") == "human"]
    return StoredReview(
        str(data.get("reviewer", path.name.partition(".json")[0])),
        data.get("signed_off") is True,
        str(data.get("content_digest", "")),
        {str(item.get("id")): str(item.get("answer")) for item in human},
        {str(item.get("id")): str(item.get("comment") or "") for item in human},
        data.get("blind") is not False,
        str(data.get("created", "")),
        str(data.get("checklist", "")),
    )
