"""The package of the build, or an installed one, and the helpers of tests/app."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

BUILT = Path(os.environ.get("SOFTALIGN_BINARY_DIR", Path(__file__).parents[2] / "build/release"))  # or the folder of an installed package
sys.path[:0] = [str(BUILT / "python"), str(Path(__file__).parents[1] / "app")]  # softalign_lab, command_line
os.environ.setdefault("SOFTALIGN_PROGRAM", str(BUILT / "bin/softalign"))


def pytest_sessionstart() -> None:
    if os.environ.get("SOFTALIGN_PYTHON_PACKAGE") == "OFF":  # as CMake says; where it was to be built, its absence is an error
        pytest.exit("skipped: CMake found no pybind11, or no headers of Python: scripts/setup.sh build python", returncode=77)
