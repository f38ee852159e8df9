"""Tables that compare systems, beyond the paper's: pass@k, categories, years, cost, and a matrix of all problems.

A system is a model with its agent, setting and input.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

from lmr_author.core.errors import UsageError
from lmr_author.core.texts import counted
from lmr_author.proof.evaluation.candidates.results import pass_at
from lmr_author.release.analysis.observations import UNJUDGED, Observation, Usage
from lmr_author.release.analysis.tables import (
    GROUP,
    MEASURED,
    Bars,
    Cell,
    Problem,
    Table,
    counting,
    groups,
    measured,
    name_of,
    parted,
    percent,
)

USAGE = {"tokens_in": "tokens in", "tokens_out": "tokens out", "cost": "cost $", "seconds": "seconds"}
"""Field of :class:`Usage` → column."""
_DIGITS = {"cost": 4, "seconds": 1}
_MONTH = re.compile(r"\d{4}-(?:0[1-9]|1[0-2])")


def pass_at_k(observations: Sequence[Observation], problems: Collection[Problem]) -> Table:
    """Return pass@k of systems with repeated samples, for each k that every problem has enough samples for."""
    rows: list[tuple[Cell, ...]] = []
    notes = ["Unbiased estimate of Chen and others (2021). Missing results count as failed."]
    for group, answers in groups(observations).items():
        samples = counting(answers, problems)
        most = max(map(len, samples.values()), default=0)
        if most < 2:
            continue
        rates = pass_at(samples.values())
        for k, rate in rates.items():
            rows.append((*group, k, len(samples), *map(percent, (rate.share, rate.low, rate.high))))
        fewest = max(rates)
        if fewest < most:
            task, index = next(problem for problem, own in samples.items() if len(own) == fewest)
            few = f"{task} #{index} has {counted(fewest, 'judged sample')}, another problem {most}"
            notes.append(f"No larger k for {name_of(group)}: {few}.")
    columns = (*GROUP, "k", "problems", "pass@k %", "low %", "high %")
    return Table("pass-at-k", "pass@k", columns, tuple(rows), " ".join(notes))


def by_category(
    observations: Sequence[Observation], problems: Collection[Problem], categories: Mapping[Problem, str]
) -> Table:
    """Return each system's accuracy by category."""
    parts = parted({problem: categories.get(problem) or "unknown" for problem in problems})
    rows = []
    for group, answers in groups(observations).items():
        rows += [(*group, category, *measured(answers, own)) for category, own in parts.items()]
    bars = Bars("category", ("unit test %",), "unit test %")
    return Table(
        "categories", "Accuracy by category", (*GROUP, "category", *MEASURED), tuple(rows), bars=bars
    )


def read_cutoffs(texts: Iterable[str], models: Collection[str]) -> dict[str, str]:
    """Read MODEL=YYYY-MM. Raises UsageError for another form, and for a model without results."""
    cutoffs = {}
    for text in texts:
        model, _, month = text.rpartition("=")
        if not model or not _MONTH.fullmatch(month):
            raise UsageError(f"--cutoff {text!r} is no model with a month", "as in --cutoff gpt-4o=2023-10")
        if model not in models:
            raise UsageError(
                f"--cutoff: there are no results of {model!r}", f"one of: {', '.join(sorted(models))}"
            )
        cutoffs[model] = month
    return cutoffs


def by_year(
    observations: Sequence[Observation],
    problems: Collection[Problem],
    dates: Mapping[str, Mapping[Problem, str]],
    cutoffs: Mapping[str, str],
) -> Table:
    """Return each system's accuracy by year, and on what is older and newer than the end of its training data.

    Args:
        dates: ``paper`` and ``commit`` → the year or day of each problem, as 2023 or 2023-07-04; "" where not known.
        cutoffs: model → last month of its training data, as 2023-10.
    """
    rows: list[tuple[Cell, ...]] = []
    for group, answers in groups(observations).items():
        cutoff = cutoffs.get(group[0], "")
        for kind, known in dates.items():
            dated = {problem: known[problem] for problem in problems if known.get(problem)}
            sides = {problem: _side(date, cutoff) for problem, date in dated.items()}
            years = parted({problem: (date[:4], sides[problem]) for problem, date in dated.items()})
            for (year, side), own in years.items():
                rows.append((*group, kind, year, side, *measured(answers, own)))
            for side, own in parted(sides).items() if cutoff else ():
                rows.append((*group, kind, "all", side, *measured(answers, own)))
    note = "Before or after the end of the model's training data; a paper of that very year is within it."
    columns = (*GROUP, "date of", "year", "cutoff", *MEASURED)
    return Table("years", "Accuracy by year", columns, tuple(rows), note if cutoffs else "")


