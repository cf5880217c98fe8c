#!/usr/bin/python3
"""The longest source that is kept, as a function of the width of the state: a table, and with --out a figure.

capacity.py FOLDER [--least 90] [--metric token_accuracy]: FOLDER holds the records of the study, by part-variant. A length is kept when its metric, and
that of every shorter one that was tested, is at least so many percent.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import defaultdict
from pathlib import Path
from statistics import mean

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))

import plain_matplotlib  # isort: skip
import matplotlib.pyplot as plt

from drawing import looks
from paper import WIDTHS, legend_above
from records import ByLength, read_file
from study_script import Made, cell, complete_runs, markdown, run_script

Kept = dict[str, dict[str, dict[int, list[int]]]]  # part -> model -> width -> the longest length of each seed


def longest_kept(results: ByLength, metric: str, least: float) -> int:
    """The end of the last bucket that is kept, 0 for none; buckets without sentences are passed over."""
    kept = 0
    for label, n, value in zip(results.labels, results.n, results.metrics[metric]):
        if n and not value >= least:
            break
        if n:
            kept = int(re.findall(r"\d+", label)[-1])
    return kept


def read(folder: Path, metric: str, least: float) -> Kept:
    kept: Kept = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    for run in complete_runs(folder):
        model, _, width = run["variant"].rpartition("-")
        results = read_file(run["place"] / "run.h5").by_length
        kept[run["part"]][model][int(width)].append(longest_kept(results, metric, least))
    return kept


def table(kept: Kept) -> str:
    """Markdown: widths in columns."""
    widths = sorted({width for models in kept.values() for seeds in models.values() for width in seeds})
    rows = [["", *map(str, widths)]]
    rows += [[f"{part}, {model}", *(cell(seeds.get(width, [])) for width in widths)] for part, models in kept.items() for model, seeds in models.items()]
    return markdown(rows)


def draw(kept: Kept) -> plt.Figure:
    figure, axes = plt.subplots(1, len(kept), figsize=(WIDTHS["page"], 2.25), squeeze=False, layout="constrained")
    styles = looks(model for models in kept.values() for model in models)
    lines = {}
    for axis, (part, models) in zip(axes.ravel(), kept.items()):
        for model, seeds in models.items():
            widths = sorted(seeds)
            lines[model] = axis.plot(widths, [mean(seeds[width]) for width in widths], **styles[model], label=model)[0]
            axis.vlines(widths, [min(seeds[width]) for width in widths], [max(seeds[width]) for width in widths], color=styles[model]["color"], lw=0.9)
        axis.set(title=part, xscale="log", xlabel="numbers in the state", ylabel="longest source kept", ylim=(0, None))
        ticks = sorted({width for seeds in models.values() for width in seeds})
        axis.set_xticks(ticks, map(str, ticks), minor=False)
        axis.minorticks_off()
    legend_above(figure, list(lines.values()))
    return figure


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--least", type=float, default=90, help="percent (default: 90)")
    parser.add_argument("--metric", default="token_accuracy")


def make(arguments: argparse.Namespace) -> Made:
    kept = read(arguments.folder, arguments.metric, arguments.least)
    return table(kept), lambda: draw(kept)


if __name__ == "__main__":
    sys.exit(run_script(__doc__, make, add))
