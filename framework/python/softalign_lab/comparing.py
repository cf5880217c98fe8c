"""Comparison of runs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from os import PathLike, fspath
from typing import Any

import pandas as pd

from softalign_lab import _core
from softalign_lab.runs import Run, Runs
from softalign_lab.sweeping import Sweep

Compared = str | PathLike | Run | Runs | Sweep | Iterable["Compared"]


def places(given: Any) -> list[str]:
    """Returns the folders and files, as commands take them."""
    if isinstance(given, Run):
        return [fspath(given.path)]
    if isinstance(given, Runs):
        return given.paths
    if isinstance(given, Sweep):
        return [fspath(given.folder)]
    return [fspath(given)] if isinstance(given, (str, PathLike)) else [place for one in given for place in places(one)]


class Comparison:
    """Groups of runs that differ only in the seed, and their tests against a baseline. `data`: the output of `softalign compare --json`."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data

    def frame(self) -> pd.DataFrame:
        """Returns one row per group: the options in which groups differ, the number of seeds, mean and (of several seeds) standard deviation per metric."""
        rows = []
        for group in self.data["groups"]:
            row: dict[str, Any] = {**group["parameters"], "seeds": len(group["runs"])}
            for metric in self.data["metrics"]:
                over = group["metrics"][metric["name"]]
                row[metric["name"]] = over["mean"]
                if any(len(one["runs"]) > 1 for one in self.data["groups"]):
                    row[f"{metric['name']} sd"] = over["sd"]
            rows.append(row)
        return pd.DataFrame(rows, index=pd.RangeIndex(1, len(rows) + 1, name="group"))

    def tests(self) -> pd.DataFrame:
        """Returns one row per metric of each group against the baseline: differences over the seeds and over the test sentences, p-values (Holm)."""
        return pd.json_normalize(self.data["against_baseline"])

    def __repr__(self) -> str:
        return f"<Comparison of {len(self.data['groups'])} groups>"

    def _repr_html_(self) -> str:
        return self.frame().to_html(float_format="{:.4g}".format)


def compare(
    *runs: Compared, metrics: Sequence[str] = (), baseline: str | int | None = None, length: str = "", tests: bool = True
) -> Comparison:
    """Compares runs as `softalign compare` does. metrics: "bleu" (on test), "dev/loss" or "dev/loss:best"; length: of sources, "31-50"."""
    named = "" if baseline is None else str(baseline)
    return Comparison(json.loads(_core.compare(places(runs or ("results",)), ",".join(metrics), named, length, tests)))
