"""The charts of each panel: learning curves, test metrics by source length, and diagnostics, for the panel's first series."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from softalign_tools import charts
from softalign_tools.charts import Chart, Json, Line
from softalign_tools.report.figures import Figure, bucket_chart, line_chart
from softalign_tools.report.gather import Subject
from softalign_tools.report.svg import number, or_nan, spread

FIRST = 6  # maximum number of a panel's figures that are not folded
SHOWN = 8  # maximum number of series in a figure, equal to the number of colours
ALL = "all"  # the first bucket of a table by length


@dataclass(frozen=True)
class Table:
    """A panel's metric by source length: for each series that has it, the cells of the buckets with a sentence; the first bucket holds all sentences."""

    metric: Json  # its facts: title, units, direction
    buckets: list[str]
    counts: list[str]
    columns: dict[str, list[Json]]
    chart: Chart

    @property
    def judged(self) -> bool:
        """True if higher or lower values of the metric are better."""
        return self.metric["higher_is_better"] is not None


@dataclass(frozen=True)
class Panel:
    """zero: the titles of charts that are left out because all of their values are 0."""

    figures: list[Figure]
    zero: list[str]
    table: list[list[str]] = field(default_factory=list)

    def shown(self, before: Sequence[Figure]) -> list[Figure]:
        """Returns the first figures, without those of a metric that `before` shows; the panel's other figures are folded."""
        drawn = {figure.of for figure in before}
        return [figure for figure in self.figures[:FIRST] if figure.of not in drawn]

    def folded(self, before: Sequence[Figure]) -> list[Figure]:
        shown = [figure.title for figure in self.shown(before)]
        return [figure for figure in self.figures if figure.title not in shown]


def panels(subject: Subject) -> Iterator[tuple[str, Json]]:
    return ((panel["name"], panel) for panel in subject.data["panels"])


def described(what: str, lines: int) -> str:
    return f"{what}, {lines} {'line' if lines == 1 else 'lines'}; the table below holds the values"


def label_of(subject: Subject, panel: str, line: Line) -> str:
    label, count = line.series or panel or subject.name, len(line.seeds)
    return f"{label} ({count} of {count + len(line.left_out)} seeds, the others are not complete)" if line.left_out else label


def cells_of(line: Line) -> list[str]:
    if not line.n:
        return [number(mean) for mean in line.mean]
    return [f"{spread(mean, sd)} (n {n})" if n > 1 else f"{number(mean)} (n 1)" for mean, sd, n in zip(line.mean, line.sd, line.n)]


def _shown(subject: Subject, chart: Chart) -> Chart:
    there = {line.series for line in chart.lines}
    return charts.chosen(chart, [name for name in subject.series if name in there][:SHOWN])


def _line_chart(subject: Subject, panel: str, chart: Chart, title: str) -> Figure:
    return line_chart(chart, title, [label_of(subject, panel, line) for line in chart.lines], [subject.looks[line.series] for line in chart.lines],
                      [cells_of(line) for line in chart.lines], described(f"{title} by {'update' if chart.along == 'update' else chart.axis}", len(chart.lines)), panel)  # fmt: skip


def curves(subject: Subject) -> dict[str, Panel]:
    """Panel -> its learning curves."""
    drawn = {}
    for name, panel in panels(subject):
        made = [(f"{chart.split}: {chart.label}", _shown(subject, chart)) for chart in charts.curves(panel).values() if any(len(line.at) > 1 for line in chart.lines)]
        figures = [_line_chart(subject, name, chart, title) for title, chart in made if not chart.all_zero]
        drawn[name] = Panel(figures, [title for title, chart in made if chart.all_zero])
    return {panel: found for panel, found in drawn.items() if found.figures}


def clocks(subject: Subject) -> Json:
    """Panel -> series -> the seconds and target tokens trained by update: other axes of its learning curves."""
    return {name: {clock["series"]: clock for clock in panel["clocks"]} for name, panel in panels(subject)}


