"""What a gate is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from lmr_author.evaluation.bench import Bench
from lmr_author.evaluation.verdict import Verdict
from lmr_author.task import GateResult, GateStatus


class Gate(ABC):
    """One thing that must be shown by running. A gate's docstring says when it holds, in one line.

    Class attributes:
        name: as in the design and in ``evaluation.json``.
        decisive: when it fails, what follows would mean nothing and is skipped.
    """

    name: ClassVar[str]
    decisive: ClassVar[bool] = False

    @abstractmethod
    def run(self, bench: Bench, golden: list[Verdict], repeats: int) -> GateResult:
        """Run the gate.

        Args:
            bench: the implementation.
            golden: verdicts of the golden's runs; filled by golden-passes, read by those after it.
            repeats: how often the golden is run.
        """

    def result(self, status: GateStatus, message: str, hint: str = "", **detail: Any) -> GateResult:
        """A result of this gate."""
        return GateResult(self.name, status, message, hint, detail=detail)

    def passed(self, message: str, **detail: Any) -> GateResult:
        """It holds."""
        return self.result(GateStatus.PASSED, message, **detail)

    def failed(self, message: str, hint: str, **detail: Any) -> GateResult:
        """It does not hold."""
        return self.result(GateStatus.FAILED, message, hint, **detail)
