"""Figures made of cells: alignment matrices with their words, images with the attention of each word, heatmaps over two parameters of a sweep."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, to_rgb
from matplotlib.image import AxesImage
from matplotlib.patches import Rectangle

from softalign_tools.drawing import FAINT, INK, SMALL, SMALLEST, SURE, WIDTHS, Drawing, draw_matrix, link_keys, text_width
from softalign_tools.matrices import Alignment
from softalign_tools.sweep_table import Cells

LARGEST = 0.15  # largest side of an alignment's cell
ROW = 0.11  # least height of a row of numbered positions, whose columns may be narrow
LINE = 1.2 * SMALL / 72  # height of a line of small text
GAP = 0.05  # between a matrix and its words, and around panels
FILLED = 0.85  # share of a cell's side that the letters beside it take up
PIXEL = 0.025  # side of an image's pixel; smaller if the image would be wider than the figure
IMAGE_LINE = 1.3 * SMALL / 72  # height of a line of small text
IMAGE_GAP = 0.06
FOOT = 0.32  # height of the legend
SHADES = LinearSegmentedColormap.from_list("shades", matplotlib.colormaps["Blues"](np.linspace(0, 0.6, 64)))  # ink is visible on all of them


def side_room(named: Sequence[tuple[str, Alignment]]) -> float:
    """Returns the space for the names of rows and columns, 0 if no panel shows them."""
    return LINE * any(item.sides for _, item in named)


def words_room(sides: Sequence[Sequence[str]]) -> float:
    """Returns the width of the widest word at a font size of one point."""
    return max(text_width(word, 1) for words in sides for word in words)


def cell_size(named: Sequence[tuple[str, Alignment]], columns: int, width: float) -> float:
    """Returns the side of a cell at which `columns` panels fill the width, at most LARGEST."""
    across = max(item.weights.shape[1] for _, item in named)
    beside = words_room([item.target for _, item in named])
    room = width / columns - 3 * GAP - side_room(named)
    cell = room / (across + beside * FILLED * 72)
    if cell * FILLED * 72 > SMALL or all(item.numbered for _, item in named):  # words are at their largest, or their size follows the rows, not this cell
        cell = (room - beside * SMALL) / across
    return min(cell, LARGEST)


def columns_of(named: Sequence[tuple[str, Alignment]], together: int, width: float) -> int:
    """Returns the largest number of columns that leaves words readable. If there are several groups of `together` panels, a row has whole groups or an
    equal share of one."""
    groups = math.ceil(len(named) / together)
    choices = [together * math.ceil(groups / rows) for rows in range(1, groups + 1)]
    choices += [n for n in range(together - 1, 0, -1) if groups == 1 or together % n == 0]
    return next((n for n in choices if cell_size(named, n, width) * FILLED * 72 >= SMALLEST + 1), 1)


def written_numbers(named: Sequence[tuple[str, Alignment]], cell: float, size: float) -> int:
    """Returns the step between numbered positions that are labelled: 1 if rotated labels fit, else one at which horizontal labels fit side by side."""
    if cell * FILLED * 72 >= SMALLEST:
        return 1
    room = words_room([item.source for _, item in named]) * size + GAP
    return next((n for n in (5, 10, 20, 50, 100, 200, 500) if n * cell >= room), 1000)


def draw_alignments(named: Sequence[tuple[str, Alignment]], width: str, together: int = 1) -> tuple[Drawing, float]:
    """Draws titled panels, in groups of `together` (those of a sentence). Returns the figure and the font size of the words."""
    total = WIDTHS[width]
    columns = columns_of(named, together, total)
    cell = cell_size(named, columns, total)
    numbered = all(item.numbered for _, item in named)
    row_height = max(cell, ROW) if numbered else cell
    size = min(SMALL, row_height * FILLED * 72)
    every = written_numbers(named, cell, size) if numbered else 1
    wide = total / columns * 16 / max(text_width("dot, seed 12, ab", 1.1 * SMALL), 0.1)  # letters that fit on a line of a title
    named = [(textwrap.fill(name, int(wide)), item) for name, item in named]
    rows = [named[i : i + columns] for i in range(0, len(named), columns)]
    titled = LINE * max(len(name.splitlines()) for name, _ in named) + GAP * any(name for name, _ in named)
    sides = side_room(named)
    beside = words_room([item.target for _, item in named]) * size + GAP + sides
    above = [(words_room([item.source for _, item in row]) * size if every == 1 else LINE) + GAP + titled + sides for row in rows]
    down = [max(item.weights.shape[0] for _, item in row) * row_height for row in rows]
    foot = 0.32
    height = sum(above) + sum(down) + 2 * GAP * len(rows) + foot
    pitch = max(item.weights.shape[1] for _, item in named) * cell + beside + 2 * GAP
    margin = max(0, total - columns * pitch) / 2  # small matrices are centred
    figure = Drawing(figsize=(total, height))
    top = height
    for row, words, depth in zip(rows, above, down):
        for column, (name, item) in enumerate(row):
            t, s = item.weights.shape
            left, under = margin + column * pitch + beside + GAP, top - GAP - words
            axis = figure.add_axes((left / total, (under - t * row_height) / height, s * cell / total, t * row_height / height))
            image = draw_matrix(axis, item, size, line=0.5, every=every)
            figure.text((left - beside) / total, (top - GAP) / height, name, fontsize=SMALL, fontweight="bold", va="top")
            if item.sides:
                down_side, across_side = item.sides
                axis_y = under - t * row_height / 2
                figure.text((left - beside) / total, axis_y / height, down_side, fontsize=SMALL, color=FAINT, rotation=90, va="center")
                figure.text(left / total, (top - GAP - titled) / height, across_side, fontsize=SMALL, color=FAINT, va="top")
        top -= words + depth + 2 * GAP
    legend_below(figure, image, [item for _, item in named], margin)
    return figure, size


def legend_below(figure: Drawing, image: object, items: Sequence[Alignment], left: float) -> None:
    width, height = figure.get_size_inches()
    keys = link_keys(items, line=0.6)
    needs = 1.7 + sum(text_width(key.get_label(), SMALL - 1) + 0.25 for key in keys)
    left = max(0, min(left, width - needs))
    bar = figure.add_axes(((left + 0.1) / width, 0.16 / height, 0.8 / width, 0.07 / height))
    figure.colorbar(image, cax=bar, orientation="horizontal", ticks=[0, 0.5, 1])
    bar.tick_params(labelsize=SMALL - 1, length=1.5, pad=1)
    bar.grid(visible=False)
    figure.text((left + 0.96) / width, 0.16 / height, "attention weight", fontsize=SMALL - 1, va="bottom")
    if keys:
        figure.legend(handles=keys, loc="lower left", bbox_to_anchor=((left + 1.65) / width, 0.15 / height), ncol=2, borderpad=0,
                      borderaxespad=0, fontsize=SMALL - 1, handlelength=0.9, handleheight=0.9, columnspacing=0.8,
                      handletextpad=0.4)  # fmt: skip


def outline(inside: np.ndarray) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Returns the edges between pixels inside and outside, by their upper or left corner (x, y): vertical edges and horizontal ones."""
    framed = np.pad(inside, 1)
    vertical = np.argwhere(framed[1:-1, 1:] != framed[1:-1, :-1])
    horizontal = np.argwhere(framed[1:, 1:-1] != framed[:-1, 1:-1])
    return [(x, y) for y, x in vertical.tolist()], [(x, y) for y, x in horizontal.tolist()]


