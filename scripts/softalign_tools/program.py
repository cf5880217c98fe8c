"""The program `softalign`, asked for what it knows of runs, sweeps and studies. Nothing of it is computed here."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

HERE, SOURCE = Path(__file__).absolute(), Path(__file__).resolve()
BESIDE = [
    HERE.parents[2] / "bin/softalign",  # build/NAME, where this is a link
    HERE.parents[1] / "softalign_lab/bin/softalign",  # installed from a wheel
    SOURCE.parents[2] / "build/release/bin/softalign",  # a source tree
    *(prefix / "bin/softalign" for prefix in SOURCE.parents[4:5]),  # installed by CMake, with the scripts or with the Python package
]


class RecordError(Exception):
    """What was asked for is missing, damaged or something else; the text says what. status: the exit status that the program has for it."""

    def __init__(self, text: str, status: int = 3) -> None:
        super().__init__(text)
        self.status = status


def program() -> str:
    """The program that started this script, else the program beside it, else that of PATH. Throws RecordError."""
    found = os.environ.get("SOFTALIGN_PROGRAM") or next((str(p) for p in BESIDE if p.exists()), shutil.which("softalign"))
    if not found:
        raise RecordError("the program softalign is not there: build it (scripts/setup.sh build), or put it into PATH", status=1)
    return found


def answer(*words: object, codes: Sequence[int] = (0,), shown: bool = False) -> str:
    """What the program prints. Throws RecordError with its message for any other exit status. shown: its progress goes to standard
    error as it comes."""
    command = [program(), *map(str, words)]
    try:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace")
    except OSError as error:
        raise RecordError(f"{command[0]}: cannot be started: {error.strerror}", status=1) from error
    with process:
        assert process.stdout and process.stderr
        lines: list[str] = []
        reader = threading.Thread(target=_pass_on, args=(process.stderr, lines, shown))
        reader.start()
        try:
            printed = process.stdout.read()
            reader.join()
        except KeyboardInterrupt:  # it got the signal too, and saves its state
            process.wait()
            raise
    if process.returncode not in codes:
        text = "".join(line.removeprefix("softalign: ") for line in lines if line.startswith("softalign: ")) if shown else "".join(lines)
        text = text.strip().removeprefix("softalign: ")
        if process.returncode < 0:
            raise RecordError(f"softalign {words[0]} was killed by signal {-process.returncode}; please report it if nobody killed it", status=1)
        raise RecordError(text or f"softalign {words[0]} ended with {process.returncode}", process.returncode)
    return printed


def _pass_on(written: Iterable[str], lines: list[str], shown: bool) -> None:
    for line in written:
        lines.append(line)
        if shown:
            print(line, end="", file=sys.stderr)


def report_of(places: Sequence[str | os.PathLike[str]], *options: str) -> dict[str, Any]:
    """`softalign export --what report`: all that pages and figures draw; with --resamples=0 without tests and intervals."""
    data: dict[str, Any] = json.loads(answer("export", "--what", "report", *options, "--", *places))
    return data
