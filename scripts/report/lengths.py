"""Test metrics by source length. Two kinds of uncertainty are kept apart: the choice of test sentences (a bootstrap interval) and
the choice of seed (the standard deviation over runs that differ in nothing else)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from report.figures import Dots, Figure, bucket_chart
from report.gather import Placed, Subject, by_series
from report.metrics import METRICS, draws, interval
from report.svg import number, spread

ALL = "all"


@dataclass(frozen=True)
class Estimate:
    """One series in one bucket: the mean over seeds; NaN for what is not known."""

    mean: float
    sd: float  # over seeds
    seeds: tuple[float, ...]
    interval: tuple[float, float]  # over sentences
    n: int

    @property
    def text(self) -> str:
        if not math.isfinite(self.mean):
            return "–"
        around = f" [{number(self.interval[0])}, {number(self.interval[1])}]" if math.isfinite(self.interval[0]) else ""
        return spread(self.mean, self.sd) + around


@dataclass(frozen=True)
class Table:
    """A metric of a panel: rows are buckets, the first all sentences; columns are series."""

    metric: str
    buckets: list[str]
    columns: dict[str, list[Estimate]]
    unsure: list[str]  # runs whose record says another value than their counts: they have no interval

    def counts(self) -> list[str]:
        rows = zip(*([e.n for e in column] for column in self.columns.values()))
        return [str(min(n)) if min(n) == max(n) else f"{min(n)}–{max(n)}" for n in rows]


def bounds(label: str) -> tuple[float, float]:
    """'11-20' -> (11, 20); '61+' -> (61, inf)."""
    low, _, high = label.replace("–", "-").rstrip("+").partition("-")
    return float(low), math.inf if label.endswith("+") else float(high or low)


def chosen(placed: Placed, label: str) -> np.ndarray:
    """The test sentences of a bucket."""
    lengths = placed.recorded.counts.lengths
    low, high = (0.0, math.inf) if label == ALL else bounds(label)
    return np.flatnonzero((lengths >= low) & (lengths <= high))


def recorded_value(placed: Placed, metric: str, label: str) -> float:
    """What the record itself says, of what is defined."""
    if not placed.recorded.counts.defines(metric, chosen(placed, label)):
        return math.nan
    if label == ALL:
        return float(placed.recorded.test.get(metric, math.nan))
    by_length = placed.recorded.run.by_length
    if by_length is None or metric not in by_length.metrics or label not in by_length.labels:
        return math.nan
    return float(by_length.metrics[metric][by_length.labels.index(label)])


def agrees(placed: Placed, metric: str, label: str) -> bool:
    """Do the counts give the record's own value? Where not, an interval from the counts would be of something else."""
    said = recorded_value(placed, metric, label)
    made = placed.recorded.counts.value(metric, chosen(placed, label))
    return math.isclose(said, made, rel_tol=1e-6, abs_tol=1e-9) or (math.isnan(said) and math.isnan(made))


def estimate(runs: Sequence[Placed], metric: str, label: str, sure: bool) -> Estimate:
    seeds = [recorded_value(p, metric, label) for p in runs]
    known = [v for v in seeds if math.isfinite(v)]
    sd = float(np.std(known, ddof=1)) if len(known) > 1 else math.nan
    at = chosen(runs[0], label)
    same = all(np.array_equal(chosen(p, label), at) for p in runs)
    around = (math.nan, math.nan)
    if sure and same and known and len(at) > 1:
        around = interval([p.recorded.counts for p in runs], metric, at, draws(len(at)))
    return Estimate(float(np.mean(known)) if known else math.nan, sd, tuple(seeds), around, len(at))


def table(runs: Sequence[Placed], metric: str, series: Sequence[str]) -> Table | None:
    """None where no run of the panel has the metric."""
    groups = by_series([p for p in runs if metric in p.recorded.counts.names and p.recorded.run.by_length is not None])
    groups = {s: groups[s] for s in series if s in groups}
    every = [p for group in groups.values() for p in group]
    if not any(math.isfinite(recorded_value(p, metric, ALL)) for p in every):
        return None
    labels = list(dict.fromkeys(label for p in every for label in p.recorded.run.by_length.labels))
    kept = [ALL] + [label for label in sorted(labels, key=bounds) if any(len(chosen(p, label)) for p in every)]
    unsure = [p.name for p in every if not all(agrees(p, metric, label) for label in kept)]
    columns = {
        name: [estimate(group, metric, label, not any(p.name in unsure for p in group)) for label in kept]
        for name, group in groups.items()
        if any(math.isfinite(recorded_value(p, metric, ALL)) for p in group)
    }
    return Table(metric, kept, columns, unsure)


def figure(subject: Subject, found: Table) -> Figure:
    metric, order = METRICS[found.metric], subject.series
    dots = []
    for name, column in found.columns.items():
        rest = column[1:]
        dots.append(
            Dots(
                name or subject.name,
                order.index(name),
                [e.mean for e in rest],
                [e.interval for e in rest],
                [e.seeds for e in rest],
                [e.text for e in rest],
            )
        )
    title = metric.title + (f" ({metric.units})" if metric.units else "")
    said = f"{title} by source length, {len(dots)} series with 95 % intervals; the table below holds the values"
    drawn = bucket_chart(title, found.buckets[1:], found.counts()[1:], dots, metric.units == "%", said)
    everything = [ALL, found.counts()[0], *(column[0].text for column in found.columns.values())]
    note = f"No interval: counts and record differ for {', '.join(found.unsure)}." if found.unsure else ""
    return Figure(drawn.title, drawn.drawing, drawn.head, [everything, *drawn.table], note, drawn.legend)


def tables(subject: Subject, shown: int) -> dict[str, list[Table]]:
    """Panel -> a table for each metric that its runs have, with the first `shown` series."""
    made = {}
    for panel, runs in subject.panels.items():
        series = [s for s in subject.series if s in {p.series for p in runs}][:shown]
        found = [table(runs, metric, series) for metric in METRICS]
        made[panel] = [t for t in found if t is not None]
    return {panel: found for panel, found in made.items() if found}
