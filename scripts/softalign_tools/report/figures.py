"""Charts of numbers by update and by length. Each is a Figure: a drawing, its legend, and a table of its values."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from markupsafe import Markup

from softalign_tools.charts import Chart, Json, Line
from softalign_tools.report.svg import (
    Scale,
    embedded,
    fitted,
    group,
    label as x_label,
    marker,
    marker_shape,
    number,
    or_nan,
    path,
    style,
    svg,
    tag,
    tick,
    y_axis,
)

WIDTH, HEIGHT = 360.0, 236.0
LEFT, RIGHT, TOP, BOTTOM = 46.0, 350.0, 8.0, 200.0
MARKED = 40  # a line with more points has no markers


@dataclass(frozen=True)
class Figure:
    """The cells of `table` are texts; the first of a row is its heading. The script shows the row under the pointer."""

    title: str
    drawing: Markup
    head: list[str]
    table: list[list[str]]
    note: str = ""
    legend: list[tuple[str, Markup, str]] = field(default_factory=list)  # label, sample, the class of its lines
    of: str = ""  # the metric, without its split and units
    data: Markup = Markup("")  # JSON from which the page's script redraws it: zoomed, over time, on another axis


def sample(index: int) -> Markup:
    line = tag("line", x1=0, x2=22, y1=6, y2=6, class_=f"line {style(index)}")
    return Markup(f'<svg class="sample" viewBox="0 0 22 12" aria-hidden="true">{line}{marker(11, 6, index)}</svg>')


def _values_scale(chart: Chart, values: Iterable[float]) -> tuple[Scale, str]:
    """Returns the axis of values, and the suffix of the title for its kind."""
    scale = fitted(values, BOTTOM, TOP, zero=chart.from_zero, log=chart.logarithmic)
    return scale, ", log axis" * scale.log


def _legend(labels: Sequence[str], looks: Sequence[int]) -> list[tuple[str, Markup, str]]:
    return [(label, sample(look), style(look)) for label, look in zip(labels, looks)]


def legend(figures: Sequence[Figure]) -> list[tuple[str, Markup, str]]:
    """Returns each line of the figures' legends once, in the order of the figure with the most lines."""
    found: dict[str, tuple[str, Markup, str]] = {}
    for figure in sorted(figures, key=lambda figure: -len(figure.legend)):
        for line in figure.legend:
            found.setdefault(line[0], line)
    return list(found.values())


def _digits(values: Iterable[float | None]) -> list[float | None]:
    """Returns the values with the digits that a drawing needs, and None for unknown ones."""
    return [float(f"{v:.5g}") if v is not None and math.isfinite(v) else None for v in values]


def _line_data(chart: Chart, line: Line, look: int) -> Json:
    """Returns a line for the page's script, without the band if its ends are unknown. mark: the shape of its markers, if its points are few enough."""
    band = {"low": _digits(map(chart.within, line.low)), "high": _digits(map(chart.within, line.high))} if any(map(math.isfinite, line.low)) else {}
    mark = {"mark": marker_shape(look)} if len(line.at) <= MARKED else {}
    return {"series": line.series, "look": style(look), "at": _digits(line.at), "mean": _digits(line.mean), "trend": [_digits(p) for p in line.trend]} | band | mark


