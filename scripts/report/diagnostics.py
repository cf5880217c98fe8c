"""What diagnostics found: single numbers over updates, and numbers along an axis at the last update; one line a series."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from report.curves import SHOWN, line_of, together
from report.figures import Figure, line_chart
from report.gather import Placed, Subject, by_series
from report.metrics import SIGNS
from report.run import Found
from report.svg import spread


def _over_seeds(runs: Sequence[Placed], name: str) -> tuple[np.ndarray, np.ndarray]:
    return together([(found.places, found.values) for p in runs if (found := p.recorded.found.get(name)) is not None])


def _first(runs: Sequence[Placed], name: str) -> Found:
    return next(p.recorded.found[name] for p in runs if name in p.recorded.found)


def _title(found: Found, name: str) -> str:
    """gradient_flow/dev/far_to_near: "gradient flow, dev: far to near"."""
    diagnostic, split, array = name.replace("_", " ").split("/")
    units = SIGNS.get(found.units, found.units)
    return f"{diagnostic}, {split}: {array}" + (f" ({units})" if units else "")


def _figure(subject: Subject, panel: str, runs: Sequence[Placed], name: str) -> Figure | None:
    groups = by_series(list(runs))
    chosen = [s for s in subject.series if s in groups][:SHOWN]
    lines = [line_of(s or panel or subject.name, subject.looks[s], groups[s], lambda some: _over_seeds(some, name)) for s in chosen]
    drawn = [line for line in lines if line is not None]
    if not drawn or max(len(line.x) for line in drawn) < 2:
        return None
    found = _first(runs, name)
    title, percent = _title(found, name), found.units == "percent"
    axis = "updates" if found.along == "update" else found.axis
    description = f"{title} by {axis}, {len(drawn)} {'line' if len(drawn) == 1 else 'lines'}; the table below holds the values"
    limits = (0.0, 100.0) if percent else (-np.inf, np.inf)
    return replace(line_chart(title, drawn, percent, description, limits, (axis, found.along)), note=found.title)


def _table(subject: Subject, runs: Sequence[Placed], names: Sequence[str]) -> list[list[str]]:
    """Single numbers at the last update: a head with the series, then a row each, mean and deviation over seeds."""
    groups = by_series(list(runs))
    chosen = [s for s in subject.series if s in groups]
    rows = []
    for name in names:
        if (found := _first(runs, name)).along != "update":
            continue
        of_series = [[p.recorded.found[name].values[-1] for p in groups[s] if name in p.recorded.found] for s in chosen]
        cells = [spread(np.mean(v), np.std(v, ddof=1) if len(v) > 1 else None) if v else "–" for v in of_series]
        rows.append([_title(found, name), *cells])
    return [["", *(s or subject.name for s in chosen)], *rows] if rows else []


@dataclass(frozen=True)
class Panel:
    table: list[list[str]]
    figures: list[Figure]


def panels(subject: Subject) -> dict[str, Panel]:
    """Of each panel whose runs were looked into."""
    drawn = {}
    for panel, runs in subject.panels.items():
        names = sorted({name for placed in runs for name in placed.recorded.found})
        figures = [figure for name in names if (figure := _figure(subject, panel, runs, name)) is not None]
        if names:
            drawn[panel] = Panel(_table(subject, runs, names), figures)
    return drawn
