"""The program `softalign`, for what it does in processes of its own."""

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

from softalign_lab import _core

HERE = Path(__file__).resolve()
_BUILT = Path(_core.__file__).parents[2] / "bin/softalign"  # the package in the folder of a build


def program() -> str:
    """The path of the program: SOFTALIGN_PROGRAM, else the one that came with this package, else that of PATH. Raises FileNotFoundError."""
    inside = [HERE.parent / "bin/softalign", _BUILT]
    found = os.environ.get("SOFTALIGN_PROGRAM") or next((str(path) for path in inside if path.exists()), shutil.which("softalign"))
    if not found:
        raise FileNotFoundError("the program softalign is not there: install softalign-lab again, or put it into PATH")
    return found


def main() -> None:
    """The command `softalign` of an installed package: becomes the program, whose scripts run by this Python."""
    os.environ.setdefault("SOFTALIGN_PYTHON", sys.executable)
    os.execv(program(), ["softalign", *sys.argv[1:]])


_ERRORS: dict[int, type[BaseException]] = {1: _core.MachineError, 2: _core.SpecError, 3: _core.DataError, 75: KeyboardInterrupt}


def answer(*words: object, codes: Sequence[int] = (0,), shown: bool = False) -> Any:
    """What a command prints with --json. Raises what the library would where its exit status is none of these. shown: its progress goes to standard
    error."""
    command = [program(), *map(str, words)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace") as process:
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
        text = "\n".join(line.removeprefix("softalign: ") for line in lines if not shown or line.startswith("softalign: "))
        raise _ERRORS.get(process.returncode, _core.Error)(text or f"softalign {words[0]} ended with {process.returncode}")
    return json.loads(printed)


def _pass_on(written: Iterable[str], lines: list[str], shown: bool) -> None:
    for line in written:
        lines.append(line.rstrip("\n"))
        if shown:
            print(line, end="", file=sys.stderr)
