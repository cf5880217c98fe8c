"""The program that is tested, and a study that is over in seconds."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BUILD = Path(os.environ.get("SOFTALIGN_BINARY_DIR", ROOT / "build/release"))
PROGRAM = BUILD / "bin/softalign"

STUDY = f"""
name: small
question: Does it run?
variants:
  none: {{model.attention: none}}
  additive: [model.attention.score.units=5]
parts:
  reverse:
    base: {ROOT}/configs/tiny.yaml
    report: {{metrics: [token_accuracy]}}
claims:
  - claim: token_accuracy(reverse/additive) >= 0
"""


@pytest.fixture
def softalign(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs the program in a fresh folder."""
    return lambda *arguments: subprocess.run(
        [PROGRAM, *map(str, arguments)], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
    )


@pytest.fixture
def study(tmp_path: Path) -> Path:
    (tmp_path / "study.yaml").write_text(STUDY)
    return tmp_path / "study.yaml"
