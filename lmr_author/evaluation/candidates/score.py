"""What one candidate came to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any


class Outcome(StrEnum):
    """How a candidate ended.

    PASSED and FAILED: the test says so. TIMEOUT and CRASHED: it did not come to an end, or ended its process.
    INVALID: it cannot be put in place (not Python, no such function), or a test script cannot be trusted
    with it. INFRASTRUCTURE: it could not be judged; never counted as wrong.
    """

    PASSED = "passed"
    FAILED = "failed"
    TIMEOUT = "timeout"
    CRASHED = "crashed"
    INVALID = "invalid"
    INFRASTRUCTURE = "infrastructure"


@dataclass(frozen=True)
class CaseScore:
    """One recorded call, or one test script."""

    case: str
    outcome: Outcome
    reason: str = ""
    seconds: float = 0.0


@dataclass(frozen=True)
class Score:
    """What one candidate came to.

    Attributes:
        reason: why it did not pass, one line.
        cases: in detail.
        method: ``recorded cases``, ``test script`` or ``lmr-bench``.
        form: what the answer was: ``function``, ``body``, ``file``.
        kept: helpers and imports of the answer that were added.
        dropped: what else it changes, which was not applied.
        seconds: what judging it took.
        log: the end of what it printed.
    """

    outcome: Outcome
    reason: str = ""
    cases: tuple[CaseScore, ...] = ()
    method: str = ""
    form: str = ""
    kept: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    seconds: float = 0.0
    log: str = ""


@dataclass(frozen=True)
class Result:
    """A line of ``results.jsonl``: schemas/candidate.schema.json.

    Attributes:
        digest: SHA-256 of everything that made it: the task, the answer, the judge, the environment, the options.
        environment: of the sandbox: kind, versions, image.
    """

    task: str
    index: int
    model: str
    sample: int
    category: str
    digest: str
    score: Score
    environment: Mapping[str, Any]
    tries: int = 1

    @property
    def key(self) -> tuple[str, int, str, int]:
        """Whose result it is."""
        return self.task, self.index, self.model, self.sample

    def to_json(self) -> dict[str, Any]:
        """The line's object."""
        score = self.score
        return {
            "format": FORMAT,
            "task": self.task,
            "index": self.index,
            "model": self.model,
            "sample": self.sample,
            "category": self.category,
            "outcome": score.outcome.value,
            "reason": score.reason,
            "method": score.method,
            "cases": [{**asdict(case), "outcome": case.outcome.value} for case in score.cases],
            "form": score.form,
            "kept": list(score.kept),
            "dropped": list(score.dropped),
            "seconds": round(score.seconds, 3),
            "tries": self.tries,
            "environment": dict(self.environment),
            "log": score.log,
            "digest": self.digest,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Result:
        """Read a line's object. Raises KeyError, TypeError or ValueError when it is none."""
        if data["format"] != FORMAT:
            raise ValueError("another format")
        cases = tuple(
            CaseScore(
                str(item["case"]), Outcome(item["outcome"]), str(item["reason"]), float(item["seconds"])
            )
            for item in data["cases"]
        )
        score = Score(
            Outcome(data["outcome"]), str(data["reason"]), cases, str(data["method"]), str(data["form"]),
            tuple(map(str, data["kept"])), tuple(map(str, data["dropped"])), float(data["seconds"]),
            str(data["log"]),
        )  # fmt: skip
        return cls(
            str(data["task"]), int(data["index"]), str(data["model"]), int(data["sample"]),
            str(data["category"]), str(data["digest"]), score, dict(data["environment"]), int(data["tries"]),
        )  # fmt: skip


FORMAT = "lmr-candidate/1"
