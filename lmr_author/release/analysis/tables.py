"""The tables and figures of LMR-Bench's paper, computed from observations.

A problem is one implementation of one task. Unit-test accuracy is the mean over problems of the share of samples whose
test passes; a problem without a result counts as failed, an unjudged answer does not count.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean
from typing import TypeVar

from lmr_author.proof.evaluation.candidates.results import pass_rate
from lmr_author.release.analysis.grades import CC, GRADES, LI, UNPARSABLE
from lmr_author.release.analysis.observations import UNJUDGED, Observation
from lmr_author.release.review.agreement import agreement, majority
from lmr_author.release.review.score import BY_RULE

Problem = tuple[str, int]
Group = tuple[str, str, str, str]
Cell = str | int | float | None
_Part = TypeVar("_Part", str, tuple[str, str])

GROUP = ("model", "agent", "setting", "input")
"""Columns that name a system: a model, and how it was asked."""
MEASURED = ("problems", "unit test %", "low %", "high %", "missing", "unjudged")
"""Columns of :func:`measured`."""


@dataclass(frozen=True)
class Bars:
    """The layout of a table as a figure.

    Attributes:
        label: column with the names of the bars; the columns before it name the panels.
        values: columns with their lengths.
        by: column whose values are the series, instead of the columns of ``values``; "" for none.
    """

    label: str
    values: tuple[str, ...]
    axis: str
    by: str = ""


@dataclass(frozen=True)
class Table:
    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    bars: Bars | None = None


def groups(observations: Iterable[Observation]) -> dict[Group, list[Observation]]:
    grouped: dict[Group, list[Observation]] = defaultdict(list)
    for observation in observations:
        grouped[observation.group].append(observation)
    return dict(sorted(grouped.items()))


def name_of(group: Group) -> str:
    return ", ".join(filter(None, group))


def samples_of(observations: Iterable[Observation]) -> dict[Problem, list[bool]]:
    """Return whether each judged sample passed, by problem."""
    samples: dict[Problem, list[bool]] = defaultdict(list)
    for observation in observations:
        if observation.is_tested:
            samples[observation.problem].append(observation.outcome == "passed")
    return samples


def causes(observations: Iterable[Observation]) -> dict[str, int]:
    """Count unjudged answers by failure, the most frequent first."""
    return dict(Counter(each.error for each in observations if each.outcome == UNJUDGED).most_common())


def counting(observations: Iterable[Observation], problems: Iterable[Problem]) -> dict[Problem, list[bool]]:
    """Return the samples of each problem that counts: none for a missing one. Unjudged problems do not count."""
    observations = list(observations)
    samples = samples_of(observations)
    unjudged = {observation.problem for observation in observations if observation.outcome == UNJUDGED}
    return {each: samples.get(each, []) for each in sorted(set(problems) - (unjudged - samples.keys()))}


def parted(names: Mapping[Problem, _Part]) -> dict[_Part, set[Problem]]:
    """Group problems by name."""
    parts: dict[_Part, set[Problem]] = defaultdict(set)
    for problem, name in names.items():
        parts[name].add(problem)
    return dict(sorted(parts.items()))


def measured(observations: Sequence[Observation], problems: Collection[Problem]) -> tuple[Cell, ...]:
    """Measure a system's unit-test accuracy on problems; without any verdict it has no rate."""
    counted = counting(observations, problems)
    of_them = [observation for observation in observations if observation.problem in problems]
    has_rate = counted and any(observation.is_tested for observation in observations)
    rate = pass_rate(list(counted.values())) if has_rate else None
    shares = (rate.share, rate.low, rate.high) if rate else (None, None, None)
    missing = sum(not samples for samples in counted.values())
    return (len(counted), *map(percent, shares), missing, sum(causes(of_them).values()))


def judges_of(observations: Iterable[Observation]) -> dict[str, str]:
    """Return the label of each judge's columns."""
    names = sorted({name for observation in observations for name in observation.judges}) or [""]
    return {name: f"judge {name}".strip() if len(names) > 1 else "judge" for name in names}


