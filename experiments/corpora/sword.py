"""Reads Bibles in the SWORD project's zText format with King James versification, independently of words and languages.

A testament `ot` or `nt` is three files: .bzz contains zlib-compressed blocks, .bzs the position of each block (offset, compressed
size, size: uint32 each), .bzv the position of each entry (block and offset: uint32, length: uint16). Entries are in canonical
order: module heading, testament heading, then per book its heading and per chapter its heading and its verses.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

Canon = dict[str, dict[str, list[int]]]  # testament -> book -> verses in each chapter


class SwordError(Exception):
    """Raised for a module that does not match its canon."""


class Verse(NamedTuple):
    book: str
    chapter: int  # from 1
    number: int  # from 1
    chapter_index: int  # from 0, over the whole Bible
    text: str  # OSIS markup

    @property
    def reference(self) -> str:
        return f"{self.book} {self.chapter}:{self.number}"


def read_canon(file: Path) -> Canon:
    return json.loads(file.read_text(encoding="utf-8"))


def _entries(module: Path, testament: str) -> Iterator[str]:
    """Yields the texts of a testament, including headings; an entry without text is empty."""
    entries, blocks, data = ((module / f"{testament}.{kind}").read_bytes() for kind in ("bzv", "bzs", "bzz"))

    @cache
    def block(number: int) -> bytes:
        offset, compressed, _ = struct.unpack_from("<III", blocks, 12 * number)
        return zlib.decompress(data[offset : offset + compressed]) if compressed else b""

    for number, offset, length in struct.iter_unpack("<IIH", entries):
        yield block(number)[offset : offset + length].decode("utf-8") if length else ""


def _canonical(canon: Canon, testament: str) -> Iterator[tuple[str, int, int] | None]:
    """Yields for each entry of a testament (book, chapter, verse), or None for a heading."""
    yield from (None, None)
    for book, chapters in canon[testament].items():
        yield None
        for chapter, verses in enumerate(chapters, 1):
            yield None
            yield from ((book, chapter, verse) for verse in range(1, verses + 1))


def read_verses(module: Path, canon: Canon) -> Iterator[Verse]:
    """Yields all verses in canonical order. Raises SwordError if the module does not have the canon's number of entries."""
    chapter_index = -1
    for testament in canon:
        places = list(_canonical(canon, testament))
        texts = list(_entries(module, testament))
        if len(places) != len(texts):
            raise SwordError(f"{module}/{testament}.bzv: {len(texts)} entries where the canon has {len(places)}")
        for place, text in zip(places, texts):
            if place is not None:
                chapter_index += place[2] == 1
                yield Verse(*place, chapter_index, text)
