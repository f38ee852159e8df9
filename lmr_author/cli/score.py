"""``lmr-author score``."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lmr_author.cli import ui
from lmr_author.cli.options import Format, FormatOption, NoInputOption, default_tasks
from lmr_author.errors import EXIT_CLEAN, UsageError

if TYPE_CHECKING:
    from lmr_author.review.score import Candidate
    from lmr_author.task import Task

STOP = "stop"


def score(
    task: Annotated[
        Path | None,
        typer.Argument(
            metavar="TASK", help="The task; with --predictions or --results also a folder of tasks."
        ),
    ] = None,
    candidate: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The candidate's Python file.")
    ] = None,
    predictions: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Models' answers, as for `evaluate`.")
    ] = None,
    model: Annotated[str | None, typer.Option(metavar="NAME", help="Answers of this model only.")] = None,
    reviewer: Annotated[str | None, typer.Option(help="Your name, as the score is stored.")] = None,
    grade: Annotated[
        str | None,
        typer.Option("--score", help="completely-correct, logically-correct or logically-incorrect."),
    ] = None,
    reason: Annotated[str, typer.Option(help="The reason; with --score.")] = "",
    grades: Annotated[
        Path | None, typer.Option(metavar="FILE", help="YAML or JSON with grades of answers, by their names.")
    ] = None,
    show: Annotated[
        bool, typer.Option("--list", help="List the answers that wait for your grade, and ask nothing.")
    ] = False,
    implementation: Annotated[
        int | None, typer.Option(metavar="N", help="The implementation, if the task has several.")
    ] = None,
    results: Annotated[
        bool,
        typer.Option("--results", help="Show the agreement of the graders; with --predictions by model."),
    ] = False,
    output: FormatOption = Format.text,
    no_input: NoInputOption = False,
) -> int:
    """Grade candidate implementations by hand, as the benchmark's paper does; hidden until two people have graded."""
    from lmr_author.cli.review import ask_reviewer
    from lmr_author.task import Task

    if results:
        _results(Task.find_all(task or default_tasks()), predictions, output)
        return EXIT_CLEAN
    asking = ui.can_ask(no_input) and output is Format.text
    if candidate is None and predictions is None and asking:
        candidate = Path(ui.path("Candidate's Python file:", check=ui.existing_file))
    if (candidate is None) == (predictions is None) or not (reviewer or asking):
        raise UsageError(
            "no candidate or no reviewer named",
            "add --candidate FILE or --predictions FILE, and --reviewer NAME",
        )
    name = ask_reviewer(reviewer, asking)
    if candidate is not None:
        from lmr_author.review.score import candidate as read_candidate

        given = read_candidate(Task.find(task or Path.cwd()), candidate, implementation)
        _grade_one(given, name, grade, reason, asking, output)
        return EXIT_CLEAN
    assert predictions is not None
    tasks = Task.find_all(task or default_tasks())
    _grade_all(tasks, predictions, name, model, grades, asking=asking and not show, show=show, output=output)
    return EXIT_CLEAN


def _grade_one(
    given: Candidate, reviewer: str, grade: str | None, reason: str, asking: bool, output: Format
) -> None:
    """Grade the candidate of a file."""
    from lmr_author.review.score import score as store_grade

    if grade is None:
        answer = _ask(given) if asking else None
        if answer is None:
            raise UsageError("no score given", "add --score GRADE --reason TEXT, or run it in a terminal")
        grade, reason = answer
    stored = store_grade(given, reviewer, grade, reason)
    if output is Format.json:
        ui.print_json({"candidate": given.name, "sha256": given.sha256, "score": grade, "reviewer": reviewer})
    else:
        ui.say(f"{given.name}: {grade} (stored in {stored})")


def _grade_all(
    tasks: Sequence[Task],
    predictions: Path,
    reviewer: str,
    model: str | None,
    grades: Path | None,
    *,
    asking: bool,
    show: bool,
    output: Format,
) -> None:
    """Grade models' answers, from a file of grades or by asking; then print what is left."""
    from lmr_author.review.score import score_all, waiting

    left = waiting(tasks, predictions, reviewer, model)
    if grades is not None:
        from lmr_author.files import read_answers

        score_all(left, reviewer, read_answers(grades, "--grades"))
        left = waiting(tasks, predictions, reviewer, model)
    elif asking:
        left = left[ask_each(left, reviewer) :]
    elif not show:
        raise UsageError("no grades given", "add --grades FILE, or --list, or run it in a terminal")
    if output is Format.json:
        entries = [
            {
                "candidate": one.name,
                "task": one.task.name,
                "implementation": one.implementation.index,
                "text": one.text,
                "golden": one.golden,
            }
            for one in left
        ]
        ui.print_json({"waiting": entries})
        return
    for one in left if show else ():
        ui.say(f"{one.name}  {one.task.name}  {one.implementation.target}")
    ui.say("1 answer waits for your grade" if len(left) == 1 else f"{len(left)} answers wait for your grade")


def ask_each(left: Sequence[Candidate], reviewer: str) -> int:
    """Ask for one grade after the other, each stored at once; returns the number of grades."""
    from lmr_author.review.score import score as store_grade

    for number, given in enumerate(left, 1):
        ui.say("")
        ui.say(f"{number} of {len(left)}: {given.name}, {given.task.name}", tone="bold")
        answer = _ask(given, can_stop=True)
        if answer is None:
            return number - 1
        stored = store_grade(given, reviewer, *answer)
        ui.say(f"{given.name}: {answer[0]} (stored in {stored})")
    return len(left)


def _ask(given: Candidate, *, can_stop: bool = False) -> tuple[str, str] | None:
    """Ask for a grade and its reason, below the candidate's difference from the golden; None for a stop."""
    from lmr_author.task.reviews import GRADES

    ui.say(str(given.implementation.target), tone="bold")
    ui.say(given.implementation.instruction, hang=0)
    ui.say("")
    golden, text = given.golden.splitlines(), given.text.splitlines()
    ui.diff(difflib.unified_diff(golden, text, "golden", given.name, lineterm="", n=8))
    for name, meaning in GRADES.items():
        ui.say(f"{name}: {meaning}", indent=2)
    letters = {"".join(word[0] for word in name.split("-")): name for name in GRADES}
    chosen = ui.letter("How good is it?", {**letters, **({"s": STOP} if can_stop else {})})
    return None if chosen == STOP else (chosen, ui.needed("Why?"))


def _results(tasks: Sequence[Task], predictions: Path | None, output: Format) -> None:
    """Print the agreement, and who differs on what."""
    from lmr_author.cli.review import agreement_line
    from lmr_author.review.score import scored

    found = scored(tasks, predictions)
    if output is Format.json:
        disputes = [{"candidate": name, "scores": dict(grades)} for name, grades in found.disputes]
        models = {name: dict(counts) for name, counts in sorted(found.models.items())}
        counted = {"agreement": found.agreement.to_json(), "hidden": found.hidden}
        ui.print_json({**counted, "disputes": disputes, "models": models})
        return
    for name, grades in found.disputes:
        ui.say(f"disputed {name}: " + ", ".join(f"{who} {grade}" for who, grade in grades))
    if found.hidden:
        ui.say(f"{found.hidden} candidates are hidden until two people have graded them")
    ui.say(agreement_line(found.agreement))
    for model, grades_of in sorted(found.models.items()):
        ui.say(f"{model}: " + ", ".join(f"{grade} {count}" for grade, count in sorted(grades_of.items())))
