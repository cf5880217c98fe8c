"""A folder with the tiny spec for each test, and a finished run for tests that only read it."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from command_line import TINY, text_spec, trained_run  # noqa: E402

signal.signal(signal.SIGHUP, signal.SIG_DFL)  # below nohup it is ignored, by the processes of the tests too


@pytest.fixture()
def here(tmp_path: Path) -> Path:
    (tmp_path / "tiny.yaml").write_text(TINY)
    return tmp_path


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the folder of a finished, trained run below <working folder>/results."""
    folder = tmp_path_factory.mktemp("trained")
    (folder / "tiny.yaml").write_text(TINY)
    return trained_run(folder, "train.epochs=40", "notes=for the tests")


@pytest.fixture()
def run(trained: Path, tmp_path: Path) -> Path:
    """Returns a copy of the finished run, which the test may change, below tmp_path/results."""
    shutil.copytree(trained.parents[2], tmp_path, dirs_exist_ok=True)
    return tmp_path / trained.relative_to(trained.parents[2])


@pytest.fixture()
def corpus(tmp_path: Path) -> Path:
    """Returns a working folder in which tiny.yaml reads an old text, so that its hash may be cached."""
    (tmp_path / "tiny.yaml").write_text(text_spec("text.en", "text.es"))
    (tmp_path / "text.en").write_text("the house is red\nthe dog\nred dog\n" * 10)
    (tmp_path / "text.es").write_text("la casa es roja\nel perro\nperro rojo\n" * 10)
    for name in ("text.en", "text.es"):
        os.utime(tmp_path / name, (1, 1))
    return tmp_path
