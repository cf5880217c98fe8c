"""softalign_lab has the numbers of the program, bit for bit, and its error messages."""

from __future__ import annotations

import csv
import os
import shutil
import signal
import threading
from pathlib import Path
from typing import Any

import numpy
import pytest
import softalign_lab as sa
from command_line import TINY, answer, json_lines, softalign

h5py = pytest.importorskip("h5py", reason="python3-h5py is not installed")


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns runs: two scores with two seeds each, and no attention with one seed."""
    folder = tmp_path_factory.mktemp("package")
    (folder / "tiny.yaml").write_text(TINY)
    for changes in ({"seed": 1}, {"seed": 2}, {"seed": 1, "model.attention.score": "general"}, {"seed": 2, "model.attention.score": "general"}):
        sa.run(folder / "tiny.yaml", {**changes, "train.epochs": 8}, results=folder / "results", progress=False)
    sa.run(folder / "tiny.yaml", {"model.attention": "none", "train.epochs": 8}, results=folder / "results", progress=False)
    return folder


@pytest.fixture()
def run(results: Path) -> sa.Run:
    return next(run for run in sa.runs(results / "results") if run.options["model.attention.type"] == "global")


# --- training


def test_a_run_has_the_bits_of_the_program(results: Path, run: sa.Run, tmp_path: Path) -> None:
    (tmp_path / "tiny.yaml").write_text(TINY)
    score = run.options["model.attention.score.type"]
    changes = [f"model.attention.score={score}"] * (score != "additive")  # else with its own options
    softalign("run", "tiny.yaml", f"seed={run.options['seed']}", *changes, "train.epochs=8", cwd=tmp_path)
    (other,) = sa.runs(results=tmp_path / "results")
    assert other.run_id == run.run_id
    softalign("diff", run.path, other.path, "--exit-code", cwd=tmp_path)


def test_callbacks_are_told_of_every_evaluation_and_update(tmp_path: Path) -> None:
    (tmp_path / "tiny.yaml").write_text(TINY)
    evaluations: list[dict[str, Any]] = []
    updates: list[int] = []
    run = sa.run(
        tmp_path / "tiny.yaml", {"train.epochs": 3}, results=tmp_path, progress=False,
        on_evaluation=evaluations.append, on_update=lambda told: updates.append(told["update"]),
    )  # fmt: skip
    assert [told["update"] for told in evaluations] == list(run.dev.index)
    assert [told["metrics"]["loss"] for told in evaluations] == list(run.dev["loss"])
    assert updates == list(run.train.index)
    again: list[Any] = []
    assert sa.run(tmp_path / "tiny.yaml", {"train.epochs": 3}, results=tmp_path, on_evaluation=again.append).run_id == run.run_id
    assert again == []  # it was complete


@pytest.mark.parametrize("by", ["callback", "signal"])
def test_a_run_that_was_stopped_goes_on_to_the_same_bits(tmp_path: Path, by: str) -> None:
    (tmp_path / "tiny.yaml").write_text(TINY)

    def stop(told: dict[str, Any]) -> None:
        if told["update"] == 9 and by == "callback":
            raise ZeroDivisionError("enough")
        if told["update"] == 9:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(ZeroDivisionError if by == "callback" else KeyboardInterrupt):
        sa.run(tmp_path / "tiny.yaml", {"train.epochs": 8}, results=tmp_path / "stopped", progress=False, on_update=stop)
    assert [run.state for run in sa.runs(tmp_path / "stopped")] == ["interrupted"]
    stopped = sa.run(tmp_path / "tiny.yaml", {"train.epochs": 8}, results=tmp_path / "stopped", progress=False)
    whole = sa.run(tmp_path / "tiny.yaml", {"train.epochs": 8}, results=tmp_path / "whole", progress=False, threads=1)
    assert len(stopped.record.array("provenance/attempts", "attempt")) == 2
    softalign("diff", whole.path, stopped.path, "--exit-code", cwd=tmp_path)


def test_a_spec_may_be_a_mapping(tmp_path: Path) -> None:
    (tmp_path / "tiny.yaml").write_text(TINY)
    given = {"extends": str(tmp_path / "tiny.yaml"), "train": {"epochs": 1}, "seed": 3}
    run = sa.run(given, ["notes=from Python"], results=tmp_path / "results", progress=False)
    assert run.options["train.epochs"] == 1 and run.options["seed"] == 3 and "from Python" in run.spec
    assert "epochs: 1" in sa.resolve(given)


def test_progress_is_a_line_for_each_evaluation(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "tiny.yaml").write_text(TINY)
    sa.run(tmp_path / "tiny.yaml", {"train.epochs": 2}, results=tmp_path)
    lines = capfd.readouterr().err.splitlines()
    assert len([line for line in lines if "dev: loss" in line]) == 2


# --- reading


def test_tables_are_those_of_export(results: Path) -> None:
    runs = sa.runs(results / "results")
    assert len(runs) == 5 and len(runs[1:3]) == 2
    for what, table in (("runs", runs.frame()), ("curves", runs.curves()), ("sentences", runs.sentences())):
        exported = list(csv.DictReader(softalign("export", "results", "--what", what, cwd=results).stdout.splitlines()))
        assert list(table.columns) == list(exported[0]) and len(table) == len(exported)
        number = {"runs": "test/bleu", "curves": "value", "sentences": "nll"}[what]
        assert [float(row[number]) for row in exported if row[number]] == [value for value in table[number].astype(float) if value == value]


def test_a_damaged_run_is_named_in_the_table(results: Path, tmp_path: Path) -> None:
    shutil.copytree(results / "results", tmp_path / "results")
    damaged = sorted(tmp_path.rglob("run.h5"))[0]
    damaged.write_bytes(b"nothing")
    table = sa.runs(tmp_path / "results").frame()
    assert len(table) == 4 and str(damaged) in table.attrs["left_out"][0]
    with pytest.raises(sa.DataError, match="not an HDF5 file"):
        sa.Run(damaged.parent).record


def test_a_run_has_its_series_metrics_and_sentences(run: sa.Run) -> None:
    with h5py.File(run.path / "run.h5") as file:
        assert list(run.dev.index) == list(file["dev/update"][:]) and list(run.dev["loss"]) == list(file["dev/loss"][:])
        assert list(run.train["loss"]) == list(file["train/loss"][:])
        assert run.metrics["bleu"] == file["test"].attrs["bleu"] == run.test["bleu"]["all"]
        by_length = file["test/by_length"]
        assert list(run.test.index) == ["all", *(label for label, n in zip(by_length["label"].asstr()[:], by_length["n"][:]) if n > 0)]
        assert list(run.sentences["nll"]) == list(file["test/nll"][:])
        assert list(run.record.array("test", "source")) == list(file["test/source"].asstr()[:])
        for name, values in run.record.parameters().items():
            assert numpy.array_equal(values, file["parameters"][name][()]), name
    assert run.options["model.encoder.units"] == 8 and run.state == "complete"


def test_arrays_are_not_copied(run: sa.Run) -> None:
    nll = run.record.array("test", "nll")
    assert type(nll.base).__name__ == "PyCapsule" and nll.dtype == "float64" and run.record.axes("test", "nll") == ["sentence"]


def test_an_alignment_has_its_words(run: sa.Run) -> None:
    xarray = pytest.importorskip("xarray")
    found = run.alignment(2)
    assert isinstance(found, xarray.DataArray) and found.dims == ("target", "source")
    shown = softalign("show", run.path, "--sentence", 2, cwd=run.path).stdout
    assert all(word in shown for word in found.source.values)
    with h5py.File(run.path / "run.h5") as file:
        at = list(file["alignments/cross/sentence"][:]).index(2)
        rows, columns = found.shape
        assert numpy.array_equal(found.values, file["alignments/cross/weights"][0, at, 0][:rows, :columns])
    numpy.testing.assert_allclose(found.sum("source"), 1, rtol=1e-5)
    for wrong in ({"sentence": 999}, {"sentence": 2, "head": 7}, {"sentence": 2, "update": 1}):
        with pytest.raises(sa.DataError, match="sentence"):
            run.alignment(**wrong)


# --- models


def test_translations_and_scores_are_the_programs(run: sa.Run, tmp_path: Path) -> None:
    lines = ["a b c", "", "d e"]
    found = run.translate(lines)
    assert [str(one) if one else "" for one in found] == softalign("translate", run.path, cwd=run.path, text="\n".join(lines) + "\n").stdout.splitlines()
    (first, *_) = json_lines("translate", run.path, "--n-best", 3, "search=beam", "search.width=3", cwd=run.path, text="a b c\n")
    best = run.translate(["a b c"], n_best=3, search={"type": "beam", "width": 3})[0]
    assert [one.score for one in best] == [one["score"] for one in first["hypotheses"]]
    assert best[0].weights.shape == (len(best[0].tokens), 4) and best[0].source == ["a", "b", "c", "</s>"]
    (scored,) = run.score(["a b"], ["b a"])
    for name, text in (("source", "a b"), ("target", "b a")):
        (tmp_path / name).write_text(text + "\n")
    (line,) = json_lines("score", run.path, "--source", "source", "--target", "target", "--json", cwd=tmp_path)
    assert scored.log_probabilities == line["log_probabilities"]
    with pytest.raises(sa.SpecError, match="greedy"):
        run.translate(["a"], n_best=3, search="greedy")
    with pytest.raises(TypeError):
        run.translate("a b")


def test_a_model_leaves_its_record_to_other_readers(run: sa.Run) -> None:
    model = run.model()
    assert model.translate(["a b c"])
    with h5py.File(run.record.file) as record:
        assert record.attrs["run_id"] == run.run_id.encode()
        assert model.evaluate()["run_id"] == run.run_id


def test_measuring_again_gives_the_recorded_metrics(run: sa.Run) -> None:
    assert run.evaluate()["metrics"]["all"]["bleu"] == run.metrics["bleu"]
    assert set(run.evaluate("dev", lengths=[3])["metrics"]) == {"all", "1-3", "4+"}


def test_runs_together_are_an_ensemble(results: Path) -> None:
    runs = [run for run in sa.runs(results / "results") if run.options["model.attention.type"] == "global"]
    together = sa.runs(*(run.path for run in runs)).model().translate(["a b c d"])
    printed = softalign("translate", *(run.path for run in runs), "--ensemble", cwd=results, text="a b c d\n").stdout
    assert str(together[0][0]) == printed.strip()


def test_threads_may_ask_one_model(run: sa.Run) -> None:
    lines = ["a b c", "d e f", "h g"] * 5
    expected, found = [str(one) for one in run.translate(lines)], []
    threads = [threading.Thread(target=lambda: found.append([str(one) for one in run.translate(lines)])) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 4


# --- sweeps, comparing, plugins, notebooks


def test_a_sweep_is_run_and_read(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "tiny.yaml").write_text(TINY)
    (tmp_path / "sweep.yaml").write_text("name: swept\nbase: tiny.yaml\nparameters: {train.epochs: {values: [1, 3]}}\nseeds: [1, 2]\n")
    swept = sa.sweep(tmp_path / "sweep.yaml", results=tmp_path / "results")
    table = swept.frame()
    assert list(table["train.epochs"]) == [1, 1, 3, 3] and list(table["seed"]) == [1, 2, 1, 2] and set(table["state"]) == {"complete"}
    assert "begins" in capfd.readouterr().err
    assert [run.dev["loss"].iloc[-1] for run in swept.runs] == list(table["dev/loss"])
    best = table.groupby("train.epochs")["dev/loss"].mean().idxmin()
    assert swept.best is not None and swept.best.options["train.epochs"] == best
    with pytest.raises(sa.SpecError, match="nothing.yaml: cannot be read"):
        sa.sweep(tmp_path / "nothing.yaml")


def test_a_study_has_claims(tmp_path: Path) -> None:
    (tmp_path / "tiny.yaml").write_text(TINY)
    variants = "variants: {none: {model.attention: none}, additive: {train.epochs: 2}}"
    claims = "claims: [{claim: token_accuracy(small/additive) > 100}]"
    (tmp_path / "study.yaml").write_text(f"name: small\nbase: tiny.yaml\n{variants}\n{claims}\n")
    study = sa.sweep(tmp_path / "study.yaml", {"train.epochs": 1}, results=tmp_path / "results")
    assert list(study.frame()["variant"]) == ["none", "additive"] and len(study.runs) == 2
    assert list(study.claims()["verdict"]) == ["fails"] and study.best is None


def test_a_comparison_is_the_programs(results: Path) -> None:
    comparison = sa.compare(results / "results", metrics=["bleu", "dev/loss"])
    assert comparison.data == answer("compare", results / "results", "--metric", "bleu,dev/loss", cwd=results)
    table = comparison.frame()
    assert list(table["seeds"]) == [2, 2, 1] and {"bleu", "bleu sd", "dev/loss"} < set(table.columns)
    assert len(comparison.tests()) == 4
    one = sa.compare(sa.runs(results / "results")[:2], metrics=["bleu"], tests=False)
    assert sum(one.frame()["seeds"]) == 2


def test_plugins_are_listed_and_loaded(tmp_path: Path) -> None:
    assert "additive" in set(sa.plugins("score")["name"])
    with pytest.raises(sa.SpecError, match="nowhere.so"):
        sa.load_plugin(tmp_path / "nowhere.so")


def test_a_plugin_is_compiled_and_loaded(results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOFTALIGN_CACHE", str(tmp_path))
    source = shutil.copy(Path(__file__).parents[1] / "plugin/angular.cpp", tmp_path / "mine.cpp")
    made = sa.compile_plugin(source)
    written = made.stat().st_mtime_ns
    assert sa.plugin(source) == ["score angular"] and made.stat().st_mtime_ns == written  # compiled once
    run = sa.run(results / "tiny.yaml", {"model.attention.score": "angular", "train.epochs": 1}, results=tmp_path, plugins=[str(made)], progress=False)
    assert run.options["model.attention.score.type"] == "angular" and "all" in run.test.index
    (tmp_path / "wrong.cpp").write_text("int main( {")
    with pytest.raises(sa.SpecError, match=r"wrong.cpp does not compile:\n.*error"):
        sa.plugin(tmp_path / "wrong.cpp")


def test_scores_are_their_formulas() -> None:
    random = numpy.random.default_rng(1)
    queries, annotations = random.normal(size=(3, 6)).astype("float32"), random.normal(size=(3, 5, 6)).astype("float32")
    near = {"rtol": 2e-5, "atol": 1e-6}
    dot = numpy.einsum("bd,bsd->bs", queries, annotations)
    numpy.testing.assert_allclose(sa.Score("dot", 6, 6)(queries, annotations), dot, **near)
    numpy.testing.assert_allclose(sa.Score("scaled_dot", 6, 6)(queries, annotations), dot / numpy.sqrt(6), **near)
    additive = sa.Score({"type": "additive", "units": 4}, 6, 6)
    p = additive.parameters
    assert {name: array.shape for name, array in p.items()} == {"query.W": (6, 4), "key.W": (6, 4), "key.b": (4,), "v": (4,)}
    additive.set(**{"v": numpy.arange(4.0), "key.b": -numpy.arange(4.0)})
    inner = (queries @ p["query.W"])[:, None] + annotations @ p["key.W"] - numpy.arange(4.0)
    numpy.testing.assert_allclose(additive(queries, annotations), numpy.tanh(inner) @ numpy.arange(4.0), **near)
    with pytest.raises(sa.SpecError, match=r"expected \[B,6\]"):
        additive(queries[:, :3], annotations)
    with pytest.raises(sa.SpecError, match="units"):
        sa.Score({"type": "additive", "units": 0}, 6, 6)


def test_a_cell_of_a_notebook_is_a_plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOFTALIGN_CACHE", str(tmp_path))
    magics: dict[str, Any] = {}

    class Shell:
        def register_magic_function(self, function: Any, magic_kind: str) -> None:
            magics[magic_kind, function.__name__] = function

    sa.load_ipython_extension(Shell())
    cell = (Path(__file__).parents[1] / "plugin/angular.cpp").read_text().replace('"angular"', '"angular_cell"')
    assert magics["cell", "softalign"]("mine", cell) == ["score angular_cell"]
    assert "angular_cell" in set(sa.plugins("score")["name"])


def test_errors_are_those_of_the_program(tmp_path: Path) -> None:
    (tmp_path / "wrong.yaml").write_text(TINY.replace("symbols", "symbolz"))
    with pytest.raises(sa.SpecError, match=r"wrong.yaml:\d+:\d+: unknown key 'symbolz'") as raised:
        sa.run(tmp_path / "wrong.yaml")
    assert isinstance(raised.value, ValueError) and isinstance(raised.value, sa.Error)
    with pytest.raises(sa.SpecError, match="neither a file"):
        sa.runs("nothing-here", results=tmp_path)


def test_notebooks_show_runs_and_comparisons(results: Path, run: sa.Run) -> None:
    assert run.run_id in run._repr_html_() and "<table" in run._repr_html_()
    assert "<table" in sa.runs(results / "results")._repr_html_() and "<table" in sa.compare(results / "results", tests=False)._repr_html_()
    pytest.importorskip("matplotlib")
    assert len(run.plot(["loss", "bleu"]).axes) == 2
