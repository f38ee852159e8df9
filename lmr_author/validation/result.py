"""What the checks say about one task by itself, and how that is kept and passed between processes."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from lmr_author.model import Finding
from lmr_author.validation.properties import PROPERTIES, Evidence

NOTHING_SEEN = (Evidence(""),) * len(PROPERTIES)


@dataclass(frozen=True)
class Claim:
    """What a task claims for itself; made by another task, too, it is a finding.

    Attributes:
        code: the check that compares such claims (a :class:`~lmr_author.checks.base.TreeCheck`).
        what: what is claimed.
        finding: what to say when it is claimed twice.
    """

    code: str
    what: str
    finding: Finding


@dataclass(frozen=True)
class TaskResult:
    """The outcome of all chosen checks over one task, before acceptances and comparisons.

    Attributes:
        task: name of the task folder, in characters that can be printed.
        findings: in the order of the checks.
        claims: what is to be compared with other tasks.
        evidence: of each of the four properties; in their order.
    """

    task: str
    findings: tuple[Finding, ...]
    claims: tuple[Claim, ...] = ()
    evidence: tuple[Evidence, ...] = NOTHING_SEEN

    def to_json(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "task": self.task,
            "findings": [finding.to_json() for finding in self.findings],
            "claims": [[one.code, one.what, one.finding.to_json()] for one in self.claims],
            "evidence": [[one.shown, one.day] for one in self.evidence],
        }

    @classmethod
    def from_json(cls, data: Any) -> TaskResult:
        """What :meth:`to_json` wrote. Raises KeyError, TypeError or ValueError for anything else."""
        claims = tuple(
            Claim(str(code), str(what), Finding.from_json(one)) for code, what, one in data["claims"]
        )
        evidence = tuple(Evidence(str(shown), str(day)) for shown, day in data["evidence"])
        if len(evidence) != len(PROPERTIES):
            raise ValueError("not the properties")
        return cls(str(data["task"]), tuple(map(Finding.from_json, data["findings"])), claims, evidence)

    def to_bytes(self) -> bytes:
        """One line of JSON in ASCII, so that names that are no UTF-8 come back as they were."""
        return json.dumps(self.to_json(), separators=(",", ":")).encode("ascii")

    @classmethod
    def from_bytes(cls, data: bytes) -> TaskResult | None:
        """What :meth:`to_bytes` wrote; None for anything else."""
        try:
            return cls.from_json(json.loads(data))
        except (ValueError, TypeError, KeyError, RecursionError):
            return None
