#!/usr/bin/python3
"""Builds the images of experiments/digits from one Debian package, the same bytes each time.

build_digits.py [--output FOLDER] [SKLEARN.deb]: downloads the .deb file with apt-get if it is not given. In both cases its SHA-256 must
be the recorded one.
"""

from __future__ import annotations

import argparse
import gzip
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "scripts"))

from debian_package import BuildError, Package, differing, download, unpack, write_gzip

from softalign_tools.files import OutputError, add_force

FOLDER = ROOT / "experiments/digits"
PARTS = ("train", "dev", "test")
SIDE, LEVELS = 8, 17
SKLEARN = Package(
    "python3-sklearn", "1.2.1+dfsg-1", "ca0c6be401d14871c7e93cfdd8d1f561595dc65e6e2ad2501d568aee7f7efc58",
    "usr/lib/python3/dist-packages/sklearn/datasets/data/digits.csv.gz"
)  # fmt: skip


class Digit(NamedTuple):
    part: str
    digit: int
    pixels: tuple[int, ...]  # row by row, from 0 (paper) to 16 (ink)

    def __str__(self) -> str:
        return " ".join([self.part, str(self.digit), *map(str, self.pixels)])


def part_of(number: int) -> str:
    """Returns the part of the n-th image of a digit: of ten, seven are train, one is dev (for early stopping), two are test."""
    return {3: "test", 6: "dev", 8: "test"}.get(number % 10, "train")


def read_digits(text: str) -> list[Digit]:
    """Reads lines of 64 grey levels and the digit. Raises BuildError for any other line."""
    digits, seen = [], Counter[int]()
    for number, line in enumerate(text.splitlines(), 1):
        *pixels, digit = map(int, line.split(","))
        if len(pixels) != SIDE * SIDE or not 0 <= digit <= 9 or not all(0 <= p < LEVELS for p in pixels):
            raise BuildError(f"line {number}: not {SIDE * SIDE} levels below {LEVELS} and a digit")
        digits.append(Digit(part_of(seen[digit]), digit, tuple(pixels)))
        seen[digit] += 1
    return digits


def write(digits: list[Digit], folder: Path, force: bool = False) -> None:
    write_gzip("".join(f"{digit}\n" for digit in digits), folder / "digits.txt.gz", force)


def main() -> int:
    parser = argparse.ArgumentParser(description="Builds the images of experiments/digits.")
    parser.add_argument("deb", nargs="?", type=Path, metavar="DEB", help=f"{SKLEARN.name} {SKLEARN.version}")
    parser.add_argument("--output", type=Path, default=FOLDER / "data", help="folder for the file")
    add_force(parser)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        source = unpack(SKLEARN, arguments.deb or download(SKLEARN, folder), folder)
        digits = read_digits(gzip.decompress(source.read_bytes()).decode("ascii"))
    write(digits, arguments.output, arguments.force)
    for part in PARTS:
        count = Counter(digit.digit for digit in digits if digit.part == part)
        print(f"{part}: {count.total()} images; of each digit {min(count.values())} to {max(count.values())}")
    if other := differing(arguments.output, FOLDER / "SHA256SUMS"):
        raise BuildError(f"{arguments.output}: not the recorded bytes (experiments/digits/SHA256SUMS): {', '.join(other)}")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (BuildError, OutputError) as error:
        sys.exit(f"build_digits: {error}")
