"""Files that test programs write for third-party libraries, and the two engines with which xarray reads them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import h5py
import pytest

BINARIES = Path(os.environ.get("SOFTALIGN_BINARY_DIR", "build/release")) / "bin"


def sample(folder: Path, program: str, test: str) -> Path:
    """Runs a test of a program that writes files into the folder; returns the folder."""
    if not (BINARIES / program).exists():
        pytest.skip(f"{BINARIES / program} is not built")
    environment = {**os.environ, "SOFTALIGN_SAMPLE": str(folder)}
    subprocess.run([BINARIES / program, f"--run_test={test}"], check=True, capture_output=True, env=environment)
    return folder


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return next(sample(tmp_path_factory.mktemp("results"), "test_record", "sample_for_python").glob("*/*/run.h5"))


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sample(tmp_path_factory.mktemp("sweep"), "test_analysis", "sweep_index/sample_for_python") / "sweep.h5"


@pytest.fixture(scope="module", params=["netcdf4", "h5netcdf"])
def engine(request: pytest.FixtureRequest) -> str:
    pytest.importorskip("xarray", reason="python3-xarray is not installed")
    pytest.importorskip({"netcdf4": "netCDF4"}.get(request.param, request.param), reason=f"no {request.param}")
    return request.param


def datasets(group: h5py.Group) -> list[h5py.Dataset]:
    found: list[h5py.Dataset] = []
    group.visititems(lambda _, item: found.append(item) if isinstance(item, h5py.Dataset) else None)
    return found
