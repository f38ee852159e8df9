"""``lmr-author score``."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from lmr_author.cli import ui
from lmr_author.cli.agreement import agreement_line
from lmr_author.cli.options import (
    Format,
    FormatOption,
    ImplementationOption,
    NoInputOption,
    ReasonOption,
    ReviewerOption,
    TaskArgument,
    default_tasks,
)
from lmr_author.cli.review import ask_reviewer
from lmr_author.core.errors import EXIT_CLEAN, UsageError

if TYPE_CHECKING:
    from lmr_author.core.task import Task
    from lmr_author.release.review.score import Candidate


def score(
    task: TaskArgument = None,
    candidate: Annotated[Path | None, Option(help="The candidate's Python file.")] = None,
    predictions: Annotated[Path | None, Option(help="Models' answers, as for `judge`.")] = None,
    model: Annotated[str | None, Option(help="Answers of this model only.")] = None,
    reviewer: ReviewerOption = None,
    grade: Annotated[
        str | None, Option("--score", help="completely-correct, logically-correct or logically-incorrect.")
    ] = None,
    reason: ReasonOption = "",
    grades: Annotated[Path | None, Option(help="YAML or JSON file with grades, by answers' names.")] = None,
    show: Annotated[bool, Option("--list", help="Only list the answers that wait for your grade.")] = False,
    implementation: ImplementationOption = None,
    results: Annotated[bool, Option("--results", help="Show how the graders agree.")] = False,
    output: FormatOption = Format.text,
    no_input: NoInputOption = False,
) -> int:
    """Grade candidate implementations by hand, as the benchmark's paper does; hidden until two people have graded."""
    from lmr_author.core.task import Task
    from lmr_author.release.review import score as scoring

    if results:
        _results(Task.find_all(task or default_tasks()), predictions, output)
        return EXIT_CLEAN
    asking = ui.can_ask(no_input) and output is Format.text
    if candidate is None and predictions is None and asking:
        candidate = Path(ui.path("Candidate's Python file:", check=_no_file))
    if (candidate is None) == (predictions is None) or not (reviewer or asking):
        raise UsageError(
            "no candidate or no reviewer named",
            "add --candidate FILE or --predictions FILE, and --reviewer NAME",
        )
    name = ask_reviewer(reviewer, asking)
    if candidate is not None:
        answer = scoring.candidate(Task.find(task or Path.cwd()), candidate, implementation)
        _grade_one(answer, name, grade, reason, asking=asking, output=output)
        return EXIT_CLEAN
    assert predictions is not None
    tasks = Task.find_all(task or default_tasks())
    left = scoring.waiting(tasks, predictions, name, model)
    if grades is not None:
        from lmr_author.core.files import read_answers

        scoring.score_all(left, name, read_answers(grades, "--grades"))
        left = scoring.waiting(tasks, predictions, name, model)
    elif asking and not show:
        left = left[ask_each(left, name) :]
    elif not show:
        raise UsageError("no grades given", "add --grades FILE, or --list, or run it in a terminal")
    _show_waiting(left, output, show=show)
    return EXIT_CLEAN


def _grade_one(
    candidate: Candidate, reviewer: str, grade: str | None, reason: str, *, asking: bool, output: Format
) -> None:
    """Store the grade of one candidate, which is asked for where none is given."""
    from lmr_author.release.review import score as scoring

    if grade is None:
        hint = "add --score GRADE --reason TEXT, or run it in a terminal"
        ui.require_person(asking, "no score given", hint)
        grade, reason = _ask(candidate)
    path = scoring.score(candidate, reviewer, grade, reason)
    if output is Format.json:
        about = {"candidate": candidate.name, "sha256": candidate.sha256}
        ui.print_json({**about, "score": grade, "reviewer": reviewer})
    else:
        ui.say(f"{candidate.name}: {grade} (stored in {path})")
        ui.then("score", candidate.task.root, "--results")


def _no_file(answer: str) -> str:
    return "" if Path(answer).expanduser().is_file() else f"{answer}: no such file"


def _show_waiting(left: Sequence[Candidate], output: Format, *, show: bool) -> None:
    """Print how many answers are left to grade; with ``show`` each of them."""
    if output is Format.json:
        entries = []
        for candidate in left:
            entries.append(
                {
                    "candidate": candidate.name,
                    "task": candidate.task.name,
                    "implementation": candidate.implementation.index,
                    "text": candidate.text,
                    "golden": candidate.golden,
                }
            )
        ui.print_json({"waiting": entries})
        return
    if show:
        for candidate in left:
            ui.say(f"{candidate.name}  {candidate.task.name}  {candidate.implementation.target}")
    ui.say("1 answer waits for your grade" if len(left) == 1 else f"{len(left)} answers wait for your grade")


def ask_each(left: Sequence[Candidate], reviewer: str) -> int:
    """Ask for one grade after the other, each stored at once; returns the number of grades."""
    from lmr_author.release.review.score import score as store_grade

    for number, candidate in enumerate(left, 1):
        ui.say("")
        ui.say(f"{number} of {len(left)}: {candidate.name}, {candidate.task.name}", tone="bold")
        grade, reason = _ask(candidate, {"s": "stop"})
        if grade == "stop":
            return number - 1
        path = store_grade(candidate, reviewer, grade, reason)
        ui.say(f"{candidate.name}: {grade} (stored in {path})")
    return len(left)


def _ask(candidate: Candidate, more: dict[str, str] | None = None) -> tuple[str, str]:
    """Ask for a grade and its reason, below the candidate's difference from the golden.

    Args:
        more: letters of other answers, which need no reason.
    """
    from lmr_author.core.task.reviews import GRADES

    ui.say(str(candidate.implementation.target), tone="bold")
    ui.say(candidate.implementation.instruction, hang=0)
    ui.say("")
    golden, text = candidate.golden.splitlines(), candidate.text.splitlines()
    ui.diff(difflib.unified_diff(golden, text, "golden", candidate.name, lineterm="", n=8))
    for name, meaning in GRADES.items():
        ui.say(f"{name}: {meaning}", indent=2)
    letters = {"".join(word[0] for word in name.split("-")): name for name in GRADES}
    chosen = ui.letter("How good is it?", {**letters, **(more or {})})
    return chosen, ui.needed("Why?") if chosen in GRADES else ""


def _results(tasks: Sequence[Task], predictions: Path | None, output: Format) -> None:
    """Print the agreement, and who differs on what."""
    from lmr_author.release.review.score import scored

    summary = scored(tasks, predictions)
    if output is Format.json:
        disputes = [{"candidate": name, "scores": dict(grades)} for name, grades in summary.disputes]
        models = {name: dict(counts) for name, counts in sorted(summary.models.items())}
        counted = {"agreement": summary.agreement.to_json(), "hidden": summary.hidden}
        ui.print_json({**counted, "disputes": disputes, "models": models})
        return
    for name, grades in summary.disputes:
        ui.say(f"disputed {name}: " + ", ".join(f"{person} {grade}" for person, grade in grades))
    if summary.hidden:
        ui.say(f"{summary.hidden} candidates are hidden until two people have graded them")
    ui.say(agreement_line(summary.agreement))
    for model, counts in sorted(summary.models.items()):
        ui.say(f"{model}: " + ", ".join(f"{grade} {count}" for grade, count in sorted(counts.items())))
