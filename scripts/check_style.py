#!/usr/bin/python3
"""Checks that all C++ files are formatted as clang-format writes them. Ends with 77 (skipped) without the version that the style was made with."""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
from pathlib import Path

VERSION = 14  # Debian 12's; other versions format some lines differently
SKIPPED = 77


def main() -> int:
    argparse.ArgumentParser(description=__doc__).parse_args()
    root = Path(__file__).parents[1]
    program = shutil.which(f"clang-format-{VERSION}") or shutil.which("clang-format")
    if program is None:
        print(f"skipped: there is no clang-format (version {VERSION} wanted)")
        return SKIPPED
    version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    found = re.search(r"version (\d+)", version)
    if found is None or int(found[1]) != VERSION:
        print(f"skipped: the style was made with clang-format {VERSION}; here is {version.strip()}")
        return SKIPPED
    files = sorted(str(f) for folder in ("framework", "tests", "experiments") for f in (root / folder).rglob("*.[ch]pp"))
    checked = subprocess.run([program, "--dry-run", "-Werror", *files], check=False)
    if checked.returncode != 0:
        print("remedy: clang-format -i FILE")
    return checked.returncode


if __name__ == "__main__":
    sys.exit(main())
