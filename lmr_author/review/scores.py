"""What people say of candidate implementations, by the three grades of LMR-Bench's paper.

One file for each person, as reviews have: ``authoring/scores/<reviewer>.json``. Scores are blind: nobody is shown
what others said of a candidate before the needed number of people have scored it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from lmr_author import files
from lmr_author.errors import UsageError
from lmr_author.review.store import path_for

FORMAT = "lmr-scores/1"

SCORES = {
    "completely-correct": "It does what the paper and the golden do.",
    "logically-correct": "The idea is right, a detail is wrong: it would not pass.",
    "logically-incorrect": "The idea itself is wrong or missing.",
}
"""The grades of LMR-Bench's paper (human evaluation), the best first."""


@dataclass(frozen=True)
class Score:
    """One candidate's score by one person: an entry of the file, see ``schemas/scores.schema.json``."""

    candidate: str
    sha256: str
    implementation: int
    score: str
    justification: str
    date: str
    golden_sha256: str

    def __post_init__(self) -> None:
        """Refuse what is no score: UsageError."""
        if self.score not in SCORES:
            raise UsageError(f"the score {self.score!r} is none", "one of: " + ", ".join(SCORES))
        if not self.justification.strip():
            raise UsageError("a score needs a justification", "say it with --reason TEXT")


def save(folder: Path, reviewer: str, score: Score) -> Path:
    """Store a score, in place of an earlier one of the same text.

    Raises UsageError for a name that is none, and LmrError when the person's file is damaged.
    """
    path = path_for(folder, reviewer)
    same = (score.sha256, score.implementation)
    kept = [
        item
        for item in files.read_entries_to_change(path, "scores")
        if (item.get("sha256"), item.get("implementation")) != same
    ]
    files.write_json(path, {"format": FORMAT, "reviewer": reviewer, "scores": [*kept, asdict(score)]})
    return path


def load(folder: Path) -> dict[str, tuple[Score, ...]]:
    """Scores by person; what is not as its schema says is passed over."""
    found: dict[str, tuple[Score, ...]] = {}
    for path in sorted(folder.glob("*.json")) if folder.is_dir() else []:
        data = files.read_object_or_empty(path)
        if data.get("format") == FORMAT and isinstance(data.get("scores"), list):
            entries = [one for item in data["scores"] if (one := _read(item)) is not None]
            found[str(data.get("reviewer", path.stem))] = tuple(entries)
    return found


def thing(implementation: int, candidate: str, sha256: str) -> str:
    """What a candidate is called among several."""
    return f"{implementation}:{candidate}@{sha256[:8]}"


def judgements(
    scores: Mapping[str, Sequence[Score]], golden: Mapping[int, str], needed: int
) -> tuple[dict[str, dict[str, str]], int]:
    """Person → candidate → score, of candidates that enough people scored; and how many others there are.

    Args:
        golden: SHA-256 of each implementation's golden as it is now; scores beside another do not count.
    """
    table: dict[str, dict[str, str]] = {}
    for person, given in scores.items():
        for one in given:
            if golden.get(one.implementation) == one.golden_sha256:
                key = thing(one.implementation, one.candidate, one.sha256)
                table.setdefault(key, {})[person] = one.score
    ready = {key: said for key, said in table.items() if len(said) >= needed}
    people = {person for said in ready.values() for person in said}
    by_person = {
        person: {key: said[person] for key, said in ready.items() if person in said} for person in people
    }
    return by_person, len(table) - len(ready)


def _read(item: Any) -> Score | None:
    try:
        return Score(**item)
    except (TypeError, UsageError, AttributeError):
        return None
