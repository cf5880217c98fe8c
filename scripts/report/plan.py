"""The plan of a sweep and how its rows stand, as the program says it."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from report.run import Problem, Recorded
from report.svg import number, or_nan, spread

UNSET = "not set"  # an option that a condition of the sweep takes from some rows
STATES = ["complete", "pruned", "running", "claimed", "interrupted", "trained", "planned", "failed", "lost", "corrupt", "unreadable"]


@dataclass(frozen=True)
class Row:
    k: int
    run_id: str
    seed: int
    label: str  # what tells its configuration from the others
    values: dict[str, Any]  # swept parameter -> value


@dataclass(frozen=True)
class RowState:
    """value: of the plan's metric, NaN where nothing is measured; recorded: None where no record can be read."""

    row: Row
    state: str
    value: float
    recorded: Recorded | None
    fault: str = ""  # why it failed


@dataclass(frozen=True)
class Configuration:
    """Rows that differ in nothing but the seed. Seeds replicate and are not searched, so what is best is a configuration."""

    rows: list[RowState]
    complete: list[RowState]
    mean: float
    sd: float  # over seeds; NaN of a single one

    @property
    def result_text(self) -> str:
        """1.234 ± 0.012, the mean and sd over 3 seeds (rows 3, 4, 5)"""
        ks, n = ", ".join(str(s.row.k) for s in self.complete), len(self.complete)
        if n == 1:
            return f"{number(self.mean)}, one seed (row {ks})"
        return f"{spread(self.mean, self.sd)}, mean ± sd over {n} seeds (rows {ks})"


@dataclass(frozen=True)
class Plan:
    """list: what `softalign sweep status --json` has."""

    list: dict[str, Any]
    recorded: dict[str, Recorded]  # by run id

    name = property(lambda self: self.list["name"])
    method = property(lambda self: self.list["method"])
    metric = property(lambda self: self.list["metric"]["name"])
    minimize = property(lambda self: self.list["metric"]["goal"] != "maximize")
    early_terminate = property(lambda self: self.list["early_terminate"])
    hash = property(lambda self: self.list["hash"])
    source = property(lambda self: self.list["file"])

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
    def states(self) -> list[RowState]:
        made = []
        for row in self.list["rows"]:
            label = row["configuration"].strip() or "the only configuration"
            one = Row(row["k"], row["run_id"], row["seed"], label, row["set"])
            made.append(RowState(one, row["state"], or_nan(row["metric"]), self.recorded.get(one.run_id), Problem(row["folder"], row.get("fault", "")).shown[1]))
        return made

    @cached_property
    def rows(self) -> list[Row]:
        return [state.row for state in self.states]

    @cached_property
    def ranking(self) -> list[Configuration]:
        """The best first."""
        return [
            Configuration(
                [self.states[k] for k in one["rows"]],
                [self.states[k] for k in one["complete"]],
                one["mean"],
                or_nan(one["sd"]),
            )
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