def line_chart(
    chart: Chart, title: str, labels: Sequence[str], looks: Sequence[int], cells: Sequence[Sequence[str]], description: str, panel: str = ""
) -> Figure:
    """looks: the index of each line's colour and marker; cells: the table's text for each point of each line, with unclipped deviations."""
    lines = chart.lines
    bands = [[(a, chart.within(b)) for a, b in (*zip(line.at, line.high), *reversed([*zip(line.at, line.low)])) if math.isfinite(b)] for line in lines]
    y, kind = _values_scale(chart, [*(v for line in lines for v in line.mean), *(b for band in bands for _, b in band)])
    xs = sorted({float(x) for line in lines for x in line.at})
    x = Scale(min(0.0, xs[0]) if xs else 0, max(xs) if xs else 1, LEFT, RIGHT)
    axes = [y_axis(y, LEFT, RIGHT)]
    for value in x.ticks(4):
        axes.append(x_label(tick(value), x(value), BOTTOM + 15, WIDTH - 1))
    axes.append(tag("text", chart.axis, x=(LEFT + RIGHT) / 2, y=BOTTOM + 31, class_="axis mid"))
    parts = []
    for look, band in zip(looks, bands):
        parts.append(path([(x(a), y(b)) for a, b in band], class_=f"band {style(look)}"))
    for look, line in zip(looks, lines):
        points = [(x(a), y(b)) for a, b in zip(line.at, line.mean)]
        parts.append(path(points, class_=f"{'raw' if line.trend else 'line'} {style(look)}"))
        parts.append(path([(x(a), y(b)) for a, b in line.trend], class_=f"line {style(look)}"))
        if len(points) <= MARKED:
            parts += [marker(a, b, look) for a, b in points]
    rows = {value: [number(value)] + ["–"] * len(lines) for value in xs}
    for column, (line, texts) in enumerate(zip(lines, cells), 1):
        for value, text in zip(line.at, texts):
            rows[float(value)][column] = text
    frame = f"{x.low:g},{x.high:g},{LEFT:g},{RIGHT:g},{TOP:g},{BOTTOM:g}"
    drawing = svg(WIDTH, HEIGHT, [group("axes", axes), group("plot", parts, (LEFT - 4, 0, RIGHT - LEFT + 8, BOTTOM + 4))], description, data_hover="x", data_frame=frame)
    data = {"lines": [_line_data(chart, line, look) for line, look in zip(lines, looks)], "axis": chart.axis, "along": chart.along, "panel": panel,
            "zero": chart.from_zero, "log": y.log}  # fmt: skip
    return Figure(title + kind, drawing, [chart.along, *labels], list(rows.values()), chart.note, _legend(labels, looks), chart.title, embedded(data))


def bucket_chart(chart: Chart, labels: Sequence[str], looks: Sequence[int], columns: Sequence[Sequence[Json]], rows: list[list[str]], description: str) -> Figure:
    """columns: for each series the cells of its buckets, with the interval and the values of single seeds; rows: the table, all sentences first."""
    y, kind = _values_scale(chart, (or_nan(v) for column in columns for cell in column for v in (cell["mean"], cell["low"], cell["high"], *cell["seeds"])))
    count, parts = len(chart.ticks), [y_axis(y, LEFT, RIGHT)]
    width = (RIGHT - LEFT) / max(count, 1)
    for at, (bucket, n) in enumerate(zip(chart.ticks, chart.counts)):
        centre = LEFT + (at + 0.5) * width
        parts.append(tag("text", bucket, x=centre, y=BOTTOM + 13, class_="tick mid"))
        parts.append(tag("text", f"n {n}", x=centre, y=BOTTOM + 24, class_="tick mid faint"))
    parts.append(tag("text", chart.axis, x=(LEFT + RIGHT) / 2, y=BOTTOM + 36, class_="axis mid"))
    for turn, (look, cells) in enumerate(zip(looks, columns)):
        aside = min(9.0, 0.7 * width / len(columns)) * (turn - (len(columns) - 1) / 2)
        xs = [round(LEFT + (at + 0.5) * width + aside, 2) for at in range(count)]
        points = [(a, math.nan if cell["mean"] is None else y(cell["mean"])) for a, cell in zip(xs, cells)]
        parts.append(path(points, class_=f"line thin {style(look)}"))
        for a, cell in zip(xs, cells):
            if cell["low"] is not None:
                top, bottom = (y(max(v, y.low) if y.log else v) for v in (cell["high"], cell["low"]))
                caps = f"M{a - 2.5:g},{top:g}h5M{a:g},{top:g}V{bottom:g}M{a - 2.5:g},{bottom:g}h5"
                parts.append(tag("path", d=caps, class_=f"whisker {style(look)}"))
            if len(cell["seeds"]) > 1:
                parts += [tag("circle", cx=a, cy=y(s), r=1.4, class_=f"seed {style(look)}") for s in cell["seeds"] if s is not None]
        parts += [marker(a, b, look) for a, b in points if math.isfinite(b)]
    frame = f"-0.5,{count - 0.5:g},{LEFT:g},{RIGHT:g},{TOP:g},{BOTTOM:g}"
    drawing = svg(WIDTH, HEIGHT + 4, parts, description, data_hover="row", data_frame=frame)
    return Figure(chart.label + kind, drawing, [chart.along, "sentences", *labels], rows, "", _legend(labels, looks), chart.title)
