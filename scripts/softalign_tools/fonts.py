"""Fonts for letters that the fonts of a figure's style lack, as those of Chinese: looked for among the fonts of this computer."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from unicodedata import east_asian_width

from matplotlib import font_manager
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.ft2font import FT2Font
from matplotlib.text import Text

from softalign_tools.files import say

CHINESE, OTHER = "fonts-wqy-zenhei", "fonts-noto-core"  # packages with letters of Chinese, Japanese and Korean; of other scripts


def letters_of(path: str) -> frozenset[int]:
    return frozenset(FT2Font(path).get_charmap())


@cache
def known(family: str) -> frozenset[int]:
    """The letters of a font of matplotlib's."""
    return letters_of(font_manager.findfont(FontProperties(family=[family])))


@cache
def installed() -> list[tuple[str, str, frozenset[int]]]:
    """Name, file and letters of each font of this computer that matplotlib can draw, upright ones of usual weight first."""
    found = []
    for path in font_manager.findSystemFonts():
        try:
            font = font_manager.ttfFontProperty(FT2Font(path))
            found.append((font.style != "normal" or font.weight not in (400, 500), path, font.name, letters_of(path)))
        except (OSError, RuntimeError, NotImplementedError):  # damaged, or made of pictures
            pass
    return [(name, path, letters) for _, path, name, letters in sorted(found, key=lambda each: each[:2])]


@cache
def family_with(letter: str) -> str:
    """The first that has it; "" where none has."""
    for name, path, letters in installed():
        if ord(letter) in letters:
            font_manager.fontManager.addfont(path)  # installed after matplotlib made its list
            return name
    return ""


def lacking(text: str, style: Sequence[str]) -> set[str]:
    """The letters of a text that none of these fonts has."""
    return {letter for letter in text if letter.isprintable() and not any(ord(letter) in known(family) for family in style)}


def families(text: str, style: Sequence[str]) -> list[str]:
    """The fonts of a style, and behind them those with the letters that they lack."""
    return [*style, *sorted({family_with(letter) for letter in lacking(text, style)} - {""})]


@cache
def note_missing(letters: str) -> None:
    """Once, with the packages that have them."""
    packages = {CHINESE if east_asian_width(letter) in "WF" else OTHER for letter in letters}
    say(Path(sys.argv[0]).stem, f"no font here has {letters}: apt-get install {' '.join(sorted(packages))}")


def use_fonts(figure: Figure) -> None:
    """Gives each text of a figure the fonts that it needs."""
    missing: set[str] = set()
    for text in figure.findobj(Text):
        style, words = text.get_fontfamily(), text.get_text()
        if lacks := lacking(words, style):
            text.set_fontfamily(families(words, style))
            missing |= {letter for letter in lacks if not family_with(letter)}
    if missing:
        note_missing("".join(sorted(missing)))
