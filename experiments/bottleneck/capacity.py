#!/usr/bin/python3
"""The longest source that is kept, as a function of the width of the state: a table, and with --out a figure.

capacity.py FOLDER [--least 90] [--metric token_accuracy]: FOLDER holds the records of the study, by part-variant. A length is kept when its metric, and
that of every shorter one that was tested, is at least so many percent.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import defaultdict
from pathlib import Path
from statistics import mean, stdev

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from drawing import looks, save_figure
from output import add_force
from paper import WIDTHS, legend_above, set_style
from records import ByLength, read_file

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
    for run in json.loads((folder / "study.json").read_text(encoding="utf-8"))["runs"]:
        if run["state"] == "complete":
            model, _, width = run["variant"].rpartition("-")
            results = read_file(folder / run["path"] / "run.h5").by_length
            kept[run["part"]][model][int(width)].append(longest_kept(results, metric, least))
    return kept


def cell(values: list[int]) -> str:
    return f"{mean(values):.1f} ±{stdev(values):.1f}" if len(values) > 1 else f"{values[0]}" if values else ""


def table(kept: Kept) -> str:
    """Markdown: widths in columns."""
    widths = sorted({width for models in kept.values() for seeds in models.values() for width in seeds})
    lines = [["", *map(str, widths)], ["---", *["---:"] * len(widths)]]
    lines += [[f"{part}, {model}", *(cell(seeds.get(width, [])) for width in widths)] for part, models in kept.items() for model, seeds in models.items()]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def draw(kept: Kept) -> plt.Figure:
    figure, axes = plt.subplots(1, len(kept), figsize=(WIDTHS["page"], 2.25), squeeze=False, layout="constrained")
    styles = looks(model for models in kept.values() for model in models)
    lines = {}
    for axis, (part, models) in zip(axes.ravel(), kept.items()):
        for model, seeds in models.items():
            colour, marker = styles[model]
            widths = sorted(seeds)
            lines[model] = axis.plot(widths, [mean(seeds[width]) for width in widths], color=colour, marker=marker, mec="white", mew=0.4, label=model)[0]
            axis.vlines(widths, [min(seeds[width]) for width in widths], [max(seeds[width]) for width in widths], color=colour, lw=0.9)
        axis.set(title=part, xscale="log", xlabel="numbers in the state", ylabel="longest source kept", ylim=(0, None))
        ticks = sorted({width for seeds in models.values() for width in seeds})
        axis.set_xticks(ticks, map(str, ticks), minor=False)
        axis.minorticks_off()
    legend_above(figure, list(lines.values()))
    return figure


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--least", type=float, default=90, help="percent (default: 90)")
    parser.add_argument("--metric", default="token_accuracy")
    parser.add_argument("--out", type=Path, metavar="FILE", help="PNG or PDF")
    add_force(parser)
    arguments = parser.parse_args()
    kept = read(arguments.folder, arguments.metric, arguments.least)
    print(table(kept))
    if arguments.out:
        set_style("serif")
        save_figure(draw(kept), arguments.out, arguments.force)
    return 0


if __name__ == "__main__":
    sys.exit(main())
