"""Configurations of a sweep: rows that differ in nothing but the seed. Seeds replicate and are not searched, so what is best
is a configuration, by the mean over its seeds; never a row, which may have been lucky. `softalign sweep status` has the same rule."""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from report.gather import Placed, by_series
from report.metrics import METRICS
from report.plan import Plan, RowState, validation_score
from report.svg import number, spread


@dataclass(frozen=True)
class Configuration:
    """rows: all that the plan has of it, in its order."""

    rows: tuple[RowState, ...]

    @property
    def complete(self) -> list[RowState]:
        """Its seeds that ran to their end and were measured."""
        return [s for s in self.rows if s.state == "complete" and math.isfinite(s.value)]

    @property
    def measured(self) -> list[float]:
        """The complete seeds; where there are none, what others had when they stopped."""
        return [s.value for s in self.complete] or [s.value for s in self.rows if math.isfinite(s.value)]

    @property
    def mean(self) -> float:
        return statistics.fmean(self.measured) if self.measured else math.nan

    @property
    def sd(self) -> float:
        """Over seeds, n - 1; NaN of a single one."""
        return statistics.stdev(self.measured) if len(self.measured) > 1 else math.nan

    @property
    def said(self) -> str:
        """1.234 ± 0.012, the mean and sd over 3 seeds (rows 3, 4, 5)"""
        ks, n = ", ".join(str(s.row.k) for s in self.complete), len(self.complete)
        if n == 1:
            return f"{number(self.mean)}, one seed (row {ks})"
        return f"{spread(self.mean, self.sd)}, mean ± sd over {n} seeds (rows {ks})"


def configurations(states: Sequence[RowState]) -> list[Configuration]:
    """In the order of their first rows."""
    found: dict[str, list[RowState]] = {}
    for state in states:
        found.setdefault(json.dumps(state.row.values, sort_keys=True, default=str), []).append(state)
    return [Configuration(tuple(rows)) for rows in found.values()]


def ranked(plan: Plan, states: Sequence[RowState]) -> list[Configuration]:
    """Those with a value, the best first: more complete seeds before fewer, then by the mean; of equals the first of the plan."""
    sign = 1 if plan.minimize else -1
    known = [c for c in configurations(states) if c.measured]
    return sorted(known, key=lambda c: (-len(c.complete), sign * c.mean))


def best_configuration(plan: Plan, states: Sequence[RowState]) -> Configuration | None:
    """Among those with the most complete seeds the one with the best mean; None before any row is complete."""
    first = next(iter(ranked(plan, states)), None)
    return first if first and first.complete else None


def ranked_series(runs: Sequence[Placed]) -> tuple[list[str], str]:
    """Of runs of no sweep: their series, the best first, by the mean over seeds of the dev metric that all stop early by, else of
    the loss; never by the test set. Series without a value are last."""
    watched = {((p.recorded.run.spec.get("train") or {}).get("early_stopping") or {}).get("metric", "dev/loss") for p in runs}
    metric = watched.pop() if len(watched) == 1 else "dev/loss"
    if metric.removeprefix("dev/") not in METRICS:  # of a plugin: nobody here knows which way is better
        metric = "dev/loss"
    sign = -1 if METRICS[metric.removeprefix("dev/")].higher_is_better else 1

    def place(group: Sequence[Placed]) -> float:
        known = [v for p in group if math.isfinite(v := validation_score(p.recorded, metric))]
        return sign * statistics.fmean(known) if known else math.inf

    groups = by_series(list(runs))
    return sorted(groups, key=lambda name: place(groups[name])), metric
