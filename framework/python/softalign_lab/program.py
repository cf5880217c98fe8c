"""The program `softalign`, for what it does in processes of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
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


_ERRORS: dict[int, type[Exception]] = {1: _core.MachineError, 2: _core.SpecError, 3: _core.DataError, 75: KeyboardInterrupt}


def answer(*words: object) -> Any:
    """What a command prints with --json. Raises what the library would."""
    done = subprocess.run([program(), *map(str, words)], capture_output=True, text=True, errors="replace", check=False)
    if done.returncode != 0:
        text = done.stderr.strip().removeprefix("softalign: ") or f"softalign {words[0]} ended with {done.returncode}"
        raise _ERRORS.get(done.returncode, _core.Error)(text)
    return json.loads(done.stdout)
