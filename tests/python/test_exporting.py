"""Exports runs to the formats of other tools, which read them."""

from __future__ import annotations

from pathlib import Path

import pytest
import softalign_lab as sa
from command_line import TINY


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> sa.Run:
    folder = tmp_path_factory.mktemp("exports")
    (folder / "tiny.yaml").write_text(TINY)
    return sa.run(folder / "tiny.yaml", {"train.epochs": 2}, results=folder / "results", progress=False)


def test_tensorboard(run: sa.Run, tmp_path: Path) -> None:
    pytest.importorskip("tensorboardX")
    reader = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    (folder,) = sa.to_tensorboard(run, tmp_path)
    events = reader.EventAccumulator(folder)
    events.Reload()
    assert [event.step for event in events.Scalars("dev/loss")] == list(run.dev.index)
    assert [event.value for event in events.Scalars("dev/loss")] == pytest.approx(list(run.dev["loss"]))
    assert events.Scalars("test/bleu")[0].value == pytest.approx(run.metrics["bleu"])


def test_mlflow(run: sa.Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mlflow = pytest.importorskip("mlflow")
    monkeypatch.chdir(tmp_path)
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path}/mlflow.db")
    (made,) = sa.to_mlflow(run)
    stored = mlflow.get_run(made)
    assert stored.data.params["model.encoder.units"] == "8" and stored.data.metrics["test/bleu"] == run.metrics["bleu"]
    history = mlflow.MlflowClient().get_metric_history(made, "dev/loss")
    assert [(one.step, one.value) for one in history] == list(run.dev["loss"].items())


def test_wandb(run: sa.Run, tmp_path: Path) -> None:
    pytest.importorskip("wandb")
    (folder,) = sa.to_wandb(run, folder=tmp_path)
    assert any(Path(folder).parent.glob("*.wandb"))


def test_parquet(run: sa.Run, tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    runs = sa.Runs([run.path])
    files = sa.to_parquet(runs, tmp_path)
    assert list(pandas.read_parquet(files[0])["test/bleu"]) == [run.metrics["bleu"]]
    assert list(pandas.read_parquet(files[2])["nll"]) == list(run.sentences["nll"])
