"""``lmr-author new-task`` and its questions: paper and repository if not given, then one page to confirm or change."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import replace
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from lmr_author.cli import ui
from lmr_author.cli.options import ImageOption, OfflineOption

if TYPE_CHECKING:
    from lmr_author.authoring.new_task.draft import TaskDraft
    from lmr_author.authoring.new_task.new_task import NewTaskOptions, NewTaskResult
    from lmr_author.authoring.vetting.facts import Fact, Facts

MAKE, ANOTHER = "make", "another one"
PAPER, REASON = "PAPER", "--patch-reason"


class SkippedPart(StrEnum):
    submodules = "submodules"
    lfs = "lfs"


def new_task(
    paper: Annotated[str | None, Argument(help="A PDF file, the URL of one, or an arXiv id.")] = None,
    repo: Annotated[str | None, Option(help="The repository: its address, or a local clone.")] = None,
    commit: Annotated[str | None, Option(help="Commit, tag or branch; by default the newest.")] = None,
    number: Annotated[int | None, Option("--id", help="The task's number; by default the next one.")] = None,
    name: Annotated[str | None, Option(help="The task's short name; by default the title's acronym.")] = None,
    title: Annotated[str | None, Option(help="The paper's title; by default read from it.")] = None,
    year: Annotated[int | None, Option(help="The paper's year; by default read from it.")] = None,
    paper_url: Annotated[str | None, Option(help="The paper's web address.")] = None,
    repo_url: Annotated[str | None, Option(help="The public address, when --repo is a local clone.")] = None,
    patch: Annotated[Path | None, Option(help="A unified diff to apply to the commit.")] = None,
    patch_reason: Annotated[str, Option(help="Why the code is patched, in a sentence.")] = "",
    base_image: ImageOption = None,
    tasks_dir: Annotated[Path, Option(help="The folder that holds the tasks.")] = Path("tasks"),
    skip: Annotated[
        list[SkippedPart] | None, Option(help="Leave out submodules, or keep Git LFS pointers.")
    ] = None,
    offline: OfflineOption = False,
    vetting: Annotated[
        Path | None, Option(help="The record of `lmr-author vet`, kept with the task.")
    ] = None,
) -> int:
    """Make a task folder from a paper and its repository, pinned at a commit."""
    from lmr_author.authoring.new_task.new_task import NewTaskOptions
    from lmr_author.authoring.new_task.new_task import new_task as make_task

    asking = ui.can_ask()
    usage = "lmr-author new-task PAPER --repo URL"
    ui.require_person(asking or bool(paper), "no PAPER given", usage)
    ui.require_person(asking or bool(repo), "no --repo URL given", usage)
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
    if asking:
        result = _Dialogue(options).make()
    else:
        with ui.progress("starting") as progress:
            result = make_task(options, progress)
    show(result)
    return 0


class _Dialogue:
    """The questions of one run. Escape returns to the previous one; Ctrl-C prints a command that keeps the answers."""

    def __init__(self, options: NewTaskOptions) -> None:
        self._options = options
        self._answers: dict[str, str] = {}

    def make(self) -> NewTaskResult:
        made: list[NewTaskResult] = []
        try:
            ui.steps(self._ask_paper, self._ask_reason, lambda: made.append(self._make()))
        except KeyboardInterrupt:
            lost = [name for name in self._answers if not name.startswith("--") and name != PAPER]
            kept = [(name, answer) for name, answer in self._answers.items() if name not in lost]
            words = [word for name, answer in kept for word in (name, answer) if word != PAPER]
            if kept:
                ui.then(*sys.argv[1:], *words, head="to continue with your answers")
            if lost:
                ui.note(f"answer again: {', '.join(lost)}")
            raise
        return made[0]

    def _ask_paper(self) -> bool:
        if self._options.paper and PAPER not in self._answers:
            return False
        paper = ui.path("Paper (PDF file, URL or arXiv id):", self._options.paper, paper_problem)
        self._options, self._answers[PAPER] = replace(self._options, paper=paper), paper
        return True

    def _ask_reason(self) -> bool:
        if self._options.patch is None or (self._options.patch_reason and REASON not in self._answers):
            return False
        reason = ui.needed("Why is the code patched?", self._options.patch_reason)
        self._options, self._answers[REASON] = replace(self._options, patch_reason=reason), reason
        return True

    def _make(self) -> NewTaskResult:
        from lmr_author.authoring.new_task.new_task import new_task as make_task

        while True:
            with ui.progress("starting") as progress:
                wizard = Wizard(progress, self._answers)
                try:
                    return make_task(self._options, progress, wizard)
                except ui.Back:
                    if not wizard.was_repository_asked:
                        raise


def show(result: NewTaskResult) -> None:
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
    answers = ui.ask(
        linked=lambda _: (
            ui.choice("Repository (the paper links):", [*linked[:8], ANOTHER]) if linked else None
        ),
        other=lambda given: _ask_address() if given["linked"] in (None, ANOTHER) else None,
    )
    return str(answers["other"] or answers["linked"])


def _ask_address() -> str:
    return ui.path("Repository (URL, or a local clone):", check=repository_problem)


def ask_origins(repo: str | None) -> tuple[str, str]:
    answers = ui.ask(
        paper=lambda given: ui.path(
            "Paper (PDF file, URL or arXiv id):", given.get("paper", ""), paper_problem
        ),
        repo=lambda _: repo or ask_repository(),
    )
    return answers["paper"], answers["repo"]


def paper_problem(answer: str) -> str:
    from lmr_author.authoring.vetting.vet import require_local

    return ui.problem(lambda: require_local(answer, None))


def repository_problem(answer: str) -> str:
    from lmr_author.authoring.vetting.vet import require_local
    from lmr_author.core.repo import Address

    return ui.problem(lambda: require_local(None, answer)) or ui.problem(lambda: Address.parse(answer))


class Wizard:
    """The questions while a task is made.

    Args:
        answers: where answers are kept, by their option, or by their label if they have none.
    """

    def __init__(self, progress: ui.Progress, answers: dict[str, str]) -> None:
        self._progress, self._answers = progress, answers
        self.was_repository_asked = False

    def repository(self, linked: tuple[str, ...]) -> str:
        with self._progress.paused():
            answer = self._answers["--repo"] = ask_repository(linked)
        self.was_repository_asked = True
        return answer

    def edit(self, draft: TaskDraft, taken: Mapping[int, str], facts: Facts) -> TaskDraft:
        """Ask for missing and wrong values, then show all until confirmed."""
        from lmr_author.authoring.new_task.draft import LABELS, OPTIONS, problems, unpublished

        def change(field: str, reason: str = "") -> None:
            nonlocal draft
            current = draft
            before = getattr(draft, field)
            # A path is not shown as the answer so far: an address would be typed behind it.
            kept = before if field == "repo_url" and field in unpublished(draft) else ""

            def problem(answer: str) -> str:
                return problems(replace(current, **{field: answer or kept}), taken).get(field, "")

            question = f"{LABELS[field]}{ui.framed(' (', reason, ')')}:"
            stated = facts.get(_fact(field), ())
            answer = _ask_value(question, "" if kept else before, stated, problem) or kept
            draft = replace(draft, **{field: answer})
            if answer:
                has_option = field in OPTIONS and field != "repo_folder"
                self._answers[OPTIONS[field] if has_option else LABELS[field]] = answer

        def confirm() -> None:
            while True:
                _show_conflicts(draft, facts)
                lines = {field: _line(draft, field, facts) for field in LABELS}
                chosen = ui.choice("The new task", {MAKE: "Make the task like this", **lines})
                if chosen == MAKE:
                    return
                with suppress(ui.Back), ui.going_back():
                    change(chosen)

        open_fields = problems(draft, taken) | unpublished(draft)
        with self._progress.paused(), ui.going_back(self.was_repository_asked):
            ui.steps(*(partial(change, field, reason) for field, reason in open_fields.items()), confirm)
        return draft


def _fact(field: str) -> str:
    return {"paper_url": "url"}.get(field, field)


def _line(draft: TaskDraft, field: str, facts: Facts) -> str:
    from lmr_author.authoring.new_task.draft import LABELS
    from lmr_author.authoring.vetting.facts import sources_of

    value = getattr(draft, field)
    sources = sources_of(facts, _fact(field), value) if value else ""
    return f"{LABELS[field]}: {value or 'unknown'}{ui.framed('  [', sources, ']')}"


def _show_conflicts(draft: TaskDraft, facts: Facts) -> None:
    from lmr_author.authoring.new_task.draft import LABELS
    from lmr_author.authoring.vetting.facts import conflicts

    for field, label in LABELS.items():
        for other in conflicts(facts, field, getattr(draft, field)):
            ui.note(f"{label}: another source has {other}")


def _ask_value(question: str, before: str, stated: Collection[Fact], problem: ui.Check) -> str:
    values = {fact.value: str(fact) for fact in stated}
    is_open = len(values) > 1 or not set(values) <= {before}
    labels, usual = {**values, ANOTHER: ANOTHER}, before if before in values else ""

    def write(given: dict[str, Any]) -> str | None:
        is_right = given["stated"] in values and not problem(given["stated"])
        return None if is_right else ui.text(question, before, problem)

    answers = ui.ask(stated=lambda _: ui.choice(question, labels, usual) if is_open else None, written=write)
    return str(answers["stated"] if answers["written"] is None else answers["written"])
