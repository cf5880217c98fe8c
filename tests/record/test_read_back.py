"""A published record opens in h5py, xarray (both engines) and h5dump, without softalign and with the same numbers in each."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import h5py
import numpy as np
import pytest
from conftest import datasets

GROUPS = ["train", "dev", "test", "vocabulary", "parameters", "alignments/attention", "provenance", "provenance/attempts", "provenance/events"]


def test_h5py_reads_the_layout(record: Path) -> None:
    with h5py.File(record) as f:
        assert f.attrs["format"].decode() == "softalign-run"
        assert f.attrs["format_version"] == 1
        assert f.attrs["complete"] == 1
        assert f["train/update"][:].tolist() == list(range(1, 31))
        assert f["train/loss"].dtype == np.float64
        assert f["train"].attrs["axes"][0].decode() == "update"
        assert f["provenance/spec_yaml"][()].decode() == "name: study\nseed: 1\n"
        assert f["test/hypotheses"].asstr()[:].tolist() == ["uno dos", ""]
        assert f["test"].attrs["bleu"] == 21.5
        assert f["provenance/attempts/state"].asstr()[:].tolist() == ["complete"]
        assert f["provenance/events/text"].asstr()[:].tolist() == ["a note"]
        assert f["provenance"].attrs["compiler"].decode() != ""


def test_every_axis_has_a_scale_and_every_number_a_checksum(record: Path) -> None:
    with h5py.File(record) as f:
        for dataset in datasets(f):
            if not h5py.h5ds.is_scale(dataset.id):
                assert all(len(axis) == 1 for axis in dataset.dims), dataset.name
            if dataset.dtype.kind in "fiu":
                small = dataset.chunks is None and dataset.nbytes <= 4096
                assert small or (dataset.fletcher32 and dataset.compression == "gzip" and dataset.shuffle), dataset.name
            else:
                assert h5py.check_string_dtype(dataset.dtype).length is None, dataset.name


def test_small_arrays_have_no_chunks(record: Path) -> None:
    with h5py.File(record) as f:
        assert f["train/loss"].chunks is None and f["alignments/attention/weights"].chunks is not None


def test_alignments_are_padded_with_nan(record: Path) -> None:
    with h5py.File(record) as f:
        group = f["alignments/attention"]
        weights = group["weights"][:]
        assert weights.shape == (6, 2, 1, 5, 6)
        assert weights.dtype == np.float32
        assert group["sentence"][:].tolist() == [0, 3]
        assert not np.isnan(weights[:, 1]).any()
        assert np.isnan(weights[:, 0, :, 2:]).all() and np.isnan(weights[:, 0, :, :, 3:]).all()
        assert not np.isnan(weights[:, 0, :, :2, :3]).any()
        assert group["src_len"][:].tolist() == [3, 6]
        assert group["tgt_len"][0].tolist() == [2, 5]
        assert group["tgt_tokens"].asstr()[0, 0].tolist() == ["señal0", "señal1", "", "", ""]
        assert group["gold"][1].flatten().tolist() == [i % 3 for i in range(30)]
        row = weights[2, 1, 0, 3].astype(np.float64)
        assert group["entropy"][2, 1, 0, 3] == pytest.approx(-(row * np.log(row)).sum(), rel=1e-5)


@pytest.mark.parametrize("group", GROUPS)
def test_xarray_reads_what_h5py_reads(record: Path, engine: str, group: str) -> None:
    import xarray as xr

    with h5py.File(record) as f, xr.open_dataset(record, group=group, engine=engine) as data:
        names = {name for name, item in f[group].items() if isinstance(item, h5py.Dataset)}
        assert names == set(data.variables)
        for name in names:
            mine, theirs = f[group][name], data[name].values
            if mine.dtype.kind in "fiu":
                np.testing.assert_array_equal(mine[()], theirs)
            else:
                np.testing.assert_array_equal(mine.asstr()[()], theirs)
        assert set(f[group].attrs) == set(data.attrs)


def test_the_documented_example_draws_words_and_weights(record: Path, engine: str) -> None:
    import xarray as xr

    with xr.open_dataset(record, group="alignments/attention", engine=engine) as a:
        one = a.sel(update=20, sentence=0, head=0)
        matrix = one.weights[: int(one.tgt_len), : int(one.src_len)]
        assert matrix.shape == (2, 3)
        assert one.src_tokens[: int(one.src_len)].values.tolist() == ["word0", "word1", "word2"]
        assert not np.isnan(matrix).any()


def test_root_attributes_are_plain_text(record: Path, engine: str) -> None:
    import xarray as xr

    with xr.open_dataset(record, engine=engine) as root:
        assert root.attrs["format"] == "softalign-run"
        assert root.attrs["state"] == "complete"


def test_h5dump_reads_every_value(record: Path) -> None:
    if not (h5dump := shutil.which("h5dump")):
        pytest.skip("hdf5-tools is not installed")
    done = subprocess.run([h5dump, str(record)], capture_output=True, check=False, text=True)
    assert done.returncode == 0, done.stderr
    assert "uno dos" in done.stdout
    header = subprocess.run([h5dump, "-B", "-H", str(record)], capture_output=True, check=True, text=True).stdout
    assert "SUPERBLOCK_VERSION 0" in header
