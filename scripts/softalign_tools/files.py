"""Reads, writes and prints the files and messages of scripts.

One rule for all output files: a page or picture made by softalign is replaced, any other file only with --force; a symbolic link, a folder or a device
is never replaced.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MAKER = "softalign"
PAGE_MARK = f'<meta name="generator" content="{MAKER}">'
TEXT_MARK = f"<!-- generator: {MAKER} -->"
MARKS = (  # near the start of a page, a checklist in Markdown, a PNG
    rb"<!DOCTYPE html>[^>]*>\s*<head>\s*<meta [^>]*>\s*" + PAGE_MARK.encode(),
    rb"# [^\n]*\n" + TEXT_MARK.encode(),
    rb"\x89PNG\r\n\x1a\n.{25,200}tEXtSoftware\0" + MAKER.encode(),
)
MADE = re.compile(b"|".join(MARKS), re.DOTALL)
PDF_MARK = f"/Creator ({MAKER})".encode()  # near the end of a PDF
UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


class OutputError(Exception):
    """Raised if an output path must not be written, with the reason and the remedy. Scripts report it as a wrong command line."""


def read_bytes(path: Path, most: int = -1) -> bytes:
    """Reads a file, or its first `most` bytes. Raises OSError; ValueError for a pipe or a device, without waiting for its writer."""
    with open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK | os.O_NOCTTY)) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise ValueError("it is a pipe or a device, where a file belongs; move it away")
        return file.read(most)


def add_force(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--force", action="store_true", help="replace a file that softalign did not write")


def parse_checked(parser: argparse.ArgumentParser, *names: str) -> argparse.Namespace:
    """Parses the command line. Exits before any work if one of these options names a file that must not be written."""
    add_force(parser)
    given = parser.parse_args()
    try:
        for name in names:
            if file := getattr(given, name):
                check(file, given.force)
    except OutputError as error:
        parser.error(printable(error))
    return given


def made_by_us(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            start = file.read(4096)
            return MADE.match(start) is not None or start.startswith(b"%PDF") and PDF_MARK in start + file.read()
    except OSError:
        return False


def check(path: Path, force: bool) -> None:
    """Raises OutputError if the rule above forbids writing to this path."""
    try:
        mode = path.lstat().st_mode
    except OSError:  # does not exist; writing reports any other error
        return
    if stat.S_ISLNK(mode):
        raise OutputError(f"{path}: is a symbolic link, and no file is written through one; name its file, or remove the link")
    if not stat.S_ISREG(mode):
        raise OutputError(f"{path}: is {'a folder' if stat.S_ISDIR(mode) else 'no regular file'}; choose another name")
    if not force and not made_by_us(path):
        raise OutputError(f"{path}: exists, and is no page or picture that softalign made; --force replaces it, or choose another name")


@contextmanager
def held_back(*signals: signal.Signals) -> Iterator[None]:
    """Delays signals until the block ends. A signal mask would not do: it is per thread, and the kernel would choose another, for example one of numpy's."""
    came: list[int] = []
    before = {number: signal.signal(number, lambda number, _: came.append(number)) for number in signals}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for number in came:
            signal.raise_signal(number)


def write(path: Path, content: bytes, force: bool = False) -> None:
    """Writes a file whole or not at all: first to a temporary file next to it, synced, then renamed. A file that has these bytes already is left alone.

    Raises OutputError as `check` does, OSError if the system refuses.
    """
    if os.path.isfile(path) and not path.is_symlink() and path.stat().st_size == len(content) and path.read_bytes() == content:
        return
    check(path, force)
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.tmp-{os.getpid()}")
    with held_back(signal.SIGINT, signal.SIGTERM):  # which would leave `beside` behind
        try:
            beside.unlink(missing_ok=True)  # left by a dead process that had our process ID
            with beside.open("xb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            beside.replace(path)
        finally:
            beside.unlink(missing_ok=True)
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def printable(text: object) -> str:
    """Returns text on one line and harmless to a terminal, escaped as the program escapes untrusted text: \\n, \\x1b."""

    def escaped(found: re.Match[str]) -> str:
        escape = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}.get(found[0])
        errors = "surrogateescape" if "\udc80" <= found[0] <= "\udcff" else "surrogatepass"
        return escape or "".join(f"\\x{byte:02x}" for byte in found[0].encode(errors=errors))

    return UNSAFE.sub(escaped, str(text))


def say(script: str, text: object) -> None:
    print(f"{script}: {printable(text)}", file=sys.stderr)
