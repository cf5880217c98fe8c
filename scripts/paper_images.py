"""Images that were described in words, with the attention of each word over them (Xu et al. 2015, figure 3)."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import LinearSegmentedColormap, to_rgb
from matplotlib.figure import Figure
from matplotlib.image import AxesImage

from drawing import FAINT, INK, SURE
from matrices import Alignment
from paper import SMALL, WIDTHS, text_width
from paper_grids import legend_below

PIXEL = 0.025  # of an image, inches; less where an image is wider than the figure
LINE = 1.3 * SMALL / 72  # height of a line of small text
GAP = 0.06
FOOT = 0.32  # the legend's
SHADES = LinearSegmentedColormap.from_list("shades", plt.get_cmap("Blues")(np.linspace(0, 0.6, 64)))  # ink is seen on all of them


def outline(inside: np.ndarray) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """The edges between pixels that are inside and those that are not: (x, y) corners, vertical ones and horizontal ones."""
    framed = np.pad(inside, 1)
    vertical = np.argwhere(framed[1:-1, 1:] != framed[1:-1, :-1])
    horizontal = np.argwhere(framed[1:, 1:-1] != framed[:-1, 1:-1])
    return [(x, y) for y, x in vertical.tolist()], [(x, y) for y, x in horizontal.tolist()]


def draw_word(axis: plt.Axes, item: Alignment, row: int) -> AxesImage:
    """The image with the attention of target word `row` below its ink; what the word is linked to is outlined."""
    ink, position = item.image.ink, item.image.position
    shade = axis.imshow(item.weights[row][position], cmap=SHADES, vmin=0, vmax=1, interpolation="nearest")
    black = np.zeros((*ink.shape, 4))
    black[..., :3], black[..., 3] = to_rgb(INK), 0.85 * ink
    axis.imshow(black, interpolation="nearest")
    if item.gold is not None:
        vertical, horizontal = outline(item.gold[row][position] == 2)
        look = {"colors": SURE, "lw": 0.9, "zorder": 3, "clip_on": False}
        if vertical:
            axis.vlines([x - 0.5 for x, _ in vertical], [y - 0.5 for _, y in vertical], [y + 0.5 for _, y in vertical], **look)
            axis.hlines([y - 0.5 for _, y in horizontal], [x - 0.5 for x, _ in horizontal], [x + 0.5 for x, _ in horizontal], **look)
    axis.set_xticks([])
    axis.set_yticks([])
    axis.grid(visible=False)
    axis.spines[:].set_visible(True)
    axis.spines[:].set_color(FAINT)
    axis.spines[:].set_linewidth(0.4)
    return shade


def draw_images(named: Sequence[tuple[str, Alignment]], width: str) -> Figure:
    """Panels with a title each: the image once for every word written, the word above it, in lines as text runs."""
    total = WIDTHS[width]
    widest = max(item.image.ink.shape[1] for _, item in named)
    pixel = min(PIXEL, (total - 2 * GAP) / widest)
    tiles: list[tuple[Alignment, int, float, float]] = []  # word, and where its image's left upper corner is
    titles, top = [], GAP
    for name, item in named:
        if name:
            titles.append((name, top))
            top += LINE
        down, across = (pixel * n for n in item.image.ink.shape)
        pitch = GAP + max(across, *(text_width(word, SMALL) for word in item.target))
        columns = max(1, int((total - GAP) / pitch))
        for row in range(len(item.target)):
            line, column = divmod(row, columns)
            tiles.append((item, row, GAP + column * pitch, top + LINE + line * (LINE + down + GAP)))
        top = tiles[-1][3] + down + 2 * GAP
    height = top + FOOT
    figure = plt.figure(figsize=(total, height))
    for name, y in titles:
        figure.text(GAP / total, 1 - y / height, name, fontsize=SMALL, fontweight="bold", va="top")
    for item, row, x, y in tiles:
        down, across = (pixel * n for n in item.image.ink.shape)
        axis = figure.add_axes((x / total, 1 - (y + down) / height, across / total, down / height))
        shade = draw_word(axis, item, row)
        figure.text(x / total, 1 - (y - 0.02) / height, item.target[row], fontsize=SMALL, va="bottom")
    legend_below(figure, shade, [item for _, item in named], 0)
    return figure
