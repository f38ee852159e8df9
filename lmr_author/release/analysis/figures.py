"""Figures 2, 5, 6 and 7 of LMR-Bench's paper, drawn with Matplotlib as SVG and PNG."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lmr_author.core.texts import shortened
from lmr_author.release.analysis.tables import Table

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
class Panel:
    """Bars for each label, side by side for each series; one of a figure's panels."""

    title: str
    labels: tuple[str, ...]
    series: Mapping[str, Sequence[float]]
    axis: str


def panels(table: Table) -> list[Panel]:
    """Return what a table shows as bars; [] for a table that is no figure.

    Rows that agree in the columns before ``bars.label`` are a panel; with ``bars.by`` its values are the series.
    """
    bars = table.bars
    if bars is None:
        return []
    at = {column: number for number, column in enumerate(table.columns)}
    sorted_rows: dict[str, list[tuple[Any, ...]]] = {}
    for row in table.rows:
        title = ", ".join(_text(cell) for cell in row[: at[bars.label]] if cell)
        sorted_rows.setdefault(title, []).append(row)
    made = []
    for title, rows in sorted_rows.items():
        labels = tuple(dict.fromkeys(_text(row[at[bars.label]]) for row in rows))
        series: dict[str, list[float]] = {}
        for row in rows:
            for column in bars.values:
                name = _text(row[at[bars.by]]) if bars.by else column
                values = series.setdefault(name, [0.0] * len(labels))
                values[labels.index(_text(row[at[bars.label]]))] = float(row[at[column]] or 0)
        made.append(Panel(title, labels, series, bars.axis))
    return made


def _text(cell: Any) -> str:
    return shortened(str(cell).encode("utf-8", "replace").decode("utf-8"), 80)


def draw(table: Table, folder: Path) -> Path | None:
    """Write ``NAME.svg`` and ``NAME.png``; the same table gives the same bytes. Needs Matplotlib.

    Returns the PNG; None for a table that is no figure, or is empty.
    """
    shown = panels(table)
    if not shown:
        return None
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    heights = [0.9 + 0.22 * len(panel.labels) * (1 + 0.5 * (len(panel.series) - 1)) for panel in shown]
    with rc_context(STYLE), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a letter that the font lacks
        figure = Figure(figsize=(7, sum(heights) + 0.4), layout="constrained")
        FigureCanvasAgg(figure)
        figure.suptitle(table.title)
        axes = figure.subplots(len(shown), 1, squeeze=False, height_ratios=heights)
        for panel, ax in zip(shown, axes[:, 0], strict=True):
            _draw_panel(panel, ax)
        figure.savefig(folder / f"{table.name}.svg", metadata={"Date": None})
        picture = folder / f"{table.name}.png"
        figure.savefig(picture, dpi=200, metadata={"Software": None})
    return picture


def _draw_panel(panel: Panel, ax: Any) -> None:
    thick = 0.8 / len(panel.series)
    for number, (name, values) in enumerate(panel.series.items()):
        heights = [row + number * thick for row in range(len(panel.labels))]
        bars = ax.barh(heights, values, thick, label=name, color=COLOURS[number % len(COLOURS)])
        ax.bar_label(bars, fmt="%g", padding=2, fontsize=7)
    ax.set_yticks([row + 0.4 - thick / 2 for row in range(len(panel.labels))], panel.labels)
    ax.invert_yaxis()
    ax.locator_params(axis="x", integer=True)
    ax.set_xlabel(panel.axis)
    ax.set_title(panel.title, fontsize=9)
    ax.margins(x=0.1)
    if len(panel.series) > 1:
        ax.legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1, 1))
