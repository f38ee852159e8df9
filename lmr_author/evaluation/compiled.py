"""The golden as its decorators compile it: a replay calls the plain function, which runs what a compiler refuses."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from lmr_author import compilers, judging, replaying
from lmr_author.texts import printable

if TYPE_CHECKING:
    from lmr_author.evaluation.judges import RecordingJudge
    from lmr_author.probe.codec import Document

VARIANT = "compiled"


@dataclass(frozen=True)
class Compiled:
    """What the compiled golden does.

    Attributes:
        by: what compiles it; "" for nothing.
        case: the smallest case from which it returns; "" for none.
        document: its outcome there; None where that differs from run to run, so that nothing can be compared.
        why: why there is no such case.
    """

    by: str = ""
    case: str = ""
    document: Document | None = None
    why: str = ""

    @property
    def text(self) -> str:
        """For people."""
        if self.case:
            return f"{self.case} also as {self.by} compiles it"
        return f"what {self.by} makes of it is not tested: {printable(self.why, 200)}"


def of_golden(judge: RecordingJudge) -> Compiled:
    """Run the cases twice on the compiled golden. Raises SandboxError."""
    bench, pair = judge.bench, judge.bench.definitions
    by = compilers.compiled_by(bench.golden_module.tree, pair[0].node) if pair else ""
    if pair is None or not by:
        return Compiled()
    plan = replace(judge.plan(pair[0].line), judging=None)
    versions = [replaying.Variant(f"{VARIANT} {number}", compiled=True) for number in (1, 2)]
    tree = bench.tree("golden", bench.golden_overlay)
    run = replaying.replay(bench.sandbox, tree, bench.inside, plan, versions)
    why = ""
    for case in sorted(judge.recording.cases, key=lambda case: case.bytes):
        one, two = (run.of(version.id, case.name) for version in versions)
        if one.status == two.status == "returned" and one.document is not None:
            differing = replaying.differences(one.document, two, judging.without(case.checkers))
            return Compiled(by, case.name, None if differing else one.document)
        why = why or one.error_text or one.status
    return Compiled(by, why=why)


def problem(golden: Compiled, judge: RecordingJudge, outcome: replaying.Outcome) -> str:
    """What is wrong with a compiled version's outcome, given the compiled golden's; "" for nothing."""
    if outcome.status != "returned":
        return printable(outcome.error_text or outcome.status)
    if golden.document is None:
        return ""
    checkers = judging.without(judge.checkers[golden.case])
    return next(iter(replaying.differences(golden.document, outcome, checkers)), "")
