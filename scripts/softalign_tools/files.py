"""Files and lines of text that a user of scripts meets: read, written, printed.

One law for all that is written: a page or picture that softalign made is replaced, anything else needs --force; a symbolic link, a folder or a device
never is.
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
PDF_MARK = f"/Creator ({MAKER})".encode()  # stands at the end
UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


class OutputError(Exception):
    """What stands where a file is to be written, and the remedy: the command line is wrong."""


def read_bytes(path: Path, most: int = -1) -> bytes:
    """A file, or how it begins. Throws OSError; ValueError for a pipe or a device, for whose writer nobody waits."""
    with open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK | os.O_NOCTTY)) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise ValueError("it is a pipe or a device, where a file belongs; move it away")
        return file.read(most)


def add_force(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--force", action="store_true", help="replace a file that is no page or picture made by softalign")


def parse_checked(parser: argparse.ArgumentParser, *names: str) -> argparse.Namespace:
    """The command line, refused before any work where one of these options names a file that must not be written."""
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
    """Throws OutputError when the law forbids to write there."""
    try:
        mode = path.lstat().st_mode
    except OSError:  # nothing is there; whatever else is wrong, writing says
        return
    if stat.S_ISLNK(mode):
        raise OutputError(f"{path}: is a symbolic link, and no file is written through one; name its file, or remove the link")
    if not stat.S_ISREG(mode):
        raise OutputError(f"{path}: is {'a folder' if stat.S_ISDIR(mode) else 'no regular file'}; choose another name")
    if not force and not made_by_us(path):
        raise OutputError(f"{path}: exists, and is no page or picture that softalign made; --force replaces it, or choose another name")


@contextmanager
def held_back(*signals: signal.Signals) -> Iterator[None]:
    """They take effect at the end. A thread's mask would not do: the kernel gives them to another, of numpy's library for example."""
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
    """Whole or not at all: beside its place first, synced, then renamed. The same bytes again are no replacement.

    Throws OutputError as `check` does, OSError when the system refuses.
    """
    if os.path.isfile(path) and not path.is_symlink() and path.stat().st_size == len(content) and path.read_bytes() == content:
        return
    check(path, force)
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.tmp-{os.getpid()}")
    with held_back(signal.SIGINT, signal.SIGTERM):  # which would leave `beside`
        try:
            beside.unlink(missing_ok=True)  # left by a dead process that had our number
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
    """On one line and harmless to a terminal, as the program prints other people's text: \\n, \\x1b."""

    def escaped(found: re.Match[str]) -> str:
        escape = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}.get(found[0])
        errors = "surrogateescape" if "\udc80" <= found[0] <= "\udcff" else "surrogatepass"
        return escape or "".join(f"\\x{byte:02x}" for byte in found[0].encode(errors=errors))

    return UNSAFE.sub(escaped, str(text))


def say(script: str, text: object) -> None:
    print(f"{script}: {printable(text)}", file=sys.stderr)
