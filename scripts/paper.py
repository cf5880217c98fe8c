"""The page of a paper: widths, fonts, names of metrics, files of figures. Lengths are in inches, fonts in points."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import matplotlib.pyplot as plt
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.legend import Legend
from matplotlib.textpath import text_to_path

from drawing import STYLE
from fonts import families

WIDTHS = {"column": 3.03, "page": 6.3}  # of the ACL style's two columns
SMALL = 7  # font of ticks, legends and words
SMALLEST = 5  # below it words are hard to read
# They come with matplotlib, so a figure is the same on every machine, but for letters that they lack; STIX goes with the Times of papers.
FONTS = {"serif": ["STIXGeneral", "DejaVu Serif", "DejaVu Sans"], "sans": ["DejaVu Sans"]}


def set_style(font: str) -> None:
    plt.rcdefaults()
    plt.rcParams.update(STYLE)
    plt.rcParams.update({
        "font.family": FONTS[font],
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
        "pdf.fonttype": 42,  # TrueType: what conferences ask for
        "savefig.dpi": 300,
    })  # fmt: skip


def files_of(stem: Path) -> list[Path]:
    """STEM.pdf and STEM.png, where a figure goes."""
    return [stem.with_name(f"{stem.name}.{kind}") for kind in ("pdf", "png")]


def text_width(words: str, size: float) -> float:
    """In inches, as its fonts have it."""
    return _width(words, tuple(families(words, plt.rcParams["font.family"]))) * size / 72


@cache
def _width(words: str, family: tuple[str, ...]) -> float:
    """For each point of the font's size."""
    return text_to_path.get_text_width_height_descent(words, FontProperties(family=list(family), size=1), ismath=False)[0]


def wrapped(words: str, room: float) -> str:
    """On as many lines as it takes, broken behind commas. room: inches of a line in the font of legends."""
    lines = [""]
    for part in words.split(", "):
        longer = f"{lines[-1]}, {part}" if lines[-1] else part
        lines[-1:] = [longer] if not lines[-1] or text_width(longer, SMALL) <= room else [f"{lines[-1]},", part]
    return "\n".join(lines)


def legend_above(figure: Figure, handles: list) -> Legend:
    """In as few rows as the width allows; a figure of constrained layout makes room for it, and grows where it is higher than half of it."""
    width, height = figure.get_size_inches()
    for handle in handles:
        handle.set_label(wrapped(handle.get_label(), width - 0.5))  # beside a piece of its line
    renderer = figure.canvas.get_renderer()
    for columns in range(len(handles), 0, -1):
        legend = figure.legend(handles=handles, loc="upper center", ncol=columns, bbox_to_anchor=(0.5, 1), borderaxespad=0.2,
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
