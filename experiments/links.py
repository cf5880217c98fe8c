#!/usr/bin/python3
"""Evaluates and intersects word links in Pharaoh format (i-j sure, ipj possible, positions from 0, one line per sentence) from any aligner.

    links.py aer GOLD FILE..               precision, recall and alignment error rate of each file (Och and Ney 2003)
    links.py intersect FILE OTHER > BOTH   links that are in both; --reversed: OTHER has the other direction, target-source

FILE may be from softalign (export --what links, translate and score --links), eflomal, fast_align or other aligners; its
possible links count as links. Sentences without a link in GOLD do not count. Files may be gzip, of at most 256 MB unpacked.
"""

from __future__ import annotations

import argparse
import gzip
import io
import math
import os
import re
import sys
import zlib
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts"))

from softalign_tools import ending  # isort: skip
from softalign_tools.files import printable

MB = 1 << 20
LARGEST = 256  # MB per file, unpacked: about 40 million links
LINK = re.compile(r"([0-9]{1,9})([-p])([0-9]{1,9})")

Links = dict[tuple[int, int], bool]  # link -> True if it is sure


def links_of(line: str, place: str) -> Links:
    links: Links = {}
    for text in line.split():
        link = LINK.fullmatch(text)
        if link is None:
            raise ValueError(f"{place}: {text!r} is not a link; write i-j (sure) or ipj (possible), positions from 0")
        at = (int(link[1]), int(link[3]))
        links[at] = links.get(at, False) or link[2] == "-"
    return links


def lines(path: Path) -> list[str]:
    try:
        if path.is_char_device() or path.is_block_device():  # it may never end
            raise ValueError(f"{path}: is a device, not a file")
        if path.is_fifo() and not os.path.realpath(path).startswith("/proc/"):  # a shell's pipe has a writer
            raise ValueError(f"{path}: is a named pipe, for whose writer nobody waits; give a file, or /dev/stdin")
        with open(path, "rb") as file:
            unpacked = gzip.open(file) if file.peek(2).startswith(b"\x1f\x8b") else file
            data = b"".join(islice(iter(lambda: unpacked.read(MB), b""), LARGEST + 1))
        if len(data) > LARGEST * MB:
            raise ValueError(f"{path}: is larger than {LARGEST} MB")
        text = data.decode("utf-8-sig")
    except MemoryError as error:
        raise ValueError(f"{path}: is larger than this computer's memory") from error
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "is neither UTF-8 nor whole gzip"
        raise ValueError(f"{path}: {reason}") from error
    return io.StringIO(text, newline=None).readlines()


def read(path: Path) -> list[Links]:
    return [links_of(line, f"{path}:{number}") for number, line in enumerate(lines(path), 1)]


def paired(path: Path, links: list[Links], other: Path) -> Iterator[tuple[Links, Links]]:
    """Returns the links of two files in pairs, line by line; those of `path` are already read. Raises ValueError if their numbers of lines differ."""
    theirs = read(other)
    if len(links) != len(theirs):
        raise ValueError(f"{path} has {len(links)} lines and {other} has {len(theirs)}; line k of one must belong to line k of the other")
    return zip(links, theirs)


def ratio(hits: int, total: int) -> float:
    return hits / total if total else math.nan


def quality(sentences: Iterable[tuple[Links, Links]]) -> tuple[float, float, float]:
    """Returns precision, recall and AER in percent, of (known, found) links."""
    links = sure = possible = known = 0
    for gold, found in sentences:
        if not gold:
            continue
        links += len(found)
        sure += sum(gold.get(link, False) for link in found)
        possible += sum(link in gold for link in found)
        known += sum(gold.values())
    return 100 * ratio(possible, links), 100 * ratio(sure, known), 100 * (1 - ratio(sure + possible, links + known))


def print_quality(gold: Path, files: list[Path]) -> None:
    known = read(gold)
    if not any(known):
        raise ValueError(f"{gold}: has no link to measure by")
    found = [(path, quality(paired(gold, known, path))) for path in files]
    print("precision  recall    AER")
    for path, (precision, recall, aer) in found:
        print(f"{precision:9.2f}  {recall:6.2f}  {aer:5.2f}  {printable(path)}")


def intersection(ours: Links, theirs: Links, other_direction: bool) -> Links:
    return {at: True for at in sorted(ours) if (at[::-1] if other_direction else at) in theirs}


def print_intersection(a: Path, b: Path, other_direction: bool) -> None:
    for ours, theirs in paired(a, read(a), b):
        print(" ".join(f"{i}-{j}" for i, j in intersection(ours, theirs, other_direction)))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    aer = commands.add_parser("aer", help="print precision, recall and AER of files")
    aer.add_argument("gold", type=Path)
    aer.add_argument("files", type=Path, nargs="+")
    intersect = commands.add_parser("intersect", help="write the links that two files share")
    intersect.add_argument("file", type=Path)
    intersect.add_argument("other", type=Path)
    intersect.add_argument("--reversed", action="store_true", help="the second file has links of target and source, j-i")
    arguments = parser.parse_args()
    try:
        if arguments.command == "aer":
            print_quality(arguments.gold, arguments.files)
        else:
            print_intersection(arguments.file, arguments.other, arguments.reversed)
    except ValueError as error:
        print(printable(error), file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
