"""The figures of a sweep: parallel coordinates, states of rows, early-termination decisions. Heatmaps are in heatmaps.py."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from softalign_tools.report.figures import Figure
from softalign_tools.report.plan import UNSET, Plan, Row, text_of
from softalign_tools.report.svg import Scale, apart, counted, number, or_nan, path, plated, shortened, svg, tag, tick

STATES = ["complete", "pruned", "running", "claimed", "interrupted", "trained", "planned", "failed", "lost", "corrupt", "unreadable"]
SHADES = 6  # classes q0 (worst) to q5 (best)
COMPARED = 12  # maximum number of other runs that a decision shows
BELOW = 20.0  # distance below an axis at which rows that do not set the parameter pass
Place = Callable[[Any], float]


@dataclass(frozen=True)
class Axis:
    """The axis of a parameter or of the metric. ticks: text and y; place: from a value to its y."""

    name: str
    ticks: list[tuple[str, float]]
    place: Place


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def sorted_values(values: Sequence[Any]) -> list[Any]:
    """Returns the distinct values without None: numbers by size, texts in the plan's order."""
    once = list({text_of(v): v for v in values if v is not None}.values())
    return sorted(once) if all(is_number(v) for v in once) else once


def logarithmic(values: Sequence[float], scale: str) -> bool:
    """True for positive values if the scale is declared "log", or undeclared and they are far apart; one rule for axes and colours of cells."""
    return min(values) > 0 and (scale == "log" or not scale and max(values) / min(values) >= 30)


def value_text(value: float) -> str:
    """Returns a value's text on an axis, with four digits unless it is an integer; the tables have all digits."""
    return tick(value if value == int(value) else float(f"{value:.4g}"))


def axis_of(name: str, values: Sequence[Any], top: float, bottom: float, declared: str, tried: bool = True) -> Axis:
    """Returns the axis of a parameter, or of the metric (tried=False). Rows that do not set the parameter pass below its other values. Ticks
    are at the tried values if they are few, else, and for the metric, at round ones."""
    once = sorted_values(values)
    if once and all(is_number(v) for v in once) and len(once) > 1:
        scale = Scale(once[0], once[-1], bottom, top, logarithmic(once, declared))
        ticks = [(value_text(v), scale(v)) for v in (once if tried and len(once) <= 6 else scale.ticks(5))]
        place: Place = scale
    else:
        step = (bottom - top) / max(len(once) - 1, 1)
        at = {text_of(v): bottom - i * step if len(once) > 1 else (top + bottom) / 2 for i, v in enumerate(once)}
        ticks, place = list(at.items()), lambda value: at[text_of(value)]
    if all(value is not None for value in values):
        return Axis(name, ticks, place)
    return Axis(name, [*ticks, (UNSET, bottom + BELOW)], lambda value: bottom + BELOW if value is None else place(value))


def shades(plan: Plan, states: Sequence[Row]) -> dict[int, int]:
    """Returns k -> class by rank; the best sixth of the rows is the last class."""
    known = sorted((s for s in states if math.isfinite(s.value)), key=lambda s: -s.value if plan.minimize else s.value)
    return {s.k: min(SHADES - 1, at * SHADES // len(known)) for at, s in enumerate(known)}


def parallel(plan: Plan, states: Sequence[Row]) -> Figure | None:
    """Draws a line for each row with a measured value, through its parameters to the metric."""
    known, names = [s for s in states if math.isfinite(s.value)], plan.varied
    if len(known) < 2 or not names:
        return None
    width, top, bottom = max(480.0, 144.0 * (len(names) + 1)), 30.0, 262.0
    axes = [axis_of(plan.names[p], [row.values.get(p) for row in plan.states], top, bottom, plan.scale(p)) for p in names]
    axes.append(axis_of(plan.metric, [s.value for s in known], top, bottom, plan.scale(plan.metric), tried=False))
    step = (width - 120) / (len(axes) - 1)
    xs = [60 + at * step for at in range(len(axes))]
    shade, parts = shades(plan, states), []
    for state in sorted(known, key=lambda s: (shade[s.k], s.k)):  # the best are drawn on top
        values = [*(state.values.get(p) for p in names), state.value]
        line = path(
            [(x, axis.place(v)) for x, axis, v in zip(xs, axes, values)], class_=f"row q{shade[state.k]}", data_k=state.k
        )
        parts.append(line)
    for x, axis in zip(xs, axes):
        parts.append(tag("line", x1=x, x2=x, y1=top, y2=bottom, class_="rule"))
        parts.append(tag("text", shortened(axis.name, min(step, 114) - 4, 11), x=x, y=14, class_="axis mid strong"))
        for text, y in apart(axis.ticks):
            parts.append(plated(shortened(text, step - 14), x + 6, y))
    rows = [[f"{s.k}", *(text_of(s.values.get(p)) for p in names), number(s.value)] for s in known]
    description = f"parallel coordinates of {counted(len(known), 'row')} over {', '.join(a.name for a in axes)}; the table below holds the values"
    note = "Colour: the rank of the row, best darkest (in the dark theme: brightest)."
    head = ["row", *(plan.names[p] for p in names), plan.metric]
    sizes = f"min-width:{0.72 * width:.0f}px;width:{1.6 * width:.0f}px"
    return Figure(plan.metric, svg(width, 296, parts, description, data_hover="k", style=sizes), head, rows, note)


def state_counts(states: Sequence[Row]) -> list[tuple[str, int]]:
    counts = Counter(s.state for s in states)
    known = [(state, counts.pop(state)) for state in STATES if state in counts]
    return known + sorted(counts.items())


def state_bar(counts: Sequence[tuple[str, int]]) -> Markup:
    """Draws the share of each state as a bar; the words and numbers are next to it."""
    total, x, parts = sum(n for _, n in counts), 0.0, []
    for state, n in counts:
        parts.append(
            tag("rect", x=round(x, 2), y=0, width=round(max(600 * n / total - 1, 1), 2), height=12, class_=f"state-{state}")
        )
        x += 600 * n / total
    return svg(600, 12, parts, "states of rows: " + ", ".join(f"{n} {state}" for state, n in counts), preserveAspectRatio="none")


@dataclass(frozen=True)
class Decision:
    """A decision of early termination about a row. compared: the values of other runs, by row if they are in the plan."""

    k: int
    update: int
    rule: str
    value: float
    cut: float
    verdict: str  # "stop", "continue", or "stop, but it had ended" for a decision that came too late
    compared: str


def decisions(states: Sequence[Row], recorded: Mapping[str, str]) -> list[Decision]:
    """Returns all decisions, by row and update. recorded: run ID -> JSON. JSON that cannot be read is shown unchanged."""
    rows, found = {s.run_id: s.k for s in states}, []
    for state in states:
        if not (text := recorded.get(state.run_id)):
            continue
        try:
            for d in json.loads(text)["decisions"]:
                in_order = sorted(d["compared"].items(), key=lambda other: (rows.get(other[0], math.inf), other[0]))  # unknown runs last
                others = [(rows.get(run, run), value) for run, value in in_order]
                compared = ", ".join(f"{row}: {number(or_nan(value))}" for row, value in others[:COMPARED])
                compared += f", and {len(others) - COMPARED} more in the record" if len(others) > COMPARED else ""
                value, cut = or_nan(d["value"]), or_nan(d["cut"])
                verdict = "continue" if not d["stop"] else "stop" if state.state == "pruned" else "stop, but it had ended"
                found.append(Decision(state.k, int(d["update"]), str(d["rule"]), value, cut, verdict, compared))
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
            found.append(Decision(state.k, -1, text, math.nan, math.nan, "", ""))
    return found
