"""Figures of values over seeds: a metric by source length, learning curves."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Optional

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from drawing import asides, buckets_drawn, length_axis, looks, value_axis
from paper import SMALL, WIDTHS, legend_above, metric_name, text_width
from records import Run, length_axis_label

Group = tuple[str, list[Run]]  # a name in the legend, and runs that differ in nothing but their seed
Look = dict[str, Any]  # of a line, for matplotlib
Band = tuple[np.ndarray, Optional[np.ndarray], Optional[np.ndarray], str]  # places, low and high ends, colour
STEPS = [1, 2, 2.5, 5, 10]  # between ticks
HEIGHTS = {"column": 1.75, "page": 2.0}  # of one panel


def spread(values: np.ndarray, band: str) -> tuple[np.ndarray, np.ndarray | None, np.ndarray | None]:
    """Of values [runs, points] the mean, and the ends of the band around it: none of a single run, or where none is wanted."""
    mean = values.mean(axis=0)
    if len(values) < 2 or band == "none":
        return mean, None, None
    if band == "range":
        return mean, values.min(axis=0), values.max(axis=0)
    deviation = values.std(axis=0, ddof=1)
    return mean, mean - deviation, mean + deviation


def panels(groups: Sequence[Group], n: int, width: str, height: float | None, known: Sequence[str] = ()) -> tuple[Figure, np.ndarray, list[Look]]:
    """n axes, side by side on a page and below each other in a column, under a legend; how the groups' lines look, `known` ones as if all of them were here."""
    rows, columns = (1, n) if width == "page" else (n, 1)
    size = WIDTHS[width], height or rows * HEIGHTS[width] + (0.25 if len(groups) > 1 else 0)
    figure, axes = plt.subplots(rows, columns, figsize=size, squeeze=False, layout="constrained")
    figure.get_layout_engine().set(w_pad=0.02, h_pad=0.02, wspace=0.03)
    chosen = looks([*known, *(runs[0].legend for _, runs in groups)])
    styles = [chosen[runs[0].legend] for _, runs in groups]
    if len(groups) > 1:
        legend_above(figure, [Line2D([], [], **look, label=name) for (name, _), look in zip(groups, styles)])
    return figure, axes.ravel(), styles


def scale(axis: plt.Axes, metric: str, unit: str) -> None:
    """The value axis as the means want it, which alone are drawn yet."""
    logarithmic = value_axis(axis, metric)
    axis.set_ylabel(metric_name(metric, unit) + (", log scale" if logarithmic else ""))
    if not logarithmic:
        axis.yaxis.set_major_locator(MaxNLocator(5, steps=STEPS))


def draw_bands(axis: plt.Axes, bands: Sequence[Band], draw: Callable[..., object], metric: str, unit: str) -> None:
    """Cut where the metric has its bounds: a deviation says nothing beyond them."""
    floor = 1 if metric == "perplexity" else 0
    bounded = axis.dataLim.y0 >= floor
    bands = [band for band in bands if band[1] is not None]
    for places, low, high, colour in bands:
        draw(places, low, high, color=colour)
    bottom, top = axis.get_ylim()
    highest = max((np.nanmax(high, initial=-np.inf) for _, _, high, _ in bands), default=-np.inf)
    most = 103 if unit == "percent" else np.inf
    axis.set_ylim(max(bottom, 0.97 * floor) if bounded else bottom, min(max(top, 1.03 * highest), most))


def seeds_text(groups: Sequence[Group], band: str) -> str:
    """Of which runs a line is the mean."""
    shown = {"sd": "mean and standard deviation", "range": "mean, least and greatest", "none": "mean"}[band]
    seeds = [f"{name}: {', '.join(str(run.seed) for run in runs)}" for name, runs in groups]
    return f"{shown} over seeds: {'; '.join(seeds)}"


