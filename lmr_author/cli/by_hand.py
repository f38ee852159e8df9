"""``lmr-author judge --by-hand``: people grade models' answers."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from lmr_author.cli import ui
from lmr_author.cli.agreement import agreement_line
from lmr_author.cli.options import Format
from lmr_author.cli.review import ask_reviewer
from lmr_author.core.errors import EXIT_CLEAN, UsageError

if TYPE_CHECKING:
    from lmr_author.core.task import Task
    from lmr_author.release.review.score import Candidate


class Grade(StrEnum):
    """Grade of an answer, as in LMR-Bench's paper."""

    completely_correct = "completely-correct"
    logically_correct = "logically-correct"
    logically_incorrect = "logically-incorrect"


@dataclass(frozen=True)
class GradeOptions:
    """Which answers a person grades, and how.

    Attributes:
        candidate: one answer, a Python file.
        predictions: models' answers.
        model: of those, only this model's.
        grade: of the candidate, with its reason; "" to be asked for.
        grades: file with grades by answers' names.
        show: only list the answers that wait.
        results: only show how the graders agree.
    """

    candidate: Path | None = None
    predictions: Path | None = None
    model: str | None = None
    reviewer: str | None = None
    grade: str = ""
    reason: str = ""
    grades: Path | None = None
    show: bool = False
    results: bool = False
    implementation: int | None = None


def grade_by_hand(tasks: Sequence[Task], options: GradeOptions, output: Format) -> int:
    """Grade answers by hand; grades are hidden until two people have graded."""
    from lmr_author.release.review import score as scoring

    candidate, predictions = options.candidate, options.predictions
    if options.results:
        _results(tasks, predictions, output)
        return EXIT_CLEAN
    asking = ui.can_ask() and output is Format.text
    if candidate is None and predictions is None and asking:
        candidate = Path(ui.path("Candidate's Python file:", check=_no_file))
    if (candidate is None) == (predictions is None) or not (options.reviewer or asking):
        raise UsageError(
            "no candidate or no reviewer named",
            "add --candidate FILE or --predictions FILE, and --reviewer NAME",
        )
    name = ask_reviewer(options.reviewer, asking)
    if candidate is not None:
        if len(tasks) != 1:
            raise UsageError(f"{candidate} is an answer to one of {len(tasks)} tasks", "name the task")
        answer = scoring.candidate(tasks[0], candidate, options.implementation)
        _grade_one(answer, name, options.grade, options.reason, asking=asking, output=output)
        return EXIT_CLEAN
    assert predictions is not None
    left = scoring.waiting(tasks, predictions, name, options.model)
    if options.grades is not None:
        from lmr_author.core.files import read_answers

        scoring.score_all(left, name, read_answers(options.grades, "--grades"))
        left = scoring.waiting(tasks, predictions, name, options.model)
    elif asking and not options.show:
        left = left[ask_each(left, name) :]
    elif not options.show:
        raise UsageError("no grades given", "add --grades FILE, or --list, or run it in a terminal")
    _show_waiting(left, output, show=options.show)
    return EXIT_CLEAN


def _grade_one(
    candidate: Candidate, reviewer: str, grade: str, reason: str, *, asking: bool, output: Format
) -> None:
    from lmr_author.release.review import score as scoring

    if not grade:
        hint = "add --grade GRADE --reason TEXT, or run it in a terminal"
        ui.require_person(asking, "no grade given", hint)
        grade, reason = _ask(candidate)
    path = scoring.score(candidate, reviewer, grade, reason)
    if output is Format.json:
        about = {"candidate": candidate.name, "sha256": candidate.sha256}
        ui.print_json({**about, "score": grade, "reviewer": reviewer})
    else:
        ui.say(f"{candidate.name}: {grade} (stored in {path})")
        ui.then("judge", candidate.task.root, "--by-hand", "--results")


def _no_file(answer: str) -> str:
    return "" if Path(answer).expanduser().is_file() else f"{answer}: no such file"


def _show_waiting(left: Sequence[Candidate], output: Format, *, show: bool) -> None:
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
