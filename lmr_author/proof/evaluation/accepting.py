"""Accept mutants as equivalent to the golden, and update the stored gate."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from lmr_author.core import code
from lmr_author.core.errors import UsageError
from lmr_author.core.locks import changes_task
from lmr_author.core.repo.git import user_name
from lmr_author.core.task import Evaluation, GateResult, Target, Task, equivalents, evaluation
from lmr_author.core.task.equivalents import EquivalentMutant
from lmr_author.core.task.evaluation import MUTANTS_DIE
from lmr_author.core.task.mutation import Survivor
from lmr_author.core.texts import did_you_mean
from lmr_author.proof.evaluation.mutants import Mutant, mutants
from lmr_author.proof.targets import masked_functions
from lmr_author.runtime.replay.staging import golden_overlay


@changes_task
def accept_mutants(task: Task, reasons: Mapping[str, str]) -> Evaluation | None:
    """Record mutants as equivalent to the golden, all or none; return the updated evaluation.

    Args:
        reasons: id → why its change has no effect on any input.

    Raises UsageError: no such mutant, a reason that is not a sentence or is another mutant's; LmrError: the file of
    accepted mutants is damaged.
    """
    today, by = datetime.now(UTC).date().isoformat(), user_name()
    every = every_mutant(task)
    accepted = []
    for name, reason in reasons.items():
        for target, mutant in find_mutants(task, name, every):
            accepted.append(EquivalentMutant(target, mutant.id, reason.strip(), today, by, mutant.diff))
    equivalents.add(task, accepted)
    judged = evaluation.load(task)
    if judged is not None:
        judged.write(task.evaluation_path)
    return judged


def find_mutants(task: Task, word: str, every: Sequence[tuple[str, Mutant]] = ()) -> list[tuple[str, Mutant]]:
    """Return the mutants named by an id or by lines with survivors (``40``, ``40-52``), with their targets.

    Raises UsageError where it names none.
    """
    every = every or every_mutant(task)
    named = [(target, mutant) for target, mutant in every if mutant.id == word]
    lines = re.fullmatch(r"(\d{1,7})(?:-(\d{1,7}))?", word)
    if not named and lines:
        first, last = int(lines[1]), int(lines[2] or lines[1])
        alive = {survivor.id for survivor in open_survivors(evaluation.load(task))}
        named = [pair for pair in every if pair[1].id in alive and first <= pair[1].line <= last]
    if not named:
        close = difflib.get_close_matches(word, [mutant.id for _, mutant in every], 2, 0.7)
        hint = did_you_mean(close, "`lmr-author evaluate` reports the ids and lines")
        raise UsageError(f"{task.name} has no mutant {word!r}", hint)
    return named


def open_survivors(stored: Evaluation | None) -> list[Survivor]:
    survivors = [one for gate in mutant_gates(stored) for one in gate.detail.survivors]
    return [survivor for survivor in survivors if not survivor.accepted and not survivor.indistinguishable]


@changes_task
def accept_again(task: Task, accepted: Sequence[EquivalentMutant]) -> None:
    """Store a recipe's acceptances with the change of each mutant. Raises as :func:`accept_mutants`."""
    diffs = {(target, mutant.id): mutant.diff for target, mutant in every_mutant(task)}
    entries = [replace(entry, diff=diffs.get((entry.target, entry.id), "")) for entry in accepted]
    equivalents.add(task, entries)


def every_mutant(task: Task) -> list[tuple[str, Mutant]]:
    """Return all mutants that any recording may produce, with their targets: every parameter is differentiated."""
    info, resolved = masked_functions(task)
    overlay = golden_overlay(task, info)
    every: list[tuple[str, Mutant]] = []
    for intended in resolved:
        implementation = intended.implementation
        golden = code.Module.parse(overlay[implementation.goal_file], implementation.goal_file)
        nth = implementation.nth if len(intended.qualnames) == 1 else None
        for name in intended.qualnames:
            function = code.find(golden, Target(implementation.goal_file, name, nth=nth))
            names = {parameter.arg for parameter, _ in code.parameters(function.function.args)}
            for mutant in mutants(golden, function, differentiated=names):
                every.append((str(implementation.target), mutant))
    return every


def mutant_gates(stored: Evaluation | None) -> list[GateResult]:
    gates = stored.gates if stored else ()
    return [gate for gate in gates if gate.gate == MUTANTS_DIE and gate.detail.made is not None]
