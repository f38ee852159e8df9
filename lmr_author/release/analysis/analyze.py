"""``analyze``: turn models' results into the tables and figures of LMR-Bench's paper."""

from __future__ import annotations

import importlib.util
import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

from lmr_author.core import files, quoting
from lmr_author.core.errors import LmrError, UsageError
from lmr_author.core.task import Task, provenance
from lmr_author.core.texts import counted, shortened
from lmr_author.proof.evaluation.candidates.results import in_words
from lmr_author.release.analysis import systems, tables
from lmr_author.release.analysis.grades import grade_of
from lmr_author.release.analysis.inference import Properties, comparisons, properties, regression
from lmr_author.release.analysis.observations import Observation, Observations, read
from lmr_author.release.analysis.tables import Cell, Problem, Table
from lmr_author.release.reporting.page import render
from lmr_author.release.review.score import grades_of_predictions

TABLES_ONLY = "no regression, comparison of pairs or pictures: they need `pip install 'lmr-author[analysis]'`"
COLOURS = ("#2a6f97", "#c8553d", "#588157", "#9c6644", "#6d597a", "#8d99ae")
STYLE = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "text.parse_math": False,  # names of models are text
    "svg.hashsalt": "lmr-author",
    "svg.fonttype": "none",
}


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
        tasks: the tasks that the models were given: a problem without a result counts as failed, and the regression
            needs their repositories.
        predictions: the graded answers; adds the grades that ``judge --by-hand`` stored in the tasks.

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
    is_extra_there = all(importlib.util.find_spec(name) for name in ("matplotlib", "statsmodels"))
    problems, made = _tables(observed.items, tasks, ends, is_extra_there)
    remarks = (*_remarks(observed, problems), *(() if is_extra_there else (TABLES_ONLY,)))
    _write(out, made, remarks, is_extra_there)
    return Analysis(out, made, remarks)


def _tables(
    items: Sequence[Observation], tasks: Sequence[Task], cutoffs: Mapping[str, str], is_extra_there: bool
) -> tuple[set[Problem], tuple[Table, ...]]:
    """Return all problems that models were given, and the tables."""
    problems, measures = {each.problem for each in items}, dict[Problem, Properties]()
    categories = {each.problem: each.category for each in items if each.category}
    dates: dict[str, dict[Problem, str]] = {"paper": {}, "commit": {}}
    for task in tasks:
        info, commit = task.load(), provenance.load(task).repository.commit_date
        for implementation in info.implementations:
            problem = task.name, implementation.index
            problems.add(problem)
            categories.setdefault(problem, implementation.category)
            dates["paper"][problem] = str(info.year or "")
            dates["commit"][problem] = commit[:10]
            if measured := properties(task, info, implementation):
                measures[problem] = measured
    return problems, (
        tables.main_results(items, problems),
        systems.matrix(items, problems, categories),
        *([comparisons(items)] if is_extra_there else []),
        systems.pass_at_k(items, problems),
        systems.usage(items),
        systems.by_category(items, problems, categories),
        systems.by_year(items, problems, dates, cutoffs),
        tables.unjudged(items),
        tables.by_input(items, problems),
        *([regression(items, measures)] if is_extra_there else []),
        tables.binary(items),
        tables.by_category(items, problems, categories),
        *tables.actions(items),
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
    """Return a relative link from the page to a file with an answer, so that both can be moved together."""
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
    lines = [f"## {table.title}", "", *([quoting.markdown(table.note), ""] if table.note else [])]
    if not table.rows:
        return "\n".join([*lines, "No data.", ""])
    rows = [
        " | ".join(quoting.markdown(_shown(cell)) for cell in row) for row in (table.columns, *table.rows)
    ]
    shown = [f"| {row} |" for row in rows]
    return "\n".join([*lines, shown[0], "|" + "---|" * len(table.columns), *shown[1:], ""])


def as_latex(table: Table) -> str:
    head = "l" + "r" * (len(table.columns) - 1)
    lines = [
        " & ".join(quoting.latex(_shown(cell)) for cell in row) + r" \\"
        for row in (table.columns, *table.rows)
    ]
    top = [rf"% {table.title}", rf"\begin{{tabular}}{{{head}}}", r"\toprule", lines[0], r"\midrule"]
    return "\n".join([*top, *lines[1:], r"\bottomrule", r"\end{tabular}", ""])


def _shown(cell: Cell) -> str:
    return "–" if cell is None else str(cell)


Panel = tuple[list[str], dict[str, list[float]]]
"""The labels of the bars, and their lengths by series."""


def draw(table: Table, folder: Path) -> Path | None:
    """Write ``NAME.svg`` and ``NAME.png``; the same table gives the same bytes. Needs Matplotlib.

    Returns the PNG; None for a table that is no figure, or is empty.
    """
    panels = _panels(table)
    if not panels:
        return None
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    heights = [0.9 + 0.11 * len(labels) * (1 + len(series)) for labels, series in panels.values()]
    with rc_context(STYLE), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a letter that the font lacks
        figure = Figure(figsize=(7, sum(heights) + 0.4), layout="constrained")
        FigureCanvasAgg(figure)
        figure.suptitle(table.title)
        axes = figure.subplots(len(panels), 1, squeeze=False, height_ratios=heights)
        for (title, panel), ax in zip(panels.items(), axes[:, 0], strict=True):
            ax.set_title(title, fontsize=9)
            ax.set_xlabel(table.bars.axis if table.bars else "")
            _draw_panel(panel, ax)
        figure.savefig(folder / f"{table.name}.svg", metadata={"Date": None})
        picture = folder / f"{table.name}.png"
        figure.savefig(picture, dpi=200, metadata={"Software": None})
    return picture


def _panels(table: Table) -> dict[str, Panel]:
    """Return a figure's panels by title: rows that agree in the columns before ``bars.label`` share one."""
    bars = table.bars
    if bars is None:
        return {}
    at = {column: number for number, column in enumerate(table.columns)}
    by_title: dict[str, list[tuple[Any, ...]]] = {}
    for row in table.rows:
        title = ", ".join(_text(cell) for cell in row[: at[bars.label]] if cell)
        by_title.setdefault(title, []).append(row)
    panels = {}
    for title, rows in by_title.items():
        labels = list(dict.fromkeys(_text(row[at[bars.label]]) for row in rows))
        series: dict[str, list[float]] = {}
        for row in rows:
            for column in bars.values:
                name = _text(row[at[bars.by]]) if bars.by else column
                values = series.setdefault(name, [0.0] * len(labels))
                values[labels.index(_text(row[at[bars.label]]))] = float(row[at[column]] or 0)
        panels[title] = labels, series
    return panels


def _text(cell: Any) -> str:
    return shortened(str(cell).encode("utf-8", "replace").decode("utf-8"), 80)


def _draw_panel(panel: Panel, ax: Any) -> None:
    labels, series = panel
    thick = 0.8 / len(series)
    for number, (name, values) in enumerate(series.items()):
        heights = [row + number * thick for row in range(len(labels))]
        bars = ax.barh(heights, values, thick, label=name, color=COLOURS[number % len(COLOURS)])
        ax.bar_label(bars, fmt="%g", padding=2, fontsize=7)
    ax.set_yticks([row + 0.4 - thick / 2 for row in range(len(labels))], labels)
    ax.invert_yaxis()
    ax.locator_params(axis="x", integer=True)
    ax.margins(x=0.1)
    if len(series) > 1:
        ax.legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1, 1))
