#!/usr/bin/python3
"""Builds the corpus of experiments/long_sentences_debdocs, English to French, from Debian's manuals, the same bytes each time.

build_debdocs.py [--output FOLDER] [--debs FOLDER] [--newer]: downloads the packages that experiments/long_sentences_debdocs/PACKAGES lists with
apt-get, except those whose .deb files are in the folder --debs. Their SHA-256 must be the recorded ones. With --newer, other versions are
allowed and recorded in FOLDER/PACKAGES; the corpus is then a different one.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import sys
import tempfile
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "scripts"))

from debian_package import BuildError, Package, differing, download, sha256, unpack, version_of, write_gzip
from manuals import Block, parallel, read_html, read_man

from softalign_tools.files import OutputError, add_force, printable, write

FOLDER = ROOT / "experiments/long_sentences_debdocs"
COLUMNS = ("en", "fr", "doc")
PARTS = ("test", "dev", "train")  # in order of priority: a text that is in several parts goes to the first
LONGEST = 200  # tokens
LONG = 30  # tokens: of held-out pairs up to this length only one in KEPT stays, because the corpus is made for longer ones
KEPT = 4
RUN = 5  # tokens
WORDS = {  # a French word ends with its apostrophe, an English one does not
    "en": re.compile(r"\w+(?:'\w+)*|[^\w\s]"),
    "fr": re.compile(r"\w+'(?=\w)|\w+|[^\w\s]"),
}


class Source(NamedTuple):
    """Files that exist in both languages."""

    name: str
    files: str  # pattern of the English files, below the root of the packages
    french: dict[str, str]  # replacements in an English path that give the French one
    read: Callable[[Path], list[Block]] = read_html
    book: bool = True  # all files form one document


SOURCES = (
    Source("man", "usr/share/man/man*/*.gz", {"/man/man": "/man/fr/man"}, read_man, book=False),
    Source("libreoffice", "usr/share/libreoffice/help/en-US/**/*.html", {"/en-US/": "/fr/"}, book=False),
    Source("debian-handbook", "usr/share/doc/debian-handbook/html/en-US/*.html", {"/en-US/": "/fr-FR/"}),
    Source("debian-reference", "usr/share/debian-reference/*.en.html", {".en.": ".fr."}),
    Source("developers-reference", "usr/share/developers-reference/*.html", {"-reference/": "-reference/fr/"}),
    Source("installation-guide", "usr/share/doc/installation-guide-amd64/en/*.html", {"/en/": "/fr/"}),
    Source("maint-guide", "usr/share/doc/maint-guide/html/*.en.html", {"guide/": "guide-fr/", ".en.": ".fr."}),
)


class Pair(NamedTuple):
    document: str
    english: list[str]  # tokens
    french: list[str]

    def columns(self) -> tuple[str, str, str]:
        """Returns one line for each of COLUMNS."""
        return " ".join(self.english), " ".join(self.french), self.document


def read_packages(file: Path) -> list[Package]:
    """Reads a list of packages, one line each: name, version, SHA-256."""
    return [Package(*line.split(), content="") for line in file.read_text(encoding="ascii").splitlines()]


def get(package: Package, root: Path, debs: Path | None, newer: bool) -> Package:
    """Unpacks a package below `root` and returns it with its actual version and SHA-256. Raises BuildError if it is missing or not the recorded one."""
    deb = next(debs.glob(f"{package.name}_*.deb"), None) if debs else None
    try:
        deb = deb or download(package, root, newer)
    except BuildError as error:
        raise BuildError(f"{error}; put its .deb file into a folder and name that with --debs, or take another version with --newer") from None
    if newer:
        package = package._replace(version=version_of(deb), sha256=sha256(deb))
    unpack(package, deb, root)
    return package


def tokens(text: str, language: str) -> list[str]:
    """Returns lower-cased words, numbers and punctuation marks."""
    return WORDS[language].findall(unicodedata.normalize("NFC", text).lower().replace("’", "'"))


def is_translation(pair: Pair) -> bool:
    """Returns False for a pair that has no words, is too long, was left in English, or is much longer on one side."""
    ours, theirs = ({token for token in side if token[0].isalpha()} for side in (pair.english, pair.french))
    shorter, longer = sorted((len(pair.english), len(pair.french)))
    return longer <= min(LONGEST, 2 * shorter + 10) and len(ours & theirs) < 0.7 * min(len(ours), len(theirs))


def read_pairs(root: Path) -> Iterator[Pair]:
    """Yields the pairs of all sources, in the order of their files."""
    for source in SOURCES:
        for english in sorted(root.glob(source.files)):
            place = english.relative_to(root).as_posix()
            for old, new in source.french.items():
                place = place.replace(old, new)
            if english.is_symlink() or not (root / place).is_file():  # an alias of another page, or never translated
                continue
            document = source.name if source.book else english.relative_to(root).as_posix()
            for ours, theirs in parallel(source.read(english), source.read(root / place)):
                if is_translation(pair := Pair(document, tokens(ours, "en"), tokens(theirs, "fr"))):
                    yield pair


def part_of(document: str) -> str:
    """Returns the part of a document: six in twenty are test, one is dev. Whole documents are held out."""
    chance = int(hashlib.sha256(document.encode()).hexdigest(), 16) % 20
    return "test" if chance < 6 else "dev" if chance == 6 else "train"


def runs(tokens: Sequence[str]) -> set[tuple[str, ...]]:
    """Returns all sequences of RUN words, with numbers made equal; the whole text if it is shorter."""
    words = tuple("0" if token.isdigit() else token for token in tokens if token[0].isalnum())
    return {words[at : at + RUN] for at in range(max(1, len(words) - RUN + 1))}


def split(pairs: list[Pair]) -> dict[str, list[Pair]]:
    """Returns the pairs of each part, without repetitions and near-repetitions: a pair is dropped if more than half of the runs of either side occurred
    before, in the same part or an earlier one of PARTS, so train does not repeat a held-out part."""
    parts: dict[str, list[Pair]] = {}
    seen: set[tuple[str, ...]] = set()
    for part in PARTS:
        kept = []
        for pair in (pair for pair in pairs if part_of(pair.document) == part):
            sides = runs(pair.english), runs(pair.french)
            if all(2 * len(side & seen) <= len(side) for side in sides):
                kept.append(pair)
                seen.update(*sides)
        short = count()
        parts[part] = [pair for pair in kept if part == "train" or len(pair.english) > LONG or next(short) % KEPT == 0]
    return parts


def put(parts: dict[str, list[Pair]], folder: Path, force: bool = False) -> None:
    """Writes FOLDER/<part>.<column>.gz for every part and column, one line per pair."""
    for part, pairs in parts.items():
        for column, lines in zip(COLUMNS, zip(*(pair.columns() for pair in pairs)) if pairs else [()] * len(COLUMNS)):
            write_gzip("".join(line + "\n" for line in lines), folder / f"{part}.{column}.gz", force)


def summary(parts: dict[str, list[Pair]]) -> Iterator[str]:
    """Yields a line for each part: its number of pairs, by English tokens."""
    for part, pairs in parts.items():
        lengths = [len(pair.english) for pair in pairs]
        longer = ", ".join(f"{sum(length > edge for length in lengths)} over {edge}" for edge in (10, 20, 30, 50, 80))
        yield f"{part}: {len(pairs)} pairs of {len({pair.document for pair in pairs})} documents; English tokens: {longer}"


def main() -> int:
    parser = argparse.ArgumentParser(prog="build_debdocs", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=FOLDER / "data", metavar="FOLDER", help="folder for the nine files and PACKAGES")
    parser.add_argument("--debs", type=Path, metavar="FOLDER", help="folder of .deb files, instead of fetching them")
    parser.add_argument("--newer", action="store_true", help="use the versions of the archive")
    add_force(parser)
    arguments = parser.parse_args()
    if arguments.debs and not arguments.debs.is_dir():
        parser.error(printable(f"--debs {arguments.debs}: no such folder"))
    recorded = read_packages(FOLDER / "PACKAGES")
    with tempfile.TemporaryDirectory() as temporary:
        root = Path(temporary)
        used = [get(package, root, arguments.debs, arguments.newer) for package in recorded]
        parts = split(list(read_pairs(root)))
    put(parts, arguments.output, arguments.force)
    write(arguments.output / "PACKAGES", "".join(f"{p.name} {p.version} {p.sha256}\n" for p in used).encode(), arguments.force)
    print("\n".join(summary(parts)))
    if used != recorded:
        print(f"other packages than experiments/{FOLDER.name}/PACKAGES lists, so this is another corpus: {arguments.output}/PACKAGES")
    elif other := differing(arguments.output, FOLDER / "SHA256SUMS"):
        raise BuildError(f"{arguments.output}: not the recorded bytes (experiments/{FOLDER.name}/SHA256SUMS): {', '.join(other)}")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (BuildError, OutputError) as error:
        sys.exit(f"build_debdocs: {error}")
