"""The package as it lies in the build, or is installed, beside the program as tests/app drives it."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

import pytest

BUILT = Path(os.environ.get("SOFTALIGN_BINARY_DIR", Path(__file__).parents[2] / "build/release"))  # or the folder of an installed package
sys.path[:0] = [str(BUILT / "python"), str(Path(__file__).parents[1] / "app")]  # softalign_lab, command_line
if importlib.util.find_spec("softalign_lab._core") is None:
    pytest.skip("the Python package was not built: pybind11 or Python's headers are missing", allow_module_level=True)
os.environ.setdefault("SOFTALIGN_PROGRAM", str(BUILT / "bin/softalign"))