def lengths(subject: Subject, tables: dict[str, list[Table]]) -> dict[str, Panel]:
    """Panel -> its test metrics by source length."""
    return {
        panel: Panel([length_figure(subject, t) for t in found if not t.chart.all_zero], [t.chart.label for t in found if t.chart.all_zero])
        for panel, found in tables.items()
    }


def tables(subject: Subject) -> dict[str, list[Table]]:
    """Panel -> a table for each metric that its runs have."""
    made: dict[str, list[Table]] = {}
    for name, panel in panels(subject):
        for table in panel.get("tables", ()):
            kept, counts = [at for at, most in enumerate(table["most"]) if most > 0], charts.counts_of(table)
            columns = {row["series"]: [row["cells"][at] for at in kept] for row in table["rows"]}
            columns = {series: cells for series, cells in columns.items() if cells and cells[0]["mean"] is not None}
            if columns:
                chart = _shown(subject, charts.by_length(subject.data, panel, table))
                found = Table(subject.data["metrics"][table["metric"]], [table["buckets"][at] for at in kept], [counts[at] for at in kept], columns, chart)
                made.setdefault(name, []).append(found)
    return made


def cell_text(cell: Json) -> str:
    """Returns the mean over seeds, the standard deviation, and the interval in brackets."""
    if cell["mean"] is None:
        return number(None)
    around = f" [{number(cell['low'])}, {number(cell['high'])}]" if cell["low"] is not None else ""
    return spread(cell["mean"], cell["sd"]) + around


def length_figure(subject: Subject, table: Table) -> Figure:
    chart, series = table.chart, [line.series for line in table.chart.lines if line.series in table.columns]
    columns = [table.columns[one] for one in series]
    sure = " with 95 % intervals" if any(cell["low"] is not None for column in columns for cell in column[1:]) else ""
    description = f"{chart.label} by source length, {len(series)} series{sure}; the table below holds the values"
    rows = [[bucket, count, *(cell_text(column[at]) for column in columns)] for at, (bucket, count) in enumerate(zip(table.buckets, table.counts))]
    return bucket_chart(charts.chosen(chart, series), [one or subject.name for one in series], [subject.looks[one] for one in series],
                        [column[1:] for column in columns], rows, description)  # fmt: skip


def diagnostics(subject: Subject) -> dict[str, Panel]:
    """Panel -> its diagnostics: figures, those by update first, and a table of single numbers at the last update with a column for each series."""
    drawn = {}
    for name, panel in panels(subject):
        made = [_shown(subject, chart) for chart in charts.diagnostics(panel)]
        drawable = sorted((chart for chart in made if any(len(line.at) > 1 for line in chart.lines)), key=lambda chart: chart.along != "update")
        figures = [_line_chart(subject, name, chart, chart.label) for chart in drawable if not chart.all_zero]
        zero = [chart.label for chart in drawable if chart.all_zero]
        single = [one for one in panel["diagnostics"] if "last" in one]
        rows = [[chart.label, *(spread(or_nan(cell["mean"]), cell["sd"]) for cell in one["last"])] for chart, one in zip(made, panel["diagnostics"]) if one in single]
        head = ["", *(cell["series"] or subject.name for cell in single[0]["last"])] if single else []
        if made:
            drawn[name] = Panel(figures, zero, [head, *rows] if rows else [])
    return drawn


def drawn_series(subject: Subject) -> str:
    """Returns a sentence that says which series are drawn and, for a report on runs, how to see others; empty if all are drawn."""
    count = len(subject.series)
    if count <= SHOWN:
        return ""
    if subject.study:
        return f"Of {count} variants the first {SHOWN} of the study are drawn; its tables have all."
    text = f"Of {count} configurations the best {SHOWN} by {subject.ranked_by} are drawn, the best first"
    return f"{text}." if subject.plan else f"{text}; a report of fewer runs, named by their ids, draws those."

