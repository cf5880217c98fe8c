"""Figures of runs and sweeps, as scripts/figures.py draws them for papers."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

from softalign_lab.comparing import Compared, places
from softalign_lab.style import drawn
from softalign_lab.program import answer
from softalign_lab.sweeping import Sweep

if TYPE_CHECKING:
    from softalign_tools.drawing import Drawing


def lengths(
    runs: Compared = "results",
    metric: str | Sequence[str] | None = None,
    band: str = "sd",
    *,
    names: Mapping[str, str] | None = None,
    width: str = "page",
    height: float | None = None,
    font: str = "sans",
) -> Drawing:
    """Draws a test metric by source length: the mean over seeds of runs that differ only in the seed, with the number of sentences; one panel per metric.

    band: "sd", "range" or "none", around a mean. names: {"additive": "ours"} renames lines. width: of a "column" or a "page" of a paper; height in inches.
    font: "serif" or "sans". Returns a matplotlib Figure whose `notes` name the seeds behind each mean and the runs that are left out. It
    neither uses nor changes the style of your own figures. Raises SpecError for metrics that the runs do not have, DataError if nothing was measured.
    """
    from softalign_tools import figures

    wanted = [metric] if isinstance(metric, str) else metric or []
    return drawn(font, band, width, lambda note: figures.lengths(places(runs), wanted, band, names or {}, width, height, note))


def heatmap(
    sweep: Sweep | str | PathLike,
    x: str | None = None,
    y: str | None = None,
    metric: str | None = None,
    best: bool = False,
    *,
    where: Mapping[str, Any] | None = None,
    width: str = "page",
    height: float | None = None,
    font: str = "sans",
) -> Drawing:
    """Draws a metric over two parameters of a sweep, the mean over seeds; the best cell is outlined.

    x, y: options, or the ends of their paths; not needed for a sweep over two. metric: "dev/loss", "test/bleu", or "dev/loss_best" of the best epoch;
    default: the sweep's own. where: {"layers": 2} selects rows; best: give the other parameters their best values. For the rest, see lengths().
    """
    from softalign_tools import figures

    (place,) = places(sweep)
    if os.path.exists(os.path.join(place, "plan.jsonl")):
        answer("sweep", "status", "--json", "--", place, codes=(0, 1))  # writes the current table; 1: a row cannot be read
    return drawn(font, "sd", width, lambda note: figures.heatmap(place, x, y, metric, where or {}, best, width, height, note))
