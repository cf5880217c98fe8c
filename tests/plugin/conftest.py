"""The helpers of tests/app, and a user who trusts no plugin yet."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "app"))
from command_line import TINY  # noqa: E402


@pytest.fixture()
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with the tiny spec and the user's settings."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    (tmp_path / "tiny.yaml").write_text(TINY)
    return tmp_path
