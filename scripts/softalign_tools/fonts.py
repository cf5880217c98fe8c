"""Fallback fonts, from those installed on this machine, for letters that the fonts of a figure's style lack, for example Chinese ones."""

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

CHINESE, OTHER = "fonts-wqy-zenhei", "fonts-noto-core"  # packages with fonts for Chinese, Japanese and Korean; for other scripts


def letters_of(path: str) -> frozenset[int]:
    return frozenset(FT2Font(path).get_charmap())


@cache
def known(family: str) -> frozenset[int]:
    """Returns the letters of one of matplotlib's fonts."""
    return letters_of(font_manager.findfont(FontProperties(family=[family])))


@cache
def installed() -> list[tuple[str, str, frozenset[int]]]:
    """Returns name, file and letters of each installed font that matplotlib can draw, upright ones of regular or medium weight first."""
    found = []
    for path in font_manager.findSystemFonts():
        try:
            font = font_manager.ttfFontProperty(FT2Font(path))
            found.append((font.style != "normal" or font.weight not in (400, 500), path, font.name, letters_of(path)))
        except (OSError, RuntimeError, NotImplementedError):  # corrupt, or a bitmap font
            pass
    return [(name, path, letters) for _, path, name, letters in sorted(found, key=lambda each: each[:2])]


@cache
def family_with(letter: str) -> str:
    """Returns the first installed font that has the letter; "" if none has it."""
    for name, path, letters in installed():
        if ord(letter) in letters:
            font_manager.fontManager.addfont(path)  # matplotlib's list of fonts may be older than the font
            return name
    return ""


def lacking(text: str, style: Sequence[str]) -> set[str]:
    """Returns the letters of a text that are in none of the style's fonts."""
    return {letter for letter in text if letter.isprintable() and not any(ord(letter) in known(family) for family in style)}


def families(text: str, style: Sequence[str]) -> list[str]:
    """Returns the fonts of a style, followed by fallback fonts for the letters that they lack."""
    return [*style, *sorted({family_with(letter) for letter in lacking(text, style)} - {""})]


@cache
def note_missing(letters: str) -> None:
    """Prints, once for the same letters, that no font has them, and the packages to install."""
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
