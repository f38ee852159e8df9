"""``lmr-author mask`` and ``unmask``."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from lmr_author.cli import ui
from lmr_author.cli.options import (
    CATEGORY_HELP,
    TaskOption,
    complete_category,
    complete_function,
    complete_masked,
    current_task,
    task_words,
    text_or_file,
)
from lmr_author.core.errors import UsageError
from lmr_author.core.texts import listed, printable

if TYPE_CHECKING:
    from lmr_author.authoring.masking import MaskResult
    from lmr_author.authoring.masking.leftovers import OpenLeak
    from lmr_author.core.task import Finding, Task
    from lmr_author.proof.leaks import Leak

FEW_CACHES = 4
"""Caches that are listed one by one; ``authoring/removed/from-repository.json`` has them all."""
FEW_LEAKS = 3
"""Up to this number, leaks are asked about one by one without asking whether to."""
SHOW, MASK, ACCEPT, LEAVE = "Show what is the same", "Mask it too", "Accept it, with a reason", "Leave it"
ONE_BY_ONE, LEAVE_ALL = "Go through them", "Leave them all"


def mask(
    targets: Annotated[
        list[str] | None,
        Argument(
            metavar="TARGET…",
            autocompletion=complete_function,
            help="FILE::FUNCTION, FILE::Class.method, or a unique name.",
        ),
    ] = None,
    instruction: Annotated[str | None, Option(help="The task for the model; @FILE reads a file.")] = None,
    category: Annotated[
        str | None, Option(metavar="NAME", autocompletion=complete_category, help=CATEGORY_HELP)
    ] = None,
    retrieval: Annotated[
        list[str] | None,
        Option(metavar="PATH", help="File that the model may read; auto: those the target uses; none."),
    ] = None,
    docstring: Annotated[str | None, Option(help="For a function without one; @FILE reads a file.")] = None,
    comment: Annotated[str | None, Option(help="Text below the TODO; @FILE reads a file.")] = None,
    also: Annotated[
        list[str] | None, Option(autocompletion=complete_function, help="A look-alike to mask too.")
    ] = None,
    leaks: Annotated[bool, Option("--leaks", help="Only search again for leaks.")] = False,
    task: TaskOption = None,
) -> int:
    """Mask functions: keep signature, decorators and docstring, save the golden, clean the tree."""
    from lmr_author.authoring.masking import MaskOptions
    from lmr_author.authoring.masking import mask as mask_functions
    from lmr_author.authoring.masking.body import MaskNotes
    from lmr_author.cli import mask_dialogue

    folder, here, asking = current_task(task), Path.cwd(), ui.can_ask()
    if leaks:
        _require_leaks_alone(folder, bool(targets or also))
    is_picking = not (leaks or targets or also)
    if is_picking:
        example = "name one: lmr-author mask trainers.py::preference_loss"
        ui.require_person(asking, "no target given", example)
    files = None
    if retrieval:
        files = tuple(path for path in retrieval if path not in ("auto", "none"))
    options = MaskOptions(
        targets=tuple(targets or ()),
        instruction=text_or_file(instruction, "--instruction"),
        category=category,
        retrieval=files,
        notes=MaskNotes(
            comment=text_or_file(comment, "--comment") or "",
            docstring=text_or_file(docstring, "--docstring") or "",
        ),
        propose_retrieval="auto" in (retrieval or ()),
        also=tuple(also or ()),
    )
    if asking and (is_picking or options.targets):
        given = ui.ask(
            picked=lambda _: mask_dialogue.pick_targets(folder) if is_picking else None,
            options=lambda given: mask_dialogue.complete(
                folder, replace(options, targets=tuple(given["picked"] or options.targets)), here
            ),
        )
        options = given["options"]
    with ui.progress("masking"):
        result = mask_functions(folder, options, here)
    show(result)
    if not (options.targets or options.also or result.leaks):
        ui.say("the repository contains no solution")
    if asking and result.leaks:
        ask_about_leaks(folder, result.leaks, here)
    _then(result, task, leaks=() if asking else result.leaks)
    return 0


def _require_leaks_alone(folder: Task, masks: bool) -> None:
    if masks:
        raise UsageError("--leaks masks nothing new", "leave out the targets or --leaks")
    if not folder.load().implementations:
        raise UsageError(f"nothing is masked in {folder.name}", "mask a function first")


def _then(result: MaskResult, task: Path | None, leaks: Sequence[OpenLeak]) -> None:
    for leak in leaks:
        if leak.also:
            ui.then("mask", *ui.repeated("--also", leak.also), *task_words(task))
            return
    masked = [str(implementation.target) for implementation in result.implementations]
    masked += [along.target for along in result.also]
    if masked:
        ui.then("record", masked[0], *task_words(task))


def show(result: MaskResult) -> None:
    for implementation in result.implementations:
        which = f" --implementation {implementation.index}" if implementation.index > 1 else ""
        missing = f"missing: `lmr-author set{which} 'category=NAME'` sets one of the nine (`lmr-author explain LMR004`)"
        ui.say(f"{implementation.target} as implementation {implementation.index}", "masked", "green")
        rows = {
            "golden": implementation.golden_file,
            "category": implementation.category or missing,
            "instruction": printable(implementation.instruction, 10_000),
            "context": ", ".join(implementation.retrieval_context),
        }
        ui.facts({name: value for name, value in rows.items() if value})
    for along in result.also:
        ui.say(f"{along.node_id}, like {along.target}", "masked too", "green")
    show_paths(result.moved, "moved        {} to authoring/removed/")
    for remark in result.remarks:
        ui.note(remark)
    for leak in result.leaks:
        show_leak(leak)


def show_leak(leak: OpenLeak) -> None:
    from lmr_author.core.task import Severity

    finding = leak.finding
    where = finding.path
    if finding.pointer:
        where += f":{finding.pointer.removeprefix('L')}"
    style = "bold red" if finding.severity is Severity.ERROR else "yellow"
    ui.say(f"{where}: {finding.message} {finding.code}", "leak:", style)
    ui.hint(finding.hint, indent=6)


def ask_about_leaks(task: Task, leaks: Sequence[OpenLeak], here: Path) -> None:
    """Ask about each leak, then carry out the answers: first mask, then store what is accepted.

    In this order, because an acceptance holds for a file as it is. An interruption loses no answer: those given
    are carried out before the program ends. Each has a flag: ``mask --also``, ``validate --accept CODE:PATH``.
    """
    if len(leaks) > FEW_LEAKS:
        question = f"The solution may be readable in {len(leaks)} more places."
        if ui.choice(question, [ONE_BY_ONE, LEAVE_ALL]) == LEAVE_ALL:
            return
    also: dict[int, tuple[str, ...]] = {}
    accept: dict[int, tuple[Finding, str]] = {}
    done = False

    def ask(number: int) -> bool:
        leak = leaks[number]
        also.pop(number, None)
        accept.pop(number, None)
        if any(set(others).intersection(leak.also) for others in also.values()):
            return False  # an earlier answer masks it along
        given = ui.ask(
            answer=lambda _: _ask(leak),
            reason=lambda given: ui.needed("Why is it not a leak?") if given["answer"] == ACCEPT else None,
        )
        if given["answer"] == MASK:
            also[number] = tuple(leak.also)
        elif given["answer"] == ACCEPT:
            accept[number] = (leak.finding, given["reason"])
        return True

    try:
        ui.steps(*(partial(ask, number) for number in range(len(leaks))))
        done = True
    finally:
        names = dict.fromkeys(name for others in also.values() for name in others)
        _carry_out(task, leaks, names, list(accept.values()), here)
        if not done:
            ui.say("`lmr-author mask --leaks` asks about the other places")


def _ask(leak: OpenLeak) -> str:
    choices = [MASK] if leak.also else []
    if any(look_alike.diff for look_alike in leak.places):
        choices.insert(0, SHOW)
    show_leak(leak)
    question = f"{leak.finding.path}: what should happen to it?"
    while (answer := ui.choice(question, [*choices, ACCEPT, LEAVE])) == SHOW:
        for look_alike in leak.places:
            _show_look_alike(look_alike)
    return answer


def _show_look_alike(look_alike: Leak) -> None:
    line = ui.framed(", line ", look_alike.line)
    same = f"{round(look_alike.similarity * 100)} % the same"
    ui.say(f"{look_alike.path}{line}, {look_alike.location}: {same}", tone="bold")
    if look_alike.diff:
        ui.source(look_alike.diff, "diff")
    else:
        ui.say("identical", indent=2)


def _carry_out(
    task: Task,
    leaks: Sequence[OpenLeak],
    also: Iterable[str],
    accept: Sequence[tuple[Finding, str]],
    here: Path,
) -> None:
    from lmr_author.authoring.masking import MaskOptions
    from lmr_author.authoring.masking import mask as mask_functions
    from lmr_author.core.task import accepted

    if also:
        with ui.progress("masking"):
            result = mask_functions(task, MaskOptions(also=tuple(also)), here)
        show(result)
        leaks = result.leaks
    # The masking may have changed a finding's message, so that it is found again by its place.
    remaining = {_identity(leak.finding): leak.finding for leak in leaks}
    for finding, reason in accept:
        current = remaining.get(_identity(finding))
        if current is not None:
            accepted.add(task, current, reason)
            ui.say(f"accepted {current.code} in {current.path}: {reason}")


def _identity(finding: Finding) -> tuple[str, int | None, str]:
    return finding.code, finding.implementation, finding.path


def show_paths(names: Sequence[str], line: str) -> None:
    from lmr_author.authoring.masking.leftovers import is_generated

    caches = [name for name in names if is_generated(name.rpartition("/")[2])]
    left_out = caches[FEW_CACHES:] if len(caches) > FEW_CACHES + 1 else []
    for name in names:
        if name not in left_out:
            ui.say(line.format(name), indent=2, hang=15)
    if left_out:
        ui.say(line.format(f"{len(left_out)} more caches"), indent=2, hang=15)


def unmask(
    target: Annotated[
        str | None, Argument(autocompletion=complete_masked, help="The function to restore.")
    ] = None,
    everything: Annotated[bool, Option("--all", help="Restore every masked function.")] = False,
    force: Annotated[bool, Option("--force", help="Restore edited files too; copies are kept.")] = False,
    task: TaskOption = None,
) -> int:
    """Restore masked functions byte for byte."""
    from lmr_author.authoring.masking import unmask as restore
    from lmr_author.authoring.masking.leftovers import HISTORY_FOLDERS
    from lmr_author.cli.status import show_next

    folder = current_task(task)
    if everything and target is not None:
        raise UsageError("a target and --all exclude each other", "give one of them")
    if target is None and not everything:
        target = _ask_masked(folder)
    result = restore(folder, target, Path.cwd(), force=force)
    for name in result.targets:
        ui.say(name, "restored", "green")
    for name in result.also:
        ui.say(f"{name}, a look-alike", "restored", "green")
    show_paths(result.put_back, "put back {}")
    for name in result.left_out:
        history = name.rpartition("/")[2] in HISTORY_FOLDERS
        why = "an agent's tree has no history" if history else "another file has its name"
        ui.say(f"left {name} in authoring/removed/: {why}", indent=2)
    for name in result.moved:
        ui.say(f"kept {name} in authoring/removed/", indent=2)
    show_next(folder)
    return 0


def _ask_masked(task: Task) -> str | None:
    from lmr_author.authoring.masking import masked_names

    names = masked_names(task)
    if not names:
        return None  # which is an error with a hint of its own
    quoted = listed(list(map(shlex.quote, names)), 8)
    hint = f"name one, or pass --all; masked: {quoted}"
    ui.require_person(ui.can_ask(), "no target given", hint)
    labels = {name: f"{name}  {remark}".rstrip() for name, remark in names.items()}
    if len(names) > 1:
        labels[""] = f"all of them ({len(names)})"
    return ui.choice("Which function should be restored?", labels) or None
