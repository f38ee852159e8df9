"""The golden tree, ready to replay recorded calls on it, or on wrong versions of its goal file."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lmr_author.probe.document import Document, dump
from lmr_author.recording.choose import Call
from lmr_author.recording.helpers import Helpers
from lmr_author.recording.tolerance import in_double
from lmr_author.replay import judging, replaying
from lmr_author.sandbox.base import Limits, Sandbox

DOUBLE = "-double"
"""Ends the name of a case whose inputs are float64."""


@dataclass(frozen=True)
class Golden:
    """Where and how calls are replayed.

    Attributes:
        plan: target and module; ``recording`` is a folder of ours, which :meth:`add` fills.
        tree, inside: the golden tree, without tests, and where it appears.
        helpers: what the annotator wrote beside the tests.
        functions: path in the outcome → function of ``unit_test/checkers.py`` that judges it.
    """

    sandbox: Sandbox
    plan: replaying.Plan
    tree: Path
    inside: str
    helpers: Helpers
    functions: Mapping[str, str]

    def add(self, calls: Sequence[Call]) -> None:
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
        numbers: Sequence[int],
        variants: Sequence[replaying.Variant],
        *,
        seed: int = 0,
        threads: int = 1,
        case_seconds: float | None = None,
        limits: Limits | None = None,
        share: bool = True,
    ) -> replaying.Replay:
        """Replay calls, named by their number. ``share``: as in a plan. Raises SandboxError."""
        cases = tuple(str(number) for number in numbers)
        custom = None
        if self.helpers.checkers is not None and self.functions:
            custom = judging.Judging(
                self.helpers.checkers, self.plan.recording, dict.fromkeys(cases, self.functions)
            )
        plan = replace(self.plan, cases=cases, judging=custom, fixtures=self.helpers.fixtures, share=share)
        if case_seconds is not None:
            plan = replace(plan, case_seconds=case_seconds)
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

    def precise(self, numbers: Sequence[int]) -> dict[int, Document]:
        """Outcomes of calls with float64 in the place of float32, where the golden accepts that."""
        doubled = [number for number in numbers if (self.plan.recording / f"{number}{DOUBLE}").is_dir()]
        if not doubled:
            return {}
        plan = replace(
            self.plan, cases=tuple(f"{number}{DOUBLE}" for number in doubled), fixtures=self.helpers.fixtures
        )
        run = replaying.replay(self.sandbox, self.tree, self.inside, plan, [replaying.Variant("golden")])
        outcomes = {number: run.of("golden", f"{number}{DOUBLE}") for number in doubled}
        return {
            number: item.document
            for number, item in outcomes.items()
            if item.document is not None and item.status == "returned"
        }
