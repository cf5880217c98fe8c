"""The charts of pages and figures: curves and metrics by length, with the numbers of `softalign export --what report`. Nothing is recomputed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

SIGNS = {"percent": "%", "1": ""}  # units as figures show them
Json = dict[str, Any]  # an object in the program's output


def or_nan(value: float | None) -> float:
    """Returns the value, NaN for one that the program does not know."""
    return math.nan if value is None else float(value)


@dataclass(frozen=True)
class Line:
    """A series: means over its seeds, and the ends of the band around them, NaN if there is no band."""

    series: str
    at: Sequence[float]
    mean: Sequence[float]
    low: Sequence[float] = ()
    high: Sequence[float] = ()
    seeds: Sequence[int] = ()  # of the runs in the mean
    left_out: Sequence[str] = ()  # paths of runs that are not in the mean because they are not complete
    n: Sequence[int] = ()  # number of values at each point; () for a single seed
    sd: Sequence[float | None] = ()
    end: float = -math.inf  # the last point at which any of its runs has a value
    trend: Sequence[tuple[float, float]] = ()  # for a long curve: (update, mean of successive updates)
    look: str = ""  # the name that determines colour and marker; "": series


@dataclass(frozen=True)
class Chart:
    """Lines over an axis, with title, units and range of their values."""

    title: str
    units: str
    limits: tuple[float, float]
    lines: list[Line]
    split: str = ""  # "dev", "train"
    axis: str = "updates"
    along: str = "update"
    note: str = ""
    ticks: list[str] = field(default_factory=list)  # length buckets, if the positions of lines are bucket indices
    counts: list[str] = field(default_factory=list)  # number of sentences in each bucket

    @property
    def all_zero(self) -> bool:
        """True if all known values are 0, so that there is nothing to see."""
        known = [v for line in self.lines for v in line.mean if v is not None and math.isfinite(v)]
        return bool(known) and not any(known)

    @property
    def label(self) -> str:
        """Title and units: "BLEU (%)"."""
        return labelled(self.title, self.units)

    @property
    def from_zero(self) -> bool:
        return self.units == "percent"

    @cached_property
    def logarithmic(self) -> bool:
        """True if means are positive and span more than a factor of 4, except for percentages."""
        known = [v for line in self.lines for v in line.mean if math.isfinite(v)]
        return not self.from_zero and bool(known) and min(known) > 0 and max(known) / min(known) > 4

    @cached_property
    def least(self) -> float:
        """The lowest value of a drawn band: the metric's lower bound; on a logarithmic axis at least half of the smallest mean."""
        means = (v for line in self.lines for v in line.mean if v > 0)
        return max(self.limits[0], min(means) / 2) if self.logarithmic else self.limits[0]

    def within(self, value: float) -> float:
        """Returns the end of a band, clipped to possible values, because a deviation has no meaning beyond them."""
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
    """Returns the panel's charts by update, by name: "dev/loss"."""
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
    """Returns the number of sentences in each bucket; a range if runs were tested on different ones."""
    return [str(most) if least == most else f"{least}–{most}" for least, most in zip(table["sentences"], table["most"])]


def own_buckets(row: Json) -> tuple[int, ...]:
    """Returns the buckets with which a series was measured; a table has the buckets of all series."""
    return tuple(at for at, cell in enumerate(row["cells"]) if at > 0 and cell["recorded"])


def by_length(data: Json, panel: Json, table: Json, band: str = "sd", own: Sequence[int] | None = None) -> Chart:
    """Returns a metric by source length, up to the last bucket with a sentence: over all buckets with one, or over `own`, for the series with just these."""
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
    """Returns the seeds of the complete runs of a series, in the order of the values in a table's cells."""
    group = panel["comparison"]["groups"][panel["series"].index(series)]
    return [run["seed"] for run in group["runs"]]


def length_label(runs: Iterable[Json]) -> str:
    """Returns the label of the length axis, with the units in which these runs count lengths."""
    units = dict.fromkeys(run["record"]["length_unit"] for run in runs if run["complete"])
    return f"source length ({', '.join(units) or 'tokens'})"


def trained_lengths(run: Json) -> tuple[int | None, int] | None:
    """Returns the shortest and longest source length trained on, as bounded by the spec. For text, returns only the longest, and only if the bound
    excluded or cut sentences."""
    task = run["record"]["spec"].get("task")
    if not isinstance(task, dict) or task.get("type") == "image_captions":
        return None  # its length counts digits, but a source has pixels
    lengths, longest = task.get("length"), task.get("max_length")
    if isinstance(lengths, dict) and isinstance(train := lengths.get("train"), list) and [type(n) for n in train] == [int, int]:
        return train[0], train[1]
    in_words = run["record"]["length_unit"] == "words"  # but the bound of training counts symbols
    train = run["record"]["data"].get("train", {})
    bounded = any(train.get(count) for count in ("dropped_too_long", "truncated"))  # else all sentences may be shorter than the bound
    return (None, longest) if isinstance(longest, int) and bounded and not in_words else None


def chosen(chart: Chart, series: Sequence[str]) -> Chart:
    """Returns the chart with only the lines of these series, in their order."""
    return replace(chart, lines=[line for name in series for line in chart.lines if line.series == name])
