"""Clean exits of scripts; imported first. Ctrl-C ends a script at once and silently, even while modules are imported, and so does a reader
that closes the pipe (| head). If standard output is full or closed, the script prints one line and fails."""

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
    os._exit(1)  # sys.exit would make Python write again at shutdown


class _Output(io.TextIOWrapper):
    """Standard output whose errors end the script, so that scripts need not handle them."""

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


if sys.stdout is None:  # closed; the first file opened would get its descriptor
    sys.stdout = sys.__stdout__ = open(os.open(os.devnull, os.O_RDONLY), "w")  # read-only, so that writing fails
if sys.stdout is sys.__stdout__:  # not replaced by a test
    _how = {"encoding": sys.stdout.encoding, "errors": sys.stdout.errors}
    _how |= {"line_buffering": sys.stdout.line_buffering, "write_through": sys.stdout.write_through}
    sys.stdout = sys.__stdout__ = _Output(sys.stdout.detach(), **_how)
