"""``analyze``: results of models become the tables and figures of LMR-Bench's paper."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from urllib.parse import quote

from lmr_author.core import files, quoting
from lmr_author.core.errors import LmrError, UsageError
from lmr_author.core.task import Task, provenance
from lmr_author.core.texts import counted
from lmr_author.proof.evaluation.candidates.results import in_words
from lmr_author.release.analysis import systems, tables
from lmr_author.release.analysis.figures import draw
from lmr_author.release.analysis.grades import grade_of
from lmr_author.release.analysis.observations import Observation, Observations, read
from lmr_author.release.analysis.pairs import comparisons
from lmr_author.release.analysis.regression import Properties, properties, regression
from lmr_author.release.analysis.tables import Cell, Problem, Table
from lmr_author.release.reporting.page import render
from lmr_author.release.review.score import grades_of_predictions

TABLES_ONLY = (
    "no regression, no comparison of pairs and no pictures: they need `pip install 'lmr-author[analysis]'`"
)


@dataclass(frozen=True)
class Analysis:
    folder: Path
    tables: tuple[Table, ...]
    remarks: tuple[str, ...]


def analyze(
    results: Sequence[Path],
    out: Path,
    tasks: Sequence[Task] = (),
    predictions: Path | None = None,
    scales: Mapping[str, int] | None = None,
    cutoffs: Sequence[str] = (),
) -> Analysis:
    """Write all tables as CSV, Markdown and LaTeX, one HTML page, and the figures as SVG and PNG.

    Args:
        results: JSONL files, logs, or folders of them (:mod:`lmr_author.release.analysis.observations`).
        tasks: the tasks that were given to the models: a problem without a result counts as failed, and the
            regression needs their repositories.
        predictions: the graded answers; adds the grades that ``judge --by-hand`` stored in the tasks.
        scales: annotator → number of the lowest grade, where it is not 1 (published results).
        cutoffs: end of models' training data, as ``MODEL=2023-10``.

    Raises UsageError: nothing to analyze; LmrError: results that contradict each other.
    """
    if out.exists():
        raise LmrError(f"{out} exists already", "name a new folder with --out, or remove this one")
    observed = read(results, scales)
    if not observed.items:
        raise UsageError(
            "no results to analyze", "name the results.jsonl of `lmr-author judge --predictions`, or logs"
        )
    if predictions is not None:
        observed = _add_grades(observed, tasks, predictions)
    ends = systems.read_cutoffs(cutoffs, {observation.model for observation in observed.items})
    facts = _facts(observed.items, tasks)
    is_extra_there = all(importlib.util.find_spec(name) for name in ("matplotlib", "statsmodels"))
    made = _tables(observed.items, facts, ends, is_extra_there)
    remarks = (*_remarks(observed, facts.problems), *(() if is_extra_there else (TABLES_ONLY,)))
    _write(out, made, remarks, is_extra_there)
    return Analysis(out, made, remarks)


@dataclass(frozen=True)
class _Facts:
    """What is known of the problems.

    Attributes:
        dates: ``paper`` and ``commit`` → the year or day of each problem.
    """

    problems: set[Problem]
    categories: dict[Problem, str]
    measures: dict[Problem, Properties]
    dates: dict[str, dict[Problem, str]]


def _facts(items: Sequence[Observation], tasks: Sequence[Task]) -> _Facts:
    """Return the facts of all problems that were given to models; a category that the results name comes first."""
    categories = {observation.problem: observation.category for observation in items if observation.category}
    facts = _Facts({each.problem for each in items}, categories, {}, {"paper": {}, "commit": {}})
    for task in tasks:
        info, commit = task.load(), provenance.load(task).repository.commit_date
        for implementation in info.implementations:
            problem = task.name, implementation.index
            facts.problems.add(problem)
            facts.categories.setdefault(problem, implementation.category)
            facts.dates["paper"][problem] = str(info.year or "")
            facts.dates["commit"][problem] = commit[:10]
            if measured := properties(task, info, implementation):
                facts.measures[problem] = measured
    return facts


def _tables(
    items: Sequence[Observation], facts: _Facts, cutoffs: Mapping[str, str], is_extra_there: bool
) -> tuple[Table, ...]:
    problems, categories = facts.problems, facts.categories
    return (
        tables.main_results(items, problems),
        systems.matrix(items, problems, categories),
        *([comparisons(items)] if is_extra_there else []),
        systems.pass_at_k(items, problems),
        systems.usage(items),
        systems.by_category(items, problems, categories),
        systems.by_year(items, problems, facts.dates, cutoffs),
        tables.unjudged(items),
        tables.by_input(items, problems),
        *([regression(items, facts.measures)] if is_extra_there else []),
        tables.binary(items),
        tables.by_category(items, problems, categories),
        tables.action_shares(items),
        tables.action_counts(items),
        tables.error_classes(items),
        tables.agreements(items),
    )


def _write(out: Path, made: Sequence[Table], remarks: Sequence[str], can_draw: bool) -> None:
    pictures: dict[str, bytes] = {}
    with files.staged_folder(out) as staging:
        for table in made:
            files.write_text(staging / f"{table.name}.csv", as_csv(table))
            files.write_text(staging / f"{table.name}.tex", as_latex(table))
            if can_draw and (picture := draw(table, staging)):
                pictures[table.name] = picture.read_bytes()
        lines = ["# Results", "", *(f"- {remark}" for remark in remarks), "", *map(as_markdown, made)]
        files.write_text(staging / "results.md", "\n".join(lines))
        page = render(
            "analysis.html.j2",
            {"tables": made, "remarks": remarks, "pictures": pictures, "address": partial(_address, out)},
        )
        files.write_bytes(staging / "results.html", page.encode("utf-8", "replace"))


def _address(out: Path, source: str) -> str:
    """Return the link from the page to a file with an answer: both may be moved together."""
    return quote(os.fsencode(Path(os.path.relpath(source, out.resolve())).as_posix()))


def _add_grades(observed: Observations, tasks: Sequence[Task], predictions: Path) -> Observations:
    stored = grades_of_predictions(tasks, predictions)
    graded = []
    for observation in observed.items:
        grades = {person: grade_of(grade) for person, grade in stored.get(observation.key, {}).items()}
        graded.append(replace(observation, grades={**observation.grades, **grades}))
    return replace(observed, items=tuple(graded))


def _remarks(observed: Observations, problems: set[Problem]) -> tuple[str, ...]:
    models = {observation.model for observation in observed.items}
    answers = counted(len(observed.items), "answer")
    remarks = [f"{answers} of {counted(len(models), 'model')} to {counted(len(problems), 'problem')}"]
    if observed.repeated:
        remarks.append(f"{counted(observed.repeated, 'line')} repeated an answer of the same run and sample")
    for where in observed.cut:
        again = "`lmr-author judge --predictions` with the same --out judges its answer again"
        remarks.append(f"{where} was cut off and is left out: {again}")
    if untested := sum(not observation.outcome for observation in observed.items):
        remarks.append(f"{counted(untested, 'answer')} without a unit-test result")
    remarks += filter(None, [in_words(tables.causes(observed.items))])
    return tuple(remarks)


def as_csv(table: Table) -> str:
    return quoting.csv_rows([table.columns, *table.rows])


def as_markdown(table: Table) -> str:
    rows = [[quoting.markdown(_shown(cell)) for cell in row] for row in table.rows]
    lines = [f"## {table.title}", "", *([quoting.markdown(table.note), ""] if table.note else [])]
    if rows:
        lines += [
            f"| {' | '.join(map(quoting.markdown, table.columns))} |",
            "|" + "---|" * len(table.columns),
        ]
        lines += [f"| {' | '.join(row)} |" for row in rows]
    else:
        lines.append("No data.")
    return "\n".join([*lines, ""])


def as_latex(table: Table) -> str:
    def line(cells: Sequence[Cell]) -> str:
        return " & ".join(quoting.latex(_shown(cell)) for cell in cells) + r" \\"

    head = "l" + "r" * (len(table.columns) - 1)
    body = [line(row) for row in table.rows]
    lines = [
        rf"% {table.title}",
        rf"\begin{{tabular}}{{{head}}}",
        r"\toprule",
        line(table.columns),
        r"\midrule",
    ]
    return "\n".join([*lines, *body, r"\bottomrule", r"\end{tabular}", ""])


def _shown(cell: Cell) -> str:
    return "–" if cell is None else str(cell)
