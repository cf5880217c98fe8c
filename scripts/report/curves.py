"""Learning curves: one figure a panel and number, one line a series; over several seeds their mean, with mean ± sd as a band."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from report.figures import Figure, Line, line_chart
from report.gather import Placed, Subject, by_series
from report.svg import number, spread

POINTS = 300  # of a curve at most; longer ones are thinned evenly, first and last kept
SHOWN = 8  # series in one figure, as many as there are colours
FIRST = ["dev/loss", "train/loss", "dev/token_accuracy", "dev/bleu"]
LARGEST = 1e150  # a model that diverged has larger numbers, whose squares no float holds: they count as infinite
LEFT_OUT = ("_per_s", "_seconds")  # how fast the machine was: no result


def names(runs: Sequence[Placed]) -> list[str]:
    """Every number of every series that has two points somewhere, the usual ones first."""
    found = {
        f"{group}/{name}"
        for placed in runs
        for group, series in placed.recorded.series.items()
        for name, values in series.values.items()
        if (np.abs(values) < LARGEST).sum() > 1 and not name.endswith(LEFT_OUT)
    }
    return [n for n in FIRST if n in found] + sorted(found - set(FIRST))


def over_seeds(runs: Sequence[Placed], name: str) -> tuple[np.ndarray, np.ndarray]:
    """(updates, values [seeds, updates]): at the updates that any seed has, NaN where one has none; seeds without it left out."""
    group, _, key = name.rpartition("/")
    found = [p.recorded.series[group] for p in runs if group in p.recorded.series and key in p.recorded.series[group].values]
    return together([(series.update, series.values[key]) for series in found])


def together(seeds: Sequence[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """(places, values) of each as (places, values [seeds, places]): at the places where any has a number, NaN where one has none."""
    places = np.unique(np.concatenate([at for at, _ in seeds])) if seeds else np.zeros(0, int)
    values = np.full((len(seeds), len(places)), np.nan)
    for row, (at, numbers) in zip(values, seeds):
        row[np.searchsorted(places, at)] = np.where(np.abs(numbers) < LARGEST, numbers, np.nan)
    known = np.isfinite(values).any(axis=0)
    return places[known], values[:, known]


def thinned(count: int) -> np.ndarray:
    """Indices of at most POINTS of them."""
    return np.unique(np.linspace(0, count - 1, min(count, POINTS)).round().astype(int))


def line_of(label: str, index: int, runs: Sequence[Placed], over: Callable[[Sequence[Placed]], tuple[np.ndarray, np.ndarray]]) -> Line | None:
    """Over the complete runs where there are some: what was pruned or failed enters no mean. over: (places, values [seeds, places])."""
    complete = [placed for placed in runs if placed.state == "complete"]
    if complete and len(complete) < len(runs):
        label += f" ({len(complete)} of {len(runs)} seeds, the others are not complete)"
    updates, values = over(complete or runs)
    if not len(updates):
        return None
    kept = thinned(len(updates))
    updates, values = updates[kept], values[:, kept]
    n = np.isfinite(values).sum(axis=0)
    mean = np.nanmean(values, axis=0)
    if len(values) == 1:
        return Line(label, index, updates.tolist(), mean.tolist(), None, None, [number(v) for v in mean])
    squares = np.nansum((values - mean) ** 2, axis=0)
    sd = np.sqrt(squares / np.where(n > 1, n - 1, np.nan))
    around = np.nan_to_num(sd)
    cells = [f"{spread(m, d)} (n {c})" if c > 1 else f"{number(m)} (n 1)" for m, d, c in zip(mean, sd, n)]
    return Line(label, index, updates.tolist(), mean.tolist(), (mean - around).tolist(), (mean + around).tolist(), cells)


def figure(subject: Subject, panel: str, runs: Sequence[Placed], name: str, chosen: Sequence[str]) -> Figure | None:
    groups = by_series(list(runs))
    lines = [line_of(s or panel or subject.name, subject.looks[s], groups[s], partial(over_seeds, name=name)) for s in chosen if s in groups]
    drawn = [line for line in lines if line is not None]
    if not drawn:
        return None
    group, _, key = name.rpartition("/")
    metric = subject.metric(key)
    title = f"{group}: {metric.title}" + (f" ({metric.units})" if metric.units else "")
    description = f"{title} by update, {len(drawn)} {'line' if len(drawn) == 1 else 'lines'}; the table below holds the values"
    return line_chart(title, drawn, metric.units == "%", description, (metric.least, metric.most))


def figures(subject: Subject) -> dict[str, list[Figure]]:
    """Panel -> its figures, with the first series that it has."""
    drawn = {}
    for panel, runs in subject.panels.items():
        chosen = [s for s in subject.series if s in {p.series for p in runs}][:SHOWN]
        made = [figure(subject, panel, runs, name, chosen) for name in names(runs)]
        drawn[panel] = [f for f in made if f is not None]
    return {panel: found for panel, found in drawn.items() if found}
