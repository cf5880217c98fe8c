"""Reads attention matrices with their words as the program packs them for a page: 8-bit weights, run-length encoded zeros, base64."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from unicodedata import category

import numpy as np

from softalign_tools.charts import Json
from softalign_tools.files import printable

END = "</s>"  # ends every source that a model reads; not counted as a token of the sentence
SIDES = {"encoder": ("source", "source"), "decoder": ("target", "target read")}  # of self-attention: kind -> rows, columns
WORDS = "words_"  # prefix of modules whose sub-words are joined into words
LONGEST = 60  # characters of a word or a value in a figure


@dataclass(frozen=True)
class Image:
    """A source that is an image: its ink [height, width], from 0 to 1, and for each pixel its source position in the weights."""

    ink: np.ndarray
    position: np.ndarray


@dataclass(frozen=True)
class Alignment:
    """One sentence's attention: weights [target, source] that sum to 1 over the source; gold links: 0 none, 1 possible, 2 sure."""

    sentence: int
    source: list[str]
    target: list[str]
    weights: np.ndarray
    gold: np.ndarray | None
    image: Image | None = None
    sides: tuple[str, str] | None = None  # names of rows and columns; None for the target and source of a plain matrix

    @property
    def numbered(self) -> bool:
        """True if source positions, such as frames, have numbers instead of words."""
        return self.source == [f"#{k}" for k in range(len(self.source))]


def shown(text: object, most: int = LONGEST) -> str:
    """Returns a word or value in a form that a figure can show. Invisible words become code points; so does U+FEFF, at which matplotlib 3.11 fails."""
    text = printable(text).replace("\ufeff", "U+FEFF")
    if text.strip(" ") and all(category(letter) in ("Cf", "Zs") for letter in text):
        text = " ".join(f"U+{ord(letter):04X}" for letter in text)
    return text if len(text) <= most else text[: most - 1] + "…"


def unpacked(text: str, rows: int, columns: int) -> np.ndarray:
    """Returns weights [rows, columns], rounded by at most 0.002."""
    steps = bytearray()
    values = iter(base64.b64decode(text))
    for value in values:
        steps += bytes([value]) if value else bytes(next(values))
    return np.frombuffer(bytes(steps), np.uint8).reshape(rows, columns) / 255


def chosen_pane(panes: Iterable[Json], module: str = "", pieces: bool = False) -> Json | None:
    """Returns the pane of a module from those of one file; "": the default module. The pane between words is preferred, unless `pieces`."""
    by_name = {pane["module"]: pane for pane in panes}
    name = module or next((name for name, pane in by_name.items() if pane["default"]), "")
    return by_name.get(name) if pieces else by_name.get(WORDS + name, by_name.get(name))


def lengths_of(pane: Json, texts: Sequence[str]) -> dict[int, int]:
    """Returns sentence -> source length in tokens."""
    sources = (texts[number].split("\n") for number in pane["source"])
    return {sentence: len(words) - (words[-1] == END) for sentence, words in zip(pane["sentence"], sources)}


def _image(pane: Json, at: int, texts: Sequence[str]) -> Image | None:
    if pane["images"] is None:
        return None
    height, ink = pane["images"]["height"], texts[pane["images"]["pixels"][at]]
    shape = len(ink) // height, height  # pixels are stored column by column
    grey = np.array([int(step, 36) for step in ink]) / 35
    return Image(grey.reshape(shape).T, np.array(pane["images"]["position"][: len(ink)]).reshape(shape).T)


def is_plain(pane: Json) -> bool:
    """True for the attention of the target to the source, which a figure shows without naming the module."""
    return pane["module"].removeprefix(WORDS) == "cross"


def alignment(pane: Json, sentence: int, texts: Sequence[str], head: int | None = None) -> Alignment | None:
    """Returns a sentence's alignment at the last recorded update. head: None for the mean of all heads. Returns None if a weight is not a number."""
    at = pane["sentence"].index(sentence)
    source, target = (texts[number].split("\n") for number in (pane["source"][at], pane["target"][-1][at]))
    heads = [weights[at] for number, weights in zip(pane["heads"], pane["weights"][-1]) if head in (None, number)]
    if None in heads:
        return None
    weights = np.mean([unpacked(head, len(target), len(source)) for head in heads], axis=0)
    gold = None
    if pane["gold"] is not None:
        gold = np.zeros(weights.shape, np.uint8)
        for link in pane["gold"][at]:
            gold.flat[link >> 1] = 1 + (link & 1)
    return Alignment(sentence, [*map(shown, source)], [*map(shown, target)], weights, gold, _image(pane, at, texts),
                     None if is_plain(pane) else SIDES.get(pane["kind"], ("target", "source")))  # fmt: skip
