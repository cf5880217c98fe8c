"""What the program says of runs: names, groups, metrics by length with intervals, tests, how a plan stands. Nothing of it is computed here."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from stored import RecordError

HERE = Path(__file__).resolve()
BESIDE = [HERE.parents[1] / "build/release/bin/softalign", *(prefix / "bin/softalign" for prefix in HERE.parents[3:4])]  # built, installed


def program() -> str:
    """The program that started this script, else the program beside it, else that of PATH."""
    found = os.environ.get("SOFTALIGN_PROGRAM") or next((str(p) for p in BESIDE if p.exists()), shutil.which("softalign"))
    if not found:
        raise RecordError("the program softalign is not there: build it (scripts/setup.sh build), or put it into PATH")
    return found


def report_of(places: Sequence[Path], resamples: int | None = None, plugins: Sequence[str] = ()) -> dict[str, Any]:
    """`softalign export --what report`; with 0 resamples only the runs, their names and states. Throws RecordError with the program's own words."""
    chosen = [] if resamples is None else [f"--resamples={resamples}"]
    chosen += [f"--plugin={plugin}" for plugin in plugins]
    command = [program(), "export", "--what", "report", *chosen, "--", *map(str, places)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    except OSError as error:
        raise RecordError(f"{command[0]}: cannot be started: {error.strerror}") from error
    if done.returncode != 0:
        raise RecordError(done.stderr.strip().removeprefix("softalign: ") or f"softalign export ended with {done.returncode}")
    return json.loads(done.stdout)
