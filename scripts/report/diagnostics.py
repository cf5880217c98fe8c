"""What diagnostics found: single numbers over updates, and numbers along an axis at the last update; one line a series."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from report.curves import SHOWN, line_of
from report.figures import Figure, line_chart
from report.gather import Placed, Subject, by_series
from report.metrics import SIGNS


def _over_seeds(runs: Sequence[Placed], name: str) -> tuple[np.ndarray, np.ndarray]:
    """(places, values [seeds, places]): at the places that any seed has, NaN where one has none."""
    found = [p.recorded.found[name] for p in runs if name in p.recorded.found]
    places = np.unique(np.concatenate([f.places for f in found])) if found else np.zeros(0)
    values = np.full((len(found), len(places)), np.nan)
    for row, one in zip(values, found):
        row[np.searchsorted(places, one.places)] = one.values
    known = np.isfinite(values).any(axis=0)
    return places[known], values[:, known]


def _figure(subject: Subject, panel: str, runs: Sequence[Placed], name: str) -> Figure | None:
    groups = by_series(list(runs))
    chosen = [s for s in subject.series if s in groups][:SHOWN]
    lines = [line_of(s or panel or subject.name, subject.looks[s], groups[s], lambda some: _over_seeds(some, name)) for s in chosen]
    drawn = [line for line in lines if line is not None]
    if not drawn or max(len(line.x) for line in drawn) < 2:
        return None
    found = next(p.recorded.found[name] for p in runs if name in p.recorded.found)
    units = SIGNS.get(found.units, found.units)
    title = f"{name}: {found.title}" + (f" ({units})" if units else "")
    description = f"{title} by {found.axis}, {len(drawn)} {'line' if len(drawn) == 1 else 'lines'}; the table below holds the values"
    limits = (0.0, 100.0) if units == "%" else (-np.inf, np.inf)
    return line_chart(title, drawn, units == "%", description, limits, (found.axis, found.along))


def figures(subject: Subject) -> dict[str, list[Figure]]:
    """Panel -> its figures."""
    drawn = {}
    for panel, runs in subject.panels.items():
        names = sorted({name for placed in runs for name in placed.recorded.found})
        drawn[panel] = [figure for name in names if (figure := _figure(subject, panel, runs, name)) is not None]
    return {panel: found for panel, found in drawn.items() if found}
