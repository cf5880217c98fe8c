#!/usr/bin/python3
"""The norm of the gradient at source embeddings by distance from the source's end, before and after training: how far the gradient reaches back.

flow.py FOLDER [--output FIGURE]: FOLDER contains the records of the study. Prints far_to_near before training, after an epoch and after training, mean
and standard deviation over seeds.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))

from softalign_tools import plain_matplotlib  # isort: skip
import h5py
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import MaxNLocator

from softalign_tools.drawing import WIDTHS, legend_above, looks
from softalign_tools.study_script import Made, cell, complete_runs, markdown, run_script

GROUP = "diagnostics/gradient_flow/dev"
Flow = dict[str, list[tuple[np.ndarray, np.ndarray]]]  # variant -> for each seed: norms [update, distance], far to near [update]


def read(folder: Path) -> Flow:
    flow: Flow = defaultdict(list)
    for run in complete_runs(folder):
        if run["variant"].endswith("-early"):
            continue
        with h5py.File(run["place"] / "run.h5") as file:
            group = file[GROUP]
            flow[run["variant"]].append((group["embedding_by_distance"][:], group["embedding_far_to_near"][:]))
    return flow


def table(flow: Flow) -> str:
    rows = [["gradient, far to near", "before training", "after an epoch", "after training"]]
    for variant, seeds in flow.items():
        rows.append([f"`{variant}`", *(cell([float(ratio[at]) for _, ratio in seeds], 4) for at in (0, 1, -1))])
    return markdown(rows)


def draw(flow: Flow, names: list[str]) -> plt.Figure:
    figure, axes = plt.subplots(1, 2, figsize=(WIDTHS["page"], 2.6), sharey=True, layout="constrained")
    styles, lines = looks(names), {}
    for axis, at, title in zip(axes, (0, -1), ("before training", "after training")):
        for variant, seeds in flow.items():
            norms = np.array([one[at] for one, _ in seeds])
            shown = np.isfinite(norms).any(axis=0)
            lines[variant] = axis.plot(np.flatnonzero(shown), norms[:, shown].mean(axis=0), **styles[variant], ms=3, label=variant)[0]
        axis.set(title=title, yscale="log", xlabel="steps to the source's end")
        axis.yaxis.set_major_formatter("{x:g}")
        axis.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes[0].set_ylabel("norm of the loss gradient\nof a source embedding")
    legend_above(figure, list(lines.values()))
    return figure


def make(arguments: argparse.Namespace) -> Made:
    flow = read(arguments.folder)
    caption = "The norm of the loss gradient at source embeddings, by steps to the source's end (0 is </s>), before training and after it. Means over seeds."
    return table(flow), lambda: draw(flow, [run["variant"] for run in complete_runs(arguments.folder)]), caption


if __name__ == "__main__":
    sys.exit(run_script(__doc__, make))
