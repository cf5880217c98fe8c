"""Code shared by all figures of records: the page of a paper (widths, fonts), looks of lines, axes, matrices, files. Lengths are in inches, fonts in points."""

from __future__ import annotations

import io
import math
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backend_bases import RendererBase
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.image import AxesImage
from matplotlib.legend import Legend
from matplotlib.patches import Rectangle
from matplotlib.textpath import text_to_path
from matplotlib.ticker import LogLocator, MaxNLocator, NullLocator

from softalign_tools import palette
from softalign_tools.charts import Chart
from softalign_tools.files import MAKER, write
from softalign_tools.fonts import families, use_fonts
from softalign_tools.matrices import Alignment

WIDTHS = {"column": 3.03, "page": 6.3}  # in the two-column ACL style
SMALL = 7  # font size of ticks, legends and words
SMALLEST = 5  # font size below which words are hard to read
# These come with matplotlib, so a figure is the same on every machine, except for letters that they lack; STIX matches the Times of papers.
FONTS = {"serif": ["STIXGeneral", "DejaVu Serif", "DejaVu Sans"], "sans": ["DejaVu Sans"]}
INK, FAINT, SURE = "#2b2b2b", "#9a9a9a", "#d55e00"
LINKS = {2: ("sure link", 1.5, "-"), 1: ("possible link", 0.7, (0, (1, 1.5)))}  # value in Alignment.gold -> name, line width and style
STYLE = {
    "font.size": 10,
    "text.color": INK,
    "text.parse_math": False,  # a word may hold "$"
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.formatter.useoffset": False,
    "grid.color": "#e6e6e6",
    "xtick.color": INK,
    "ytick.color": INK,
    "legend.frameon": False,
}
PAPER = {  # sizes, in addition to STYLE
    "font.size": 8,
    "axes.labelsize": 8,
    "xtick.labelsize": SMALL,
    "ytick.labelsize": SMALL,
    "legend.fontsize": SMALL,
    "axes.linewidth": 0.5,
    "grid.linewidth": 0.4,
    "xtick.major.width": 0.5,
    "ytick.major.width": 0.5,
    "xtick.major.size": 2,
    "ytick.major.size": 2,
    "xtick.major.pad": 2,
    "ytick.major.pad": 2,
    "axes.labelpad": 2,
    "lines.linewidth": 1.2,
    "lines.markersize": 4,
    "pdf.fonttype": 42,  # TrueType, which conferences require
    "savefig.dpi": 300,
}


def set_style(font: str) -> None:
    matplotlib.rcdefaults()
    matplotlib.rcParams.update(STYLE | PAPER | {"font.family": FONTS[font]})


class Drawing(Figure):
    """A figure without a window, drawn in the style that was set when it was made, whatever its user sets later. Notebooks show it."""

    def __init__(self, *args: Any, **how: Any) -> None:
        super().__init__(*args, **how)
        FigureCanvasAgg(self)
        self.notes: list[str] = []  # seeds of the lines, runs that are left out
        self._style = {name: matplotlib.rcParams[name] for name in ("font.family", *STYLE, *PAPER)}

    def draw(self, renderer: RendererBase) -> None:
        with matplotlib.rc_context(self._style):
            super().draw(renderer)

    def _repr_png_(self) -> bytes:
        drawn = io.BytesIO()
        self.savefig(drawn, format="png", dpi=150, facecolor="white")
        return drawn.getvalue()


