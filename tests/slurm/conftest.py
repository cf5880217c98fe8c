"""One Slurm for all tests of this folder, with job arrays of at most ten tasks."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "app"), str(HERE.parent / "torture")]  # cluster, command_line, checks
from cluster import Cluster, needs_slurm, slurm_sh  # noqa: E402


@pytest.fixture()
def short_folder() -> Iterator[Path]:
    """Yields a folder with a short path, because pytest's folders are too long for sockets."""
    with tempfile.TemporaryDirectory(prefix="slurm-") as folder:
        yield Path(folder)


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    needs_slurm()
    with tempfile.TemporaryDirectory(prefix="slurm-") as name:
        folder = Path(name)
        slurm_sh("start", folder, "MaxArraySize=10")
        try:
            yield Cluster(folder)
        finally:
            slurm_sh("stop", folder)
