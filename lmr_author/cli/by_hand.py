"""``lmr-author judge --by-hand``: people grade models' answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from difflib import SequenceMatcher
from enum import StrEnum
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING

from lmr_author.cli import ui
from lmr_author.cli.options import Format
from lmr_author.cli.review import ask_reviewer
from lmr_author.cli.review_screens import agreement_line
from lmr_author.core.errors import EXIT_CLEAN, UsageError
from lmr_author.core.texts import counted, shortened

if TYPE_CHECKING:
    from lmr_author.core.task import Task
    from lmr_author.release.review.score import Candidate


MOST_OF_PAPER = 1500
BY_RULE = {"completely-correct": "equal to the golden", "logically-incorrect": "without an implementation"}
"""Why an answer has a grade that nobody was asked for."""


class GradeOption(StrEnum):
    completely_correct = "completely-correct"
    logically_correct = "logically-correct"
    logically_incorrect = "logically-incorrect"


def grade_by_hand(
    tasks: Sequence[Task],
    predictions: Path | None,
    output: Format,
    *,
    candidate: Path | None,
    model: str | None,
    reviewer: str | None,
    grade: str,
    reason: str,
    grades: Path | None,
    show: bool,
    results: bool,
    implementation: int | None,
) -> int:
    """Grade answers by hand; the arguments are the options of ``judge --by-hand``."""
    from lmr_author.release.review import score as scoring

    if results:
        _results(tasks, predictions, output)
        return EXIT_CLEAN
    asking = ui.can_ask() and output is Format.text
    if candidate is None and predictions is None and asking:
        candidate = Path(ui.path("Candidate's Python file:", check=_no_file))
    if (candidate is None) == (predictions is None):
        raise UsageError("which answers?", "add either --candidate FILE or --predictions FILE")
    if not (reviewer or asking):
        raise UsageError("no reviewer named", "add --reviewer NAME")
    name = ask_reviewer(reviewer, asking)
    if candidate is not None:
        if len(tasks) != 1:
            raise UsageError(f"{candidate} is an answer to one of {len(tasks)} tasks", "name the task")
        answer = scoring.candidate(tasks[0], candidate, implementation)
        _grade_one(answer, name, grade, reason, asking=asking, output=output)
        return EXIT_CLEAN
    assert predictions is not None
    left = scoring.waiting(tasks, predictions, name, model)
    if grades is not None:
        from lmr_author.core.files import read_answers

        scoring.score_all(left, name, read_answers(grades, "--grades"))
        left = scoring.waiting(tasks, predictions, name, model)
    elif asking and not show:
        to_read = [candidate for candidate in left if not candidate.rule]
        done = to_read[: ask_each(to_read, name)]
        left = [candidate for candidate in left if candidate not in done]
    elif not show:
        raise UsageError("no grades given", "add --grades FILE, or --list, or run it in a terminal")
    _show_waiting(left, output, show=show)
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
    ui.say(f"{counted(len(to_read), 'answer')} left for you to grade")
    for grade, number in Counter(by_rule.values()).items():
        ui.say(f"graded by rule: {counted(number, 'answer')} {BY_RULE[grade]} ({grade})")


def ask_each(left: Sequence[Candidate], reviewer: str) -> int:
    """Ask for each grade and store it at once; return how many were given."""
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
    """The reviewer stops grading for now."""


def _ask(candidate: Candidate, before: str = "", *, stop: bool = True) -> tuple[str, str]:
    """Ask for a grade and its reason; ``stop`` offers to stop, which raises _StopError."""
    from lmr_author.core.task.reviews import GRADES
    from lmr_author.release.review.instruction import paragraphs
    from lmr_author.release.review.score import passages

    ui.say(str(candidate.implementation.target), tone="bold")
    for paragraph in paragraphs(candidate.implementation.instruction):
        ui.say(paragraph, hang=0)
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

    def ask_grade(_: object) -> str:
        grade = ui.letter("How good is it?", letters)
        if grade not in GRADES:
            raise _StopError
        return grade

    given = ui.ask(grade=ask_grade, reason=lambda _: ui.needed("Why?"))
    return given["grade"], given["reason"]


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
        ui.say(f"{summary.hidden} candidates hidden until two people have graded them")
    ui.say(agreement_line(summary.agreement))
    for model, counts in sorted(summary.models.items()):
        ui.say(f"{model}: " + ", ".join(f"{grade} {count}" for grade, count in sorted(counts.items())))


# Golden and answer beside one another

SIDE_BY_SIDE = 120
"""Columns from which two texts stand side by side."""

Row = tuple[str, str, str]
"""A mark, ``<`` for a line of the left text alone, ``>`` of the right one, ``|`` for two that differ; both lines."""


def show_beside(left: tuple[str, str], right: tuple[str, str]) -> None:
    """Print two texts, each with its title: side by side, or one below the other on a narrow screen."""
    from rich.table import Table
    from rich.text import Text

    def cell(mark: str, line: str, style: str) -> Text:
        return Text(line, style if mark.strip() else "", overflow="fold")

    screen = ui.console()
    lines = [[ui.one_line(line.expandtabs(4)) for line in text.splitlines()] for _, text in (left, right)]
    rows = list(aligned(*lines))
    if screen.width >= SIDE_BY_SIDE:
        table = Table.grid(expand=True, padding=(0, 1))
        for ratio in (1, None, 1):
            table.add_column(ratio=ratio)
        table.add_row(left[0], "", right[0], style="bold")
        for mark, here, there in rows:
            table.add_row(cell(mark, here, "red"), mark, cell(mark, there, "green"))
        screen.print(table)
        return
    for title, only, style, column in ((left[0], "<", "red", 1), (right[0], ">", "green", 2)):
        ui.say(title, tone="bold")
        table = Table.grid(padding=(0, 1))
        for row in rows:
            if row[0] in (" ", "|", only):
                table.add_row(row[0], cell(row[0], row[column], style))
        screen.print(table)
        ui.say("")


def aligned(left: Sequence[str], right: Sequence[str]) -> Iterator[Row]:
    for tag, start, end, begin, stop in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        for here, there in zip_longest(left[start:end], right[begin:stop]):
            mark = " " if tag == "equal" else ">" if here is None else "<" if there is None else "|"
            yield mark, here or "", there or ""
