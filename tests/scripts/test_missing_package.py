"""A library that is missing costs a line with what to install, before anything is written."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parents[2] / "scripts"


@pytest.mark.parametrize(
    ("script", "module", "package"),
    [
        ("report.py", "h5py", "python3-h5py"),
        ("report.py", "jinja2", "python3-jinja2"),
        ("figures.py", "matplotlib", "python3-matplotlib"),
        ("optuna_sweep.py", "optuna", "python3-optuna"),
    ],
)
def test_a_missing_package_is_named(script: str, module: str, package: str, tmp_path: Path) -> None:
    (tmp_path / f"{module}.py").write_text(f"raise ModuleNotFoundError(name={module!r})\n")
    done = subprocess.run(
        ["/usr/bin/python3", SCRIPTS / script, "--help"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    name = script.removesuffix(".py")
    assert done.stderr.startswith(f"{name}: the Python package '{module}' is missing: apt-get install {package}, or pip install ")
    assert done.stderr.count("\n") == 1 and done.stdout == ""
