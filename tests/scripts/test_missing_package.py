"""A missing library is reported in one line, with the package to install, before anything is written."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parents[2] / "scripts"


@pytest.mark.parametrize(
    ("script", "module"), [("report.py", "jinja2"), ("figures.py", "matplotlib"), ("optuna_sweep.py", "optuna")]
)
@pytest.mark.parametrize("in_environment", [False, True])
def test_a_missing_package_is_named_with_what_installs_it_for_this_python(
    script: str, module: str, in_environment: bool, tmp_path: Path
) -> None:
    (tmp_path / f"{module}.py").write_text(f"raise ModuleNotFoundError(name={module!r})\n")
    python = "/usr/bin/python3"
    if in_environment:
        subprocess.run([python, "-m", "venv", "--without-pip", "--system-site-packages", tmp_path / "venv"], check=True)
        python = str(tmp_path / "venv/bin/python3")
    install = f"{python} -m pip install {module}" if in_environment else f"apt-get install python3-{module}"
    done = subprocess.run(
        [python, SCRIPTS / script, "--help"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    name = script.removesuffix(".py")
    assert done.stderr == f"{name}: the Python package '{module}' is missing: {install}\n" and done.stdout == ""
