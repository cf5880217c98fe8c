"""Runs and what their records hold."""

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
    """One run: its folder, or a record that lies alone. Nothing is read before it is asked for; everything raises DataError where it is damaged."""

    def __init__(self, path: Place) -> None:
        self.path = Path(path)

    def __repr__(self) -> str:
        return f"<Run {self.name} {self.run_id}, {self.state}: {self.path}>"

    @property
    def record(self) -> _core.Record:
        """The arrays, texts and attributes of run.h5, as NumPy has them: `record.array("test", "nll")`. The file is open as long as it lives."""
        return _core.Record(fspath(self.path))

    @property
    def summary(self) -> dict[str, Any]:
        """What `softalign ls --json` says of it now."""
        return _core.summary(fspath(self.path))

    @property
    def state(self) -> str:
        """planned, running, interrupted, complete, ..., as it is now."""
        return self.summary["state"]

    @property
    def run_id(self) -> str:
        return self.summary["run_id"]

    @property
    def name(self) -> str:
        return self.summary["name"]

    @property
    def metrics(self) -> dict[str, float]:
        """Of the whole test set; empty before there is a test."""
        return {name: value for name, value in self.summary.get("test", {}).items() if name != "n"}

    @cached_property
    def options(self) -> dict[str, Any]:
        """What names the run, by path: {"model.encoder.units": 64, ...}."""
        return dict(_flat(json.loads(self.record.identity)))

    @property
    def spec(self) -> str:
        """The resolved spec as YAML, each value with its origin."""
        return self.record.spec_yaml

    @property
    def facts(self) -> dict[str, Any]:
        """What `softalign show --json` prints: provenance, data, attempts, diagnostics, ..."""
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
        """The test metrics; a row for all sentences and for each range of source lengths that has some."""
        rows = {name: row for name, row in self.facts["test"].items() if row["n"] > 0}
        return pd.DataFrame.from_dict(rows, orient="index")

    @property
    def sentences(self) -> pd.DataFrame:
        """A row a test sentence: source, reference, hypothesis, and the counts behind each metric."""
        table, faults = _frame([fspath(self.path)], "sentences")
        if faults:
            raise _core.DataError(faults[0])
        return table

    @property
    def tree(self) -> xarray.DataTree:
        """The whole record. Needs xarray 2024.10 or newer."""
        import xarray

        return xarray.open_datatree(self.record.file, engine="h5netcdf")

    def alignment(self, sentence: int, module: str = "", head: int | None = None, update: int | None = None) -> xarray.DataArray:
        """The recorded attention of a test sentence, target × source, with its words. Without a head their mean, at the newest update there is.

        module: one of `record.modules()`; "" is what `softalign show` takes. Raises DataError where nothing was recorded.
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
        """The trained model, from the record alone."""
        return Model([fspath(self.path)], search, state, threads, **changes)

    def translate(self, lines: Sequence[str] | Sequence[np.ndarray], n_best: int | None = None, **how: Any) -> list[Any]:
        """The best hypothesis of each line, None for a line without words; with n_best a list of hypotheses for each. how: as model()."""
        found = self.model(**how).translate(lines, n_best or 1)
        return found if n_best else [one[0] if one else None for one in found]

    def score(self, sources: Sequence[str], targets: Sequence[str], **how: Any) -> list[Hypothesis]:
        """Given translations, scored by the model."""
        return self.model(**how).score(sources, targets)

    def evaluate(self, split: str = "test", **how: Any) -> dict[str, Any]:
        """The metrics of "dev" or "test", measured again: how={"search": {"width": 10}, "lengths": [20]}."""
        return self.model(**how).evaluate(split)

    def plot(self, metrics: Sequence[str] = ("loss",)) -> Drawing:
        """Learning curves of the training and the dev set, beside each other for several metrics, in the style of lengths()."""
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
    """Several runs in order."""

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
        """A row a run: state, seed, options by path, metrics. Runs that cannot be read are named in `.attrs["left_out"]`."""
        return self._table("runs")

    def curves(self) -> pd.DataFrame:
        """A row a number: run_id, name, seed, series, update, metric, value."""
        return self._table("curves")

    def sentences(self) -> pd.DataFrame:
        """A row a test sentence of each run."""
        return self._table("sentences")

    def model(self, **how: Any) -> Model:
        """The models of all of them, asked together: an ensemble."""
        return Model(self.paths, **how)

    def _repr_html_(self) -> str:
        table = self.frame()
        shown = [name for name in ("name", "run_id", "state", "seed", "updates") if name in table]
        shown += [name for name in map(str, table) if name.startswith("test/") and not name.endswith(":signature")]
        return table[shown].to_html(index=False, float_format="{:.4g}".format) if len(table) else "<p>no runs</p>"


def runs(*places: Place, results: Place = "results") -> Runs:
    """The runs that the places name: a run's folder or run.h5, a folder above some, or the beginning of a run's ID below `results`.

    Without places, those below `results`. Raises SpecError for any other place.
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
