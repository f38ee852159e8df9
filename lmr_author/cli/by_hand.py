"""``lmr-author judge --by-hand``: people grade models' answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from lmr_author.cli import ui
from lmr_author.cli.agreement import agreement_line
from lmr_author.cli.beside import show_beside
from lmr_author.cli.options import Format
from lmr_author.cli.review import ask_reviewer
from lmr_author.core.errors import EXIT_CLEAN, UsageError
from lmr_author.core.texts import counted, shortened

if TYPE_CHECKING:
    from lmr_author.core.task import Task
    from lmr_author.release.review.score import Candidate


MOST_OF_PAPER = 1500
"""Characters of a section of the paper that are shown."""
BY_RULE = {"completely-correct": "equal to the golden", "logically-incorrect": "without an implementation"}
"""Why an answer has a grade that nobody was asked for."""


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
        to_read = [candidate for candidate in left if not candidate.rule]
        done = to_read[: ask_each(to_read, name)]
        left = [candidate for candidate in left if candidate not in done]
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
        grade, reason = _ask(candidate, stop=False)
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
    to_read = [candidate for candidate in left if not candidate.rule]
    by_rule = {candidate.name: candidate.rule for candidate in left if candidate.rule}
    if output is Format.json:
        entries = []
        for candidate in to_read:
            entries.append(
                {
                    "candidate": candidate.name,
                    "task": candidate.task.name,
                    "implementation": candidate.implementation.index,
                    "text": candidate.text,
                    "golden": candidate.golden,
                }
            )
        ui.print_json({"waiting": entries, "by_rule": by_rule})
        return
    if show:
        for candidate in to_read:
            ui.say(f"{candidate.name}  {candidate.task.name}  {candidate.implementation.target}")
    ui.say(
        "1 answer waits for your grade"
        if len(to_read) == 1
        else f"{len(to_read)} answers wait for your grade"
    )
    for grade, number in Counter(by_rule.values()).items():
        ui.say(f"not asked for: {counted(number, 'answer')} {BY_RULE[grade]} ({grade})")


def ask_each(left: Sequence[Candidate], reviewer: str) -> int:
    """Ask for one grade after the other, each stored at once; returns the number of answers that have one."""
    from lmr_author.release.review.score import score as store_grade

    given = dict[int, str]()

    def ask(number: int) -> None:
        candidate = left[number]
        ui.say("")
        ui.say(f"{number + 1} of {len(left)}: {candidate.name}, {candidate.task.name}", tone="bold")
        grade, reason = _ask(candidate, given.get(number, ""))
        path = store_grade(candidate, reviewer, grade, reason)
        ui.say(f"{candidate.name}: {grade} (stored in {path})")
        given[number] = f"{grade}, {reason}"

    with suppress(_StopError):
        ui.steps(*(partial(ask, number) for number in range(len(left))))
    return len(given)


class _StopError(Exception):
    """The reviewer grades the other answers another time."""


def _ask(candidate: Candidate, before: str = "", *, stop: bool = True) -> tuple[str, str]:
    """Ask for a grade and its reason, below the paper's words and the answer beside the golden.

    Args:
        before: the grade that it has, with its reason.
        stop: offer to stop, which raises _StopError.
    """
    from lmr_author.core.task.reviews import GRADES
    from lmr_author.release.review.score import passages

    ui.say(str(candidate.implementation.target), tone="bold")
    ui.say(candidate.implementation.instruction, hang=0)
    for place, text in passages(candidate):
        ui.say(place, tone="bold cyan", indent=2)
        ui.say(shortened(" ".join(text.split()), MOST_OF_PAPER), indent=4, hang=4)
    ui.say("")
    show_beside(("golden", candidate.golden), (candidate.name, candidate.text))
    for name, meaning in GRADES.items():
        ui.say(f"{name}: {meaning}", indent=2)
    if before:
        ui.say(f"your grade so far: {before}", indent=2)
    letters = {"".join(word[0] for word in name.split("-")): name for name in GRADES}
    if stop:
        letters["s"] = "stop"
    grade = reason = ""

    def ask_grade() -> None:
        nonlocal grade
        grade = ui.letter("How good is it?", letters)
        if grade not in GRADES:
            raise _StopError

    def ask_reason() -> None:
        nonlocal reason
        reason = ui.needed("Why?")

    ui.steps(ask_grade, ask_reason)
    return grade, reason


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
