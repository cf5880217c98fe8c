"""What the runs of a study cost, for scripts of experiments/ that say no more than this: a table, and with --out a figure.

FOLDER holds the records of the study. Parameters and what the diagnostic `cost` found are exact; speed, memory and time are those of the machine
and of what ran beside. Means over seeds; speed and memory over epochs, too.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from pathlib import Path

import plain_matplotlib  # isort: skip
import matplotlib.pyplot as plt
from matplotlib.ticker import MaxNLocator

import palette
from paper import SMALL, WIDTHS
from stored import group_of, members, opened, series, values
from study_script import Made, cell, complete_runs, markdown, run_script

# Column -> digits, what a figure calls it; "" where it is not drawn
COLUMNS = {
    "parameters": (0, ""),
    "tokens/s": (0, "target symbols a second"),
    "memory, MB": (0, "memory, MB"),
    "seconds": (0, ""),
    "energies": (0, ""),
    "multiplications": (0, ""),
    "without projection": (0, ""),
    "activations, kB": (0, "activations of a sentence, kB"),
}
COST = {"energies": ("energies", 1), "multiplications": ("multiplications", 1), "without projection": ("without_projection", 1),
        "activations, kB": ("activations", 1e-3)}  # column -> array of the diagnostic, factor  # fmt: skip

Costs = dict[str, dict[str, dict[str, list[float]]]]  # part -> variant -> column -> a value for each seed


def of_record(path: Path) -> dict[str, float]:
    found = {}
    with opened(path) as file:
        found["parameters"] = float(sum(weights.size for name, weights in members(group_of(file, "parameters")) if not name.startswith("axis")))
        if (system := group_of(file, "system")) is not None:
            columns = series(system)[1]
            found["tokens/s"], found["memory, MB"] = float(columns["tokens_per_s"].mean()), float(columns["memory_mb"].max())
        found["seconds"] = float(values(file, "train/wall_time", "f", (None,))[-1])
        if (cost := group_of(file, "diagnostics/cost/test")) is not None:
            found |= {column: float(values(cost, name, "f", (None,))[-1]) * factor for column, (name, factor) in COST.items()}
    return found


def read(folder: Path) -> Costs:
    costs: Costs = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    for run in complete_runs(folder):
        for column, value in of_record(run["place"] / "run.h5").items():
            costs[run["part"]][run["variant"]][column].append(value)
    return costs


def table(variants: dict[str, dict[str, list[float]]]) -> str:
    columns = [column for column in COLUMNS if any(costs[column] for costs in variants.values())]
    rows = [["", *columns]]
    for name, costs in variants.items():  # what is the same for all seeds has no deviation
        same = [costs[column][:1] if len(set(costs[column])) == 1 else costs[column] for column in columns]
        rows.append([name, *(cell(numbers, COLUMNS[column][0]) for column, numbers in zip(columns, same))])
    return markdown(rows)


def draw(costs: Costs) -> plt.Figure:
    """A row of panels for each part, a line for each variant."""
    drawn = {column: title for column, (_, title) in COLUMNS.items() if title and any(c[column] for variants in costs.values() for c in variants.values())}
    rows = [len(variants) for variants in costs.values()]
    figure, axes = plt.subplots(len(costs), len(drawn), figsize=(WIDTHS["page"], 0.13 * sum(rows) + 0.7 * len(rows)), squeeze=False,
                                sharey="row", layout="constrained", height_ratios=rows)  # fmt: skip
    for line, (part, variants) in zip(axes, costs.items()):
        for axis, (column, title) in zip(line, drawn.items()):
            for place, of in enumerate(variants.values()):
                axis.plot(of[column], [place] * len(of[column]), ls="", marker="o", ms=3, mec="white", mew=0.3, color=palette.colour(0), clip_on=False)
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
    return "\n".join(f"What it cost: {part}\n\n{table(variants)}" for part, variants in costs.items()), lambda: draw(costs)


def main() -> int:
    return run_script(__doc__, make)
