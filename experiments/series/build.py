#!/usr/bin/python3
"""Builds the series for the task `series`: hourly electricity demand in England and Wales, 5 June to 27 August 2000, in megawatts.

build.py [--output FOLDER]: extracts the 4032 half-hourly values (Taylor 2003) from the source of the Python package pmdarima, which pip
downloads but does not install. Writes the mean of each hour to FOLDER/demand.csv.
"""

from __future__ import annotations

import argparse
import ast
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "data"
PACKAGE = "pmdarima==2.1.1"
# Selects the same wheel on every machine.
WHEEL = ["--no-deps", "--only-binary=:all:", "--python-version=3.11", "--implementation=cp", "--platform=manylinux_2_28_x86_64"]
SOURCE = "pmdarima/datasets/taylor.py"
VALUES = 4032  # 12 weeks of 336 half-hours


def half_hours() -> list[int]:
    with tempfile.TemporaryDirectory() as folder:
        pip = [sys.executable, "-m", "pip", "download", "--quiet", *WHEEL, "--dest", folder, PACKAGE]
        if subprocess.run(pip, check=False).returncode != 0:
            sys.exit(f"build.py: pip cannot download {PACKAGE}")
        [wheel] = Path(folder).glob("*.whl")
        tree = ast.parse(zipfile.ZipFile(wheel).read(SOURCE))
    longest = max((node for node in ast.walk(tree) if isinstance(node, ast.List)), key=lambda node: len(node.elts))
    values = ast.literal_eval(longest)
    if len(values) != VALUES:
        sys.exit(f"build.py: {SOURCE} of {PACKAGE} has {len(values)} values instead of {VALUES}")
    return values


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=FOLDER, help="folder for the file (default: %(default)s)")
    folder = parser.parse_args().output
    halves = half_hours()
    values = [(first + second) / 2 for first, second in zip(halves[::2], halves[1::2])]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "demand.csv").write_text("demand\n" + "".join(f"{value:g}\n" for value in values))
    print(f"{folder / 'demand.csv'}: {len(values)} values, {min(values):g} to {max(values):g} MW")


if __name__ == "__main__":
    main()
