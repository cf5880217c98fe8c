"""Forecasts of a series: a sine with noise is learned, measured as a likelihood, and continued."""

from __future__ import annotations

import json
import math
from pathlib import Path

import h5py
import numpy as np
import pytest

from command_line import MODEL, TINY, answer, error, softalign

PERIOD, HISTORY, HORIZON, NOISE = 12, 24, 6, 0.5
DEV = TEST = 48

SPEC = f"""\
name: sine
task: {{type: series, file: sine.csv, column: level, history: {HISTORY}, horizon: {HORIZON}, dev: {DEV}, test: {TEST}, bins: 40}}
{MODEL}evaluate: {{search: greedy}}
""".replace("model:\n", "model:\n  output: gaussian\n")


def levels(count: int) -> np.ndarray:
    time = np.arange(count)
    return 100 + 10 * np.sin(2 * math.pi * time / PERIOD) + NOISE * np.random.default_rng(1).standard_normal(count)


def write(path: Path, values: np.ndarray) -> None:
    path.write_text("time,level\n" + "".join(f"{t},{value:.3f}\n" for t, value in enumerate(values)))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path / "sine.csv", levels(400))
    (tmp_path / "sine.yaml").write_text(SPEC)
    return tmp_path


def record_of(folder: Path, name: str = "sine") -> Path:
    [record] = (folder / "results" / name).glob("*/run.h5")
    return record


def numbers(texts: h5py.Dataset) -> np.ndarray:
    return np.array([[float(word) for word in text.split()] for text in texts.asstr()])


def log_masses(edges: np.ndarray, mean: float, deviation: float) -> np.ndarray:
    below = [0.0, *(math.erfc((mean - edge) / deviation / math.sqrt(2)) / 2 for edge in edges), 1.0]
    return np.log(np.diff(below))


