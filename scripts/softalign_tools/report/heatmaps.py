"""Heatmaps of a sweep's metric over two of its parameters. Colours are logarithmic if the metric's axis is."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from markupsafe import Markup

from softalign_tools.report.figures import Figure
from softalign_tools.report.plan import UNSET, Plan, Row, text_of
from softalign_tools.report.svg import Scale, number, shortened, svg, tag, tick, width_of
from softalign_tools.report.sweep import SHADES, is_number, logarithmic, sorted_values, state_counts, value_text

BINS = 6  # number of ranges of a parameter with many values
PAIRS = 15  # maximum number of heatmaps
CELL, LINE, TURNED = 62.0, 34.0, 38.0  # a cell's width and height; angle in degrees of names wider than a cell


def binned(values: Sequence[Any], declared: str) -> list[tuple[str, Callable[[Any], bool]]]:
    """Returns the columns of a heatmap: each value, or BINS ranges of a numeric parameter with many values; last, one for rows that do not set it."""
    once = sorted_values(values)
    unset = [(UNSET, lambda value: value is None)] if any(v is None for v in values) else []
    if len(once) <= BINS + 2 or not all(is_number(v) for v in once):
        return [(value_text(v) if is_number(v) else text_of(v), lambda value, v=v: text_of(value) == text_of(v)) for v in once] + unset
    log = logarithmic(once, declared)
    low, high = (math.log10(once[0]), math.log10(once[-1])) if log else (once[0], once[-1])
    edges = [low + (high - low) * i / BINS for i in range(BINS + 1)]
    edges = [10**e for e in edges] if log else edges
    edges[0], edges[-1] = once[0], once[-1]

    def inside(a: float, b: float) -> Callable[[Any], bool]:
        return lambda value: value is not None and (a <= value < b or (b == edges[-1] and value == b))

    texts = [tick(float(f"{e:.{2 if log else 3}g}")) for e in edges]
    return [(f"{a}–{b}", inside(*edge)) for a, b, edge in zip(texts, texts[1:], zip(edges, edges[1:]))] + unset


@dataclass(frozen=True)
class Cell:
    """A cell's complete rows, and by state the number of its other rows with a value, which are not in the mean."""

    complete: list[Row]
    others: list[tuple[str, int]]

    @property
    def mean(self) -> float:
        return sum(s.value for s in self.complete) / len(self.complete) if self.complete else math.nan

    @property
    def rows_text(self) -> str:
        """The number of rows in the mean and of those left out: "2, left out: 1 pruned"."""
        left_out = ", ".join(f"{count} {state}" for state, count in self.others)
        return str(len(self.complete)) + (f", left out: {left_out}" if left_out else "")

    @property
    def text(self) -> str:
        if self.complete:
            return number(self.mean)
        count = sum(count for _, count in self.others)
        return f"{count} {self.others[0][0] if len(self.others) == 1 else 'others'}" if count else ""


def cell_of(states: Sequence[Row]) -> Cell:
    return Cell([s for s in states if s.state == "complete"], state_counts([s for s in states if s.state != "complete"]))


def shade_of(low: float, high: float, minimize: bool, log: bool) -> Callable[[float], str]:
    """Returns a function from a value to its class, by its position between the worst and the best cell."""
    scale = Scale(low, high, 1.0 if minimize else 0.0, 0.0 if minimize else 1.0, log)
    return lambda value: f"q{min(SHADES - 1, int(scale(value) * SHADES))}"


def shades_key(x: float, y: float, worst: float, best: float, log: bool) -> Markup:
    """Draws the key of the colours: "2.416 ▢▢▢▢▢▢ 0.056, logarithmic"."""
    first, last = number(worst), number(best) + (", logarithmic" if log else "")
    x += width_of(first) + 4
    boxes = [tag("rect", x=x + 14 * at, y=y - 9, width=13, height=10, rx=2, class_=f"cell q{at}") for at in range(SHADES)]
    texts = [tag("text", first, x=x - 4, y=y, class_="tick end"), tag("text", last, x=x + 14 * SHADES + 4, y=y, class_="tick")]
    return Markup("").join(boxes + texts)


