"""Interface to the preloaded library of shim.c: the fault to inject, and the trace of changes that it writes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

BINARIES = Path(os.environ.get("SOFTALIGN_BINARY_DIR", Path(__file__).parents[2] / "build/release")).absolute()
SHIM = BINARIES / "lib" / "torture_shim.so"

CHANGES = ("create", "write", "sync", "truncate", "rename", "link", "unlink", "mkdir")
ALL_CALLS = (  # in the order of shim.c
    "create", "open", "opendir", "read", "mmap", "stat", "write", "sync", "truncate", "rename", "link", "unlink", "mkdir",
)


@dataclass(frozen=True)
class Fault:
    """A fault at the `at`-th of the calls named in `calls` and the following ones, `times` in all (0: no limit)."""

    what: str  # fail, short, kill-before, kill-inside, kill-after, signal
    at: int
    calls: tuple[str, ...] = CHANGES
    times: int = 1
    number: int = 0  # errno or signal

    def environment(self) -> dict[str, str]:
        """Returns the environment variables that configure the library."""
        return {
            "TORTURE_DO": self.what,
            "TORTURE_AT": str(self.at),
            "TORTURE_CALLS": ",".join(self.calls),
            "TORTURE_TIMES": str(self.times),
            "TORTURE_NUMBER": str(self.number),
        }


@dataclass(frozen=True)
class Change:
    """One entry of the trace: a call that changed a file or folder."""

    what: str  # one of CHANGES
    inode: int  # 0 for calls that take only a path
    offset: int  # of a write; the new size of a truncation
    path: str
    new_path: str  # of rename and link
    bytes: bytes  # of a write


def read_trace(trace: Path) -> Iterator[Change]:
    """Yields all changes in the order in which they happened."""
    content = trace.read_bytes()
    begin = 0
    while begin < len(content):
        end = content.index(b"\n", begin)
        what, inode, offset, size, path, new_path = content[begin:end].decode().split("\t")
        begin = end + 1
        written = content[begin : begin + int(size)]
        begin += int(size)
        yield Change(what, int(inode), int(offset), path, new_path, written)