def test_a_model_learns_to_continue_a_series(folder: Path) -> None:
    softalign("run", "sine.yaml", "train.epochs=40", "train.optimizer.learning_rate=0.02", cwd=folder)
    record = record_of(folder)
    training = np.loadtxt(folder / "sine.csv", delimiter=",", skiprows=1)[: -DEV - TEST, 1]
    with h5py.File(record) as file:
        assert file["data/frame_mean"][0] == pytest.approx(training.astype("float32").mean(dtype=float), rel=1e-9)
        bins = np.array([float(symbol) for symbol in file["data/target_vocabulary"].asstr()[()].split("\n")[1:-1]])
        hypotheses, references = numbers(file["test/hypothesis"]), numbers(file["test/reference"])
        texts = list(file["test/hypothesis"].asstr())
        nll, metrics = file["test/nll"][()].sum(), dict(file["test"].attrs)
    assert len(bins) == 40 and references.shape == (TEST // HORIZON, HORIZON)
    assert np.isin(references, bins).all()
    assert abs(references.ravel() - levels(400)[-TEST:]).max() <= np.diff(bins).max() / 2 + 1e-3
    assert metrics["mean_absolute_error"] == pytest.approx(abs(hypotheses - references).mean(), rel=1e-12)
    assert metrics["rmse"] == pytest.approx(math.sqrt(((hypotheses - references) ** 2).mean()), rel=1e-12)
    # More likely than under the distribution of all training values, and nearer than their mean, which is 6.4 off.
    edges = (bins[1:] + bins[:-1]) / 2
    of_training = log_masses(edges, training.mean(), training.std())
    assert nll / references.size < -of_training[np.searchsorted(bins, references)].mean() - 1
    assert metrics["mean_absolute_error"] < 1.5
    # The record is enough to measure, continue and sample new values.
    assert answer("evaluate", record, cwd=folder)["metrics"]["all"]["loss"] == pytest.approx(metrics["loss"], rel=1e-12)
    assert "the same bits again" in softalign("verify", record, "--quick", cwd=folder).stdout
    write(folder / "later.csv", np.loadtxt(folder / "sine.csv", delimiter=",", skiprows=1)[-TEST - HISTORY :, 1])
    later = answer("evaluate", record, "task.file=later.csv", cwd=folder)
    assert later["changed_data"] == ["task.file"]
    assert later["metrics"]["all"] == answer("evaluate", record, cwd=folder)["metrics"]["all"]
    history = " ".join(map(str, np.loadtxt(folder / "later.csv", delimiter=",", skiprows=1)[:HISTORY, 1]))
    assert softalign("translate", record, cwd=folder, text=history + "\n").stdout.splitlines() == texts[:1]
    path = softalign("translate", record, "search=sample", cwd=folder, text=history + "\n").stdout.split()
    assert len(path) == HORIZON and all(float(word) in bins for word in path)
    for command in (["show", record], ["report", "results", "-o", "report.html"], ["ls", "results"]):
        softalign(*command, cwd=folder)


@pytest.mark.parametrize("search", ["greedy", "beam", "sample"])
def test_a_forecast_has_as_many_values_as_the_horizon(folder: Path, search: str) -> None:
    short = [f"evaluate.search={search}", "train.max_updates=2"]  # such a model ends its forecasts anywhere
    table = softalign("run", "sine.yaml", *short, f"name={search}", cwd=folder).stdout
    assert all(name in table for name in ("loss", "mean_absolute_error", "rmse")) and "bleu" not in table
    with h5py.File(record_of(folder, search)) as file:
        assert numbers(file["test/hypothesis"]).shape == (TEST // HORIZON, HORIZON)
        metrics = dict(file["test"].attrs)
        assert metrics["length_ratio"] == 1 and metrics["cut_off"] == 0 and "rmse" in metrics
        main = {name for name, array in file["test/by_length"].items() if array.attrs.get("main")}
        assert main == {"loss", "mean_absolute_error", "rmse"}
    # Unless the spec says otherwise; errors over values that a forecast lacks are undefined.
    softalign("run", "sine.yaml", *short, f"name={search}_short", "evaluate.search.min_ratio=0", "evaluate.search.max_ratio=0.1", "evaluate.search.max_extra=0", cwd=folder)
    with h5py.File(record_of(folder, f"{search}_short")) as file:
        assert all(len(text.split()) <= 2 for text in file["test/hypothesis"].asstr())
        assert "rmse" not in file["test"].attrs and "mean_absolute_error" not in file["test"].attrs


def test_new_values_are_those_of_the_nearest_bins(folder: Path) -> None:
    softalign("run", "sine.yaml", "train.max_updates=2", cwd=folder)
    record = record_of(folder)
    values = levels(400)
    history = " ".join(f"{value:.3f}" for value in values[:HISTORY]) + "\n"
    (folder / "history.txt").write_text(history)
    with h5py.File(record) as file:
        bins = np.array([float(symbol) for symbol in file["data/target_vocabulary"].asstr()[()].split("\n")[1:-1]])
    future = values[HISTORY : HISTORY + HORIZON]
    nearest = [bins[abs(bins - value).argmin()] for value in future]
    scores = []
    for target in (future, nearest):
        (folder / "target.txt").write_text(" ".join(f"{value:.5f}" for value in target) + "\n")
        scored = softalign("score", record, "--source", "history.txt", "--target", "target.txt", cwd=folder)
        assert "<unk>" not in scored.stderr
        scores.append(scored.stdout)
    assert scores[0] == scores[1]
    (folder / "prefix.txt").write_text(f"{future[0]} 1e6\n")
    forecast = softalign("translate", record, "--prefixes", "prefix.txt", cwd=folder, text=history)
    written = [float(word) for word in forecast.stdout.split()]
    assert len(written) == HORIZON and written[:2] == [nearest[0], bins[-1]] and not forecast.stderr
    phrase = nearest[: HORIZON - 1]
    (folder / "phrases.txt").write_text(" ".join(map(str, future[: HORIZON - 1])) + "\n")
    forecast = softalign("translate", record, "search=beam", "--constraints", "phrases.txt", cwd=folder, text=history)
    written = [float(word) for word in forecast.stdout.split()]
    assert len(written) == HORIZON and phrase in (written[:-1], written[1:])


def test_a_history_of_another_length_is_refused(folder: Path) -> None:
    softalign("run", "sine.yaml", "train.max_updates=1", cwd=folder)
    record, history = record_of(folder), " ".join(["100"] * HISTORY) + "\n"
    said = error("translate", record, cwd=folder, text=history + "\n5\n", code=3)
    assert "standard input:3: 1 value, but task.history is 24" in said
    (folder / "long.txt").write_text(history.strip() + " 100\n")
    (folder / "target.txt").write_text("100\n")
    said = error("score", record, "--source", "long.txt", "--target", "target.txt", cwd=folder, code=3)
    assert "long.txt:1: 25 values, but task.history is 24" in said
    with h5py.File(folder / "short.h5", "w") as file:
        file["frames"], file["lengths"] = np.ones((3, 1), "float32"), [3]
    assert "short.h5: array 0: 3 values" in error("translate", record, "--frames", "short.h5", cwd=folder, code=3)


def test_cells_without_a_number_are_refused_by_line(folder: Path) -> None:
    (folder / "sine.csv").write_text((folder / "sine.csv").read_text().replace("\n20,", "\n20,nan"))
    for command in ("run", "validate"):
        assert "sine.csv:22: 'nan" in softalign(command, "sine.yaml", cwd=folder, code=3).stderr


def test_values_beyond_the_bins_are_reported(folder: Path) -> None:
    values = levels(400)
    values[-3:] = 500
    write(folder / "sine.csv", values)
    assert "3 of 48 values to forecast in test lie beyond the bins" in softalign("run", "sine.yaml", "train.max_updates=1", cwd=folder).stderr


def test_a_gaussian_needs_numbers(folder: Path) -> None:
    (folder / "tiny.yaml").write_text(TINY)
    found = error("run", "tiny.yaml", "model.output=gaussian", cwd=folder, code=2)
    assert "symbol 'a' is not a number" in found and "series" in found
    assert "tied_embeddings" in error("run", "sine.yaml", "model.tied_embeddings=target", "model.decoder.readout=linear", cwd=folder, code=2)


def test_errors_of_numbers_are_not_measured_on_words(folder: Path) -> None:
    (folder / "tiny.yaml").write_text(TINY)
    softalign("run", "tiny.yaml", "train.max_updates=1", cwd=folder)
    with h5py.File(record_of(folder, "tiny")) as file:
        assert "absolute_error" not in file["test"] and "rmse" not in file["test/by_length"]
    watched = "train.early_stopping={metric: dev/rmse, patience: 1}"
    softalign("run", "sine.yaml", watched, "evaluate.search_dev=true", "train.max_updates=1", cwd=folder)
    assert "dev/rmse" in error("run", "tiny.yaml", watched, "evaluate.search_dev=true", cwd=folder, code=2)


def test_a_report_counts_the_source_in_frames(folder: Path) -> None:
    softalign("run", "sine.yaml", "train.epochs=1", cwd=folder)
    (run,) = json.loads(softalign("export", "results", "--what", "report", "--resamples=0", cwd=folder).stdout)["runs"]
    assert run["record"]["length_unit"] == "frames"
