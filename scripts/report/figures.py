"""Charts of numbers over updates and over lengths. Each is a Figure: a drawing, its legend, and the table of what it shows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from markupsafe import Markup

from report.svg import Scale, fitted, label as x_label, marker, number, path, style, svg, tag, tick, y_axis

WIDTH, HEIGHT = 360.0, 236.0
LEFT, RIGHT, TOP, BOTTOM = 46.0, 350.0, 8.0, 200.0


@dataclass(frozen=True)
class Figure:
    """The cells of `table` are texts; the first of a row is its heading. The script shows the row under the pointer."""

    title: str
    drawing: Markup
    head: list[str]
    table: list[list[str]]
    note: str = ""
    legend: list[tuple[str, Markup]] = field(default_factory=list)  # label, sample


@dataclass(frozen=True)
class Line:
    """y [points], with a band (low, high) where there are several seeds; cells: what the table says of each point."""

    label: str
    index: int
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] | None
    high: Sequence[float] | None
    cells: Sequence[str]


@dataclass(frozen=True)
class Dots:
    """One value a bucket, with an interval and the values of single seeds."""

    label: str
    index: int
    y: Sequence[float]
    interval: Sequence[tuple[float, float]]
    seeds: Sequence[Sequence[float]]
    cells: Sequence[str]


def sample(index: int) -> Markup:
    line = tag("line", x1=0, x2=22, y1=6, y2=6, class_=f"line {style(index)}")
    return Markup(f'<svg class="sample" viewBox="0 0 22 12" aria-hidden="true">{line}{marker(11, 6, index)}</svg>')


def _spread(values: Sequence[float]) -> bool:
    known = [v for v in values if math.isfinite(v)]
    return bool(known) and min(known) > 0 and max(known) / min(known) > 4


def _values_scale(values: list[float], title: str, zero: bool) -> tuple[Scale, str]:
    log = not zero and _spread(values)
    return fitted(values, BOTTOM, TOP, zero=zero, log=log), f"{title}, log axis" if log else title


def _band(line: Line, limits: tuple[float, float], least: float) -> list[tuple[float, float]]:
    """Its outline in values, within what the metric can be and not below `least`: there a deviation says nothing."""
    if line.low is None or line.high is None:
        return []
    around = list(zip(line.x, line.high)) + list(zip(reversed(line.x), reversed(line.low)))
    return [(a, max(min(b, limits[1]), limits[0], least)) for a, b in around if math.isfinite(b)]


def line_chart(
    title: str,
    lines: Sequence[Line],
    zero: bool,
    label: str,
    limits: tuple[float, float] = (-math.inf, math.inf),
    along: tuple[str, str] = ("updates", "update"),
) -> Figure:
    """limits: what the metric can be; bands end there, the table has the deviations as they are. along: what the axis and the column say."""
    values = [v for line in lines for v in line.y]
    log = not zero and _spread(values)
    least = min((v for v in values if math.isfinite(v)), default=0.0) / 2 if log else -math.inf  # or 0 would have no place
    bands = [_band(line, limits, least) for line in lines]
    y = fitted([*values, *(b for band in bands for _, b in band)], BOTTOM, TOP, zero=zero, log=log)
    title = f"{title}, log axis" if log else title
    xs = sorted({float(x) for line in lines for x in line.x})
    x = Scale(min(0.0, xs[0]) if xs else 0, max(xs) if xs else 1, LEFT, RIGHT)
    parts = [y_axis(y, LEFT, RIGHT)]
    for value in x.ticks(4):
        parts.append(x_label(tick(value), x(value), BOTTOM + 15, WIDTH - 1))
    parts.append(tag("text", along[0], x=(LEFT + RIGHT) / 2, y=BOTTOM + 31, class_="axis mid"))
    for line, band in zip(lines, bands):
        parts.append(path([(x(a), y(b)) for a, b in band], class_=f"band {style(line.index)}"))
    for line in lines:
        points = [(x(a), y(b) if math.isfinite(b) else b) for a, b in zip(line.x, line.y)]
        parts.append(path(points, class_=f"line {style(line.index)}"))
        if len(points) <= 40:
            parts += [marker(a, b, line.index) for a, b in points if math.isfinite(b)]
    rows = {value: [number(value)] + ["–"] * len(lines) for value in xs}
    for column, line in enumerate(lines, 1):
        for value, cell in zip(line.x, line.cells):
            rows[float(value)][column] = cell
    frame = f"{x.low:g},{x.high:g},{LEFT:g},{RIGHT:g},{TOP:g},{BOTTOM:g}"
    drawing = svg(WIDTH, HEIGHT, parts, label, data_hover="x", data_frame=frame)
    legend = [(line.label, sample(line.index)) for line in lines]
    return Figure(title, drawing, [along[1], *(line.label for line in lines)], list(rows.values()), "", legend)


def bucket_chart(title: str, buckets: Sequence[str], n: Sequence[str], dots: Sequence[Dots], zero: bool, lengths: str, label: str) -> Figure:
    values = [v for d in dots for v in (*d.y, *(e for i in d.interval for e in i), *(s for group in d.seeds for s in group))]
    y, title = _values_scale(values, title, zero)
    width = (RIGHT - LEFT) / max(len(buckets), 1)
    parts = [y_axis(y, LEFT, RIGHT)]
    for at, (bucket, count) in enumerate(zip(buckets, n)):
        centre = LEFT + (at + 0.5) * width
        parts.append(tag("text", bucket, x=centre, y=BOTTOM + 13, class_="tick mid"))
        parts.append(tag("text", f"n {count}", x=centre, y=BOTTOM + 24, class_="tick mid faint"))
    parts.append(tag("text", lengths, x=(LEFT + RIGHT) / 2, y=BOTTOM + 36, class_="axis mid"))
    for turn, series in enumerate(dots):
        aside = min(9.0, 0.7 * width / len(dots)) * (turn - (len(dots) - 1) / 2)
        xs = [round(LEFT + (at + 0.5) * width + aside, 2) for at in range(len(buckets))]
        points = [(a, y(b) if math.isfinite(b) else b) for a, b in zip(xs, series.y)]
        parts.append(path(points, class_=f"line thin {style(series.index)}"))
        for a, (low, high), seeds in zip(xs, series.interval, series.seeds):
            if math.isfinite(low):
                top, bottom = (y(max(v, y.low) if y.log else v) for v in (high, low))
                caps = f"M{a - 2.5:g},{top:g}h5M{a:g},{top:g}V{bottom:g}M{a - 2.5:g},{bottom:g}h5"
                parts.append(tag("path", d=caps, class_=f"whisker {style(series.index)}"))
            if len(seeds) > 1:
                parts += [
                    tag("circle", cx=a, cy=y(s), r=1.4, class_=f"seed {style(series.index)}") for s in seeds if math.isfinite(s)
                ]
        parts += [marker(a, b, series.index) for a, b in points if math.isfinite(b)]
    table = [[bucket, count, *(d.cells[at] for d in dots)] for at, (bucket, count) in enumerate(zip(buckets, n))]
    frame = f"-0.5,{len(buckets) - 0.5:g},{LEFT:g},{RIGHT:g},{TOP:g},{BOTTOM:g}"
    drawing = svg(WIDTH, HEIGHT + 4, parts, label, data_hover="row", data_frame=frame)
    legend = [(d.label, sample(d.index)) for d in dots]
    return Figure(title, drawing, ["source length", "sentences", *(d.label for d in dots)], table, "", legend)
