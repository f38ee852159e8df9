"""How long the gates still take, told by the golden's runs so far: most of a run is its imports, in every gate."""

from __future__ import annotations

from lmr_author.texts import time_left

TRIVIAL = 5
"""Trivial versions, about."""
SECONDS_EACH = 0.3
"""What a version costs that shares the imports of others, besides its cases."""


class Outlook:
    """What is to come of an implementation, and of those after it.

    Args:
        recorded: whether recorded cases decide; a script starts anew for each version.
        repeats: of the golden.
        mutants: that are tried, at most.
        following: implementations that come after this one.
    """

    def __init__(self, *, recorded: bool, repeats: int, mutants: int, following: int = 0) -> None:
        self.following = following
        if recorded:
            self.starts = {
                "golden-passes": repeats + 1,
                "masked-fails": 2,
                "trivial-fails": 1,
                "mutants-die": 1,
            }
            self.versions = {"trivial-fails": TRIVIAL, "mutants-die": mutants}
        else:
            self.starts = {"golden-passes": repeats, "masked-fails": 1, "target-entered": 1}
            self.starts |= {"trivial-fails": TRIVIAL, "mutants-die": mutants}
            self.versions = {}
        self._runs: list[float] = []
        self._cases = 0.0

    def ran(self, seconds: float, cases: float = 0.0) -> None:
        """A run of the golden took so many seconds, its cases so many of these."""
        self._runs.append(seconds)
        self._cases = max(self._cases, cases)

    def left(self, gates: list[str]) -> str:
        """What these gates, and the implementations that follow, still take: ", about 6 min left"; "" if unknown."""
        if not self._runs:
            return ""
        rest = self._seconds(gates, len(self._runs)) + self.following * self._seconds(list(self.starts), 0)
        text = time_left(rest)
        return f", {text}" if text else ""

    def _seconds(self, gates: list[str], done: int) -> float:
        """Of gates; ``done``: runs of the golden that are behind us."""
        each = sum(self._runs) / len(self._runs)
        starts = sum(self.starts.get(gate, 0) for gate in gates) - (done if "golden-passes" in gates else 0)
        versions = sum(self.versions.get(gate, 0) for gate in gates)
        return max(0, starts) * each + versions * (SECONDS_EACH + self._cases)
