#!/usr/bin/python3
"""Builds the corpus of experiments/bible_en_es from two Debian packages, the same bytes each time.

build_bible.py [--output FOLDER] [KJV.deb SPARV.deb]: downloads the .deb files with apt-get if they are not given. In both cases their
SHA-256 must be the recorded one.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "scripts"))

from debian_package import BuildError, Package, differing, download, unpack, write_gzip
from strongs import Links, Token, link, tokens
from sword import Canon, SwordError, read_canon, read_verses

from softalign_tools.files import OutputError, add_force

FOLDER = ROOT / "experiments/bible_en_es"
PARTS = ("train", "dev", "test", "long")
LONGEST = 80  # English tokens, about the length of the longest verses
COLUMNS = ("en", "es", "ref", "align")
MODULES = "usr/share/sword/modules/texts/ztext"


KJV = Package(
    "sword-text-kjv", "14.3-1", "9f463f28ce665f6f528fc723179722bced880a4c5485f7a41bf742838315de57", f"{MODULES}/engKJV2006eb"
)
SPARV = Package(
    "sword-text-sparv", "2.60-1", "5c87f9b2bc97457e8a872f5bae7ea7ce59cb3de1dcee73e4d4740451863694cf", f"{MODULES}/spaRV1909eb"
)


class Pair(NamedTuple):
    part: str
    english: list[Token]
    spanish: list[Token]
    reference: str
    links: Links

    def columns(self) -> tuple[str, str, str, str]:
        """Returns one line for each of COLUMNS."""
        sides = (" ".join(token.text for token in side) for side in (self.english, self.spanish))
        return (*sides, self.reference, str(self.links))


def part_of(chapter_index: int) -> str:
    """Returns the part of a chapter: of twenty, one is test and one is dev. Whole chapters, so that no test verse has its neighbours in the training set."""
    return {7: "test", 17: "dev"}.get(chapter_index % 20, "train")


def read_pairs(english: Path, spanish: Path, canon: Canon) -> Iterator[Pair]:
    """Yields the verses that have words in both modules, in canonical order."""
    for ours, theirs in zip(read_verses(english, canon), read_verses(spanish, canon)):
        a, b = tokens(ours.text), tokens(theirs.text)
        if a and b:
            yield Pair(part_of(ours.chapter_index), a, b, ours.reference, link(a, b))


def joined(pairs: list[Pair]) -> Iterator[Pair]:
    """Joins consecutive verses of a chapter until they have more than LONGEST English tokens. Drops the rest at its end."""
    last = None
    for pair in pairs:
        if last is None or last.reference.rpartition(":")[0] != pair.reference.rpartition(":")[0]:
            last = pair
        else:
            links = (here | {(i + len(last.english), j + len(last.spanish)) for i, j in there} for here, there in zip(last.links, pair.links))
            reference = f"{last.reference.partition('-')[0]}-{pair.reference.rpartition(':')[2]}"
            last = Pair("long", last.english + pair.english, last.spanish + pair.spanish, reference, Links(*links))
        if len(last.english) > LONGEST:
            if last.part == "long":
                yield last
            last = None


def with_long(pairs: list[Pair]) -> list[Pair]:
    """Returns the pairs with the part "long" added: all pairs of test, then its verses joined."""
    test = [pair for pair in pairs if pair.part == "test"]
    return pairs + [pair._replace(part="long") for pair in test] + list(joined(test))


def clusters(pairs: list[Pair]) -> list[str]:
    """Returns for each pair the reference of the joined verses that it is or belongs to, else its own: pairs that share a verse are not independent."""
    of_verse = {}
    for reference in (pair.reference for pair in pairs):
        chapter, _, verses = reference.rpartition(":")
        first, _, last = verses.partition("-")
        of_verse |= {f"{chapter}:{verse}": reference for verse in range(int(first), int(last or first) + 1)}
    return [of_verse.get(pair.reference, pair.reference) for pair in pairs]


def write(pairs: list[Pair], folder: Path, force: bool = False) -> None:
    """Writes FOLDER/<part>.<column>.gz for every part and column, one line per pair, and the clusters of the part "long"."""
    for part in PARTS:
        rows = [pair.columns() for pair in pairs if pair.part == part]
        for index, column in enumerate(COLUMNS):
            text = "".join(row[index] + "\n" for row in rows)
            write_gzip(text, folder / f"{part}.{column}.gz", force)
    of_long = clusters([pair for pair in pairs if pair.part == "long"])
    write_gzip("".join(f"{cluster}\n" for cluster in of_long), folder / "long.cluster.gz", force)


def summary(pairs: list[Pair]) -> Iterator[str]:
    """Yields a line of statistics for each part."""
    for part in PARTS:
        chosen = [pair for pair in pairs if pair.part == part]
        lengths = sorted(len(pair.english) for pair in chosen) or [0]
        sure, possible = (sum(len(pair.links[kind]) for pair in chosen) for kind in (0, 1))
        yield (
            f"{part}: {len(chosen)} pairs; English tokens: mean {statistics.mean(lengths):.1f}, "
            f"median {statistics.median(lengths):.0f}, 90 % {lengths[len(lengths) * 9 // 10]}, longest {lengths[-1]}; "
            f"{sum(length > 30 for length in lengths)} over 30; {sure} sure and {possible} possible links"
        )


def main() -> int:
    parser = argparse.ArgumentParser(description="Builds the corpus of experiments/bible_en_es.")
    parser.add_argument("debs", nargs="*", type=Path, metavar="DEB", help="the two packages, King James first")
    parser.add_argument("--output", type=Path, default=FOLDER / "data", help="folder for the seventeen files")
    add_force(parser)
    arguments = parser.parse_args()
    if len(arguments.debs) not in (0, 2):
        parser.error("give both .deb files, or none")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        debs = arguments.debs or [download(package, folder) for package in (KJV, SPARV)]
        modules = [unpack(package, deb, folder) for package, deb in zip((KJV, SPARV), debs)]
        pairs = with_long(list(read_pairs(*modules, read_canon(Path(__file__).with_name("kjv_canon.json")))))
    write(pairs, arguments.output, arguments.force)
    print("\n".join(summary(pairs)))
    if other := differing(arguments.output, FOLDER / "SHA256SUMS"):
        raise BuildError(f"{arguments.output}: not the recorded bytes (experiments/bible_en_es/SHA256SUMS): {', '.join(other)}")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (BuildError, OutputError, SwordError) as error:
        sys.exit(f"build_bible: {error}")