def draw_word(axis: Axes, item: Alignment, row: int) -> AxesImage:
    """Draws the image with the attention of target word `row` under its ink; pixels with a sure link to the word are outlined."""
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


def draw_images(named: Sequence[tuple[str, Alignment]], width: str) -> Drawing:
    """Draws titled panels, each with one copy of the image per target word and the word above it, in lines like text."""
    total = WIDTHS[width]
    widest = max(item.image.ink.shape[1] for _, item in named)
    pixel = min(PIXEL, (total - 2 * IMAGE_GAP) / widest)
    tiles: list[tuple[Alignment, int, float, float]] = []  # alignment, target word, and the upper left corner of its image
    titles, top = [], IMAGE_GAP
    for name, item in named:
        if name:
            titles.append((name, top))
            top += IMAGE_LINE
        down, across = (pixel * n for n in item.image.ink.shape)
        pitch = IMAGE_GAP + max(across, *(text_width(word, SMALL) for word in item.target))
        columns = max(1, int((total - IMAGE_GAP) / pitch))
        for row in range(len(item.target)):
            line, column = divmod(row, columns)
            tiles.append((item, row, IMAGE_GAP + column * pitch, top + IMAGE_LINE + line * (IMAGE_LINE + down + IMAGE_GAP)))
        top = tiles[-1][3] + down + 2 * IMAGE_GAP
    height = top + FOOT
    figure = Drawing(figsize=(total, height))
    for name, y in titles:
        figure.text(IMAGE_GAP / total, 1 - y / height, name, fontsize=SMALL, fontweight="bold", va="top")
    for item, row, x, y in tiles:
        down, across = (pixel * n for n in item.image.ink.shape)
        axis = figure.add_axes((x / total, 1 - (y + down) / height, across / total, down / height))
        shade = draw_word(axis, item, row)
        figure.text(x / total, 1 - (y - 0.02) / height, item.target[row], fontsize=SMALL, va="bottom")
    legend_below(figure, shade, [item for _, item in named], 0)
    return figure


