#!/usr/bin/python3
"""Draws records: metrics by source length, alignments with their words, learning curves.

plot.py RUN.h5|FOLDER... [--out FOLDER] [--sentences 3,17]: runs tested on the same data share a figure; every figure is a PNG.
Of a file that `softalign translate --alignments` wrote, the matrices are drawn. Exit status: 2 the command line is wrong, 3 no file
can be read.
"""

from __future__ import annotations

import interrupt  # isort: skip
import argparse
import math
import os
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path

import plain_matplotlib  # isort: skip
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from drawing import LOOKS, METRICS, STYLE, Looks, asides, buckets_drawn, draw_matrix, length_axis, link_keys, looks, save_figure, value_axis
from output import OutputError, add_force, printable, say
from records import Alignment, AlignmentFile, ByLength, Run, find_files, labels
from stored import RecordError

CELL = 0.17  # inches: a row of an alignment, and so the room for a word's letters
LETTER = 0.1  # inches: room for a letter of a title in bold

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
    if value_axis(axis, metric):
        axis.set_title(f"{METRICS[metric]}, logarithmic axis", loc="left", fontsize=10.5, pad=16)


def draw_by_length(runs: Sequence[Run], styles: Looks, title: str) -> Figure | None:
    results: list[tuple[Run, ByLength]] = [(run, run.by_length) for run in runs if run.by_length]
    for run, result in results[1:]:
        if result.labels != results[0][1].labels:
            say("plot", f"{run.path} is not in the figure by length: it has other buckets than {results[0][0].path}")
    results = [(run, result) for run, result in results if result.labels == results[0][1].labels]
    metrics = [metric for metric in METRICS if any(metric in result.metrics for _, result in results)]
    if not metrics:
        return None
    buckets, counts = buckets_drawn([result for _, result in results])
    drawn = len(buckets)
    figure, axes = panels([run for run, _ in results], styles, metrics, title)
    for axis, metric in zip(axes, metrics):
        length_axis(axis, [run for run, _ in results], buckets, size=7.5, colour="#6c7a3f")
        for aside, (run, result) in zip(asides(len(results)), results):
            colour, marker = styles[run.path]
            values = result.metrics.get(metric, np.full(drawn, np.nan))[:drawn]
            axis.plot(np.arange(drawn) + aside, values, color=colour, marker=marker, lw=2, ms=6, mec="white", mew=0.8,
                      clip_on=False)  # fmt: skip
        axis.set_xticklabels([f"{bucket}\n{count}" for bucket, count in zip(buckets, counts)], fontsize=8.5)
        axis.set_xlabel("source length (tokens), and number of sentences", fontsize=9)
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
        image = draw_matrix(axis, item, 8)
        figure.text((left - beside) / width, (top + above + 0.08) / height, name, fontsize=11, fontweight="bold")
    bar = figure.add_axes((0.2 / width, 0.4 / height, 1.4 / width, 0.12 / height))
    figure.colorbar(image, cax=bar, orientation="horizontal", ticks=[0, 0.5, 1])
    bar.tick_params(labelsize=8, length=2)
    figure.text(0.2 / width, 0.56 / height, "attention weight", fontsize=8)
    keys = link_keys([item for _, item in named])
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


def alignment_of(file: AlignmentFile, sentence: int) -> Alignment | None:
    """None, and a line that says why, where it cannot be read."""
    try:
        return file.alignment(sentence)
    except RecordError as error:
        say("plot", error)
        return None


def draw_all(files: Sequence[AlignmentFile], out: Path, sentences: Sequence[int], force: bool) -> list[Path]:
    """Writes every figure that the files have the numbers for; returns their places."""
    written: list[Path] = []

    def save(figure: Figure | None, name: str) -> None:
        if figure is not None:
            twins = sum(file.stem.partition("~")[0] == name for file in written)
            written.append(out / f"{name}{f'~{twins + 1}' if twins else ''}.png")
            save_figure(figure, written[-1], force)
            plt.close(figure)

    def save_alignments(named: Sequence[tuple[str, AlignmentFile]], longest: int, what: str, name: str) -> None:
        for sentence in sentences or example_sentences([file for _, file in named], longest):
            drawn = [(label, item) for label, file in named if (item := alignment_of(file, sentence)) is not None]
            if not drawn:
                continue
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
        group.sort(key=lambda run: (order.index(run.label) if run.label in order else len(order), run.label, run.seed))
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


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Draws the records of runs.")
    parser.add_argument("places", nargs="+", type=Path, metavar="RUN.h5|FOLDER",
                        help="a record, a folder of them, or a file of `softalign translate --alignments`")  # fmt: skip
    parser.add_argument("--out", type=Path, default=Path("figures"), help="folder of the PNG files (default: figures)")
    parser.add_argument("--sentences", type=lambda text: [int(s) for s in text.split(",")], default=[], metavar="I,J",
                        help="sentences, numbered from 0, whose alignment is drawn (default: a short and a long one)")  # fmt: skip
    add_force(parser)
    arguments = parser.parse_args(words)
    plt.rcParams.update({**STYLE, "figure.dpi": 150})
    try:
        files = find_files(arguments.places, lambda note: say("plot", note))
        for run in files:
            if isinstance(run, Run) and not run.has_results:
                say("plot", f"{run.path} is in no figure: nothing is measured yet")
        for figure in draw_all(files, arguments.out, arguments.sentences, arguments.force):
            print(printable(figure))
    except OutputError as error:
        say("plot", error)
        return 2
    except RecordError as error:
        say("plot", error)
        return 3
    except OSError as error:
        say("plot", f"{arguments.out}: cannot be written: {error.strerror}; choose another place with --out")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