def _side(date: str, cutoff: str) -> str:
    """Return whether a year or a day is before or after the end of a month; "" where there is no such month."""
    if not cutoff:
        return ""
    if cutoff.startswith(date):
        return "within"
    return "before" if date[: len(cutoff)] <= cutoff else "after"


def usage(observations: Sequence[Observation]) -> Table:
    """Return what the answers of each system took: tokens, cost and time, in total and for each solved problem."""
    rows = []
    for group, answers in groups(observations).items():
        known = [answer for answer in answers if answer.usage != Usage()]
        if not known:
            continue
        solved = len({answer.problem for answer in known if answer.outcome == "passed"})
        totals: list[Cell] = []
        shares: list[Cell] = []
        for field in USAGE:
            values = [value for answer in known if (value := getattr(answer.usage, field)) is not None]
            digits = _DIGITS.get(field)
            totals.append(round(sum(values), digits) if values else None)
            shares.append(round(sum(values) / solved, digits) if values and solved else None)
        rows.append((*group, len(answers), len(known), *totals, solved, *shares))
    columns = (*GROUP, "answers", "measured", *USAGE.values(), "solved",
               *(f"{name} / solved" for name in USAGE.values()))  # fmt: skip
    note = (
        "Of the measured answers, failed and unjudged ones too. A problem is solved where an answer passes."
    )
    return Table("usage", "Tokens, cost and time", columns, tuple(rows), note)


class AnswerCell(str):
    """A cell of the matrix: a text in all forms, which leads to the answers on the page.

    Attributes:
        state: solved, partly, failed, unjudged, untested or missing.
        sources: paths of the files with the answers.
    """

    state: str
    sources: tuple[str, ...]

    @classmethod
    def of(cls, answers: Sequence[Observation]) -> AnswerCell:
        tested = [answer for answer in answers if answer.is_tested]
        passed, unjudged = (
            sum(answer.outcome == outcome for answer in answers) for outcome in ("passed", UNJUDGED)
        )
        if tested:
            state = "failed" if not passed else "solved" if passed == len(tested) else "partly"
            text = state if len(tested) == 1 else f"{passed} of {len(tested)} solved"
            text += f", {unjudged} unjudged" if unjudged else ""
        else:
            text = state = "unjudged" if unjudged else "untested" if answers else "missing"
        cell = cls(text)
        cell.state, cell.sources = state, tuple(dict.fromkeys(answer.source for answer in answers))
        return cell


def matrix(
    observations: Sequence[Observation], problems: Collection[Problem], categories: Mapping[Problem, str]
) -> Table:
    """Return what became of each problem with each system."""
    answers: dict[tuple[Problem, str], list[Observation]] = defaultdict(list)
    for observation in observations:
        answers[observation.problem, name_of(observation.group)].append(observation)
    names = [name_of(group) for group in groups(observations)]
    rows: list[tuple[Cell, ...]] = []
    for problem in sorted(problems, key=_in_order):
        cells = [AnswerCell.of(answers.get((problem, name), [])) for name in names]
        solved = sum(cell.state in ("solved", "partly") for cell in cells)
        task, index = problem
        rows.append((f"{task} #{index}", categories.get(problem), *cells, solved))
    note = "Of repeated samples, the number that passed. A missing answer counts as failed, an unjudged one not at all."
    return Table("matrix", "All problems", ("problem", "category", *names, "solved by"), tuple(rows), note)


def _in_order(problem: Problem) -> tuple[list[tuple[int, str]], int]:
    """Sort 2-B before 10-A."""
    task, index = problem
    return [
        (int(part or 0), "") if part.isdecimal() else (0, part) for part in re.split(r"(\d+)", task)
    ], index
