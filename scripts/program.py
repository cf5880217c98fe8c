"""What the program says of runs, sweeps and studies. Nothing of it is computed here."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve()
BESIDE = [HERE.parents[1] / "build/release/bin/softalign", *(prefix / "bin/softalign" for prefix in HERE.parents[3:4])]  # built, installed


class RecordError(Exception):
    """What was asked for is missing, damaged or something else; the text says what."""


def program() -> str:
    """The program that started this script, else the program beside it, else that of PATH."""
    found = os.environ.get("SOFTALIGN_PROGRAM") or next((str(p) for p in BESIDE if p.exists()), shutil.which("softalign"))
    if not found:
        raise RecordError("the program softalign is not there: build it (scripts/setup.sh build), or put it into PATH")
    return found


def answer(*words: object, codes: Sequence[int] = (0,)) -> str:
    """What the program prints. Throws RecordError with its own words where its exit status is none of these."""
    command = [program(), *map(str, words)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    except OSError as error:
        raise RecordError(f"{command[0]}: cannot be started: {error.strerror}") from error
    if done.returncode not in codes:
        raise RecordError(done.stderr.strip().removeprefix("softalign: ") or f"softalign {words[0]} ended with {done.returncode}")
    return done.stdout


def report_of(places: Sequence[Path], *options: str) -> dict[str, Any]:
    """`softalign export --what report`: all that pages and figures draw; with --resamples=0 without tests and intervals."""
    return json.loads(answer("export", "--what", "report", *options, "--", *places))
