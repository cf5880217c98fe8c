"""Sweeps and studies: many runs from one file."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from softalign_lab.options import Overrides, overrides
from softalign_lab.program import answer, errors
from softalign_lab.runs import Run, Runs

if TYPE_CHECKING:
    import optuna


class Sweep:
    """The rows of a sweep or study. `data`: the output of `softalign sweep run --json` or `study --json`."""

    def __init__(self, data: dict[str, Any], results: str | PathLike = "results") -> None:
        self.data = data
        self.folder = Path(results) / data["name"]
        self._rows: list[dict[str, Any]] = data["rows"] if "rows" in data else [{**run, "folder": str(self.folder / run["path"])} for run in data["runs"]]

    def __repr__(self) -> str:
        return f"<Sweep {self.name}, {len(self._rows)} rows: {self.folder}>"

    @property
    def name(self) -> str:
        return self.data["name"]

    @property
    def runs(self) -> Runs:
        """The complete runs, in the order of the rows."""
        return Runs([row["folder"] for row in self._rows if row["state"] == "complete"])

    def frame(self) -> pd.DataFrame:
        """Returns one row per run: its parameters and the sweep's metric, or part and variant; seed, state, run_id, folder."""
        metric = self.data["metric"]["name"] if "metric" in self.data else None
        rows = []
        for row in self._rows:
            named = {key: row[key] for key in ("part", "variant") if row.get(key)}
            rows.append({**named, **row.get("set", {}), "seed": row["seed"], "state": row["state"]})
            rows[-1].update({metric: row["metric"]} if metric else {}, run_id=row["run_id"], folder=row["folder"])
        return pd.DataFrame(rows)

    @property
    def best(self) -> Run | None:
        """The run of the first seed of the configuration with the best mean over seeds; None if no configuration is complete, and for a study."""
        complete = [one for one in self.data.get("ranking", []) if one["rows"]]
        return Run(self._rows[complete[0]["rows"][0]]["folder"]) if complete else None

    def claims(self) -> pd.DataFrame:
        """Returns one row per claim: claim, verdict, the values of both sides, the evidence."""
        return pd.json_normalize(self.data["claims"])

    def _repr_html_(self) -> str:
        return self.frame().drop(columns="folder").to_html(index=False, float_format="{:.4g}".format)


def sweep(
    file: str | PathLike, changes: Overrides = None, *, workers: int | None = None, threads: int = 1, results: str | PathLike = "results", tiny: bool = False
) -> Sweep:
    """Runs or resumes a sweep or a study; complete runs are not run again. Progress goes to standard error.

    workers: number of processes at a time (default: cores / threads); threads: per process. tiny: a study's tiny form, with one seed. Raises
    SpecError, DataError, MachineError. A claim that fails raises no error.
    """
    words: list[object] = [fspath(Path(file)), *overrides(changes), "--json", "--threads", threads, "--results", fspath(results)]
    words += ["--workers", workers] * (workers is not None) + ["--tiny"] * tiny
    return Sweep(answer("sweep", "run", *words, codes=(0, 4), shown=True), results)


def optimise(
    study: optuna.Study,
    sweep: str | PathLike,
    n: int,
    *,
    results: str | PathLike = "results",
    workers: int = 1,
    threads: int = 1,
    plugins: Sequence[str] = (),
) -> Sweep:
    """Runs n trials of your own Optuna study, with its sampler and its pruner; the search space is the parameters of a sweep with `method: optuna`.

    A trial is a configuration, with one run per seed of the sweep; its value is the mean of the sweep's metric over these runs. With one seed, the
    pruner sees every evaluation and may stop the run. Rows that the sweep already has and the study does not know are asked for first, and are not run
    again. The file's run_cap and early_terminate are for `sa.sweep` and are ignored here. workers: trials at a time; threads: of each run. Ctrl-C stops
    the search; the trials that it cuts off come first the next time, and resume. A trial's user_attrs contain its run_ids. Returns all rows of the
    sweep. Raises SpecError, DataError, MachineError (three trials failed, or another process searches the sweep).
    """
    from softalign_tools.optuna_search import search

    with errors():
        return Sweep(search(study, Path(sweep), n, fspath(results), list(plugins), workers, threads), results)
