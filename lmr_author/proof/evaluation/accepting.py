"""Accept mutants as equivalent to the golden, and recompute the stored gate."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from lmr_author.core import code
from lmr_author.core.errors import UsageError
from lmr_author.core.locks import changes_task
from lmr_author.core.repo.git import user_name
from lmr_author.core.task import Evaluation, GateResult, GateStatus, Target, Task, equivalents, evaluation
from lmr_author.core.task.equivalents import EquivalentMutant
from lmr_author.core.task.evaluation import MUTANTS_DIE
from lmr_author.proof.evaluation.evaluate import resolve
from lmr_author.proof.evaluation.mutants import Mutant, mutants
from lmr_author.proof.evaluation.wrong_versions import summed_up
from lmr_author.runtime.replay.staging import golden_overlay


@changes_task
def accept_mutants(task: Task, words: Sequence[str], reason: str) -> tuple[dict[str, str], Evaluation | None]:
    """Record that mutants are equivalent to the golden, all of them or none, and recompute the stored gate.

    Returns the change of each by its id, as a diff, and the stored evaluation that counts.

    Args:
        words: ids, and lines (``40``, ``40-52``) for all survivors on them in the stored evaluations.

    Raises UsageError: no such mutant, or no reason; LmrError: the file of accepted mutants is damaged.
    """
    if not reason.strip():
        raise UsageError("to accept a mutant needs a reason", "say it with --reason TEXT")
    stored = evaluation.load(task)
    every = every_mutant(task)
    alive: set[str] = set()
    for gate in mutant_gates(stored):
        alive |= {survivor.id for survivor in gate.detail.survivors}
    accepted: dict[str, EquivalentMutant] = {}
    today, by = datetime.now(UTC).date().isoformat(), user_name()
    for word in words:
        chosen = _named_mutants(word, every, alive)
        if not chosen:
            raise UsageError(
                f"no mutant {word!r} of {task.name}",
                "the ids and lines are in the report of `lmr-author evaluate`",
            )
        for target, mutant in chosen:
            entry = EquivalentMutant(target, mutant.id, reason.strip(), today, by, mutant.diff)
            accepted[mutant.id] = entry
    equivalents.add(task, list(accepted.values()))
    for record in (stored, *stored.others) if stored else ():
        evaluation.store(task, _recomputed(replace(record, others=()), accepted))
    return {entry.id: entry.diff for entry in accepted.values()}, evaluation.load(task)


def _named_mutants(
    word: str, every: Sequence[tuple[str, Mutant]], alive: Collection[str]
) -> list[tuple[str, Mutant]]:
    """Return the mutants of an id, or the survivors on some lines, with their targets."""
    named = [(target, mutant) for target, mutant in every if mutant.id == word]
    lines = re.fullmatch(r"(\d{1,7})(?:-(\d{1,7}))?", word)
    if named or not lines:
        return named
    first, last = int(lines[1]), int(lines[2] or lines[1])
    survivors = [(target, mutant) for target, mutant in every if mutant.id in alive]
    return [(target, mutant) for target, mutant in survivors if first <= mutant.line <= last]


@changes_task
def accept_again(task: Task, accepted: Sequence[EquivalentMutant]) -> None:
    """Store acceptances of a recipe, with the change of each, which is not in the recipe."""
    diffs = {(target, mutant.id): mutant.diff for target, mutant in every_mutant(task)}
    entries = [replace(entry, diff=diffs.get((entry.target, entry.id), "")) for entry in accepted]
    equivalents.add(task, entries)


def every_mutant(task: Task) -> list[tuple[str, Mutant]]:
    """Return all mutants that any recording may lead to, with their targets: every parameter is differentiated."""
    info, resolved = resolve(task)
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
    """Return the results of ``mutants-die`` that have figures."""
    gates = stored.gates if stored else ()
    return [gate for gate in gates if gate.gate == MUTANTS_DIE and gate.detail.killed is not None]


def _recomputed(stored: Evaluation, accepted: Collection[str]) -> Evaluation:
    gates = list(stored.gates)
    for gate in mutant_gates(stored):
        new = summed_up(gate.detail, accepted)
        gates[gates.index(gate)] = replace(new, implementation=gate.implementation, seconds=gate.seconds)
    return replace(stored, gates=tuple(gates), passed=all(gate.status is GateStatus.PASSED for gate in gates))
