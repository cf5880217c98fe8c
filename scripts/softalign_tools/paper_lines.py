"""Figures with axes: a metric by source length, learning curves, the principal components of a model's vectors."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from softalign_tools import charts, palette
from softalign_tools.charts import Chart, Json, Line
from softalign_tools.drawing import SMALL, WIDTHS, Drawing, asides, legend_above, length_axis, looks, text_width, value_axis
from softalign_tools.matrices import shown

Look = dict[str, Any]  # matplotlib's keywords for a line
LONGEST_NAME = 120  # characters of a line's name
HEIGHTS = {"column": 1.75, "page": 2.0}  # of one panel, by figure width
PARTS = {"annotations": "position in the source", "readouts": "position in the target"}


def titled(chart: Chart, panel: str, fallback: str) -> list[Line]:
    """Returns the lines, named as in a legend, usual names first. panel: a prefix of the names, "" if there is only one panel."""
    usual = list(palette.USUAL)
    lines = sorted(chart.lines, key=lambda line: usual.index(line.series) if line.series in usual else len(usual))
    return [replace(line, series=shown(", ".join(part for part in (panel, line.series or fallback) if part), LONGEST_NAME)) for line in lines]


def curve(data: Json, name: str, band: str) -> Chart | None:
    """Returns a metric by update for the series of all panels, at the updates where all seeds of a series have a value; None if no panel has the metric."""
    found = [(panel["name"], made[name]) for panel in data["panels"] if name in (made := charts.curves(panel, band))]
    if not found:
        return None
    lines = [line for panel, chart in found for line in titled(chart, panel * (len(data["panels"]) > 1), data["name"])]
    return replace(found[0][1], lines=[shared(line) for line in lines])


def shared(line: Line) -> Line:
    kept = [at for at in range(len(line.at)) if not line.n or line.n[at] == len(line.seeds)]
    return replace(line, **{name: [getattr(line, name)[at] for at in kept] for name in ("at", "mean", "low", "high")})


def bucket_sets(panel: Json) -> list[tuple[int, ...]]:
    """Returns the distinct sets of length buckets with which the series of the panel were measured, one if all used the same."""
    return list(dict.fromkeys(charts.own_buckets(row) for table in panel.get("tables", ()) for row in table["rows"]))


def lengths(data: Json, panel: Json, band: str, own: tuple[int, ...] | None = None) -> dict[str, Chart]:
    """Returns charts, by metric, of the metrics that all series measured with the buckets `own` have. own: by default the panel's first set."""
    own = own or next(iter(bucket_sets(panel)), ())
    made = {table["metric"]: charts.by_length(data, panel, table, band, own) for table in panel.get("tables", ())}
    most = max((len(chart.lines) for chart in made.values()), default=0)
    return {name: replace(chart, lines=titled(chart, "", data["name"])) for name, chart in made.items() if chart.lines and len(chart.lines) == most}


def trained_on(data: Json, panel: Json) -> set[tuple[int | None, int] | None]:
    return {charts.trained_lengths(run) for run in data["runs"] if run["panel"] == panel["name"] and run["complete"]}


def panels(drawn: Sequence[Chart], width: str, height: float | None, known: Sequence[str]) -> tuple[Drawing, np.ndarray, dict[str, Look]]:
    """Returns axes, side by side on a page and stacked in a column, under a legend; and each line's look. known: other names that looks are assigned to."""
    rows, columns = (1, len(drawn)) if width == "page" else (len(drawn), 1)
    names = {line.series: line.look or line.series for chart in drawn for line in chart.lines}
    size = WIDTHS[width], height or rows * HEIGHTS[width] + (0.25 if len(names) > 1 else 0)
    figure = Drawing(figsize=size, layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False)
    figure.get_layout_engine().set(w_pad=0.02, h_pad=0.02, wspace=0.03)
    there = looks([*known, *names.values()])
    chosen = {name: there[look] for name, look in names.items()}
    if len(names) > 1:
        legend_above(figure, [Line2D([], [], **chosen[name], label=name) for name in names])
    return figure, axes.ravel(), chosen


def draw_band(axis: Axes, chart: Chart, places: Sequence[float], line: Line, draw: Callable[..., object]) -> None:
    """Draws the band of a line, cut off at the metric's bounds."""
    known = [(x, chart.within(low), chart.within(high)) for x, low, high in zip(places, line.low, line.high) if math.isfinite(low + high)]
    if known:
        draw(*(np.array(ends) for ends in zip(*known)))