def main_results(observations: Sequence[Observation], problems: set[Problem]) -> Table:
    """Return the paper's Table 2: unit test, judges and people, per model and setting."""
    judges = judges_of(observations)
    rows = []
    for group, answers in groups(observations).items():
        row: list[Cell] = [*group, *measured(answers, problems)]
        for name in judges:
            judged = _judged(answers, name)
            row += [*_parts(judged, (*GRADES, UNPARSABLE)), judged[UNPARSABLE]]
        people = _graded(answers)
        row += [*_parts(people, (*GRADES, "disputed")), people["disputed"]]
        shares = [answer.golden_share for answer in answers if answer.golden_share is not None]
        rows.append((*row, percent(mean(shares)) if shares else None))
    columns = [*GROUP, *MEASURED]
    for label in judges.values():
        columns += [*_percents(label), f"{label} unparsable"]
    columns += [*_percents("people"), "people disputed", "golden repeated %"]
    note = (
        "Missing results count as failed; unjudged answers do not count. Several samples of a problem are averaged. "
        "Interval: 95 %, clustered by problem."
    )
    return Table(
        "table2-results", "Results by model and setting (Table 2)", tuple(columns), tuple(rows), note
    )


def unjudged(observations: Sequence[Observation]) -> Table:
    rows = []
    for group, answers in groups(observations).items():
        rows += [(*group, name or "unknown", count) for name, count in causes(answers).items()]
    return Table("unjudged", "Unjudged answers", (*GROUP, "error", "answers"), tuple(rows))


def by_input(observations: Sequence[Observation], problems: set[Problem]) -> Table:
    """Return the paper's Table 3: unit-test accuracy and grades by the input that a model was given."""
    judges = judges_of(observations)
    rows = []
    for group, answers in groups(observations).items():
        *_, model_input = group
        if model_input:
            counts = [*(_judged(answers, name) for name in judges), _graded(answers)]
            grades = [share for each in counts for share in _parts(each, GRADES)]
            rows.append((*group, measured(answers, problems)[1], *grades))
    graders = [column for label in (*judges.values(), "people") for column in _percents(label)]
    return Table(
        "table3-inputs", "Results by input (Table 3)", (*GROUP, "unit test %", *graders), tuple(rows)
    )


def binary(observations: Sequence[Observation]) -> Table:
    """Return the paper's Table 6: the judges' and people's grades as completely correct or not."""
    judges = judges_of(observations)
    rows = []
    for group, answers in groups(observations).items():
        row: list[Cell] = [*group]
        for counts in (*(_judged(answers, name) for name in judges), _graded(answers)):
            row += [sum(counts[grade] for grade in GRADES), _parts(counts, GRADES)[0]]
        rows.append(tuple(row))
    columns = [*GROUP]
    for label in judges.values():
        columns += [label.replace("judge", "judged by", 1) if len(judges) > 1 else "judged", f"{label} CC %"]
    return Table(
        "table6-binary",
        "Completely correct or not (Table 6)",
        (*columns, "graded", "people CC %"),
        tuple(rows),
    )


def by_category(
    observations: Sequence[Observation], problems: Collection[Problem], categories: Mapping[Problem, str]
) -> Table:
    """Return the paper's Figure 2: problems by category, with the accuracy of all models together."""
    members = parted({problem: categories.get(problem) or "unknown" for problem in problems})
    rows = []
    for name, own in sorted(members.items(), key=lambda member: (-len(member[1]), member[0])):
        tested = [answer for answer in observations if answer.problem in own and answer.is_tested]
        outcomes = [answer.outcome == "passed" for answer in tested]
        rows.append((name, len(own), len(outcomes), percent(mean(outcomes)) if outcomes else None))
    columns = ("category", "problems", "answers", "passed %")
    return Table(
        "figure2-categories",
        "Problems by category (Figure 2)",
        columns,
        tuple(rows),
        bars=Bars("category", ("problems",), "problems"),
    )


def actions(observations: Sequence[Observation]) -> tuple[Table, Table]:
    """Return the paper's Figures 5 and 6: an agent's actions in passed and failed answers, as shares and in number."""
    shares, numbers = list[tuple[Cell, ...]](), list[tuple[Cell, ...]]()
    for group, answers in groups(observations).items():
        passed, failed = Counter[str](), Counter[str]()
        for answer in answers:
            if answer.is_tested:
                (passed if answer.outcome == "passed" else failed).update(answer.actions)
        for kind in sorted(passed | failed):
            shares.append((*group, kind, _share(passed, kind), _share(failed, kind)))
            numbers.append((*group, kind, passed[kind], failed[kind]))
    return (
        Table(
            "figure5-actions",
            "Distribution of agents' actions, passed against failed (Figure 5)",
            (*GROUP, "action", "passed %", "failed %"),
            tuple(shares),
            bars=Bars("action", ("passed %", "failed %"), "% of actions"),
        ),
        Table(
            "figure6-actions",
            "Number of agents' actions, passed against failed (Figure 6)",
            (*GROUP, "action", "passed", "failed"),
            tuple(numbers),
            bars=Bars("action", ("passed", "failed"), "actions"),
        ),
    )


