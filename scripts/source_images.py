"""Sources that are images: what a record keeps of them (/images)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import h5py
import numpy as np


@dataclass(frozen=True)
class Image:
    """A source that is an image: its ink [height, width], from 0 to 1, and for each pixel its source position in the weights."""

    ink: np.ndarray
    position: np.ndarray


def read_image(file: h5py.File, split: str, sentence: int) -> Image | None:
    """The image that a sentence of the split is; None where sources are text, or it is not kept."""
    group = file.get(f"images/{split}")
    if group is None or sentence >= len(group["width"]):
        return None
    shape = int(group["width"][sentence]), int(group.attrs["height"])  # pixels lie column by column
    ink = group["pixels"][sentence, : math.prod(shape)].reshape(shape).T / (int(group.attrs["levels"]) - 1)
    return Image(ink, group["position"][: math.prod(shape)].reshape(shape).T)
