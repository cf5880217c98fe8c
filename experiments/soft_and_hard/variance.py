#!/usr/bin/python3
"""The noise of hard attention's gradient, the error of soft attention's, and the time that each takes to score.

variance.py FOLDER [--output FIGURE]: FOLDER contains the records of the study. Prints the seconds that `softalign score` takes for 1,000 pairs of 100
symbols, the median of five rounds. Draws the values of the diagnostic `gradient_variance` over training.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))

from softalign_tools import plain_matplotlib  # isort: skip
import h5py
import matplotlib.pyplot as plt
import numpy as np

from softalign_tools.drawing import WIDTHS, legend_above, looks
from softalign_tools.program import answer
from softalign_tools.study_script import Made, complete_runs, markdown, run_script

GROUP = "diagnostics/gradient_variance/dev"
DASHES = {"variance_expected": "-", "average_error": ":"}
READING = ("_read_one", "_read_all")  # variants that are trained like another one
PAIRS, SYMBOLS, ROUNDS = 1000, 100, 5
Found = dict[str, dict[str, list[dict[str, np.ndarray]]]]  # part -> variant -> for each seed: array -> [update]


def read(runs: list[dict]) -> Found:
    found: Found = defaultdict(lambda: defaultdict(list))
    for run in runs:
        with h5py.File(run["place"] / "run.h5") as file:
            group = file[GROUP]
            found[run["part"]][run["variant"]].append({name: group[name][:] for name in DASHES})
    return found


def times(runs: list[dict]) -> str:
    """Times the runs of the first seed of `reverse` in turn. Returns a table."""
    models = {run["variant"]: run["place"] for run in reversed(runs) if run["part"] == "reverse"}
    with h5py.File(next(iter(models.values())) / "run.h5") as file:
        words = file["data/source_vocabulary"].asstr()[()].split("\n")[1:]
    draw = random.Random(1)
    lines = [[draw.choice(words) for _ in range(SYMBOLS)] for _ in range(PAIRS)]
    seconds: dict[str, list[float]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "source.txt", Path(folder) / "target.txt"
        source.write_text("".join(" ".join(line) + "\n" for line in lines))
        target.write_text("".join(" ".join(reversed(line)) + "\n" for line in lines))
        for _ in range(ROUNDS):
            for variant, place in reversed(models.items()):
                begin = time.monotonic()
                answer("score", place, "--source", source, "--target", target, "--threads", 1)
                seconds[variant].append(time.monotonic() - begin)
    rows = [["forced decoding, one thread", *(f"`{variant}`" for variant in seconds)]]
    rows.append(["seconds, least to most", *(f"{statistics.median(all_):.2f}, {min(all_):.2f} to {max(all_):.2f}" for all_ in seconds.values())])
    return markdown(rows)


def draw(found: Found) -> plt.Figure:
    figure, axes = plt.subplots(1, len(found), figsize=(WIDTHS["page"], 2.6), sharey=True, layout="constrained", squeeze=False)
    styles, lines = looks(next(iter(found.values()))), {}
    for plot, (part, variants) in zip(axes[0], found.items()):
        for variant, seeds in variants.items():
            if variant.endswith(READING):
                continue
            for name, dash in DASHES.items():
                y = np.array([seed[name] for seed in seeds]).mean(axis=0)
                line = plot.plot(np.arange(len(y)), y, **styles[variant] | {"linestyle": dash, "ms": 3}, label=variant)[0]
                lines.setdefault(variant, line)
        plot.set(title=part, yscale="log", xlabel="epochs")
        plot.yaxis.set_major_formatter("{x:g}")
    axes[0][0].set_ylabel("variance or squared error,\nto the squared norm of the gradient")
    legend_above(figure, list(lines.values()))
    return figure


def make(arguments: argparse.Namespace) -> Made:
    runs = complete_runs(arguments.folder)
    found = read(runs)
    caption = (
        "Solid: the variance of one draw with the expected loss as its baseline; dotted: the squared error of the averaged gradient; both divided by "
        "the squared norm of the expected gradient. Means over seeds. What differs in reading alone (`soft_read_one`, `hard_read_all`) is left out."
    )
    return times(runs), lambda: draw(found), caption


if __name__ == "__main__":
    sys.exit(run_script(__doc__, make))
