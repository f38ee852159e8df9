"""``lmr-author accept``: mutants that are no mistakes."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated

from typer import Option

from lmr_author.cli import ui
from lmr_author.cli.options import ReasonOption, TaskArgument, TaskOption, current_task, named_once
from lmr_author.core.errors import EXIT_CLEAN, UsageError

if TYPE_CHECKING:
    from lmr_author.core.task import Task
    from lmr_author.proof.evaluation.mutants import Mutant

    Found = dict[str, tuple[str, Mutant]]


def accept(
    word: TaskArgument = None,
    mutant: Annotated[
        list[str] | None, Option(metavar="ID|LINES", help="A survivor, or all on lines 40-52.")
    ] = None,
    reason: ReasonOption = "",
    task: TaskOption = None,
) -> int:
    """Accept survivors that equal the original on every input, each with a reason of its own."""
    from lmr_author.cli.evaluate import GateTable
    from lmr_author.cli.status import show_next
    from lmr_author.proof.evaluation.accepting import accept_mutants, mutant_gates

    folder, asking = current_task(named_once(word, task)), ui.can_ask()
    found: Found = {}
    reasons: dict[str, str] = {}

    def choose() -> bool:
        chosen = mutant or (_tick(folder) if asking else [])
        if not chosen:
            raise UsageError("no mutant was chosen", TICK if asking else NAME)
        found.clear()
        found.update(_find(folder, chosen))
        if reason and len(found) > 1:
            raise UsageError(
                f"--reason is for one mutant; {' '.join(chosen)} names {len(found)}: {' '.join(found)}",
                "accept each with a sentence of its own; at a terminal, leave out --reason to be asked",
            )
        ui.require_person(bool(reason) or asking, "no reason given", "add --reason TEXT")
        return not mutant

    def ask_reason(identifier: str) -> None:
        if not reason:
            _show(found[identifier][1])
        before = {name: given for name, given in reasons.items() if name != identifier}
        reasons[identifier] = reason or _ask_reason(folder, found, before, identifier)

    def ask_reasons() -> None:
        reasons.clear()
        ui.steps(*(partial(ask_reason, identifier) for identifier in found))

    ui.steps(choose, ask_reasons)
    stored = accept_mutants(folder, reasons)
    for identifier in reasons if reason else ():
        _show(found[identifier][1])
    ui.say(" ".join(reasons), "accepted", "green")
    table = GateTable(folder.name)
    for gate in mutant_gates(stored):
        table.show(gate, survivors=False)
    if stored is not None and stored.passed:
        ui.say("every gate holds, from the stored evaluation", "sound:", "green", indent=2)
    show_next(folder)
    return EXIT_CLEAN


NAME = "add --mutant ID; `lmr-author evaluate` lists the survivors"
TICK = "tick rows with the space bar, then press Enter"


def _find(task: Task, words: list[str]) -> Found:
    from lmr_author.proof.evaluation.accepting import every_mutant, find_mutants

    every = every_mutant(task)
    found: Found = {}
    for word in words:
        found |= {each.id: (target, each) for target, each in find_mutants(task, word, every)}
    return found


def _ask_reason(task: Task, found: Found, reasons: dict[str, str], identifier: str) -> str:
    """Ask for the reason of one mutant until it meets the rules."""
    from lmr_author.core.task import equivalents
    from lmr_author.core.task.equivalents import EquivalentMutant

    def entry(name: str, reason: str) -> EquivalentMutant:
        target, mutant = found[name]
        return EquivalentMutant(target, name, reason, "", "", mutant.diff)

    others = [*equivalents.load(task).accepted, *(entry(*given) for given in reasons.items())]

    def check(reason: str) -> str:
        return equivalents.flaw_of(entry(identifier, reason), others)

    return ui.needed(f"{identifier}: why does it equal the original on every input?", "", check)


def _tick(task: Task) -> list[str]:
    from lmr_author.core.task import evaluation
    from lmr_author.proof.evaluation.accepting import open_survivors

    survivors = open_survivors(evaluation.load(task))
    if not survivors:
        raise UsageError(
            f"no stored evaluation of {task.name} lists a survivor to accept", "run `lmr-author evaluate`"
        )
    for one in survivors:
        ui.say(f"line {one.line}, {one.operator}", one.id, "yellow")
        ui.diff(one.diff.splitlines(), indent=2)
    labels = {one.id: f"line {one.line}, {one.operator}" for one in survivors}
    return ui.several("Which equal the original on every input?", labels, unchecked=labels)


def _show(mutant: Mutant) -> None:
    ui.say(f"line {mutant.line}, {mutant.operator}", mutant.id, "yellow")
    ui.diff(mutant.diff.splitlines(), indent=2)
