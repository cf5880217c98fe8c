"""The wheel in an environment with the newest libraries of PyPI: the same tests, and a published record verified."""

from __future__ import annotations

import os
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.timeout(3600)
@pytest.mark.nightly
def test_the_wheel_works_in_a_new_environment(tmp_path: Path) -> None:
    try:
        urllib.request.urlopen("https://pypi.org/simple/pip/", timeout=30)
    except OSError as error:
        pytest.skip(f"PyPI cannot be reached: {error}")
    subprocess.run([ROOT / "scripts/wheel.sh"], check=True)
    (wheel,) = (ROOT / "build/dist").glob("*.whl")
    subprocess.run([sys.executable, "-m", "venv", tmp_path], check=True)
    subprocess.run([tmp_path / "bin/pip", "install", "-q", f"{wheel}[all,exports]", "tensorboard", "sqlalchemy", "alembic", "pytest", "pytest-timeout"], check=True)
    (package,) = tmp_path.glob("lib/python3*/site-packages/softalign_lab")
    assert {file.name for file in (package / "licences").iterdir()} > {"libssl3"} and (package / "share/softalign/configs/tiny.yaml").exists()
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SOFTALIGN_")} | {"SOFTALIGN_BINARY_DIR": str(package)}
    tests = [tmp_path / "bin/python", "-m", "pytest", "-q", "-p", "no:cacheprovider", *(Path(__file__).with_name(f"test_{name}.py") for name in ("package", "exporting", "figures", "optimise"))]
    subprocess.run(tests, check=True, env=environment)
    verified = subprocess.run(
        [tmp_path / "bin/softalign", "verify", ROOT / "results/published/gru.h5"], check=True, capture_output=True, text=True, cwd=tmp_path
    )
    assert "the same bits again" in verified.stdout
    ask = "import softalign_lab as sa\ntry: sa.run('configs/tiny.yaml')\nexcept sa.SpecError as error: print(error)"
    hint = subprocess.run([tmp_path / "bin/python", "-c", ask], check=True, capture_output=True, text=True, cwd=tmp_path)
    assert str(package / "share/softalign/configs/tiny.yaml") in hint.stdout
