"""``lmr-author accept``: mutants that are no mistakes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from lmr_author.cli import ui
from lmr_author.cli.options import NoInputOption, ReasonOption, TaskArgument
from lmr_author.core.errors import EXIT_CLEAN, UsageError

if TYPE_CHECKING:
    from lmr_author.core.task import Task
    from lmr_author.core.task.evaluation import Survivor


def accept(
    task: TaskArgument = None,
    mutant: Annotated[
        list[str] | None,
        Option(metavar="ID|LINES", help="A survivor, or all on these lines (40-52); else a list to tick."),
    ] = None,
    reason: ReasonOption = "",
    no_input: NoInputOption = False,
) -> int:
    """Record that surviving mutants need not fail: equivalent ones, or lines that nothing can reach."""
    from lmr_author.cli.evaluate import GateTable
    from lmr_author.core.task import Task
    from lmr_author.proof.evaluation.accepting import accept_mutants, mutant_gates

    folder, asking = Task.find(task or Path.cwd()), ui.can_ask(no_input)
    chosen = mutant or (_tick(folder) if asking else [])
    if not chosen:
        raise UsageError(
            "no mutant named",
            "add --mutant ID or --mutant 40-52; `lmr-author evaluate` lists those that pass",
        )
    if not reason and asking:
        reason = ui.needed("Why is it no mistake?")
    diffs, stored = accept_mutants(folder, chosen, reason)
    for identifier, diff in diffs.items():
        ui.say(f"{identifier}: it no longer counts", "accepted", "green")
        ui.diff(diff.splitlines(), indent=8)
    table = GateTable(folder.name)
    for gate in mutant_gates(stored):
        table.show(gate, survivors=False)
    if stored is not None and stored.passed:
        ui.say("every gate holds, from the stored evaluation", "sound:", "green", indent=2)
    ui.then("next", "--task", folder.root)
    return EXIT_CLEAN


def _tick(task: Task) -> list[str]:
    """Return the survivors of the stored evaluation that a person ticks in a list."""
    from lmr_author.core.task import evaluation
    from lmr_author.proof.evaluation.accepting import mutant_gates

    survivors = [
        survivor for gate in mutant_gates(evaluation.load(task)) for survivor in gate.detail.survivors
    ]
    if not survivors:
        raise UsageError(
            f"no stored evaluation of {task.name} lists a surviving mutant", "run `lmr-author evaluate`"
        )
    labels = {survivor.id: _change(survivor) for survivor in survivors}
    return ui.several("Which are no mistakes?", labels, unchecked=labels)


def _change(survivor: Survivor) -> str:
    """Return a survivor on one line: its line number, and the lines before and after."""
    lines = survivor.diff.splitlines()
    before = " ".join(line[1:].strip() for line in lines if line.startswith("-"))
    after = " ".join(line[1:].strip() for line in lines if line.startswith("+"))
    return f"line {survivor.line}: {before or 'nothing'} → {after or 'nothing'}"
