"""The plan of a sweep and how its rows stand, as the program says it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from softalign_tools.charts import Json, or_nan
from softalign_tools.report.svg import number, spread

UNSET = "not set"  # an option that a condition of the sweep takes from some rows


@dataclass(frozen=True)
class Row:
    """value: of the plan's metric, NaN where nothing is measured."""

    k: int
    run_id: str
    seed: int
    label: str  # what tells its configuration from the others
    values: dict[str, Any]  # swept parameter -> value
    state: str
    value: float
    updates: int
    folder: str
    fault: str = ""  # why it failed


@dataclass(frozen=True)
class Configuration:
    """Rows that differ in nothing but the seed. Seeds replicate and are not searched, so what is best is a configuration."""

    rows: list[Row]
    complete: list[Row]
    mean: float
    sd: float  # over seeds; NaN of a single one

    @property
    def result_text(self) -> str:
        """1.234 ± 0.012, the mean and sd over 3 seeds (rows 3, 4, 5)"""
        ks, n = ", ".join(str(row.k) for row in self.complete), len(self.complete)
        if n == 1:
            return f"{number(self.mean)}, one seed (row {ks})"
        return f"{spread(self.mean, self.sd)}, mean ± sd over {n} seeds (rows {ks})"


@dataclass(frozen=True)
class Plan:
    """list: what `softalign sweep status --json` has."""

    list: Json

    name = property(lambda self: self.list["name"])
    method = property(lambda self: self.list["method"])
    metric = property(lambda self: self.list["metric"]["name"])
    minimize = property(lambda self: self.list["metric"]["goal"] != "maximize")
    early_terminate = property(lambda self: self.list["early_terminate"])

    @cached_property
    def names(self) -> dict[str, str]:
        """Path -> the name that people read."""
        return {p["path"]: p["name"] for p in self.list["parameters"]}

    @cached_property
    def varied(self) -> list[str]:
        """The parameters that tell rows apart."""
        return [p["path"] for p in self.list["parameters"] if p["varied"]]

    @cached_property
    def in_all_rows(self) -> str:
        """What is left out where rows are named: "epochs 200, units 64"."""
        same = [p for p in self.list["parameters"] if not p["varied"]]
        return ", ".join(f"{p['name']} {text_of(p['values'][0])}" for p in same)

    @cached_property
    def states(self) -> list[Row]:
        return [
            Row(row["k"], row["run_id"], row["seed"], row["configuration"].strip() or "the only configuration", row["set"], row["state"],
                or_nan(row["metric"]), row["updates"], row["folder"], row.get("fault", ""))
            for row in self.list["rows"]
        ]  # fmt: skip

    @cached_property
    def ranking(self) -> list[Configuration]:
        """The best first."""
        return [
            Configuration([self.states[k] for k in one["rows"]], [self.states[k] for k in one["complete"]], one["mean"], or_nan(one["sd"]))
            for one in self.list["ranking"]
        ]

    @property
    def best(self) -> Configuration | None:
        """None before any row is complete."""
        first = next(iter(self.ranking), None)
        return first if first and first.complete else None

    def scale(self, name: str) -> str:
        """Of a parameter as it was declared, or of the metric: "log", "linear", "" where nothing says."""
        return {p["path"]: p["scale"] for p in self.list["parameters"]}.get(name, self.list["metric"]["scale"])


def text_of(value: Any) -> str:
    if value is None:
        return UNSET
    if isinstance(value, float):
        return f"{value:g}"
    return value if isinstance(value, str) else json.dumps(value, default=str)
