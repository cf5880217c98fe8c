"""What the runs of a study cost, for scripts of experiments/ that say no more than this: a table, and with --out a figure.

FOLDER holds the records of the study. Parameters and what the diagnostic `cost` found are exact; speed, memory and time are those of the machine
and of what ran beside. Means over seeds; speed and memory over epochs, too.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from pathlib import Path
from statistics import mean, stdev

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.ticker import MaxNLocator

import palette
from drawing import save_figure
from output import add_force
from paper import SMALL, WIDTHS, set_style
from stored import RecordError, group_of, members, opened, series, values

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
    for run in json.loads((folder / "study.json").read_text(encoding="utf-8"))["runs"]:
        if run["state"] == "complete":
            for column, value in of_record(folder / run["path"] / "run.h5").items():
                costs[run["part"]][run["variant"]][column].append(value)
    return costs


def cell(numbers: list[float], digits: int) -> str:
    if not numbers:
        return ""
    deviation = f" ±{stdev(numbers):,.{digits}f}" if len(set(numbers)) > 1 else ""
    return f"{mean(numbers):,.{digits}f}{deviation}"


def table(variants: dict[str, dict[str, list[float]]]) -> str:
    columns = [column for column in COLUMNS if any(costs[column] for costs in variants.values())]
    lines = [["", *columns], ["---", *["---:"] * len(columns)]]
    lines += [[name, *(cell(costs[column], COLUMNS[column][0]) for column in columns)] for name, costs in variants.items()]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


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


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--out", type=Path, metavar="FILE", help="PNG or PDF")
    add_force(parser)
    arguments = parser.parse_args()
    try:
        costs = read(arguments.folder)
    except (OSError, RecordError) as error:
        print(error, file=sys.stderr)
        return 3
    for part, variants in costs.items():
        print(f"What it cost: {part}\n\n{table(variants)}\n")
    if arguments.out:
        set_style("serif")
        save_figure(draw(costs), arguments.out, arguments.force)
    return 0
