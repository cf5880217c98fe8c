"""The table of a sweep (sweep.h5, layout in results/record.md), as the program reads it, reduced to a metric for each pair of values of two parameters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

RANKED = "value"  # the column of the sweep's own metric, as rows are ranked by it
ABOUT = {"run", "run_id", "path", "state", "seed", "updates", RANKED}  # columns that are neither an option nor a metric
UNSET = "as in the base"  # shown as the value of an option that a row does not set


class ChoiceError(Exception):
    """Raised if a request matches nothing in the records, or is ambiguous."""


@dataclass(frozen=True)
class SweepTable:
    """The columns of a sweep, each with one value per run."""

    place: str
    metric: str  # "dev/loss"
    goal: str  # minimize, maximize
    columns: dict[str, list[Any]]  # text or numbers, None for a missing number
    units: dict[str, str]

    @property
    def parameters(self) -> list[str]:
        return sorted(name for name in self.columns if name not in ABOUT and not name.startswith(("dev_", "test_")))

    def parameter(self, asked: str) -> str:
        """Returns the swept option with this path or the end of one: "units" for "model.encoder.units". Raises ChoiceError if none or several have that end."""
        found = [name for name in self.parameters if name == asked or name.endswith(f".{asked}")]
        if asked in found or len(found) == 1:
            return asked if asked in found else found[0]
        ask = "which of " + ", ".join(found) if found else "the sweep varies " + ", ".join(self.parameters)
        raise ChoiceError(f"{self.place}: {'several parameters end in' if found else 'no parameter'} '{asked}': {ask}")

    def axes(self, x: str | None, y: str | None) -> tuple[str, str]:
        """Returns the parameters of the x and y axes. Raises ChoiceError if x or y is None, unless both are and the sweep varies exactly two."""
        if x is None and y is None and len(self.parameters) == 2:
            return self.parameters[1], self.parameters[0]
        if x is None or y is None:
            raise ChoiceError(f"{self.place}: --x and --y say which parameters to draw: the sweep varies {', '.join(self.parameters)}")
        return self.parameter(x), self.parameter(y)

    def measured(self, asked: str | None) -> str:
        """Returns the column of a metric, "dev/loss" or "dev_loss_best"; by default the sweep's own, as rows are ranked by it."""
        if not asked and RANKED in self.columns:
            return RANKED
        name = (asked or self.metric).replace("/", "_")
        if name not in self.columns or not name.startswith(("dev_", "test_")):
            there = ", ".join(sorted(name for name in self.columns if name.startswith(("dev_", "test_")))) or "none yet"
            raise ChoiceError(f"{self.place}: no metric '{asked or self.metric}'; there are: {there}")
        return name


@dataclass(frozen=True)
class Cells:
    """values[y, x]: the mean over seeds, NaN if no run has a value; n[y, x]: the number of runs in it, all complete."""

    x: list[str]
    y: list[str]
    values: np.ndarray
    n: np.ndarray
    left_out: Counter[str]  # runs in another state


def spoken(value: object) -> str:
    if isinstance(value, str):
        return value or UNSET
    return UNSET if value is None else f"{value:g}"


def cells(table: SweepTable, x: str, y: str, metric: str, where: Mapping[str, str], best: bool) -> Cells:
    """Returns the values at all pairs of x and y, over the rows whose parameters have the values of `where`.

    Runs of a cell must differ only in their seed; with `best`, a cell has the value of its best configuration. Raises ChoiceError.
    """
    column, every = table.columns, range(len(table.columns["run"]))
    rows = [i for i in every if all(spoken(column[name][i]) == value for name, value in where.items())]
    if not rows:
        raise ChoiceError(f"{table.place}: no row has " + ", ".join(f"{k}={v}" for k, v in where.items()))
    states = {i: column["state"][i] for i in rows} if "state" in column else {}
    left_out = Counter(state for state in states.values() if state != "complete")
    xs, ys = (list(dict.fromkeys(map(spoken, sorted({column[name][i] for i in rows}, key=_order)))) for name in (x, y))
    others = [name for name in table.parameters if name not in (x, y)]
    found: dict[tuple[str, str], dict[tuple[str, ...], list[float]]] = {}
    for i in rows:
        rest = tuple(spoken(column[name][i]) for name in others)
        cell = found.setdefault((spoken(column[y][i]), spoken(column[x][i])), {})
        value = column[metric][i] if states.get(i, "complete") == "complete" else None
        cell.setdefault(rest, []).extend([] if value is None else [float(value)])
    if not best:
        _refuse_mixed(table, others, found.values())
    values, n = np.full((len(ys), len(xs)), np.nan), np.zeros((len(ys), len(xs)), int)
    for (row, place), kinds in found.items():
        means = [(float(np.mean(done)), len(done)) for done in kinds.values() if done]
        if means:
            at = ys.index(row), xs.index(place)
            values[at], n[at] = max(means) if table.goal == "maximize" else min(means)
    return Cells(xs, ys, values, n, left_out)


def _refuse_mixed(table: SweepTable, others: Sequence[str], kinds: object) -> None:
    for cell in kinds:
        if len(cell) > 1:
            varied = [(name, sorted({rest[i] for rest in cell})) for i, name in enumerate(others)]
            varied = [(name, values) for name, values in varied if len(values) > 1]
            differences = "; ".join(f"{name} ({', '.join(values[:6])})" for name, values in varied)
            raise ChoiceError(f"{table.place}: runs at one place differ in {differences}: choose with --where {varied[0][0]}=VALUE, "
                              "or take the best of them with --best")  # fmt: skip


def _order(value: object) -> tuple[bool, float, str]:
    """Returns a sort key: missing values come first, numbers ascend."""
    if isinstance(value, str):
        return bool(value), 0.0, value
    return value is not None, value or 0.0, ""
