"""The cost of the runs of a study, a table and with --output a figure: the code of cost.py in the folders of experiments/.

FOLDER contains the records of the study. Parameters and activations (from the diagnostic `cost`) are exact. Speed is that of the fastest epoch of all
seeds, because other work on the machine slows some epochs; memory is the most of all seeds. Both are of the machine that ran them.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from pathlib import Path

from softalign_tools import plain_matplotlib  # isort: skip
import h5py
import matplotlib.pyplot as plt
from matplotlib.ticker import MaxNLocator

from softalign_tools import palette
from softalign_tools.drawing import SMALL, WIDTHS
from softalign_tools.study_script import Made, complete_runs, markdown, run_script

TABLE = ("parameters", "tokens/s", "memory, MB")
DRAWN = {"tokens/s": "target symbols a second", "memory, MB": "memory, MB", "activations, kB": "activations of a sentence, kB"}

Costs = dict[str, dict[str, dict[str, list[float]]]]  # part -> variant -> column -> a value for each seed


def of_record(path: Path) -> dict[str, float]:
    found = {}
    with h5py.File(path) as file:
        found["parameters"] = float(sum(weights.size for name, weights in file["parameters"].items() if not name.startswith("axis")))
        if "system" in file:
            found["tokens/s"], found["memory, MB"] = (float(file[f"system/{name}"][:].max()) for name in ("tokens_per_s", "memory_mb"))
        if "diagnostics/cost/test" in file:
            found["activations, kB"] = float(file["diagnostics/cost/test/activations"][-1]) / 1000
    return found


def read(folder: Path) -> Costs:
    costs: Costs = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    for run in complete_runs(folder):
        for column, value in of_record(run["place"] / "run.h5").items():
            costs[run["part"]][run["variant"]][column].append(value)
    return costs


def table(variants: dict[str, dict[str, list[float]]]) -> str:
    columns = [column for column in TABLE if any(costs[column] for costs in variants.values())]
    rows = [["", *columns]]
    rows += [[name, *(f"{max(costs[column], default=0):,.0f}" for column in columns)] for name, costs in variants.items()]
    return markdown(rows)


def draw(costs: Costs) -> plt.Figure:
    """Draws a row of panels for each part, with a line for each variant."""
    drawn = {column: title for column, title in DRAWN.items() if any(c[column] for variants in costs.values() for c in variants.values())}
    rows = [len(variants) for variants in costs.values()]
    figure, axes = plt.subplots(len(costs), len(drawn), figsize=(WIDTHS["page"], 0.13 * sum(rows) + 0.7 * len(rows)), squeeze=False,
                                sharey="row", layout="constrained", height_ratios=rows)  # fmt: skip
    for line, (part, variants) in zip(axes, costs.items()):
        for axis, (column, title) in zip(line, drawn.items()):
            for place, of in enumerate(variants.values()):
                axis.plot([max(of[column], default=float("nan"))], [place], ls="", marker="o", ms=3, mec="white", mew=0.3, color=palette.colour(0), clip_on=False)
            axis.set(title=title, xlim=(0, None), ylim=(len(variants) - 0.5, -0.5))
            axis.title.set_fontsize(SMALL)
            axis.xaxis.set_major_locator(MaxNLocator(4))
            axis.xaxis.set_major_formatter("{x:,.0f}")
        line[0].set_yticks(range(len(variants)), variants)
        if len(costs) > 1:
            line[0].set_ylabel(part)
    return figure


def make(arguments: argparse.Namespace) -> Made:
    costs = read(arguments.folder)
    caption = "The fastest epoch of all seeds, the most memory that one took, and the bytes that a sentence's activations take."
    return "\n".join(f"What it cost: {part}\n\n{table(variants)}" for part, variants in costs.items()), lambda: draw(costs), caption


def main() -> int:
    return run_script(__doc__, make)