def value_title(chart: Chart) -> str:
    return chart.label + (", log scale" if chart.logarithmic else "")


def seeds_text(chart: Chart, band: str) -> str:
    """Returns a note that says what lines and bands show, and the seeds of each line."""
    several = {"sd": "mean and standard deviation over seeds", "range": "mean, least and greatest over seeds", "none": "mean over seeds"}
    shown = several[band] if any(len(line.seeds) > 1 for line in chart.lines) else "one run each, of seed" if len(chart.lines) > 1 else "one run, of seed"
    seeds = {line.series: ", ".join(map(str, line.seeds)) for line in chart.lines}
    alike = len(set(seeds.values())) == 1
    return f"{shown}: {next(iter(seeds.values())) if alike else '; '.join(f'{name}: {own}' for name, own in seeds.items())}"


def draw_lengths(drawn: Sequence[Chart], width: str, trained: set[tuple[int | None, int] | None], height: float | None = None,
                 known: Sequence[str] = ()) -> Drawing:  # fmt: skip
    """Draws charts of the same lines on the same buckets. trained: the lengths that each run was trained on; known: names of lines in figures
    next to this one, so that a line looks the same in all of them."""
    figure, axes, chosen = panels(drawn, width, height, known)
    room = WIDTHS[width] / (len(drawn) if width == "page" else 1)
    for axis, chart in zip(axes, drawn):
        buckets = chart.ticks
        length_axis(axis, trained, buckets, size=SMALL - 1, colour="#5c6b35")
        for aside, line in zip(asides(len(chart.lines)), chart.lines):
            look, places = chosen[line.series], np.arange(len(buckets)) + aside
            axis.plot(places, line.mean, **look, clip_on=False, zorder=3)
            draw_band(axis, chart, places, line, partial(axis.vlines, lw=0.9, color=look["color"]))
        ticks = [f"{bucket.replace('-', '–')}\n{count}" for bucket, count in zip(buckets, chart.counts)]
        crowded = max(text_width(text, SMALL) for tick in ticks for text in tick.split("\n")) > 0.92 * (room - 0.5) / len(buckets)
        axis.set_xticklabels([tick.replace("\n", "  ") if crowded else tick for tick in ticks], rotation=90 if crowded else 0)
        text = f"{chart.axis}, number of sentences"
        axis.set_xlabel(text if text_width(text, 8) < room - 0.4 else ",\n".join(text.rsplit(", ", 1)))
        value_axis(axis, chart)
        axis.set_ylabel(value_title(chart))
    return figure


def draw_curves(drawn: Sequence[Chart], width: str, height: float | None = None) -> Drawing:
    figure, axes, chosen = panels(drawn, width, height, ())
    for axis, chart in zip(axes, drawn):
        for line in chart.lines:
            look = chosen[line.series]
            axis.plot(line.at, line.mean, **look, markevery=max(1, len(line.at) // 8))
            area, bar = partial(axis.fill_between, alpha=0.2, lw=0), partial(axis.vlines, lw=0.9)
            draw_band(axis, chart, line.at, line, partial(area if len(line.at) > 1 else bar, color=look["color"]))
        axis.set_xlim(left=0)
        axis.xaxis.set_major_locator(MaxNLocator(5, integer=True, steps=[1, 2, 2.5, 5, 10]))
        axis.set_xlabel("updates")
        value_axis(axis, chart)
        apart = chart.split != "dev" or any(other.split != "dev" for other in drawn)
        axis.set_ylabel(value_title(chart) + (f", {chart.split}" if apart else ""))
    return figure


def draw_states(states: Json, width: str) -> Drawing:
    """Draws a point for each vector, coloured by its position; axis labels give the share of the variance that a component explains."""
    parts = {name: of for name, of in PARTS.items() if len(states[name]["components"]) > 1}
    total = WIDTHS[width]
    figure = Drawing(figsize=(total, 0.55 * total), layout="constrained")
    axes = figure.subplots(1, len(parts), squeeze=False)
    for axis, (name, colour) in zip(axes[0], parts.items()):
        found = states[name]
        points = axis.scatter(*found["components"][:2], c=found["position"], s=3, cmap="viridis", linewidths=0)
        axis.set_title(name)
        axis.set_xlabel(f"component 1 ({100 * found['explained'][0]:.0f} %)")
        axis.set_ylabel(f"component 2 ({100 * found['explained'][1]:.0f} %)")
        figure.colorbar(points, ax=axis, label=colour, location="bottom")
    return figure
