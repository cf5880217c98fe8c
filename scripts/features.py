#!/usr/bin/python3
"""Writes the table of plugins in framework/plugins/README.md from the registry.

features.py [--check]: replaces the table between the two marks by one made from `softalign list`. With --check it changes nothing, and
its exit status is 1 if the table is out of date.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from itertools import groupby
from pathlib import Path

from softalign_tools.files import write

ROOT = Path(__file__).resolve().parents[1]
PROGRAM = Path(os.environ.get("SOFTALIGN_BINARY_DIR", ROOT / "build/release")).absolute() / "bin/softalign"
README = ROOT / "framework/plugins/README.md"
BEGIN, END = "<!-- plugins: made by scripts/features.py -->\n", "<!-- end of plugins -->\n"
KINDS = ["encoder", "score", "attention", "decoder", "output_layer", "task", "search", "metric", "diagnostic", "optimizer", "schedule"]


def rank(kind: str) -> int:
    """Returns the position of a kind in the table: parts of a model first, kinds that KINDS lacks last."""
    return KINDS.index(kind) if kind in KINDS else len(KINDS)


def table() -> str:
    answer = subprocess.run([PROGRAM, "list", "--json"], stdout=subprocess.PIPE, check=True).stdout
    plugins = sorted(json.loads(answer), key=lambda plugin: (rank(plugin["kind"]), plugin["kind"], plugin["name"]))
    lines = ["| | | |", "| --- | --- | --- |"]
    for kind, members in groupby(plugins, key=lambda plugin: plugin["kind"]):
        for number, plugin in enumerate(members):
            summary = plugin["summary"].replace("|", "\\|")
            lines.append(f"| {f'**{kind}**' if number == 0 else ''} | `{plugin['name']}` | {summary} |")
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="change nothing; exit status 1 when the table is out of date")
    check = parser.parse_args().check
    text = README.read_text()
    if BEGIN not in text or END not in text:
        sys.exit(f"{README}: the marks around the table are missing")
    now = re.sub(f"{re.escape(BEGIN)}.*{re.escape(END)}", lambda _: f"{BEGIN}\n{table()}\n{END}", text, flags=re.S)
    if check and now != text:
        print(f"{README}: the table of plugins is out of date; run scripts/features.py", file=sys.stderr)
    if not check:
        write(README, now.encode(), force=True)
    return int(check and now != text)


if __name__ == "__main__":
    sys.exit(main())