def error_classes(observations: Sequence[Observation]) -> Table:
    """Return the paper's Figure 7: the classes of errors that people assigned."""
    classified = [answer for answer in observations if answer.error_class]
    counts = Counter((answer.error_class, answer.model) for answer in classified)
    rows = tuple((name, model, count) for (name, model), count in sorted(counts.items()))
    return Table(
        "figure7-errors",
        "Classes of errors (Figure 7)",
        ("error class", "model", "answers"),
        rows,
        bars=Bars("error class", ("answers",), "answers", by="model"),
    )


def agreements(observations: Sequence[Observation]) -> Table:
    """Return the agreement of people, of judges, and of each judge with people and with the unit tests."""
    judges = judges_of(observations)
    people = _by_grader((answer, answer.grades) for answer in observations)
    rows = [_agreement_row("people", people)]
    if len(judges) > 1:
        rows.append(_agreement_row("judges", _by_grader((answer, answer.judges) for answer in observations)))
    for name, label in judges.items():
        conflicts, pairs, right = 0, [], []
        for observation in observations:
            judge, of_most = observation.judges.get(name), majority(observation.grades)
            if judge not in GRADES:
                continue
            if of_most in GRADES:
                pairs.append((observation, {"judge": judge, "people": of_most}))
                conflicts += {judge, of_most} == {CC, LI}
            if observation.is_tested:
                right.append((judge == CC) == (observation.outcome == "passed"))
        rows.append((*_agreement_row(f"{label} and people", _by_grader(pairs))[:-1], conflicts))
        share = percent(mean(right)) if right else None
        rows.append((f"{label} and unit test (CC = passed)", len(right), share, None, None, None))
    columns = ("between", "answers", "agree %", "kappa", "Krippendorff's alpha", "CC against LI")
    note = "Kappa is Cohen's for two, Fleiss' for more. The people's grade is that of their majority."
    return Table("agreement", "Agreement", columns, tuple(rows), note)


def _by_grader(graded: Iterable[tuple[Observation, Mapping[str, str]]]) -> dict[str, dict[str, str]]:
    """Return each grader's grades by answer."""
    by_grader: dict[str, dict[str, str]] = defaultdict(dict)
    for observation, grades in graded:
        for who, grade in grades.items():
            if grade in GRADES and who != BY_RULE:
                by_grader[who][str(observation.key)] = grade
    return by_grader


def _agreement_row(name: str, judgements: Mapping[str, Mapping[str, str]]) -> tuple[Cell, ...]:
    agreed = agreement(judgements)
    kappa = agreed.cohen if agreed.cohen is not None else agreed.fleiss
    rounded = (None if value is None else round(value, 3) for value in (kappa, agreed.krippendorff))
    return name, agreed.judged, percent(agreed.percent), *rounded, None


def percent(share: float | None) -> float | None:
    return None if share is None else round(100.0 * share, 1)


def _percents(label: str) -> list[str]:
    return [f"{label} {grade} %" for grade in GRADES]


def _judged(answers: Sequence[Observation], judge: str) -> Counter[str]:
    return Counter(answer.judges[judge] for answer in answers if judge in answer.judges)


def _graded(answers: Sequence[Observation]) -> Counter[str]:
    """Count the majority's grade of each answer."""
    return Counter(filter(None, (majority(answer.grades) for answer in answers)))


def _parts(counts: Counter[str], among: Sequence[str]) -> list[float | None]:
    """Return the percentage of each grade ``among`` some answers."""
    counted = Counter({answer: counts[answer] for answer in among})
    return [_share(counted, grade) for grade in GRADES]


def _share(counts: Counter[str], name: str) -> float | None:
    total = counts.total()
    return percent(counts[name] / total) if total else None
