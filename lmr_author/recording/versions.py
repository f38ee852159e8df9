"""The golden tree, and versions of its goal file that are tried on recorded calls: mutants, and correct rewrites."""

from __future__ import annotations

import ast
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lmr_author import code
from lmr_author.errors import SourceError
from lmr_author.probe.document import dump
from lmr_author.recording.calls import Proven, RecordedCall
from lmr_author.recording.checkers import Helpers
from lmr_author.recording.tolerance import in_double
from lmr_author.replay import judging, replaying
from lmr_author.replay.replaying import CONTROL, beside_the_golden
from lmr_author.sandbox.base import Limits, Sandbox
from lmr_author.task import Progress

VERSIONS_AT_ONCE = 50
MUTANT_SECONDS, OVERHEAD = 120.0, 0.3
"""The time for trying mutants, by the golden's own times, and what starting one takes."""
DOUBLE = "-double"
"""Ends the name of a case whose inputs are float64."""
COPIED = "copied arguments"
"""Id of the golden that copies its arguments first: a correct rewrite, which has to pass."""
_COPY = """\
def _copied(item):
    kind = type(item)
    if hasattr(item, "clone") and hasattr(item, "requires_grad"):
        return item.clone()
    if kind in (list, tuple, set):
        return kind(map(_copied, item))
    if kind is dict:
        return {key: _copied(value) for key, value in item.items()}
    return item.copy() if kind.__name__ == "ndarray" else item"""


@dataclass(frozen=True)
class Golden:
    """The golden tree, ready to replay recorded calls on it, or on mutants of its goal file.

    Attributes:
        plan: target and module; ``recording`` is a folder of ours, which :meth:`add` fills.
        tree, inside: the golden tree, without tests, and where it appears.
        helpers: what the annotator wrote beside the tests.
        checks: path in the outcome → how it is compared, where the annotator says so.
        ignored: arguments that the golden changes, which an implementation need not.
        named: attributes that the function's own code names.
    """

    sandbox: Sandbox
    plan: replaying.ReplayPlan
    tree: Path
    inside: str
    helpers: Helpers
    checks: Mapping[str, Mapping[str, Any]]
    ignored: tuple[str, ...] = ()
    named: frozenset[str] = frozenset()

    def add(self, calls: Sequence[RecordedCall]) -> None:
        """Make calls ready to be replayed: as they are and, where they hold float32, as float64."""
        for call in calls:
            folder = self.plan.recording / str(call.number)
            shutil.copytree(call.folder, folder)
            precise = in_double(replaying.load_document(folder, "inputs"))
            if precise is not None:
                double = self.plan.recording / f"{call.number}{DOUBLE}"
                double.mkdir()
                dump(precise, str(double), "inputs")

    def replay(
        self,
        calls: Sequence[RecordedCall],
        variants: Sequence[replaying.Variant] = (replaying.Variant("golden"),),
        *,
        seed: int = 0,
        threads: int = 1,
        limits: Limits | None = None,
        doubles: bool = False,
        **changes: Any,
    ) -> replaying.Replay:
        """Replay calls, named by their number. ``doubles``: as float64, too. Raises SandboxError."""
        cases = [str(call.number) for call in calls]
        more = [f"{name}{DOUBLE}" for name in cases if (self.plan.recording / f"{name}{DOUBLE}").is_dir()]
        functions, custom = judging.functions_of(self.checks), None
        if self.helpers.checkers is not None and functions:
            custom = judging.Judging(
                self.helpers.checkers, self.plan.recording, dict.fromkeys(cases, functions)
            )
        plan = replace(
            self.plan,
            cases=(*cases, *(more if doubles else ())),
            judging=custom,
            fixtures=self.helpers.fixtures,
            **changes,
        )
        options = {"hash_seed": seed, "threads": threads, "limits": limits}
        return replaying.replay(self.sandbox, self.tree, self.inside, plan, variants, **options)  # type: ignore[arg-type]


def try_versions(
    golden: Golden, calls: Sequence[Proven], versions: Sequence[replaying.Variant], progress: Progress
) -> dict[int, frozenset[str]]:
    """Return number of a call → the versions that fail its case, with the limits that ``evaluate`` has.

    Versions that the time did not suffice for survive.
    """
    by_name = {str(item.call.number): item for item in calls}
    expected = {name: replaying.load_document(item.call.folder, "expected") for name, item in by_name.items()}
    found: dict[str, set[str]] = {name: set() for name in by_name}

    def passes(case: str, outcome: replaying.ReplayOutcome) -> bool:
        return not replaying.differences(expected[case], outcome, by_name[case].checkers)

    def run(variants: Sequence[replaying.Variant], seconds: float, shared: bool) -> replaying.Replay:
        limits = Limits(seconds=60 + 3 * MUTANT_SECONDS)
        called = [item.call for item in calls]
        return golden.replay(
            called, variants, limits=limits, case_seconds=seconds, share=shared, until_lost=True
        )

    patience = max(5.0, 20 * max((item.seconds for item in calls), default=0.0))
    step = max(
        1, min(VERSIONS_AT_ONCE, replaying.BATCH_BYTES // max(1, sum(item.call.size for item in calls)))
    )
    for start in range(0, len(versions) if calls else 0, step):
        batch = versions[start : start + step]
        progress(f"trying mutant {min(start + step, len(versions))} of {len(versions)} on {len(calls)} calls")
        tried = beside_the_golden(run, replaying.Variant(CONTROL), batch, by_name, patience, passes)
        for version in batch:
            for case in tried.fair:
                outcome = tried.run.outcomes.get((version.id, case))
                if outcome and not passes(case, outcome):
                    found[case].add(version.id)
    return {int(case): frozenset(ids) for case, ids in found.items()}


def with_copied_arguments(module: code.Module, target: code.Definition) -> replaying.Variant | None:
    """Return the golden with its arguments copied first; None where it has none, or cannot be written so."""
    function = target.function
    names = [item.arg for item, _ in code.parameters(function.args)]
    names = [name for name in names if name not in ("self", "cls", "mcs")]
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    if not names or not body:
        return None
    copies = f"{', '.join(names)}, = map(_copied, ({', '.join(names)},))"
    lines = [*_COPY.splitlines(), copies, *(line for node in body for line in ast.unparse(node).splitlines())]
    try:
        return replaying.Variant(COPIED, code.splice(module, {target: lines}), target.line)
    except SourceError:
        return None
