"""Words and word links of a verse pair: tokens from OSIS markup, links from the Strong's numbers that both texts carry.

A number names a Hebrew or Greek word of the original. In `<w lemma="strong:H430">the gods</w>` it stands for the unit "the gods".
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import NamedTuple

# A word with its inner apostrophes, a number, or one punctuation mark.
TOKEN = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*|\d+|[^\w\s]")
WORD = re.compile(r"\w")
TAG = re.compile(r"(<[^>]*>)")
NUMBER = re.compile(r"[GH]\d+")
LEMMA = re.compile(r'lemma="([^"]*)"')
NOT_TEXT = re.compile(
    r'<note\b.*?</note>|<title(?![^>]*canonical="true").*?</title>|<reference\b.*?</reference>', re.DOTALL
)


class Unit(NamedTuple):
    """One <w> element: its index in the verse, split at tags, and its Strong's numbers."""

    place: int
    numbers: frozenset[str]


class Token(NamedTuple):
    text: str
    unit: Unit | None  # None outside <w>, and for punctuation


class Links(NamedTuple):
    """Pairs (English token, Spanish token), from 0; no pair is in both sets."""

    sure: set[tuple[int, int]]
    possible: set[tuple[int, int]]

    def __str__(self) -> str:
        """Returns '0-0 2-1 3p4': sure links first, each kind in order."""
        sure = [f"{i}-{j}" for i, j in sorted(self.sure)]
        return " ".join(sure + [f"{i}p{j}" for i, j in sorted(self.possible)])


def tokens(osis: str) -> list[Token]:
    """Returns the lower-cased words and punctuation of a verse, without notes, uncanonical titles and references."""
    found: list[Token] = []
    unit: Unit | None = None
    for place, piece in enumerate(TAG.split(NOT_TEXT.sub(" ", osis.replace("\n", " ")))):
        if piece.startswith("<w "):
            lemma = LEMMA.search(piece)
            unit = Unit(place, frozenset(NUMBER.findall(lemma[1]))) if lemma else None
        elif piece == "</w>":
            unit = None
        elif not piece.startswith("<"):
            for text in TOKEN.findall(piece):
                found.append(Token(text.lower().replace("’", "'"), unit if WORD.match(text) else None))
    return found


def _occurrences(verse: list[Token]) -> dict[str, list[list[int]]]:
    """Returns for each Strong's number its units in order, each as the positions of its tokens."""
    units: dict[str, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    for position, token in enumerate(verse):
        for number in token.unit.numbers if token.unit else ():
            units[number][token.unit.place].append(position)
    return {number: list(places.values()) for number, places in units.items()}


def link(english: list[Token], spanish: list[Token]) -> Links:
    """Links units that share a number: the k-th with the k-th if both verses have it equally often, else all with all.

    A link is sure if the units correspond one to one and each is a single token.
    """
    sure: set[tuple[int, int]] = set()
    possible: set[tuple[int, int]] = set()
    ours, theirs = _occurrences(english), _occurrences(spanish)
    for number in ours.keys() & theirs.keys():
        a, b = ours[number], theirs[number]
        paired = len(a) == len(b)
        for x, y in zip(a, b) if paired else ((x, y) for x in a for y in b):
            kind = sure if paired and len(x) == len(y) == 1 else possible
            kind.update((i, j) for i in x for j in y)
    return Links(sure, possible - sure)
