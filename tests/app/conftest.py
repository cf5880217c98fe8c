"""A folder with the tiny spec for each test, and one finished run for those that only look."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from program import TINY, softalign  # noqa: E402


@pytest.fixture()
def here(tmp_path: Path) -> Path:
    (tmp_path / "tiny.yaml").write_text(TINY)
    return tmp_path


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a finished run that has learnt something; it lies below <working folder>/results."""
    folder = tmp_path_factory.mktemp("trained")
    (folder / "tiny.yaml").write_text(TINY)
    softalign("run", "tiny.yaml", "train.epochs=40", "notes=for the tests", cwd=folder)
    (run,) = folder.glob("results/tiny/*")
    return run