def draw_lengths(groups: Sequence[Group], metrics: Sequence[str], width: str, band: str = "sd",
                 height: float | None = None, known: Sequence[str] = ()) -> Figure:  # fmt: skip
    """Every run has all the metrics, on the same buckets. known: names of lines in figures beside this one, which look the same there."""
    results = [[run.by_length for run in runs] for _, runs in groups]
    buckets, counts = buckets_drawn([result for group in results for result in group])
    figure, axes, styles = panels(groups, len(metrics), width, height, known)
    for axis, metric in zip(axes, metrics):
        length_axis(axis, [run for _, runs in groups for run in runs], buckets, size=SMALL - 1, colour="#5c6b35")
        bands = []
        for aside, group, look in zip(asides(len(groups)), results, styles):
            values = np.array([result.metrics[metric][: len(buckets)] for result in group])
            mean, low, high = spread(values, band)
            places = np.arange(len(buckets)) + aside
            axis.plot(places, mean, **look, clip_on=False, zorder=3)
            bands.append((places, low, high, look["color"]))
        ticks = [f"{bucket.replace('-', '–')}\n{count}" for bucket, count in zip(buckets, counts)]
        pitch = (WIDTHS[width] / (len(metrics) if width == "page" else 1) - 0.5) / len(buckets)
        crowded = max(text_width(line, SMALL) for tick in ticks for line in tick.split("\n")) > 0.92 * pitch
        axis.set_xticklabels([tick.replace("\n", "  ") if crowded else tick for tick in ticks], rotation=90 if crowded else 0)
        room = WIDTHS[width] / (len(metrics) if width == "page" else 1) - 0.4
        text = f"{length_axis_label([run for _, runs in groups for run in runs])}, number of sentences"
        axis.set_xlabel(text if text_width(text, 8) < room else ",\n".join(text.rsplit(", ", 1)))
        unit = results[0][0].units.get(metric, "")
        scale(axis, metric, unit)
        draw_bands(axis, bands, partial(axis.vlines, lw=0.9), metric, unit)
    return figure


def shared_curve(runs: Sequence[Run], series: str, metric: str, smooth: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """The updates at which all the runs have a value, and the values [runs, updates]: of every `smooth` the last, and the mean."""
    curves = [dict(zip(updates[~np.isnan(values)].tolist(), values[~np.isnan(values)]))
              for updates, values in (run.series(series).get(metric, (np.empty(0), np.empty(0))) for run in runs)]  # fmt: skip
    updates = sorted(set(curves[0]).intersection(*curves[1:]))
    updates = updates[: len(updates) // smooth * smooth]
    values = np.array([[curve[update] for update in updates] for curve in curves])
    return np.array(updates, int)[smooth - 1 :: smooth], values.reshape(len(runs), -1, smooth).mean(axis=2)


def draw_curves(groups: Sequence[Group], metrics: Sequence[tuple[str, str]], width: str, band: str = "sd",
                height: float | None = None, units: Mapping[str, str] | None = None, smooth: int = 1) -> Figure:  # fmt: skip
    """metrics: (series, name), ("dev", "loss"). smooth: as many values of "train" are one point."""
    figure, axes, styles = panels(groups, len(metrics), width, height)
    for axis, (series, metric) in zip(axes, metrics):
        bands = []
        for (_, runs), look in zip(groups, styles):
            updates, values = shared_curve(runs, series, metric, smooth if series == "train" else 1)
            mean, low, high = spread(values, band)
            axis.plot(updates, mean, **look, markevery=max(1, len(updates) // 8))
            bands.append((updates, low, high, look["color"]))
        axis.set_xlim(left=0)
        axis.xaxis.set_major_locator(MaxNLocator(5, integer=True, steps=STEPS))
        axis.set_xlabel("updates")
        unit = (units or {}).get(metric, "")
        scale(axis, metric, unit)
        draw_bands(axis, bands, partial(axis.fill_between, alpha=0.2, lw=0), metric, unit)
        if series != "dev" or any(other != "dev" for other, _ in metrics):
            axis.set_ylabel(f"{axis.get_ylabel()}, {series}")
    return figure
