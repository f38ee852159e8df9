"""The golden tree, and versions of its goal file that are tried on recorded calls: mutants, and correct rewrites."""

from __future__ import annotations

import ast
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from lmr_author.authoring.recording.calls import RecordedCall
from lmr_author.authoring.recording.checkers import Helpers
from lmr_author.authoring.recording.tolerance import in_double
from lmr_author.core import code
from lmr_author.core.errors import SourceError
from lmr_author.core.task import Progress
from lmr_author.proof.evaluation.mutants import Mutant
from lmr_author.runtime.probe.document import dump
from lmr_author.runtime.replay import judging, replaying
from lmr_author.runtime.sandbox.base import Limits, Sandbox

VERSIONS_AT_ONCE = 50
MUTANT_SECONDS, OVERHEAD = 120.0, 0.3
"""The processor time for trying mutants, by the golden's own times, and what starting one takes."""
MOST_BUSY = 10
"""So many times slower than that a busy machine may be."""
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
    """The golden tree, ready to replay recorded calls on it, or on versions of its goal file.

    Attributes:
        plan: target and module; ``recording`` is a folder of ours, which :meth:`add` fills.
        tree, inside: the golden tree, without tests, and where it appears.
        module, definition: the goal file in it, and the target.
        helpers: what the annotator wrote beside the tests.
        checks: path in the outcome → how it is compared, where the annotator says so.
        ignored: arguments that the golden changes, which an implementation need not.
        grads: whether ``.grad`` of tensors is compared.
    """

    sandbox: Sandbox
    plan: replaying.ReplayPlan
    tree: Path
    inside: str
    module: code.Module
    definition: code.Definition
    helpers: Helpers
    checks: Mapping[str, Mapping[str, Any]]
    ignored: tuple[str, ...] = ()
    grads: bool = False

    @cached_property
    def named(self) -> frozenset[str]:
        """Attributes that the function's own code names."""
        return frozenset(node.attr for node in code.each(self.definition.function, ast.Attribute))

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
        functions, custom = judging.functions_of(self.checks), None
        if self.helpers.checkers is not None and functions:
            custom = judging.Judging(
                self.helpers.checkers, self.plan.recording, dict.fromkeys(cases, functions)
            )
        if doubles:
            names = [f"{name}{DOUBLE}" for name in cases]
            cases += [name for name in names if (self.plan.recording / name).is_dir()]
        plan = replace(
            self.plan, cases=tuple(cases), judging=custom, fixtures=self.helpers.fixtures, **changes
        )
        return replaying.replay(
            self.sandbox,
            self.tree,
            self.inside,
            plan,
            variants,
            hash_seed=seed,
            threads=threads,
            limits=limits,
        )

    def with_copied_arguments(self) -> list[replaying.Variant]:
        """Return the golden with its arguments copied first; [] where it has none, or cannot be written so."""
        function = self.definition.function
        names = [parameter.arg for parameter, _ in code.parameters(function.args)]
        names = [name for name in names if name not in ("self", "cls", "mcs")]
        body = function.body[1:] if ast.get_docstring(function) is not None else function.body
        if not names or not body:
            return []
        copies = f"{', '.join(names)}, = map(_copied, ({', '.join(names)},))"
        lines = [*_COPY.splitlines(), copies, *"\n".join(map(ast.unparse, body)).splitlines()]
        try:
            source = code.splice(self.module, {self.definition: lines})
        except SourceError:
            return []
        return [replaying.Variant(COPIED, source, self.definition.line)]


def try_mutants(
    golden: Golden, calls: Sequence[RecordedCall], mutants: Sequence[Mutant], progress: Progress
) -> dict[int, frozenset[str]]:
    """Return number of a call → the mutants that fail its case, with the limits that ``evaluate`` has.

    Mutants that the time did not suffice for survive.
    """
    by_name = {str(call.number): call for call in calls}
    expected = {name: replaying.load_document(call.folder, "expected") for name, call in by_name.items()}
    killed: dict[str, set[str]] = {name: set() for name in by_name}

    def passes(case: str, outcome: replaying.ReplayOutcome) -> bool:
        return not replaying.differences(expected[case], outcome, by_name[case].checkers)

    def run(variants: Sequence[replaying.Variant], seconds: float, shared: bool) -> replaying.Replay:
        limits = Limits(seconds=60 + MOST_BUSY * MUTANT_SECONDS)
        return golden.replay(
            calls, variants, limits=limits, case_seconds=seconds, share=shared, until_lost=True
        )

    control = replaying.Variant(replaying.CONTROL)
    patience = max(5.0, 20 * max((call.seconds for call in calls), default=0.0))
    size = sum(call.size for call in calls)
    step = max(1, min(VERSIONS_AT_ONCE, replaying.BATCH_BYTES // max(1, size)))
    for start in range(0, len(mutants) if calls else 0, step):
        batch = [
            replaying.Variant(mutant.id, mutant.data, golden.definition.line)
            for mutant in mutants[start : start + step]
        ]
        progress(f"trying mutant {min(start + step, len(mutants))} of {len(mutants)} on {len(calls)} calls")
        tried = replaying.beside_the_golden(run, control, batch, by_name, patience, passes)
        for version in batch:
            for case in tried.fair:
                outcome = tried.run.outcomes.get((version.id, case))
                if outcome and not passes(case, outcome):
                    killed[case].add(version.id)
    return {int(case): frozenset(ids) for case, ids in killed.items()}
