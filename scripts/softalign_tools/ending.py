"""How a script ends; imported first. Ctrl-C ends it at once and without a word, also while modules are read, and so does a reader
that wants no more (| head). A standard output that is full or closed costs a line."""

import io
import os
import signal
import sys
from pathlib import Path
from typing import NoReturn

signal.signal(signal.SIGINT, signal.SIG_DFL)
signal.signal(signal.SIGPIPE, signal.SIG_DFL)


def _unwritten(error: OSError) -> NoReturn:
    sys.stderr.write(f"{Path(sys.argv[0]).stem}: standard output: cannot be written: {error.strerror}\n")
    os._exit(1)  # Python would try again as it ends


class _Output(io.TextIOWrapper):
    """Standard output, for which no script needs to look out."""

    def write(self, text: str) -> int:
        try:
            return super().write(text)
        except OSError as error:
            _unwritten(error)

    def flush(self) -> None:
        try:
            super().flush()
        except OSError as error:
            _unwritten(error)


if sys.stdout is None:  # closed; the first file to be opened would take its number
    sys.stdout = sys.__stdout__ = open(os.open(os.devnull, os.O_RDONLY), "w")  # to which nothing can be written
if sys.stdout is sys.__stdout__:  # and not a test's
    _how = {"encoding": sys.stdout.encoding, "errors": sys.stdout.errors}
    _how |= {"line_buffering": sys.stdout.line_buffering, "write_through": sys.stdout.write_through}
    sys.stdout = sys.__stdout__ = _Output(sys.stdout.detach(), **_how)
