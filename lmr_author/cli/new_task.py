"""``lmr-author new-task``, and its questions: paper and repository if not given, then one page to confirm.

Nothing that can be derived is asked. Everything derived is shown, and can be changed, before anything is written.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection, Mapping
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from lmr_author.cli import ui
from lmr_author.cli.options import ImageOption

if TYPE_CHECKING:
    from lmr_author.authoring.new_task.draft import Draft
    from lmr_author.authoring.new_task.new_task import NewTaskResult
    from lmr_author.authoring.vetting.facts import Fact, Facts

MAKE, ANOTHER = "make", "another one"


class SkippedPart(StrEnum):
    """A part of a repository that a task can do without."""

    submodules = "submodules"
    lfs = "lfs"


def new_task(
    paper: Annotated[str | None, Argument(help="A PDF file, the URL of one, or an arXiv id.")] = None,
    repo: Annotated[str | None, Option(help="The repository: its address, or a local clone.")] = None,
    commit: Annotated[str | None, Option(help="Commit, tag or branch; by default the newest.")] = None,
    number: Annotated[int | None, Option("--id", help="The task's number; by default the next.")] = None,
    name: Annotated[str | None, Option(help="The task's short name; by default the title's acronym.")] = None,
    title: Annotated[str | None, Option(help="The paper's title; by default read from it.")] = None,
    year: Annotated[int | None, Option(help="The paper's year; by default read from it.")] = None,
    paper_url: Annotated[str | None, Option(help="The paper's web address.")] = None,
    repo_url: Annotated[str | None, Option(help="The public address, when --repo is a local clone.")] = None,
    patch: Annotated[Path | None, Option(help="A unified diff to apply to the commit.")] = None,
    patch_reason: Annotated[str, Option(help="Why the code is patched, a sentence.")] = "",
    base_image: ImageOption = None,
    tasks_dir: Annotated[Path, Option(help="The folder that holds the tasks.")] = Path("tasks"),
    skip: Annotated[
        list[SkippedPart] | None, Option(help="Leave out submodules, or leave Git LFS pointers as they are.")
    ] = None,
    offline: Annotated[bool, Option("--offline", help="Pin requirements without the package index.")] = False,
    vetting: Annotated[Path | None, Option(help="The file of `lmr-author vet`; kept with the task.")] = None,
) -> int:
    """Make a task folder from a paper and its repository, pinned at a commit."""
    from lmr_author.authoring.new_task.new_task import NewTaskOptions
    from lmr_author.authoring.new_task.new_task import new_task as make_task

    asking = ui.can_ask()
    usage = "lmr-author new-task PAPER --repo URL"
    ui.require_person(asking or bool(paper), "no PAPER given", usage)
    ui.require_person(asking or bool(repo), "no --repo URL given", usage)
    if not paper:
        paper = ui.path("Paper (PDF file, URL or arXiv id):", check=paper_problem)
    if patch and asking and not patch_reason:
        patch_reason = ui.needed("Why is the code patched?")
    options = NewTaskOptions(
        paper=paper or "",
        repo=repo or "",
        commit=commit,
        id=number,
        name=name,
        title=title,
        year=year,
        paper_url=paper_url,
        repo_url=repo_url,
        patch=patch,
        patch_reason=patch_reason.strip(),
        base_image=base_image,
        tasks_dir=tasks_dir,
        skip_submodules=SkippedPart.submodules in (skip or ()),
        skip_lfs=SkippedPart.lfs in (skip or ()),
        offline=offline,
        vetting=vetting,
    )
    with ui.progress("starting") as progress:
        result = make_task(options, progress, AtTerminal(progress) if asking else None)
    show(result)
    return 0


def show(result: NewTaskResult) -> None:
    """Print the new task, notes about it, and the next command."""
    info = result.info
    ui.say(f"{result.task.root}/", "made", "green")
    rows = {
        "paper": f"{info.paper_name} ({info.year})",
        "repository": f"{info.repo_url} at {info.repo_commit[:12]}{', patched' if info.repo_patch else ''}",
        "base image": result.base.reference,
        "": f"because {result.base.reason}",
    }
    ui.facts(rows)
    for remark in result.notes:
        ui.note(remark)
    ui.say(f"next: cd {shlex.quote(str(result.task.root))} && lmr-author suggest", whole=True)


def ask_repository(linked: tuple[str, ...] = ()) -> str:
    """Ask for the repository: one that the paper links, or another."""
    if linked:
        chosen = ui.choice("Repository (the paper links):", [*linked[:8], ANOTHER])
        if chosen != ANOTHER:
            return chosen
    return ui.path("Repository (URL, or a local clone):", check=repository_problem)


def paper_problem(answer: str) -> str:
    """Return what is wrong with a paper that was named; "" for nothing."""
    from lmr_author.authoring.vetting.vet import require_local

    return ui.problem(lambda: require_local(answer, None))


def repository_problem(answer: str) -> str:
    """Return what is wrong with a repository that was named; "" for nothing."""
    from lmr_author.authoring.vetting.vet import require_local
    from lmr_author.core.repo import Address

    return ui.problem(lambda: require_local(None, answer)) or ui.problem(lambda: Address.parse(answer))


class AtTerminal:
    """A person who is asked; the spinner stops meanwhile."""

    def __init__(self, progress: ui.Progress) -> None:
        self._progress = progress

    def repository(self, linked: tuple[str, ...]) -> str:
        with self._progress.paused():
            return ask_repository(linked)

    def edit(self, draft: Draft, taken: Mapping[int, str], facts: Facts) -> Draft:
        """Ask for what is missing or wrong, then show everything until it is confirmed."""
        from lmr_author.authoring.new_task.draft import LABELS, problems, unpublished

        def change(field: str, reason: str = "") -> Draft:
            def problem(answer: str) -> str:
                return problems(replace(draft, **{field: answer}), taken).get(field, "")

            question = f"{LABELS[field]}{ui.framed(' (', reason, ')')}:"
            before = getattr(draft, field)
            answer = _ask_stated(question, before, facts.get(_fact(field), ()))
            if answer is None or problem(answer):
                answer = ui.text(question, before, problem)
            return replace(draft, **{field: answer})

        with self._progress.paused():
            for field, reason in (problems(draft, taken) | unpublished(draft)).items():
                draft = change(field, reason)
            while True:
                _show_conflicts(draft, facts)
                lines = {field: _line(draft, field, facts) for field in LABELS}
                chosen = ui.choice("The new task", {MAKE: "Make the task like this", **lines})
                if chosen == MAKE:
                    return draft
                draft = change(chosen)


def _fact(field: str) -> str:
    return {"paper_url": "url"}.get(field, field)


def _line(draft: Draft, field: str, facts: Facts) -> str:
    from lmr_author.authoring.new_task.draft import LABELS
    from lmr_author.authoring.vetting.facts import sources_of

    value = getattr(draft, field)
    sources = sources_of(facts, _fact(field), value) if value else ""
    return f"{LABELS[field]}: {value or 'unknown'}{ui.framed('  [', sources, ']')}"


def _show_conflicts(draft: Draft, facts: Facts) -> None:
    from lmr_author.authoring.new_task.draft import LABELS
    from lmr_author.authoring.vetting.facts import conflicts

    for field, label in LABELS.items():
        for other in conflicts(facts, field, getattr(draft, field)):
            ui.note(f"{label}: another source has {other}")


def _ask_stated(question: str, before: str, stated: Collection[Fact]) -> str | None:
    """Let a person choose among several stated values; None where there is one at most, or for another value."""
    values = {fact.value: str(fact) for fact in stated}
    if len(values) < 2 and set(values) <= {before}:
        return None
    chosen = ui.choice(question, {**values, ANOTHER: ANOTHER}, before if before in values else "")
    return None if chosen == ANOTHER else chosen
