"""Several training files, each drawn according to its weight."""

from __future__ import annotations

from pathlib import Path

import h5py
import pytest

from command_line import answer, error, softalign, trained_run, write_corpus

SEVERAL = ["task.train.source=[a.en, train.en]", "task.train.target=[a.es, train.es]"]


@pytest.fixture
def corpus(here: Path) -> Path:
    write_corpus(here)
    for side in ("en", "es"):
        (here / f"a.{side}").write_text("".join(f"d e {i}\n" for i in range(10)))
        (here / f"all.{side}").write_text((here / f"a.{side}").read_text() + (here / f"train.{side}").read_text())
    return here


def updates(run: Path) -> list[float]:
    with h5py.File(run / "run.h5") as file:
        return file["train/loss"][:].tolist()


def test_several_files_are_one(corpus: Path) -> None:
    together = trained_run(corpus, *SEVERAL, spec="text.yaml")
    assert updates(together) == updates(trained_run(corpus, "task.train={source: all.en, target: all.es}", spec="text.yaml"))
    one = trained_run(corpus, "task.train={source: [all.en], target: [all.es]}", spec="text.yaml")
    assert answer("run", "text.yaml", "task.train={source: all.en, target: all.es}", cwd=corpus)["run_id"] == one.name
    assert "the same bits again" in softalign("verify", together, cwd=corpus).stdout


def test_weights_say_how_often_and_are_part_of_the_run(corpus: Path) -> None:
    done = softalign("run", "text.yaml", *SEVERAL, "task.train.weights=[3, 0.5]", cwd=corpus)
    assert "training sentences of an epoch: 10 x 3 of a.en, 20 x 0.5 of train.en\n" in done.stderr
    run = (corpus / done.stdout.split()[-1]).parent
    with h5py.File(run / "run.h5") as file:
        tokens = file["train/tokens"][:].reshape(2, -1).sum(axis=1)
        weights = file["provenance/spec_yaml"].asstr()[()]
    assert tokens.tolist() == [30 * 4 + 10 * 5] * 2 and "weights: [3.0, 0.5]" in weights
    (corpus / "moved").mkdir()
    for side in ("en", "es"):
        for name in ("a", "train", "dev", "test"):
            (corpus / f"{name}.{side}").rename(corpus / "moved" / f"{name}.{side}")
    run = run.rename(corpus / "moved" / run.name)
    assert "the same bits again" in softalign("verify", run, cwd=corpus).stdout
    (corpus / "moved/train.es").unlink()
    assert "give their new paths: task.train.target=FILE\n" in softalign("verify", run, cwd=corpus, code=3).stderr


def test_a_sweep_keeps_the_files_that_its_rows_name(corpus: Path) -> None:
    (corpus / "sweep.yaml").write_text(
        "name: files\nbase: text.yaml\nmetric: {name: dev/loss}\nparameters:\n"
        "  task.train.weights: {values: [[1, 1], [2, 0]]}\n"
    )
    spec = (corpus / "text.yaml").read_text()
    (corpus / "text.yaml").write_text(spec.replace("train: {source: train.en, target: train.es}", "train: {source: [a.en, train.en], target: [a.es, train.es]}"))  # fmt: skip
    (corpus / "elsewhere").mkdir()
    softalign("sweep", "plan", "../sweep.yaml", cwd=corpus / "elsewhere")
    softalign("sweep", "run", corpus / "elsewhere/results/files", cwd=Path("/"))
    assert len(list(corpus.glob("elsewhere/results/files/*/run.h5"))) == 2


def test_a_sweep_keeps_the_files_within_a_block(corpus: Path) -> None:
    (corpus / "sub").mkdir()
    (corpus / "sub/sweep.yaml").write_text(
        "name: files\nbase: ../text.yaml\nmetric: {name: dev/loss}\nparameters:\n  task.train: {values: [\n"
        "    {source: ../a.en, target: ../a.es},\n"
        "    {source: [../a.en, ../train.en], target: [../a.es, ../train.es], weights: [1, 0.5]}]}\n"
    )
    (corpus / "elsewhere").mkdir()
    softalign("sweep", "run", "../sub/sweep.yaml", cwd=corpus / "elsewhere")
    assert len(list(corpus.glob("elsewhere/results/files/*/run.h5"))) == 2


@pytest.mark.parametrize("change", [
    "train.source=[a.en, train.en]", "train.weights=[1, 2]", "train.weights=[0]", "train.weights=[-1]", "train.source=[]", "train.source={a: b}",
    "train.source=[train.en, '']", "dev.source=[train.en]",
])  # fmt: skip
def test_what_does_not_fit_is_refused(corpus: Path, change: str) -> None:
    assert "task." + change.partition("=")[0].partition(".")[0] in softalign("validate", "text.yaml", "task." + change, cwd=corpus, code=2).stderr


@pytest.mark.parametrize("weights", ["[2, nan]", "[]", "[0.01, 0]"])
def test_weights_that_leave_nothing_are_refused(corpus: Path, weights: str) -> None:
    assert "task.train.weights" in error("run", "text.yaml", *SEVERAL, f"task.train.weights={weights}", cwd=corpus, code=2 if "nan" in weights else 3)


def test_a_file_of_several_that_is_missing_or_uneven_is_named(corpus: Path) -> None:
    assert "none.en" in error("run", "text.yaml", "task.train.source=[a.en, none.en]", SEVERAL[1], cwd=corpus, code=3)
    (corpus / "a.es").write_text("x\n")
    assert f"{corpus}/a.en has 10 lines and {corpus}/a.es has 1" in error("run", "text.yaml", *SEVERAL, cwd=corpus, code=3)
