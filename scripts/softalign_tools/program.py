"""Calls the program `softalign` for data on runs, sweeps and studies. Nothing is computed here."""

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
    HERE.parents[2] / "bin/softalign",  # build/NAME, reached through the link build/NAME/python/softalign_tools
    HERE.parents[1] / "softalign_lab/bin/softalign",  # installed from a wheel
    SOURCE.parents[2] / "build/release/bin/softalign",  # a source tree
    *(prefix / "bin/softalign" for prefix in SOURCE.parents[4:5]),  # installed by CMake, with the scripts or with the Python package
]


class RecordError(Exception):
    """Raised if requested records are missing, corrupt or of another kind; the text says which. status: the program's exit status for this error."""

    def __init__(self, text: str, status: int = 3) -> None:
        super().__init__(text)
        self.status = status


def program() -> str:
    """Returns the program that started this script, else the one installed or built with it, else the one in PATH. Raises RecordError if there is none."""
    found = os.environ.get("SOFTALIGN_PROGRAM") or next((str(p) for p in BESIDE if p.exists()), shutil.which("softalign"))
    if not found:
        raise RecordError("the program softalign is not there: build it (scripts/setup.sh build), or put it into PATH", status=1)
    return found


def answer(*words: object, codes: Sequence[int] = (0,), shown: bool = False) -> str:
    """Returns the program's standard output. Raises RecordError with its message for an exit status that is not in `codes`. shown: pass its
    progress on to standard error as it arrives."""
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
        except KeyboardInterrupt:  # the program received the signal, too, and is saving its state
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
    """Returns `softalign export --what report`, all data of pages and figures; with --resamples=0 without significance tests and intervals."""
    data: dict[str, Any] = json.loads(answer("export", "--what", "report", *options, "--", *places))
    return data
