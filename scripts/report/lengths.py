"""Test metrics by source length. Two kinds of uncertainty are kept apart: the choice of test sentences (a bootstrap interval) and
the choice of seed (the standard deviation over runs that differ in nothing else)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from records import length_axis_label
from report.figures import Dots, Figure, bucket_chart
from report.gather import Subject
from report.metrics import Metric
from report.svg import number, or_nan, spread

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

    metric: Metric
    buckets: list[str]
    sentences: list[int]
    columns: dict[str, list[Estimate]]


def _estimate(cell: dict[str, Any], n: int) -> Estimate:
    seeds = tuple(or_nan(v) for v in cell["seeds"])
    return Estimate(or_nan(cell["mean"]), or_nan(cell["sd"]), seeds, (or_nan(cell["low"]), or_nan(cell["high"])), n)


def table(subject: Subject, data: dict[str, Any]) -> Table:
    """Without the buckets that hold no sentence, and the series that do not define the metric."""
    kept = [at for at, n in enumerate(data["sentences"]) if n > 0]
    rows = {row["series"]: [_estimate(row["cells"][at], data["sentences"][at]) for at in kept] for row in data["rows"]}
    columns = {name: column for name, column in rows.items() if column and math.isfinite(column[0].mean)}
    return Table(subject.metric(data["metric"]), [data["buckets"][at] for at in kept], [data["sentences"][at] for at in kept], columns)


def figure(subject: Subject, found: Table) -> Figure:
    metric, dots = found.metric, []
    for name, column in found.columns.items():
        rest = column[1:]
        dots.append(
            Dots(
                name or subject.name,
                subject.looks[name],
                [e.mean for e in rest],
                [e.interval for e in rest],
                [e.seeds for e in rest],
                [e.text for e in rest],
            )
        )
    title = metric.title + (f" ({metric.units})" if metric.units else "")
    sure = " with 95 % intervals" if any(math.isfinite(low) for one in dots for low, _ in one.interval) else ""
    description = f"{title} by source length, {len(dots)} series{sure}; the table below holds the values"
    counts = [str(n) for n in found.sentences]
    drawn = bucket_chart(title, found.buckets[1:], counts[1:], dots, metric.units == "%", length_axis_label([p.recorded.run for p in subject.runs]), description)
    everything = [ALL, counts[0], *(column[0].text for column in found.columns.values())]
    return Figure(drawn.title, drawn.drawing, drawn.head, [everything, *drawn.table], "", drawn.legend)


def tables(subject: Subject) -> dict[str, list[Table]]:
    """Panel -> a table for each metric that its runs have."""
    made = {p["name"]: [table(subject, data) for data in p.get("tables", ())] for p in subject.data["panels"]}
    made = {panel: [t for t in found if t.columns] for panel, found in made.items()}
    return {panel: found for panel, found in made.items() if found}
