"""The plan of a sweep and the status of its rows, as the program reports them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from softalign_tools.charts import Json, or_nan
from softalign_tools.report.svg import number, spread

UNSET = "not set"  # the value of an option in rows from which a condition of the sweep removes it


@dataclass(frozen=True)
class Row:
    """A run of the plan. value: the plan's metric, NaN if it has not been measured."""

    k: int
    run_id: str
    seed: int
    label: str  # distinguishes its configuration from the others
    values: dict[str, Any]  # swept parameter -> value
    state: str
    value: float
    updates: int
    folder: str
    fault: str = ""  # why it failed


@dataclass(frozen=True)
class Configuration:
    """Rows that differ only in the seed. Seeds are replicates and are not searched, so configurations are ranked, not rows."""

    rows: list[Row]
    complete: list[Row]
    mean: float
    sd: float  # over seeds; NaN for a single seed

    @property
    def result_text(self) -> str:
        """The result with its seeds and rows: "1.234 ± 0.012, mean ± sd over 3 seeds (rows 3, 4, 5)"."""
        ks, n = ", ".join(str(row.k) for row in self.complete), len(self.complete)
        if n == 1:
            return f"{number(self.mean)}, one seed (row {ks})"
        return f"{spread(self.mean, self.sd)}, mean ± sd over {n} seeds (rows {ks})"


@dataclass(frozen=True)
class Plan:
    """list: as in the output of `softalign sweep status --json`."""

    list: Json

    name = property(lambda self: self.list["name"])
    method = property(lambda self: self.list["method"])
    metric = property(lambda self: self.list["metric"]["name"])
    minimize = property(lambda self: self.list["metric"]["goal"] != "maximize")
    early_terminate = property(lambda self: self.list["early_terminate"])

    @cached_property
    def names(self) -> dict[str, str]:
        """Path -> the name that the page shows."""
        return {p["path"]: p["name"] for p in self.list["parameters"]}

    @cached_property
    def varied(self) -> list[str]:
        """The paths of the parameters in which rows differ."""
        return [p["path"] for p in self.list["parameters"] if p["varied"]]

    @cached_property
    def in_all_rows(self) -> str:
        """The values that all rows share, which names of rows omit: "epochs 200, units 64"."""
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
        """The configurations, the best first."""
        return [
            Configuration([self.states[k] for k in one["rows"]], [self.states[k] for k in one["complete"]], one["mean"], or_nan(one["sd"]))
            for one in self.list["ranking"]
        ]

    @property
    def best(self) -> Configuration | None:
        """The best configuration; None before any row is complete."""
        first = next(iter(self.ranking), None)
        return first if first and first.complete else None

    def scale(self, name: str) -> str:
        """Returns the declared scale of a parameter or of the metric: "log", "linear"; "" if none is declared."""
        return {p["path"]: p["scale"] for p in self.list["parameters"]}.get(name, self.list["metric"]["scale"])


def text_of(value: Any) -> str:
    if value is None:
        return UNSET
    if isinstance(value, float):
        return f"{value:g}"
    return value if isinstance(value, str) else json.dumps(value, default=str)
