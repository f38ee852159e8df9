"""The tables and figures of LMR-Bench's paper, computed from observations.

A problem is one implementation of one task. Unit-test accuracy is the mean over problems of the share of samples whose
test passes; a problem without a result counts as failed, an unjudged answer does not count.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean

from lmr_author.proof.evaluation.candidates.intervals import PassRate, pass_rate
from lmr_author.release.analysis.observations import UNJUDGED, Observation
from lmr_author.release.review.agreement import agreement, majority

Group = tuple[str, str, str, str]
Cell = str | int | float | None

GRADES = CC, LC, LI = ("CC", "LC", "LI")
GROUP = ("model", "agent", "setting", "input")
"""Columns that name a group."""


@dataclass(frozen=True)
class Bars:
    """How a table is drawn as a figure.

    Attributes:
        label: column with the names of the bars; the columns before it name the panels.
        values: columns with their lengths.
        axis: what the lengths are.
        by: column whose values are series of their own, in place of ``values``' columns; "" for none.
    """

    label: str
    values: tuple[str, ...]
    axis: str
    by: str = ""


@dataclass(frozen=True)
class Table:
    """A table: its file name, title, columns and rows, and how it is drawn, if it is a figure."""

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    bars: Bars | None = None


@dataclass(frozen=True)
class Accuracy:
    """Unit-test accuracy of a group, None without a verdict, and the counts behind it.

    Attributes:
        problems: all that count.
        missing: those of them without an answer.
        unjudged: name of a failure → number of answers that it left without a verdict.
    """

    rate: PassRate | None
    problems: int
    missing: int
    unjudged: Mapping[str, int]

    @property
    def share(self) -> float | None:
        return self.rate.share if self.rate else None


def groups(observations: Iterable[Observation]) -> dict[Group, list[Observation]]:
    grouped: dict[Group, list[Observation]] = defaultdict(list)
    for observation in observations:
        grouped[observation.group].append(observation)
    return dict(sorted(grouped.items()))


def accuracy(observations: Sequence[Observation], problems: Iterable[tuple[str, int]]) -> Accuracy:
    """Measure unit-test accuracy over problems; a problem with unjudged answers only does not count."""
    samples: dict[tuple[str, int], list[bool]] = defaultdict(list)
    unjudged = [observation for observation in observations if observation.outcome == UNJUDGED]
    for observation in observations:
        if observation.is_tested:
            samples[observation.problem].append(observation.outcome == "passed")
    wanted = set(problems) - ({observation.problem for observation in unjudged} - samples.keys())
    rate = pass_rate([samples.get(problem, [False]) for problem in sorted(wanted)]) if samples else None
    causes = dict(Counter(observation.error for observation in unjudged).most_common())
    return Accuracy(rate, len(wanted), len(wanted - samples.keys()), causes)


def main_results(observations: Sequence[Observation], problems: set[tuple[str, int]]) -> Table:
    """Return the paper's Table 2: unit test, judge and people, per model and setting."""
    rows = []
    for group, answers in groups(observations).items():
        measured = accuracy(answers, problems)
        judged, people = _judged(answers), _graded(answers)
        shares = [answer.golden_share for answer in answers if answer.golden_share is not None]
        rows.append(
            (
                *group, measured.problems,
                *interval(measured), measured.missing, sum(measured.unjudged.values()),
                *_parts(judged, (*GRADES, "unparsable")), judged["unparsable"],
                *_parts(people, (*GRADES, "disputed")), people["disputed"],
                percent(mean(shares)) if shares else None,
            )
        )  # fmt: skip
    columns = (*GROUP, "problems", "unit test %", "low %", "high %", "missing", "unjudged",
               "judge CC %", "judge LC %", "judge LI %", "judge unparsable",
               "people CC %", "people LC %", "people LI %", "people disputed", "golden repeated %")  # fmt: skip
    note = (
        "Missing results count as failed; unjudged answers do not count. Several samples of a problem are averaged. "
        "Interval: 95 %, clustered by problem."
    )
    return Table("table2-results", "Results by model and setting (Table 2)", columns, tuple(rows), note)


def unjudged(observations: Sequence[Observation]) -> Table:
    """Return the answers that were not judged, by the failure of a provider, a client or a machine."""
    rows = []
    for group, answers in groups(observations).items():
        rows += [(*group, name or "unknown", count) for name, count in accuracy(answers, ()).unjudged.items()]
    return Table("unjudged", "Unjudged answers", (*GROUP, "error", "answers"), tuple(rows))


def by_input(observations: Sequence[Observation], problems: set[tuple[str, int]]) -> Table:
    """Return the paper's Table 3: unit-test accuracy and grades by the input that a model was given."""
    rows = []
    for group, answers in groups(observations).items():
        *_, model_input = group
        if model_input:
            judged, people = _judged(answers), _graded(answers)
            grades = [*_parts(judged, GRADES), *_parts(people, GRADES)]
            rows.append((*group, percent(accuracy(answers, problems).share), *grades))
    columns = (*GROUP, "unit test %", *(f"judge {grade} %" for grade in GRADES),
               *(f"people {grade} %" for grade in GRADES))  # fmt: skip
    return Table("table3-inputs", "Results by input (Table 3)", columns, tuple(rows))