def looks(series: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Returns series -> matplotlib's keywords for its line."""
    return {name: {"color": palette.colour(place), "marker": palette.MARKERS[palette.marker(place)], "linestyle": palette.dash(place), "mec": "white", "mew": 0.4}
            for name, place in palette.look_places(series).items()}  # fmt: skip


def files_of(stem: Path) -> list[Path]:
    """Returns STEM.pdf and STEM.png, the files of a figure."""
    return [stem.with_name(f"{stem.name}.{kind}") for kind in ("pdf", "png")]


def save_figure(figure: Figure, path: Path, force: bool, **how: object) -> None:
    """Writes a PDF or PNG, by the suffix of `path`, with the mark that files.py recognises. The bytes contain neither the time nor a program version."""
    marks = {".pdf": {"CreationDate": None, "Creator": MAKER, "Producer": None}, ".png": {"Software": MAKER}}
    use_fonts(figure)
    drawn = io.BytesIO()
    figure.savefig(drawn, format=path.suffix[1:], metadata=marks[path.suffix], facecolor="white", **how)
    write(path, drawn.getvalue(), force)


def plain_log_ticks(axis: Axis, multiples: Sequence[float] = (1, 2, 5)) -> None:
    """Labels a logarithmic axis at these multiples of powers of ten, as plain numbers."""
    axis.set_major_locator(LogLocator(subs=multiples))
    axis.set_major_formatter("{x:g}")
    axis.set_minor_locator(NullLocator())


def value_axis(axis: Axes, chart: Chart) -> None:
    """Scales the value axis: from 0 for percentages, logarithmic if `chart.logarithmic`."""
    if chart.logarithmic:
        axis.set_yscale("log")
        plain_log_ticks(axis.yaxis)
    else:
        axis.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
    if chart.from_zero:
        axis.set_ylim(0, 103 if axis.dataLim.y1 > 60 or axis.dataLim.y1 == 0 else None)
    elif not chart.logarithmic and axis.dataLim.y0 >= chart.limits[0]:
        axis.set_ylim(bottom=max(axis.get_ylim()[0], 0.97 * chart.limits[0]))


def bounds(label: str) -> tuple[float, float]:
    """'11-20' -> (11, 20); '61+' -> (61, inf)."""
    low, _, high = label.replace("–", "-").rstrip("+").partition("-")
    return float(low), math.inf if label.endswith("+") else float(high or low)


def place(length: float, labels: Sequence[str]) -> float:
    """Returns the position of a source length on an axis on which bucket i spans i - 0.5 to i + 0.5."""
    for index, (low, high) in enumerate(map(bounds, labels)):
        if length <= high:
            return index - 0.5 + (max(length - low + 1, 0) / (high - low + 1) if high < math.inf else 1)
    return len(labels) - 0.5


def length_axis(axis: Axes, trained: set[tuple[int | None, int] | None], buckets: Sequence[str], *, size: float, colour: str) -> None:
    """Puts buckets side by side and shades the lengths that runs were trained on, if they are the same for all runs."""
    if len(trained) == 1 and None not in trained:  # the names of series say if runs were trained on different lengths
        ((shortest, longest),) = trained
        left = place(shortest - 1, buckets) if shortest else -0.5
        axis.axvspan(left, place(longest, buckets), color="#eef3e2", zorder=0, lw=0)
        axis.text(left + 0.06, 1.0, "lengths trained on" if shortest else "up to the longest trained on", fontsize=size,
                  color=colour, va="bottom", transform=axis.get_xaxis_transform())  # fmt: skip
    axis.set_xlim(-0.5, len(buckets) - 0.5)
    axis.set_xticks(range(len(buckets)))
    axis.grid(axis="x", visible=False)


def asides(n: int) -> np.ndarray:
    """Returns the horizontal offset of each of n lines from the centre of a bucket, so that equal values do not hide each other."""
    return min(0.07, 0.4 / n) * (np.arange(n) - (n - 1) / 2)


def runs_of(row: np.ndarray, value: int) -> list[tuple[int, int]]:
    """Returns the first and last position of each run of consecutive cells with this value."""
    edges = np.flatnonzero(np.diff(np.pad(row == value, 1).astype(int)))
    return [(first, last - 1) for first, last in edges.reshape(-1, 2).tolist()]


def draw_matrix(axis: Axes, item: Alignment, size: float, line: float = 1, every: int = 1) -> AxesImage:
    """Draws source words along the top, target words down the side, gold links outlined. `line`: scales line widths; `every`: step between labelled columns.

    Links of neighbouring numbered positions, such as the frames of a word, share one outline.
    """
    t, s = item.weights.shape
    image = axis.imshow(item.weights, cmap="Blues", vmin=0, vmax=1, aspect="auto", interpolation="nearest")
    written = range(0, max(1, s - every // 2), every)  # so that no label extends beyond the edge
    axis.set_xticks(written, [item.source[k] for k in written], rotation=90 if every == 1 else 0, fontsize=size)
    axis.set_yticks(range(t), item.target, fontsize=size)
    axis.tick_params(length=0, pad=3.5 * line, top=False, labeltop=True, labelbottom=False)
    axis.set_xticks(np.arange(0.5, s - 1) if every == 1 else [], minor=True)
    axis.set_yticks(np.arange(0.5, t - 1), minor=True)
    axis.grid(visible=False)
    axis.grid(which="minor", color="#f0f0f0", lw=0.5 * line)
    axis.tick_params(which="minor", length=0)
    axis.spines[:].set_visible(True)
    axis.spines[:].set_color("#d0d0d0")
    axis.spines[:].set_linewidth(0.8 * line)
    for value, (_, width, style) in LINKS.items() if item.gold is not None else ():
        for y, row in enumerate(item.gold):
            runs = runs_of(row, value) if item.numbered else [(x, x) for x in np.flatnonzero(row == value)]
            for first, last in runs:
                axis.add_patch(Rectangle((first - 0.5, y - 0.5), last - first + 1, 1, fill=False, ec=SURE, lw=width * line, ls=style,
                                         zorder=1 + value, clip_on=False))  # fmt: skip
    return image


def link_keys(items: Sequence[Alignment], line: float = 1) -> list[Rectangle]:
    """Returns legend handles for the kinds of links that occur in these alignments."""
    golds = [item.gold for item in items if item.gold is not None]
    return [Rectangle((0, 0), 1, 1, fill=False, ec=SURE, lw=width * line, ls=style, label=name)
            for value, (name, width, style) in LINKS.items() if any((gold == value).any() for gold in golds)]  # fmt: skip


def text_width(words: str, size: float) -> float:
    """Returns the width in inches, in the fonts that the words need."""
    return _width(words, tuple(families(words, matplotlib.rcParams["font.family"]))) * size / 72


@cache
def _width(words: str, family: tuple[str, ...]) -> float:
    """Returns the width in points at a font size of one point."""
    return text_to_path.get_text_width_height_descent(words, FontProperties(family=list(family), size=1), ismath=False)[0]


def wrapped(words: str, room: float) -> str:
    """Returns the words on as many lines as they need, broken after commas. room: line width in inches, for the font size of legends."""
    lines = [""]
    for part in words.split(", "):
        longer = f"{lines[-1]}, {part}" if lines[-1] else part
        lines[-1:] = [longer] if not lines[-1] or text_width(longer, SMALL) <= room else [f"{lines[-1]},", part]
    return "\n".join(lines)


def legend_above(figure: Figure, handles: list) -> Legend:
    """Puts a legend at the top, filled row by row, in as few rows of similar length as fit the width. A constrained layout makes room for it;
    the figure grows if the legend is higher than half of it."""
    width, height = figure.get_size_inches()
    for handle in handles:
        handle.set_label(wrapped(handle.get_label(), width - 0.5))  # next to a sample of its line
    renderer = figure.canvas.get_renderer()
    count = len(handles)
    for columns in dict.fromkeys(math.ceil(count / rows) for rows in range(1, count + 1)):
        by_column = [handle for first in range(columns) for handle in handles[first::columns]]  # the order in which matplotlib places them
        legend = figure.legend(handles=by_column, loc="upper center", ncol=columns, bbox_to_anchor=(0.5, 1), borderaxespad=0.2,
                               handlelength=1.6, columnspacing=1.2, handletextpad=0.5)  # fmt: skip
        box = legend.get_window_extent(renderer)
        if columns == 1 or box.width <= width * figure.dpi:
            break
        legend.remove()
    high = box.height / figure.dpi
    if high > height / 2:
        height += high
        figure.set_figheight(height)
    if figure.get_layout_engine() is not None:
        figure.get_layout_engine().set(rect=(0, 0, 1, 1 - high / height))
    return legend
