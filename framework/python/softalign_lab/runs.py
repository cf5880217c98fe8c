"""Runs and their records."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from io import StringIO
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import pandas as pd

from softalign_lab import _core
from softalign_lab.models import Hypothesis, Model, alignment
from softalign_lab.style import drawn

if TYPE_CHECKING:
    import numpy as np
    import xarray
    from softalign_tools.drawing import Drawing

Place = str | PathLike


def _frame(paths: list[str], what: str) -> tuple[pd.DataFrame, list[str]]:
    table, faults = _core.export(paths, what)
    return pd.DataFrame(json.loads(table)), faults


class Run:
    """One run: its folder, or a record on its own. Nothing is read until it is needed; reading damaged data raises DataError."""

    def __init__(self, path: Place) -> None:
        self.path = Path(path)

    def __repr__(self) -> str:
        return f"<Run {self.name} {self.run_id}, {self.state}: {self.path}>"

    @property
    def record(self) -> _core.Record:
        """The arrays, texts and attributes of run.h5, as NumPy has them: `record.array("test", "nll")`. The file is open as long as the object lives."""
        return _core.Record(fspath(self.path))

    @property
    def summary(self) -> dict[str, Any]:
        """The current entry of `softalign ls --json`."""
        return _core.summary(fspath(self.path))

    @property
    def state(self) -> str:
        """The current state: planned, running, interrupted, complete, ..."""
        return self.summary["state"]

    @property
    def run_id(self) -> str:
        return self.summary["run_id"]

    @property
    def name(self) -> str:
        return self.summary["name"]

    @property
    def metrics(self) -> dict[str, float]:
        """The metrics on the whole test set; empty before the run was tested."""
        return {name: value for name, value in self.summary.get("test", {}).items() if name != "n"}

    @cached_property
    def options(self) -> dict[str, Any]:
        """The options that are part of the run ID, by path: {"model.encoder.units": 64, ...}."""
        return dict(_flat(json.loads(self.record.identity)))

    @property
    def spec(self) -> str:
        """The resolved spec as YAML, each value with its origin."""
        return self.record.spec_yaml

    @property
    def facts(self) -> dict[str, Any]:
        """The output of `softalign show --json`: provenance, data, attempts, diagnostics, ..."""
        return self.record.facts()

    def _series(self, name: str) -> pd.DataFrame:
        return pd.DataFrame(self.record.series(name)).set_index("update")

    @property
    def train(self) -> pd.DataFrame:
        """The learning curve by update: loss (nats), tokens, gradient_norm, ..."""
        return self._series("train")

    @property
    def dev(self) -> pd.DataFrame:
        """The dev metrics by update."""
        return self._series("dev")

    @property
    def test(self) -> pd.DataFrame:
        """The test metrics: a row for all sentences, and one for each range of source lengths that has sentences."""
        rows = {name: row for name, row in self.facts["test"].items() if row["n"] > 0}
        return pd.DataFrame.from_dict(rows, orient="index")

    @property
    def sentences(self) -> pd.DataFrame:
        """A row per test sentence: source, reference, hypothesis, and the counts behind each metric."""
        table, faults = _frame([fspath(self.path)], "sentences")
        if faults:
            raise _core.DataError(faults[0])
        return table

    @property
    def tree(self) -> xarray.DataTree:
        """The whole record as a DataTree. Needs xarray 2024.10 or newer."""
        import xarray

        return xarray.open_datatree(self.record.file, engine="h5netcdf")

    def alignment(self, sentence: int, module: str = "", head: int | None = None, update: int | None = None) -> xarray.DataArray:
        """Returns the recorded attention of a test sentence, target × source, with its words. Default: the mean over heads, at the newest update.

        module: one of `record.modules()`; "" is the one that `softalign show` takes. Raises DataError if nothing was recorded.
        """
        record = self.record
        module = module or record.default_module()
        if not module:
            raise _core.DataError(f"{self.path}: it has no alignments")
        found = record.alignments(module, sentence)
        newest = max((one["update"] for one in found), default=None) if update is None else update
        found = [one for one in found if one["update"] == newest and head in (None, one["head"])]
        if not found:
            raise _core.DataError(f"{self.path}: sentence {sentence} has no alignment of this head and update in {module}")
        weights = sum(one["weights"] for one in found) / len(found)
        return alignment(weights, found[0]["target"], found[0]["source"], module=module, sentence=sentence, update=newest)

    def model(self, search: Mapping[str, Any] | str | None = None, state: str = "", threads: int = 0, **changes: Any) -> Model:
        """Returns the trained model, loaded from the record alone."""
        return Model([fspath(self.path)], search, state, threads, **changes)

    def translate(self, lines: Sequence[str] | Sequence[np.ndarray], n_best: int | None = None, **how: Any) -> list[Any]:
        """Returns the best hypothesis of each line, None for a line without words; with n_best, a list of hypotheses per line. how: see model()."""
        found = self.model(**how).translate(lines, n_best or 1)
        return found if n_best else [one[0] if one else None for one in found]

    def score(self, sources: Sequence[str], targets: Sequence[str], **how: Any) -> list[Hypothesis]:
        """Returns the given translations with the model's scores."""
        return self.model(**how).score(sources, targets)

    def evaluate(self, split: str = "test", **how: Any) -> dict[str, Any]:
        """Measures the metrics on "dev" or "test" again. how: see model(), for example search={"width": 10}, lengths=[20]."""
        return self.model(**how).evaluate(split)

    def plot(self, metrics: Sequence[str] = ("loss",)) -> Drawing:
        """Draws the learning curves of the training and the dev set, one panel per metric, in the style of lengths()."""
        known = sorted({name for split in ("train", "dev") for name in self._series(split)})
        if unknown := [metric for metric in metrics if metric not in known]:
            raise _core.SpecError(f"no curve of {unknown[0]!r}; there are: {', '.join(known)}")
        return drawn("sans", "sd", "page", lambda note: self._curves(metrics))

    def _curves(self, metrics: Sequence[str]) -> Drawing:
        from softalign_tools.drawing import Drawing, looks

        figure = Drawing(figsize=(3.15 * len(metrics), 2.4), layout="constrained")
        for axes, metric in zip(figure.subplots(1, len(metrics), squeeze=False)[0], metrics):
            for name, look in looks(("train", "dev")).items():
                series = self._series(name)
                if metric in series:
                    series[metric].dropna().plot(ax=axes, label=name, **look | ({"marker": None} if name == "train" else {}))
            axes.set(xlabel="update", ylabel=metric.replace("_", " "))
            axes.legend()
        return figure

    def _repr_html_(self) -> str:
        heading = f"<p><b>{_escaped(self.name)}</b> <code>{_escaped(self.run_id)}</code>, {_escaped(self.state)}</p>"
        return heading + (self.test.to_html(float_format="{:.4g}".format) if self.metrics else "")


