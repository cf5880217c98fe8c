#!/usr/bin/python3
"""Draws records: metrics by source length, alignments with their words, learning curves.

plot.py RUN.h5|FOLDER... [--out FOLDER] [--sentences 3,17]: runs tested on the same data share a figure; every figure is a PNG.
Of a file that `softalign translate --alignments` wrote, the matrices are drawn.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator, NullFormatter, ScalarFormatter

from records import Alignment, AlignmentFile, ByLength, RecordError, Run, find_files, labels

# The metrics that are drawn when a record has them, with the name on their axis.
METRICS = {"token_accuracy": "token accuracy, teacher-forced (%)", "bleu": "BLEU", "perplexity": "perplexity"}
# Okabe and Ito's colours, told apart by colour-blind readers too; a score keeps its colour and its marker in every figure.
LOOKS = {"none": ("#5b5b5b", "o"), "additive": ("#0072b2", "s"), "dot": ("#e69f00", "^"), "general": ("#009e73", "D")}
SPARE_LOOKS = [("#cc79a7", "v"), ("#56b4e9", "P"), ("#d55e00", "X"), ("#b3a500", "*"), ("#7f3c8d", "h")]
INK, FAINT, SURE = "#2b2b2b", "#9a9a9a", "#d55e00"
STYLE = {
    "figure.dpi": 150,
    "font.size": 10,
    "text.color": INK,
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e6e6e6",
    "xtick.color": INK,
    "ytick.color": INK,
    "legend.frameon": False,
}
CELL = 0.17  # inches: a row of an alignment, and so the room for a word's letters
LETTER = 0.1  # inches: room for a letter of a title in bold

Looks = dict[Path, tuple[str, str]]  # of a run's record -> (colour, marker)


def looks(runs: Sequence[Run]) -> Looks:
    chosen: Looks = {}
    spare = [*SPARE_LOOKS, *LOOKS.values()]
    colours, markers = zip(*spare)
    # When all are taken, every colour once more with another marker, and so on.
    every = spare + [(c, markers[(i + turn) % len(spare)]) for turn in range(1, len(spare)) for i, c in enumerate(colours)]
    for run in runs:
        free = [look for look in every if look not in chosen.values()] or every
        own = LOOKS.get(run.label)
        chosen[run.path] = own if own in free else free[0]
    return chosen


def panels(runs: Sequence[Run], styles: Looks, metrics: Sequence[str], title: str) -> tuple[Figure, Sequence[plt.Axes]]:
    """A row of axes, one a metric, below a title and the runs' names."""
    named = [(label, *styles[run.path]) for run, label in zip(runs, labels(runs))]
    handles = [Line2D([], [], color=colour, marker=marker, lw=2, label=label) for label, colour, marker in named]
    width = max(4.6 * len(metrics), LETTER * len(title) + 0.3)
    columns = max(1, min(len(handles), int(width // (0.6 + 0.08 * max(len(handle.get_label()) for handle in handles)))))
    columns = math.ceil(len(handles) / math.ceil(len(handles) / columns))  # rows of one length
    head = 0.9 + 0.22 * math.ceil(len(handles) / columns)  # inches: the title, the names, the metric
    height = head + 2.9
    figure, axes = plt.subplots(1, len(metrics), figsize=(width, height), squeeze=False)
    figure.subplots_adjust(0.55 / width, 0.62 / height, 1 - 0.15 / width, 1 - head / height, wspace=0.6 / 3.9)
    figure.suptitle(title, x=0.15 / width, y=1 - 0.12 / height, ha="left", va="top", fontsize=12, fontweight="bold")
    figure.legend(handles=handles, loc="upper left", ncol=columns, bbox_to_anchor=(0.05 / width, 1 - 0.33 / height))
    for axis, metric in zip(axes[0], metrics):
        axis.set_title(METRICS[metric], loc="left", fontsize=10.5, pad=16)
    return figure, axes[0]


def finish(axis: plt.Axes, metric: str) -> None:
    """The value axis: from 0 for scores, logarithmic (and called so) for perplexity when it spans more than a factor of 4."""
    low, high = axis.dataLim.intervaly
    if metric == "perplexity" and low > 0 and high / low > 4:
        axis.set_yscale("log")
        axis.set_title(f"{METRICS[metric]}, logarithmic axis", loc="left", fontsize=10.5, pad=16)
        axis.yaxis.set_major_locator(matplotlib.ticker.LogLocator(subs=(1, 2, 5)))
        axis.yaxis.set_major_formatter(ScalarFormatter())
        axis.yaxis.set_minor_formatter(NullFormatter())
        axis.minorticks_off()
    elif metric != "perplexity":
        axis.set_ylim(0, 103 if metric == "token_accuracy" else None)


def bounds(label: str) -> tuple[float, float]:
    """'11-20' -> (11, 20); '61+' -> (61, inf)."""
    low, _, high = label.replace("–", "-").rstrip("+").partition("-")
    return float(low), math.inf if label.endswith("+") else float(high or low)


def place(length: float, labels: Sequence[str]) -> float:
    """Where a source length lies on an axis on which bucket i spans i - 0.5 to i + 0.5."""
    for index, (low, high) in enumerate(map(bounds, labels)):
        if length <= high:
            return index - 0.5 + (max(length - low + 1, 0) / (high - low + 1) if high < math.inf else 1)
    return len(labels) - 0.5


def draw_by_length(runs: Sequence[Run], styles: Looks, title: str) -> Figure | None:
    results: list[tuple[Run, ByLength]] = [(run, run.by_length) for run in runs if run.by_length]
    metrics = [metric for metric in METRICS if any(metric in result.metrics for _, result in results)]
    if not metrics:
        return None
    buckets, n = results[0][1].labels, np.max([result.n for _, result in results], axis=0)
    fewest = np.min([result.n for _, result in results], axis=0)  # another data_seed draws other sentences
    drawn = max(np.flatnonzero(n), default=0) + 1  # long buckets in which no test sentence falls are left off
    buckets = buckets[:drawn]
    counts = [str(most) if least == most else f"{least}–{most}" for least, most in zip(fewest, n[:drawn])]
    figure, axes = panels([run for run, _ in results], styles, metrics, title)
    trained = {run.trained_lengths for run, _ in results}
    for axis, metric in zip(axes, metrics):
        if len(trained) == 1 and None not in trained:  # others are told apart by their names
            ((shortest, longest),) = trained
            left = place(shortest - 1, buckets) if shortest else -0.5
            axis.axvspan(left, place(longest, buckets), color="#eef3e2", zorder=0, lw=0)
            axis.text(left + 0.06, 1.0, "lengths trained on" if shortest else "up to the longest trained on", fontsize=7.5,
                      color="#6c7a3f", va="bottom", transform=axis.get_xaxis_transform())  # fmt: skip
        for index, (run, result) in enumerate(results):
            colour, marker = styles[run.path]
            values = result.metrics.get(metric, np.full(drawn, np.nan))[:drawn]
            aside = min(0.07, 0.4 / len(results)) * (index - (len(results) - 1) / 2)  # so that equal values do not hide
            axis.plot(np.arange(drawn) + aside, values, color=colour, marker=marker, lw=2, ms=6, mec="white", mew=0.8,
                      clip_on=False)  # fmt: skip
        axis.set_xlim(-0.5, len(buckets) - 0.5)
        axis.set_xticks(range(len(buckets)))
        axis.set_xticklabels([f"{bucket}\n{count}" for bucket, count in zip(buckets, counts)], fontsize=8.5)
        axis.set_xlabel("source length (tokens), and number of sentences", fontsize=9)
        axis.grid(axis="x", visible=False)
        finish(axis, metric)
    return figure


def draw_curves(runs: Sequence[Run], styles: Looks, title: str) -> Figure | None:
    runs = [run for run in runs if any(metric in run.dev for metric in METRICS)]
    metrics = [metric for metric in METRICS if any(metric in run.dev for run in runs)]
    if not metrics:
        return None
    figure, axes = panels(runs, styles, metrics, title)
    for axis, metric in zip(axes, metrics):
        for run in runs:
            colour, marker = styles[run.path]
            if metric in run.dev:
                axis.plot(*run.dev[metric], color=colour, marker=marker, lw=2, ms=4.5, mec="white", mew=0.6)
        axis.set_xlim(left=0)
        axis.xaxis.set_major_locator(MaxNLocator(6, integer=True))
        axis.set_xlabel("updates", fontsize=9)
        finish(axis, metric)
    return figure


def draw_alignment(named: Sequence[tuple[str, Alignment]], title: str) -> Figure:
    """One sentence, a panel a run: source words along the top, target words down, gold links outlined."""

    def room(words: Sequence[Sequence[str]]) -> float:
        return 0.1 + 0.066 * max(len(word) for side in words for word in side)

    above, beside = room([a.source for _, a in named]), room([a.target for _, a in named])
    across = max(len(a.source) for _, a in named) * CELL
    down = max(len(a.target) for _, a in named) * CELL
    names = [", ".join(part.replace(" ", "\u00a0") for part in name.split(", ")) for name, _ in named]  # lines end at commas
    longest = max((len(part) for name in names for part in name.split(" ")), default=0)
    pitch = max(across + beside + 0.3, LETTER * max(longest, 16) + 0.2)  # of panels: their names need room too
    names = [textwrap.fill(name, int((pitch - 0.2) / LETTER), break_long_words=False) for name in names]
    columns = max(1, min(len(named), int(24 / pitch)))
    rows = math.ceil(len(named) / columns)
    head, foot, caption = 0.5, 0.75, 0.15 + 0.2 * max(len(name.splitlines()) for name in names)
    width = max(columns * pitch + 0.2, LETTER * len(title) + 0.3, 5)
    height = head + rows * (caption + above + down + 0.2) + foot
    figure = plt.figure(figsize=(width, height))
    figure.text(0.15 / width, 1 - 0.15 / height, title, fontsize=12, fontweight="bold", va="top")
    for index, (name, (_, item)) in enumerate(zip(names, named)):
        row, column = divmod(index, columns)
        t, s = item.weights.shape
        left = 0.15 + column * pitch + beside
        top = height - head - row * (caption + above + down + 0.2) - caption - above
        axis = figure.add_axes((left / width, (top - t * CELL) / height, s * CELL / width, t * CELL / height))
        image = axis.imshow(item.weights, cmap="Blues", vmin=0, vmax=1, aspect="auto", interpolation="nearest")
        axis.set_xticks(range(s), item.source, rotation=90, fontsize=8)
        axis.set_yticks(range(t), item.target, fontsize=8)
        axis.tick_params(length=0, pad=3.5, top=False, labeltop=True, labelbottom=False)
        axis.set_xticks(np.arange(0.5, s - 1), minor=True)
        axis.set_yticks(np.arange(0.5, t - 1), minor=True)
        axis.grid(visible=False)
        axis.grid(which="minor", color="#f0f0f0", lw=0.5)
        axis.tick_params(which="minor", length=0)
        axis.spines[:].set_visible(True)
        axis.spines[:].set_color("#d0d0d0")
        figure.text((left - beside) / width, (top + above + 0.08) / height, name, fontsize=11, fontweight="bold")
        for y, x in np.argwhere(item.gold > 0) if item.gold is not None else ():
            sure = item.gold[y, x] == 2
            axis.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, fill=False, ec=SURE, lw=1.5 if sure else 0.7,
                                     ls="-" if sure else (0, (1, 1.5)), zorder=3 if sure else 2, clip_on=False))  # fmt: skip
    bar = figure.add_axes((0.2 / width, 0.4 / height, 1.4 / width, 0.12 / height))
    figure.colorbar(image, cax=bar, orientation="horizontal", ticks=[0, 0.5, 1])
    bar.tick_params(labelsize=8, length=2)
    figure.text(0.2 / width, 0.56 / height, "attention weight", fontsize=8)
    golds = [item.gold for _, item in named if item.gold is not None]
    keys = [Rectangle((0, 0), 1, 1, fill=False, ec=SURE, lw=lw, ls=ls, label=name)
            for value, name, lw, ls in ((2, "sure link", 1.5, "-"), (1, "possible link", 0.7, (0, (1, 1.5))))
            if any((gold == value).any() for gold in golds)]  # fmt: skip
    figure.legend(handles=keys, loc="lower left", bbox_to_anchor=(1.9 / width, 0.18 / height), ncol=2, fontsize=8.5,
                  handlelength=1, handleheight=1)  # fmt: skip
    return figure


def example_sentences(files: Sequence[AlignmentFile], longest: int) -> list[int]:
    """Of the sentences that all files keep, one of middling length up to `longest` tokens and one of up to twice that."""
    shared = {s: length for s, length in files[0].sentences.items() if all(s in file.sentences for file in files)}
    chosen = []
    for group in ([s for s in shared if shared[s] <= longest], [s for s in shared if longest < shared[s] <= 2 * longest]):
        if group:
            chosen.append(sorted(group, key=lambda s: (shared[s], s))[len(group) // 2])
    return chosen


def subject(runs: Sequence[Run]) -> str:
    """The task; before it the name of the specs, or what their names share before a '-', when that says something else."""
    task = runs[0].task["type"]
    names = {run.name for run in runs}
    shared = names.pop() if len(names) == 1 else os.path.commonprefix(list(names)).rpartition("-")[0]
    spoken = task.replace("_", " ")
    return spoken if shared in ("", task, spoken) else f"{shared} ({spoken})"


def draw_all(files: Sequence[AlignmentFile], out: Path, sentences: Sequence[int]) -> list[Path]:
    """Writes every figure that the files have the numbers for; returns their places."""
    out.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []

    def save(figure: Figure | None, name: str) -> None:
        if figure is not None:
            twins = sum(file.stem.partition("~")[0] == name for file in written)
            written.append(out / f"{name}{f'~{twins + 1}' if twins else ''}.png")
            figure.savefig(written[-1], facecolor="white", metadata={"Software": None})
            plt.close(figure)

    def save_alignments(named: Sequence[tuple[str, AlignmentFile]], longest: int, what: str, name: str) -> None:
        for sentence in sentences or example_sentences([file for _, file in named], longest):
            drawn = [(label, file.alignment(sentence)) for label, file in named]
            drawn = [pair for pair in drawn if pair[1].source == drawn[0][1].source]  # another data_seed draws others
            title = f"{what} {sentence}, {drawn[0][1].source_length} source tokens"
            save(draw_alignment(drawn, title), f"{name}_alignment_{sentence}")

    groups: dict[str, list[Run]] = {}
    for run in files:
        if isinstance(run, Run) and run.has_results:
            groups.setdefault(run.test_set, []).append(run)
    names, order = [group[0].task["type"] for group in groups.values()], list(LOOKS)
    for index, (task, group) in enumerate(zip(names, groups.values())):
        name = task if names.count(task) == 1 else f"{task}_{names[: index + 1].count(task)}"
        group.sort(key=lambda run: (order.index(run.label) if run.label in order else len(order), run.label, run.spec["seed"]))
        about, styles = subject(group), looks(group)
        save(draw_by_length(group, styles, f"{about}: test results by source length"), f"{name}_by_length")
        save(draw_curves(group, styles, f"{about}: on the dev set while training"), f"{name}_curves")
        if attending := [run for run in group if run.sentences]:
            longest = max((run.trained_lengths or (0, 30))[1] for run in attending)
            save_alignments(list(zip(labels(attending), attending)), longest, f"{about}: test sentence", name)
    for file in files:
        if not isinstance(file, Run) and file.sentences:
            save_alignments([("", file)], 30, f"{file.path.name}: sentence", file.path.stem)
    return written


def main() -> int:
    parser = argparse.ArgumentParser(description="Draws the records of runs.")
    parser.add_argument("places", nargs="+", type=Path, metavar="RUN.h5|FOLDER",
                        help="a record, a folder of them, or a file of `softalign translate --alignments`")  # fmt: skip
    parser.add_argument("--out", type=Path, default=Path("figures"), help="folder of the PNG files (default: figures)")
    parser.add_argument("--sentences", type=lambda text: [int(s) for s in text.split(",")], default=[], metavar="I,J",
                        help="sentences, numbered from 0, whose alignment is drawn (default: a short and a long one)")  # fmt: skip
    arguments = parser.parse_args()
    plt.rcParams.update(STYLE)
    files, notes = find_files(arguments.places)
    if not files:
        raise RecordError(f"no run.h5 in {', '.join(map(str, arguments.places))}: run the experiment first")
    empty = [file for file in files if isinstance(file, Run) and not file.has_results]
    for note in notes + [f"{run.path} is in no figure: nothing is measured yet" for run in empty]:
        print(f"plot: {note}", file=sys.stderr)
    for figure in draw_all(files, arguments.out, arguments.sentences):
        print(figure)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except RecordError as error:
        sys.exit(f"plot: {error}")
