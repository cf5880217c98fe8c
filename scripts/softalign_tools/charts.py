"""What pages and figures draw: curves and metrics by length, as `softalign export --what report` has them. Nothing is computed anew."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

SIGNS = {"percent": "%", "1": ""}  # units as figures have them
Json = dict[str, Any]  # an object of the program's answer


def or_nan(value: float | None) -> float:
    """NaN for what the program does not know."""
    return math.nan if value is None else float(value)


@dataclass(frozen=True)
class Line:
    """A series: means over its seeds, and the ends of the band around them, NaN where there is none."""

    series: str
    at: Sequence[float]
    mean: Sequence[float]
    low: Sequence[float] = ()
    high: Sequence[float] = ()
    seeds: Sequence[int] = ()  # of the runs it is the mean of
    left_out: Sequence[str] = ()  # the places of others, which are not complete
    n: Sequence[int] = ()  # values at each place; () of one seed
    sd: Sequence[float | None] = ()
    end: float = -math.inf  # the last place where any of its runs has a value
    trend: Sequence[tuple[float, float]] = ()  # of a long curve the means of successive updates
    look: str = ""  # the name that its colour and marker belong to; "": series


@dataclass(frozen=True)
class Chart:
    """Lines over an axis, and what is known of their values."""

    title: str
    units: str
    limits: tuple[float, float]
    lines: list[Line]
    split: str = ""  # "dev", "train"
    axis: str = "updates"
    along: str = "update"
    note: str = ""
    ticks: list[str] = field(default_factory=list)  # buckets of length, where the places of lines are their numbers
    counts: list[str] = field(default_factory=list)  # how many sentences each of them has

    @property
    def all_zero(self) -> bool:
        """Whether there is nothing to see."""
        known = [v for line in self.lines for v in line.mean if v is not None and math.isfinite(v)]
        return bool(known) and not any(known)

    @property
    def label(self) -> str:
        """BLEU (%)"""
        return labelled(self.title, self.units)

    @property
    def from_zero(self) -> bool:
        return self.units == "percent"

    @cached_property
    def logarithmic(self) -> bool:
        """Where values are far apart, but for shares."""
        known = [v for line in self.lines for v in line.mean if math.isfinite(v)]
        return not self.from_zero and bool(known) and min(known) > 0 and max(known) / min(known) > 4

    @cached_property
    def least(self) -> float:
        """Of a band: what a value can be, on a logarithmic axis not below half of the least mean."""
        means = (v for line in self.lines for v in line.mean if v > 0)
        return max(self.limits[0], min(means) / 2) if self.logarithmic else self.limits[0]

    def within(self, value: float) -> float:
        """A band's end where the values can be: a deviation says nothing beyond that."""
        return max(min(value, self.limits[1]), self.least)


def labelled(title: str, units: str) -> str:
    sign = SIGNS.get(units, units)
    return title + (f" ({sign})" if sign else "")


def _limits(facts: Mapping[str, Any]) -> tuple[float, float]:
    least, most = facts.get("least"), facts.get("most")
    return -math.inf if least is None else least, math.inf if most is None else most


def _line(data: Json, band: str) -> Line:
    mean, count = data["mean"], len(data["at"])
    sd = data.get("sd", [])
    low, high = [math.nan] * count, [math.nan] * count
    if sd and band == "sd":
        low, high = ([m + sign * (d or 0.0) for m, d in zip(mean, sd)] for sign in (-1, 1))
    elif sd and band == "range":
        low, high = data["least"], data["most"]
    return Line(data["series"], data["at"], mean, low, high, data["seeds"], data["left_out"], data.get("n", []), sd, data["at"][-1])


def curves(panel: Json, band: str = "sd") -> dict[str, Chart]:
    """By name: "dev/loss"."""
    made = {}
    for one in panel["curves"]:
        trends = {trend["series"]: [*zip(trend["at"], trend["mean"])] for trend in one["trend"]}
        lines = [replace(_line(line, band), trend=trends.get(line["series"], ())) for line in one["lines"]]
        made[one["name"]] = Chart(one["title"], one["units"], _limits(one), lines, one["split"])
    return made