def value_texts(values: np.ndarray) -> np.ndarray:
    """Returns values as text, with the decimals that show three significant digits of the largest; "–" for NaN."""
    largest = np.nanmax(np.abs(values)) if not np.isnan(values).all() else 1
    decimals = max(0, 2 - math.floor(math.log10(largest))) if largest > 0 else 0
    return np.array([["–" if np.isnan(v) else f"{v:.{decimals}f}" for v in row] for row in values])


def draw_heatmap(cells: Cells, names: tuple[str, str], measured: str, width: str, goal: str | None = None, height: float | None = None) -> Drawing:
    """Draws a heatmap, the first value of y at the bottom. names: axis labels of x and y; measured: label of the values, "dev loss (nats)".

    goal: "minimize" or "maximize" outlines the best cell.
    """
    down, across = cells.values.shape
    pitch = min(0.32, (WIDTHS[width] - 1.2) / across)
    figure = Drawing(figsize=(WIDTHS[width], height or max(1.4, down * pitch + 0.6)), layout="constrained")
    axis = figure.subplots()
    figure.get_layout_engine().set(w_pad=0.02, h_pad=0.02)
    colours = matplotlib.colormaps["cividis"].with_extremes(bad="#eeeeee")
    image = axis.imshow(np.ma.masked_invalid(cells.values), cmap=colours, origin="lower", aspect="auto", interpolation="nearest")
    texts = value_texts(cells.values)
    if max(text_width(text, SMALL - 1) for text in texts.ravel()) < 0.95 * (WIDTHS[width] - 1.2) / across:
        for (y, x), value in np.ndenumerate(cells.values):
            dark = not np.isnan(value) and image.norm(value) < 0.5
            axis.text(x, y, texts[y, x], ha="center", va="center", fontsize=SMALL - 1, color="white" if dark else "black")
    ticks = max(text_width(value, SMALL) for value in cells.x) > 0.92 * (WIDTHS[width] - 1.2) / across
    axis.set_xticks(range(across), cells.x, rotation=90 if ticks else 0)
    axis.set_yticks(range(down), cells.y)
    axis.set_xlabel(names[0])
    axis.set_ylabel(names[1])
    axis.tick_params(length=0)
    axis.grid(visible=False)
    axis.spines[:].set_visible(False)
    bar = figure.colorbar(image, ax=axis, pad=0.02, aspect=15)
    bar.ax.grid(visible=False)
    bar.outline.set_visible(False)
    bar.set_label(measured)
    if goal and not np.isnan(cells.values).all():
        best = np.nanargmax(cells.values) if goal == "maximize" else np.nanargmin(cells.values)
        y, x = np.unravel_index(best, cells.values.shape)
        axis.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, fill=False, ec=SURE, lw=1.5, clip_on=False, zorder=3))
    return figure
