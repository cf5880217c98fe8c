"""The table of a sweep opens in xarray (both engines) and h5py, without softalign."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import pytest
from conftest import datasets

xr = pytest.importorskip("xarray", reason="python3-xarray is not installed")


def test_the_root_is_the_table(table: Path, engine: str) -> None:
    with xr.open_dataset(table, engine=engine) as data:
        assert dict(data.sizes) == {"run": 3}
        assert data.attrs["format"] == "softalign-sweep" and data.attrs["metric"] == "dev/bleu" and data.attrs["goal"] == "maximize"
        assert data.run.values.tolist() == [0, 1, 2]
        assert data.state.values.tolist() == ["complete", "pruned", "planned"]
        assert data["model.attention.score.type"].values.tolist() == ["señal", "dot", "señal"]
        np.testing.assert_array_equal(data["train.optimizer.learning_rate"], [0.001, 1e-05, 0.01])
        np.testing.assert_array_equal(data["dev_bleu_best"], [50, 50, np.nan])
        np.testing.assert_array_equal(data["test_bleu"], [21.5, np.nan, np.nan])
        assert data["test_bleu"].attrs["units"] == "percent" and data["test_bleu"].attrs["signature"] == "tok:none"
        best = data.where(data.state == "complete", drop=True)
        assert best.run.values.tolist() == [0]


def test_it_is_a_data_frame(table: Path, engine: str) -> None:
    pytest.importorskip("pandas")
    with xr.open_dataset(table, engine=engine) as data:
        frame = data.to_dataframe()
    assert frame.index.name == "run" and frame.loc[1, "updates"] == 8
    assert frame.groupby("model.attention.score.type")["dev_loss"].min()["dot"] == 1 / 8


def test_curves_are_selected_by_run(table: Path, engine: str) -> None:
    with xr.open_dataset(table, group="curves", engine=engine) as curves:
        assert dict(curves.sizes) == {"run": 3, "step": 12}
        one = curves.sel(run=1)
        assert one["update"].values.tolist() == [*range(1, 9), -1, -1, -1, -1]
        np.testing.assert_array_equal(one.train_loss[:8], [10 / u for u in range(1, 9)])
        assert np.isnan(one.train_loss[8:]).all() and np.isnan(curves.sel(run=2).train_loss).all()
        assert one.dev_bleu.dropna("step").values.tolist() == [4, 50]


def test_nothing_in_it_tells_the_time(table: Path) -> None:
    with h5py.File(table) as file:
        names: list[str] = []
        file.visit(names.append)
        assert not [name for name in names if "time" in name or "per_s" in name or "host" in name]
        assert "time" not in str(dict(file.attrs))


def test_every_axis_has_a_scale(table: Path) -> None:
    with h5py.File(table) as file:
        found = datasets(file)
        assert len(found) > 15
        for dataset in found:
            assert h5py.h5ds.is_scale(dataset.id) or all(len(axis) == 1 for axis in dataset.dims), dataset.name