def binary(observations: Sequence[Observation]) -> Table:
    """Return the paper's Table 6: the judge's and people's grades as completely correct or not."""
    rows = []
    for group, answers in groups(observations).items():
        row: list[Cell] = [*group]
        for counts in (_judged(answers), _graded(answers)):
            row += [sum(counts[grade] for grade in GRADES), _parts(counts, GRADES)[0]]
        rows.append(tuple(row))
    columns = (*GROUP, "judged", "judge CC %", "graded", "people CC %")
    return Table("table6-binary", "Completely correct or not (Table 6)", columns, tuple(rows))


def by_category(
    observations: Sequence[Observation],
    problems: set[tuple[str, int]],
    categories: Mapping[tuple[str, int], str] | None = None,
) -> Table:
    """Return the paper's Figure 2: problems by category, with the accuracy of all models together.

    Args:
        categories: those of the tasks, where the results name none.
    """
    category = dict(categories or {})
    for observation in observations:
        if observation.category:
            category[observation.problem] = observation.category
    members: dict[str, set[tuple[str, int]]] = defaultdict(set)
    for problem in problems:
        members[category.get(problem) or "unknown"].add(problem)
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


def action_shares(observations: Sequence[Observation]) -> Table:
    """Return the paper's Figure 5: how an agent's actions are distributed, for passed and failed answers."""
    rows = []
    for group, counts in _actions(observations).items():
        for kind in sorted(counts[True] | counts[False]):
            rows.append((*group, kind, _share(counts[True], kind), _share(counts[False], kind)))
    columns = (*GROUP, "action", "passed %", "failed %")
    bars = Bars("action", ("passed %", "failed %"), "% of actions")
    title = "Distribution of agents' actions, passed against failed (Figure 5)"
    return Table("figure5-actions", title, columns, tuple(rows), bars=bars)


def action_counts(observations: Sequence[Observation]) -> Table:
    """Return the paper's Figure 6: the number of an agent's actions, in all passed and all failed answers."""
    rows = []
    for group, counts in _actions(observations).items():
        for kind in sorted(counts[True] | counts[False]):
            rows.append((*group, kind, counts[True][kind], counts[False][kind]))
    columns = (*GROUP, "action", "passed", "failed")
    bars = Bars("action", ("passed", "failed"), "actions")
    title = "Number of agents' actions, passed against failed (Figure 6)"
    return Table("figure6-actions", title, columns, tuple(rows), bars=bars)


def _actions(observations: Sequence[Observation]) -> dict[Group, dict[bool, Counter[str]]]:
    """Count actions by group, and by whether the answer passed; answers that were not judged do not count."""
    counted: dict[Group, dict[bool, Counter[str]]] = {}
    for group, answers in groups(observations).items():
        for answer in answers:
            if answer.actions and answer.is_tested:
                by_outcome = counted.setdefault(group, {True: Counter(), False: Counter()})
                by_outcome[answer.outcome == "passed"].update(answer.actions)
    return counted


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
    """Return agreement between people, of the judge with people, and of the judge with the unit tests."""
    people: dict[str, dict[str, str]] = defaultdict(dict)
    judge_and_people: dict[str, dict[str, str]] = {"judge": {}, "people": {}}
    conflicts = 0
    right = []
    for observation in observations:
        answer = str(observation.key)
        for person, grade in observation.grades.items():
            people[person][answer] = grade
        judge, grade_of_most = observation.judge, majority(observation.grades)
        if judge not in GRADES:
            continue
        if grade_of_most in GRADES:
            judge_and_people["judge"][answer] = judge
            judge_and_people["people"][answer] = grade_of_most
            conflicts += {judge, grade_of_most} == {CC, LI}
        if observation.is_tested:
            right.append((judge == CC) == (observation.outcome == "passed"))
    rows: list[tuple[Cell, ...]] = []
    for name, judgements in (("people", people), ("judge and people", judge_and_people)):
        agreed = agreement(judgements)
        kappa = agreed.cohen if agreed.cohen is not None else agreed.fleiss
        direct = conflicts if name != "people" else None
        rows.append(
            (name, agreed.judged, percent(agreed.percent), _round(kappa), _round(agreed.krippendorff), direct)
        )
    share = percent(mean(right)) if right else None
    rows.append(("judge and unit test (CC = passed)", len(right), share, None, None, None))
    columns = ("between", "answers", "agree %", "kappa", "Krippendorff's alpha", "CC against LI")
    note = "Kappa is Cohen's for two, Fleiss' for more. The people's grade is that of their majority."
    return Table("agreement", "Agreement", columns, tuple(rows), note)


def interval(measured: Accuracy) -> tuple[Cell, Cell, Cell]:
    rate = measured.rate
    return (percent(rate.share), percent(rate.low), percent(rate.high)) if rate else (None, None, None)


def percent(share: float | None) -> float | None:
    return None if share is None else round(100.0 * share, 1)


def _round(value: float | None) -> float | None:
    return None if value is None else round(value, 3)


def _judged(answers: Sequence[Observation]) -> Counter[str]:
    return Counter(answer.judge for answer in answers if answer.judge)


def _graded(answers: Sequence[Observation]) -> Counter[str]:
    """Count people's grades: that of the majority, for each answer."""
    grades = [majority(answer.grades) for answer in answers]
    return Counter(grade for grade in grades if grade)


def _parts(counts: Counter[str], among: Sequence[str]) -> list[float | None]:
    """Return the percentage of each grade; what is not ``among`` the counted answers is left out."""
    counted = Counter({answer: counts[answer] for answer in among})
    return [_share(counted, grade) for grade in GRADES]


def _share(counts: Counter[str], name: str) -> float | None:
    total = counts.total()
    return percent(counts[name] / total) if total else None
