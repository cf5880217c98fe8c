"""The table of a sweep opens in xarray (both engines) and h5py, with no code of ours."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

h5py = pytest.importorskip("h5py", reason="python3-h5py is not installed")
np = pytest.importorskip("numpy")
xr = pytest.importorskip("xarray", reason="python3-xarray is not installed")

BINARY = Path(os.environ.get("SOFTALIGN_BINARY_DIR", "build/release")) / "bin" / "test_analysis"


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not BINARY.exists():
        pytest.skip(f"{BINARY} is not built")
    folder = tmp_path_factory.mktemp("sweep")
    command = [str(BINARY), "--run_test=sweep_index/sample_for_python"]
    subprocess.run(command, check=True, capture_output=True, env={**os.environ, "SOFTALIGN_SAMPLE": str(folder)})
    return folder / "sweep.h5"


@pytest.fixture(scope="module", params=["netcdf4", "h5netcdf"])
def engine(request: pytest.FixtureRequest) -> str:
    pytest.importorskip({"netcdf4": "netCDF4"}.get(request.param, request.param), reason=f"no {request.param}")
    return request.param


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
        datasets: list[h5py.Dataset] = []
        file.visititems(lambda _, item: datasets.append(item) if isinstance(item, h5py.Dataset) else None)
        assert len(datasets) > 15
        for dataset in datasets:
            assert h5py.h5ds.is_scale(dataset.id) or all(len(axis) == 1 for axis in dataset.dims), dataset.name
