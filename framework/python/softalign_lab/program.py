"""Calls of the program `softalign`, for work that it does in its own processes."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from softalign_tools.program import RecordError
from softalign_tools.program import answer as printed
from softalign_tools.program import program

from softalign_lab import _core

_ERRORS: dict[int, type[BaseException]] = {1: _core.MachineError, 2: _core.SpecError, 3: _core.DataError, 75: KeyboardInterrupt}


def main() -> None:
    """The command `softalign` of an installed package: replaces this process by the program, whose scripts then run with this Python."""
    os.environ.setdefault("SOFTALIGN_PYTHON", sys.executable)
    try:
        os.execv(program(), ["softalign", *sys.argv[1:]])
    except RecordError as error:
        sys.exit(f"softalign: {error}")


@contextmanager
def errors() -> Iterator[None]:
    """Turns the RecordError of a failed command into the exception that the library would raise."""
    try:
        yield
    except RecordError as error:
        raise _ERRORS.get(error.status, _core.Error)(str(error)) from None


def answer(*words: object, codes: Sequence[int] = (0,), shown: bool = False) -> Any:
    """Returns the parsed output of a command with --json. shown: its progress goes to standard error."""
    with errors():
        return json.loads(printed(*words, codes=codes, shown=shown))