def diagnostics(panel: Json) -> list[Chart]:
    made = []
    for one in panel["diagnostics"]:
        diagnostic, split, array = one["name"].replace("_", " ").split("/")
        axis = "updates" if one["along"] == "update" else one["axis"]
        limits = (0.0, 100.0) if one["units"] == "percent" else (-math.inf, math.inf)
        lines = [_line(line, "sd") for line in one["lines"]]
        made.append(Chart(f"{diagnostic}, {split}: {array}", one["units"], limits, lines, split, axis, one["along"], one["title"]))
    return made


def counts_of(table: Json) -> list[str]:
    """How many sentences each bucket has; runs may have been tested on different ones."""
    return [str(most) if least == most else f"{least}–{most}" for least, most in zip(table["sentences"], table["most"])]


def own_buckets(row: Json) -> tuple[int, ...]:
    """Those that the runs of a series were measured by; a table has those of all series."""
    return tuple(at for at, cell in enumerate(row["cells"]) if at > 0 and cell["recorded"])


def by_length(data: Json, panel: Json, table: Json, band: str = "sd", own: Sequence[int] | None = None) -> Chart:
    """A metric over the buckets that hold a sentence; or over these, up to the last that holds one, of the series that have just them."""
    held = [at for at in range(1, len(table["buckets"])) if table["most"][at] > 0]
    kept = held if own is None else [at for at in own if at <= max(held, default=0)]
    facts, lines = data["metrics"].get(table["metric"], {"title": table["metric"], "units": ""}), []
    for row in table["rows"]:
        cells = [row["cells"][at] for at in kept]
        if row["cells"][0]["mean"] is None and all(cell["mean"] is None for cell in cells) or own not in (None, own_buckets(row)):
            continue
        seeds = seeds_of(panel, row["series"])
        sd = [cell["sd"] for cell in cells]
        low, high = [math.nan] * len(kept), [math.nan] * len(kept)
        if band == "sd":
            low, high = ([or_nan(c["mean"]) + sign * or_nan(c["sd"]) for c in cells] for sign in (-1, 1))
        elif band == "range" and len(seeds) > 1:
            low, high = ([pick((v for v in c["seeds"] if v is not None), default=math.nan) for c in cells] for pick in (min, max))
        lines.append(Line(row["series"], range(len(kept)), [or_nan(c["mean"]) for c in cells], low, high, seeds, (), [c["n"] for c in cells], sd))
    counts = counts_of(table)
    unit = length_label(run for run in data["runs"] if run["panel"] == panel["name"])
    return Chart(facts["title"], facts["units"], _limits(facts), lines, axis=unit, along="source length",
                 ticks=[table["buckets"][at] for at in kept], counts=[counts[at] for at in kept])  # fmt: skip


def seeds_of(panel: Json, series: str) -> list[int]:
    """Of the complete runs of a series, as a table's cells have their values."""
    group = panel["comparison"]["groups"][panel["series"].index(series)]
    return [run["seed"] for run in group["runs"]]


def length_label(runs: Iterable[Json]) -> str:
    """With what lengths count, of all that these runs count."""
    units = dict.fromkeys(run["record"]["length_unit"] for run in runs if run["complete"])
    return f"source length ({', '.join(units) or 'tokens'})"


def trained_lengths(run: Json) -> tuple[int | None, int] | None:
    """The shortest and the longest source that training saw, as the spec bounds them; of text only the longest, and only where the bound left some out."""
    task = run["record"]["spec"].get("task")
    if not isinstance(task, dict) or task.get("type") == "image_captions":
        return None  # it counts digits, and a source has pixels
    lengths, longest = task.get("length"), task.get("max_length")
    if isinstance(lengths, dict) and isinstance(train := lengths.get("train"), list) and [type(n) for n in train] == [int, int]:
        return train[0], train[1]
    in_words = run["record"]["length_unit"] == "words"  # training bounds symbols
    train = run["record"]["data"].get("train", {})
    bounded = any(train.get(count) for count in ("dropped_too_long", "truncated"))  # else the text may be shorter
    return (None, longest) if isinstance(longest, int) and bounded and not in_words else None


def chosen(chart: Chart, series: Sequence[str]) -> Chart:
    """With the lines of these, in their order."""
    return replace(chart, lines=[line for name in series for line in chart.lines if line.series == name])
