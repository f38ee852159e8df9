"""The gate ``mutants-die``: deliberately wrong versions of the golden fail the test."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from lmr_author.evaluation import equivalents
from lmr_author.evaluation.bench import MUTANTS, Bench
from lmr_author.evaluation.gate import Gate
from lmr_author.evaluation.judges import Judge, RecordingJudge, judges_for
from lmr_author.evaluation.mutants import Mutant, mutants
from lmr_author.evaluation.verdict import BUSY, Verdict
from lmr_author.task import GateResult, GateStatus
from lmr_author.task.recording import Recording

NEEDED = 0.9
"""Share of the mutants that has to fail."""

MOST_BY_SCRIPT = 20
"""Mutants that a hand-written script is tried on: each is a run of its own, imports included."""


class MutantsDie(Gate):
    """At least 90 % of the golden's mutants fail; survivors accepted as equivalent do not count."""

    name = "mutants-die"

    def run(self, bench: Bench, golden: list[Verdict], repeats: int) -> GateResult:
        """Judge each mutant, and say of each survivor why the test cannot see it where that is visible."""
        judge = judges_for(bench)[0]
        pair = bench.definitions
        if pair is None or isinstance(pair[0].node, ast.ClassDef):
            return self.failed(
                "the target cannot be told in golden and goal file", "run `lmr-author validate`"
            )
        most = bench.mutants if isinstance(judge, RecordingJudge) else min(bench.mutants, MOST_BY_SCRIPT)
        if not most:
            return self.result(GateStatus.SKIPPED, "no mutants were asked for")
        accepted = equivalents.load(bench.task).get(str(bench.implementation.target), {})
        tried = [
            item
            for golden_function, _ in bench.pairs
            for item in mutants(
                bench.golden_module, golden_function, most + len(accepted), _differentiated(bench.recording)
            )
            if item.id not in accepted
        ][:most]
        if not tried:
            return self.result(
                GateStatus.UNPROVEN, "no wrong version of the target can be made", "choose a larger target"
            )
        verdicts = judge.versions(
            {item.id: item.data for item in tried},
            _patience(bench, golden),
            lambda done: bench.progress(f"mutant {done} of {len(tried)}: {bench.implementation.target}"),
        )
        result = self._result(bench, judge, tried, verdicts, golden, len(accepted))
        usual = MUTANTS if isinstance(judge, RecordingJudge) else MOST_BY_SCRIPT
        if result.status is GateStatus.PASSED and len(tried) == most < usual:
            # A handful that fails by chance proves nothing.
            few = f"{result.message}; fewer than the {usual} that prove it"
            return replace(result, status=GateStatus.UNPROVEN, message=few, hint="evaluate without --mutants")
        return result

    def _result(
        self,
        bench: Bench,
        judge: Judge,
        tried: Sequence[Mutant],
        verdicts: Mapping[str, Verdict],
        golden: Sequence[Verdict],
        accepted: int,
    ) -> GateResult:
        survivors = [item for item in tried if verdicts[item.id].passed]
        untold = [verdicts[item.id].untold for item in tried if verdicts[item.id].untold]
        killed = len(tried) - len(survivors) - len(untold)
        score = killed / len(tried)
        detail: dict[str, Any] = {
            "mutants": len(tried),
            "killed": killed,
            "score": round(score, 4),
            "accepted": accepted,
            "survivors": [
                {
                    "id": item.id,
                    "line": item.line,
                    "operator": item.operator,
                    "diff": item.diff,
                    "why": _why(bench, item, verdicts[item.id], golden),
                }
                for item in survivors
            ],
        }
        if untold:
            detail["untold"] = len(untold)
        known = f", {accepted} accepted as equivalent" if accepted else ""
        open_ones = f", {len(untold)} could not be told: {untold[0]}" if untold else ""
        message = f"{killed} of {len(tried)} mutants fail ({whole_percent(score)}, {judge.method}){open_ones}{known}"
        if score >= NEEDED:
            return self.passed(message, **detail)
        if killed + len(untold) >= NEEDED * len(tried):
            return self.result(GateStatus.UNPROVEN, message, BUSY, **detail)
        recording = bench.recording
        better = (
            "drive it with inputs that tell them apart"
            if recording and recording.varied
            else "record again with --vary, which looks for inputs that tell them apart"
            if isinstance(judge, RecordingJudge)
            else "let the test compare more, or make a recorded one (lmr-author record)"
        )
        accept = "accept those that are equivalent: lmr-author evaluate --accept-mutant ID --reason TEXT"
        return self.failed(message, f"{better}; or {accept}", **detail)


def _differentiated(recording: Recording | None) -> frozenset[str]:
    """Return the parameters whose gradients the cases compare."""
    paths = [path for case in recording.cases for path in case.checkers] if recording else []
    return frozenset(re.findall(r"@gradients\['(\w+)'\]", "\n".join(paths)))


def whole_percent(share: float) -> str:
    """A share as a percentage, rounded down: what is shown as enough is enough."""
    return f"{int(100 * share + 1e-9)}%"


def _patience(bench: Bench, golden: Sequence[Verdict]) -> float:
    """Seconds a mutant's case may take: much more than the golden's slowest, so that an endless loop ends."""
    slowest = max((verdict.seconds for verdict in golden), default=0.0)
    return min(bench.seconds, max(5.0, 20 * slowest))


def _why(bench: Bench, mutant: Mutant, verdict: Verdict, golden: Sequence[Verdict]) -> str:
    """Why the test does not notice a mutant, with what would; "" when that is not visible."""
    recording = bench.recording
    if recording is None:
        return ""
    remedy = f"record a call that {{}}{'' if recording.varied else ', or record again with --vary'}"
    given = {name for case in recording.cases for name in case.summary}
    if mutant.parameter and mutant.parameter not in given:
        return f"no case sets `{mutant.parameter}`: {remedy.format('does')}"
    if mutant.line in recording.coverage.missed:
        return f"no case reaches line {mutant.line}: {remedy.format('does')}"
    same = bool(verdict.identity) and verdict.identity in {item.identity for item in golden}
    if not same and verdict.identity:
        return "the outputs differ, but within the tolerance"
    if mutant.line in recording.coverage.never_false:
        return f"the condition on line {mutant.line} holds in every case: {remedy.format('does not')}"
    return "the outputs are the same to the bit: equivalent, or no case tells the difference"