def names_below(names: Sequence[str], left: float, y: float) -> tuple[Markup, float]:
    """Draws the names of the columns, turned if one is wider than a cell. Returns the drawing and its height."""
    names, centres = [shortened(n, 150) for n in names], [left + (at + 0.5) * CELL for at in range(len(names))]
    widest = max(map(width_of, names))
    if widest <= CELL - 4:
        return Markup("").join(tag("text", n, x=x, y=y + 12, class_="tick mid") for n, x in zip(names, centres)), 18.0
    turned = [
        tag("text", n, x=0, y=0, class_="tick end", transform=f"translate({x + 4:g} {y + 11:g}) rotate(-{TURNED:g})")
        for n, x in zip(names, centres)
    ]
    return Markup("").join(turned), 16 + widest * math.sin(math.radians(TURNED))


def heatmap(plan: Plan, states: Sequence[Row], across: str, down: str) -> Figure | None:
    known = [s for s in states if math.isfinite(s.value)]
    columns, rows = (binned([s.values.get(p) for s in known], plan.scale(p)) for p in (across, down))
    cells = [
        [cell_of([s for s in known if fits(s.values.get(across)) and is_in(s.values.get(down))]) for _, fits in columns]
        for _, is_in in rows
    ]
    means = [cell.mean for row in cells for cell in row if cell.complete]
    if len(means) < 2:
        return None
    worst, best = (max, min) if plan.minimize else (min, max)
    log = logarithmic([s.value for s in known if s.state == "complete"], plan.scale(plan.metric))
    shade = shade_of(min(means), max(means), plan.minimize, log)
    left = 20 + max(width_of(shortened(text, 110)) for text, _ in rows)
    left = max(left, max(width_of(shortened(text, 150)) for text, _ in columns) - CELL / 2)  # turned names reach to the left
    parts, table = [], []
    for r, ((row_name, _), row) in enumerate(zip(rows, cells)):
        y = 8 + r * LINE
        parts.append(tag("text", shortened(row_name, 110), x=left - 5, y=y + LINE / 2 + 3.5, class_="tick end"))
        for c, cell in enumerate(row):
            x, class_ = left + c * CELL, shade(cell.mean) if cell.complete else "none"
            parts.append(tag("rect", x=x + 1, y=y + 1, width=CELL - 2, height=LINE - 2, rx=3, class_=f"cell {class_}"))
            if not cell.text:
                continue
            parts.append(tag("text", cell.text, x=x + CELL / 2, y=y + LINE / 2 + 4, class_=f"value mid on-{class_}"))
            most = best((c.mean for c in plan.ranking if any(one in cell.complete for one in c.complete)), default=math.nan)
            table.append([columns[c][0], row_name, *(number(v) if math.isfinite(v) else "–" for v in (cell.mean, most)), cell.rows_text])
    below = 8 + len(rows) * LINE
    names, height = names_below([text for text, _ in columns], left, below)
    a, b, bottom = plan.names[across], plan.names[down], below + height
    parts += [names, tag("text", f"{a} →", x=left, y=bottom + 12, class_="axis")]
    parts.append(shades_key(4, bottom + 32, worst(means), best(means), log))
    title = f"{b} (down) against {a} (across)"
    description = f"heatmap of {plan.metric}: {title}; the table below holds the values"
    width = max(left + len(columns) * CELL + 6, 240.0)
    drawing = svg(width, bottom + 38, parts, description, style=f"min-width:{width:.0f}px;width:{1.4 * width:.0f}px")
    return Figure(title, drawing, [a, b, f"mean {plan.metric}", "best configuration", "rows"], table)


def heatmaps(plan: Plan, states: Sequence[Row]) -> list[Figure]:
    made = [heatmap(plan, states, a, b) for a, b in list(combinations(plan.varied, 2))[:PAIRS]]
    return [f for f in made if f is not None]
