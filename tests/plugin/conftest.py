"""The helpers of tests/app."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "app"))
from command_line import TINY  # noqa: E402


@pytest.fixture()
def here(tmp_path: Path) -> Path:
    """A working folder with the tiny spec."""
    (tmp_path / "tiny.yaml").write_text(TINY)
    return tmp_path
