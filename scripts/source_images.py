"""Sources that are images: what a record keeps of them (/images)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import h5py
import numpy as np

from stored import array, attributes, group_of, values


@dataclass(frozen=True)
class Image:
    """A source that is an image: its ink [height, width], from 0 to 1, and for each pixel its source position in the weights."""

    ink: np.ndarray
    position: np.ndarray


def read_image(file: h5py.File, split: str, sentence: int) -> Image | None:
    """The image that a sentence of the split is; None where sources are text, or it is not kept."""
    group = group_of(file, f"images/{split}")
    widths = values(group, "width", "iu", (None,)) if group is not None else ()
    if not 0 <= sentence < len(widths):
        return None
    about = attributes(group, {"height": int, "levels": int})
    shape = int(widths[sentence]), about["height"]  # pixels lie column by column
    if min(shape) < 1 or about["levels"] < 2:
        raise ValueError(f"images/{split} has an image without pixels or levels")
    size = math.prod(shape)
    ink = array(group, "pixels", "iu", (len(widths), None))[sentence, :size].reshape(shape).T / (about["levels"] - 1)
    position = values(group, "position", "iu", (None,))
    return Image(np.clip(ink, 0, 1), position[:size].reshape(shape).T)
