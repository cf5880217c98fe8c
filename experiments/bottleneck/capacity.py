#!/usr/bin/python3
"""The longest source that a state can store, and the share of it that a linear probe finds there, by width: tables, and with --output a figure.

capacity.py FOLDER [--least 90] [--metric token_accuracy]: FOLDER contains the records of the study, by part-variant. A length is kept if its metric,
and that of every shorter length, is at least this percentage. The probe (diagnostic `bottleneck`) predicts the words at positions 1 to 20; its mean
accuracy is shown by width, and for every width by the number of sentences that it was trained on.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))

from softalign_tools import plain_matplotlib  # isort: skip
import h5py
import matplotlib.pyplot as plt
import numpy as np

from softalign_tools.drawing import WIDTHS, legend_above, looks
from softalign_tools.files import printable
from softalign_tools.program import RecordError
from softalign_tools.study_script import Made, cell, complete_runs, markdown, run_script

PROBE = "diagnostics/bottleneck/dev"
Curves = dict[str, dict[str, dict[int, list[float]]]]  # part -> model -> width, or number of sentences -> a value for each seed


def longest_kept(results: h5py.Group, metric: str, least: float) -> int:
    """Returns the end of the last bucket that is kept, or 0; buckets without sentences are skipped."""
    kept = 0
    for label, n, value in zip(results["label"].asstr(), results["n"], results[metric]):
        if n and not value >= least:
            break
        if n:
            kept = int(re.findall(r"\d+", label)[-1])
    return kept


def read(folder: Path, metric: str, least: float) -> tuple[Curves, Curves, Curves]:
    """Returns the longest length kept; the percentage of words that a probe finds in the state; and the latter by the number of training sentences."""
    kept, probed, taught = (defaultdict(lambda: defaultdict(lambda: defaultdict(list))) for _ in range(3))
    for run in complete_runs(folder):
        model, _, width = run["variant"].rpartition("-")
        record = run["place"] / "run.h5"
        with h5py.File(record) as file:
            results = file["test/by_length"]
            if metric not in results:
                raise RecordError(f"{record}: has no metric {printable(metric)}")
            kept[run["part"]][model][int(width)].append(longest_kept(results, metric, least))
            probed[run["part"]][model][int(width)].append(float(np.nanmean(file[PROBE]["state_accuracy"][-1])))
            for sentences, found in zip(file[PROBE]["taught"], file[PROBE]["state_accuracy_by_taught"][-1]):
                taught[run["part"]][run["variant"]][int(sentences)].append(float(found))
    return kept, probed, taught


def table(title: str, curves: Curves) -> str:
    """Returns a Markdown table with a column for each width or number of sentences."""
    columns = sorted({column for models in curves.values() for seeds in models.values() for column in seeds})
    rows = [[title, *(f"{column:,}" for column in columns)]]
    rows += [[f"{part}, {model}", *(cell(seeds.get(column, [])) for column in columns)] for part, models in curves.items() for model, seeds in models.items()]
    return markdown(rows)


def draw(rows: dict[str, Curves]) -> plt.Figure:
    parts = list(next(iter(rows.values())))
    figure, axes = plt.subplots(len(rows), len(parts), figsize=(WIDTHS["page"], 4.2), squeeze=False, sharex=True, sharey="row", layout="constrained")
    styles = looks(model for curves in rows.values() for models in curves.values() for model in models)
    lines = {}
    for across, (label, curves) in zip(axes, rows.items()):
        for axis, part in zip(across, parts):
            for model, seeds in curves[part].items():
                widths = sorted(seeds)
                lines[model] = axis.plot(widths, [np.mean(seeds[width]) for width in widths], **styles[model], label=model)[0]
                axis.vlines(widths, [min(seeds[width]) for width in widths], [max(seeds[width]) for width in widths], color=styles[model]["color"], lw=0.9)
            axis.set_xscale("log")
        across[0].set(ylabel=label, ylim=(0, None))
    ticks = sorted({width for models in curves.values() for seeds in models.values() for width in seeds})
    for first, last, part in zip(axes[0], axes[-1], parts):
        first.set_title(part)
        last.set_xlabel("numbers in the state")
        last.set_xticks(ticks, map(str, ticks), minor=False)
        last.minorticks_off()
    legend_above(figure, list(lines.values()))
    return figure


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--least", type=float, default=90, help="percentage of correct symbols from which a length counts as stored (default: 90)")
    parser.add_argument("--metric", default="token_accuracy")


def make(arguments: argparse.Namespace) -> Made:
    kept, probed, taught = read(arguments.folder, arguments.metric, arguments.least)
    text = "\n".join([
        table("longest source kept, by width", kept),
        table("% found by a linear probe of the state, by width", probed),
        table("% found by the probe, by the sentences that taught it", taught),
    ])  # fmt: skip
    caption = (
        f"Above: the longest source of which at least {arguments.least:g} % are right, as of every shorter one. Below: what a linear probe of the first state finds "
        "of the source, the mean over positions 1 to 20. Means over seeds; bars from the least to the most."
    )
    return text, lambda: draw({"longest source kept": kept, "% found by a linear\nprobe of the state": probed}), caption


if __name__ == "__main__":
    sys.exit(run_script(__doc__, make, add))
