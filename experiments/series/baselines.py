#!/usr/bin/python3
"""Compares seasonal naive forecasts of the series with trained models, on the models' bins and windows.

baselines.py CSV RECORD [RECORD ..] [--figure FILE]: RECORD is a run.h5 of experiments/series/, or a folder with such files below it. A
seasonal naive forecast of a value is the value one season before, with a normal distribution whose standard deviation is that of its errors
on the training values. With "and AR(1)" its error is predicted from the previous error, e_t = phi e_{t-1}, with phi by least squares on the
training values. Likelihoods are those of each value given all values before it, as in training; forecasts of the whole horizon start from
the history alone. Models of the same kind of attention are one row: mean and standard deviation over runs.
"""

from __future__ import annotations

import argparse
import json
import math
from collections import defaultdict
from pathlib import Path
from typing import Any, NamedTuple

import h5py
import numpy as np

SEASONS = {24: "day", 168: "week"}


class Windows(NamedTuple):
    """The bins of a record, and the indices in the series at which its test windows begin."""

    bins: np.ndarray
    begins: np.ndarray
    history: int
    horizon: int
    training: int  # number of values

    def binned(self, values: np.ndarray) -> np.ndarray:
        return self.bins[np.searchsorted((self.bins[1:] + self.bins[:-1]) / 2, values, side="right")]


def numbers(texts: Any) -> np.ndarray:
    return np.array([[float(word) for word in text.split()] for text in texts.asstr()])


def windows_of(file: h5py.File, values: np.ndarray) -> Windows:
    task = json.loads(file["provenance/identity_json"].asstr()[()])["task"]
    horizon, test = task["horizon"], task["test"]
    stride = task.get("stride_test") or horizon
    symbols = file["data/target_vocabulary"].asstr()[()].split("\n")[1:-1]
    begins = np.arange(len(values) - test, len(values) - horizon + 1, stride)
    found = Windows(np.array(symbols, dtype=float), begins, task["history"], horizon, len(values) - test - task["dev"])
    wanted = np.stack([found.binned(values[begin : begin + horizon]) for begin in begins])
    assert np.array_equal(wanted, numbers(file["test/reference"])), "the record is of another series"
    return found


def log_mass(low: float, high: float) -> float:
    """Returns log(Phi(high) - Phi(low)), computed in the tail where both are small."""
    if low + high < 0:
        low, high = -high, -low
    return math.log((math.erfc(low / math.sqrt(2)) - math.erfc(high / math.sqrt(2))) / 2)


def nats(w: Windows, mean: np.ndarray, deviation: float, values: np.ndarray) -> float:
    """Returns the mean of -log of the probability mass of the values' bins."""
    edges = np.concatenate(([-math.inf], (w.bins[1:] + w.bins[:-1]) / 2, [math.inf]))
    at = np.searchsorted(w.bins, w.binned(values))
    return -float(np.mean([log_mass((edges[k] - m) / deviation, (edges[k + 1] - m) / deviation) for k, m in zip(at, mean)]))


class Naive(NamedTuple):
    """A seasonal naive forecast, without AR(1) if phi is 0."""

    season: int
    phi: float
    deviation: float

    @staticmethod
    def fitted(w: Windows, values: np.ndarray, season: int, autoregressive: bool) -> Naive:
        errors = values[season : w.training] - values[: w.training - season]
        phi = float(errors[1:] @ errors[:-1] / (errors[:-1] @ errors[:-1])) if autoregressive else 0.0
        rest = errors[1:] - phi * errors[:-1]
        return Naive(season, phi, float(np.sqrt(np.mean(rest**2))))

    def __str__(self) -> str:
        return f"the {SEASONS[self.season]} before" + (" and AR(1)" if self.phi else "")

    def one_step(self, values: np.ndarray, begin: int, horizon: int) -> np.ndarray:
        s, before = self.season, slice(begin - 1, begin + horizon - 1)
        errors = values[before] - values[begin - 1 - s : begin + horizon - 1 - s]
        return values[begin - s : begin + horizon - s] + self.phi * errors

    def whole(self, values: np.ndarray, begin: int, horizon: int) -> np.ndarray:
        season = values[begin - self.season : begin][np.arange(horizon) % self.season]
        error = values[begin - 1] - values[begin - 1 - self.season]
        return season + self.phi ** np.arange(1, horizon + 1) * error

    def measured(self, w: Windows, values: np.ndarray) -> tuple[float, float, float]:
        """Returns nats per value, mean absolute error and RMSE."""
        likelihood = np.mean([nats(w, self.one_step(values, b, w.horizon), self.deviation, values[b : b + w.horizon]) for b in w.begins])
        errors = np.array([w.binned(self.whole(values, b, w.horizon)) - w.binned(values[b : b + w.horizon]) for b in w.begins])
        return float(likelihood), float(abs(errors).mean()), float(np.sqrt((errors**2).mean()))