class Runs(Sequence[Run]):
    """Several runs, in order."""

    def __init__(self, paths: Sequence[Place]) -> None:
        self._runs = [Run(path) for path in paths]

    @overload
    def __getitem__(self, at: int) -> Run: ...
    @overload
    def __getitem__(self, at: slice) -> Runs: ...
    def __getitem__(self, at: int | slice) -> Run | Runs:
        return Runs([run.path for run in self._runs[at]]) if isinstance(at, slice) else self._runs[at]

    def __len__(self) -> int:
        return len(self._runs)

    def __iter__(self) -> Iterator[Run]:
        return iter(self._runs)

    def __repr__(self) -> str:
        return f"<{len(self)} runs>"

    @property
    def paths(self) -> list[str]:
        return [fspath(run.path) for run in self]

    def _table(self, what: str) -> pd.DataFrame:
        table, faults = _frame(self.paths, what)
        table.attrs["left_out"] = faults
        return table

    def frame(self) -> pd.DataFrame:
        """Returns one row per run: state, seed, options by path, metrics. Runs that cannot be read are named in `.attrs["left_out"]`."""
        return self._table("runs")

    def curves(self) -> pd.DataFrame:
        """Returns one row per recorded number: run_id, name, seed, series, update, metric, value."""
        return self._table("curves")

    def sentences(self) -> pd.DataFrame:
        """Returns one row per test sentence of each run."""
        return self._table("sentences")

    def model(self, **how: Any) -> Model:
        """Returns the ensemble of their models. how: see Run.model()."""
        return Model(self.paths, **how)

    def _repr_html_(self) -> str:
        table = self.frame()
        shown = [name for name in ("name", "run_id", "state", "seed", "updates") if name in table]
        shown += [name for name in map(str, table) if name.startswith("test/") and not name.endswith(":signature")]
        return table[shown].to_html(index=False, float_format="{:.4g}".format) if len(table) else "<p>no runs</p>"


def runs(*places: Place, results: Place = "results") -> Runs:
    """Returns the runs at these places: a run's folder or run.h5, a folder with runs below it, or the beginning of the ID of a run below `results`.

    Without places, all runs below `results`. Raises SpecError for any other place.
    """
    return Runs(_core.find_runs([fspath(place) for place in places or (results,)], fspath(results)))


def _flat(tree: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in tree.items():
        name = f"{path}.{key}" if path else key
        if isinstance(value, dict):
            yield from _flat(value, name)
        else:
            yield name, value


def _escaped(text: str) -> str:
    from html import escape

    return escape(text)