def name_of(file: h5py.File) -> str:
    attention = json.loads(file["provenance/identity_json"].asstr()[()])["model"]["attention"]
    kind = attention if isinstance(attention, str) else attention.get("type", "?")
    return "content" if kind == "global" else kind


def weight_on_last_week(file: h5py.File, w: Windows) -> float:
    """Returns the percentage of the weights within an hour of the value one week before the forecast one; NaN without attention."""
    if "alignments/cross/weights" not in file:
        return math.nan
    weights = file["alignments/cross/weights"][-1, :, 0, : w.horizon].mean(axis=0)  # [T,S] of the recorded windows
    first = w.history - max(SEASONS)
    near = sum(weights[t, max(0, first + t - 1) : first + t + 2].sum() for t in range(w.horizon))
    return 100 * float(near / weights.sum())


def records_below(paths: list[Path]) -> list[Path]:
    return [file for path in paths for file in ([path] if path.is_file() else sorted(path.rglob("run.h5")))]


def draw(figure: Path, w: Windows, values: np.ndarray, naive: Naive, models: dict[str, np.ndarray], which: int) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    begin = w.begins[which]
    hours = np.arange(w.horizon)
    plot, axes = plt.subplots(figsize=(6.5, 3), layout="constrained")
    axes.plot(np.arange(-24, 0), values[begin - 24 : begin], color="0.6")
    axes.plot(hours, values[begin : begin + w.horizon], color="black", label="demand")
    axes.plot(hours, naive.whole(values, begin, w.horizon), ":", color="0.3", label=str(naive))
    for name, forecasts in models.items():
        axes.plot(np.arange(len(forecasts)), forecasts, label=name, linewidth=1)
    axes.set(xlabel="hours from the first forecast", ylabel="MW")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncol=5, columnspacing=1, frameon=False, fontsize=8)
    plot.savefig(figure, dpi=200)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("csv", type=Path)
    parser.add_argument("records", type=Path, nargs="+", metavar="RECORD")
    parser.add_argument("--figure", type=Path, help="draw the forecasts of one window, for the first seed of each model")
    parser.add_argument("--window", type=int, default=0, help="window to draw (default: %(default)s)")
    arguments = parser.parse_args()
    values = np.loadtxt(arguments.csv, skiprows=1)
    rows: dict[str, list[tuple[float, ...]]] = defaultdict(list)
    drawn: dict[str, np.ndarray] = {}
    for path in records_below(arguments.records):
        with h5py.File(path) as file:
            if "test/hypothesis" not in file:
                print(f"{path}: skipped, it is not complete")
                continue
            windows, test = windows_of(file, values), file["test"]
            name = name_of(file)
            likelihood = test["nll"][()].sum() / (len(windows.begins) * windows.horizon)  # includes the model's loss on </s>
            rows[name].append((likelihood, test.attrs["mean_absolute_error"], test.attrs["rmse"], test.attrs["length_ratio"]))
            weight = weight_on_last_week(file, windows)
            on_week = "" if math.isnan(weight) else f", {weight:.0f} % of the weight within an hour of a week before"
            print(f"{path.parent.name} {name}: {likelihood:.3f} nats, MAE {rows[name][-1][1]:.0f} MW{on_week}")
            drawn.setdefault(name, np.array([float(word) for word in test["hypothesis"].asstr()[arguments.window].split()]))
    print(f"{len(windows.begins)} windows of {windows.horizon}; bins of about {np.diff(windows.bins).mean():.1f} MW")
    print("| forecast | nats per value | MAE, MW | RMSE, MW | runs |\n| --- | ---: | ---: | ---: | ---: |")
    baselines = [Naive.fitted(windows, values, season, ar) for ar in (False, True) for season in SEASONS]
    for naive in baselines:
        likelihood, mae, rmse = naive.measured(windows, values)
        print(f"| {naive} | {likelihood:.3f} | {mae:.0f} | {rmse:.0f} | |")
    for name, runs in rows.items():
        mean, spread = np.mean(runs, axis=0), np.std(runs, axis=0, ddof=1) if len(runs) > 1 else np.zeros(4)
        cells = [f"{m:.{d}f} ±{s:.{d}f}" for m, s, d in zip(mean, spread, (3, 0, 0))]
        assert abs(mean[3] - 1) < 1e-9, f"{name}: forecasts of other lengths than the horizon"
        print(f"| {name} | {' | '.join(cells)} | {len(runs)} |")
    if arguments.figure:
        draw(arguments.figure, windows, values, baselines[-1], drawn, arguments.window)


if __name__ == "__main__":
    main()
