#!/usr/bin/python3
"""Results of the two searches for the best model: a table of their draws, the best first, and with --output a figure.

searches.py FOLDER: FOLDER contains the records of the study; those of the searches are beside it.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))

from softalign_tools import plain_matplotlib  # isort: skip
import matplotlib.pyplot as plt

from softalign_tools.drawing import WIDTHS, legend_above, looks, plain_log_ticks
from softalign_tools.program import answer
from softalign_tools.study_script import Made, markdown, run_script

RATE = "train.optimizer.learning_rate"
Row = dict[str, Any]


def draws_of(folder: Path) -> list[Row]:
    """Returns the trained draws, the lowest dev loss first; an empty list if the search has not begun."""
    if not (folder / "plan.jsonl").exists():
        return []
    found = json.loads(answer("sweep", "status", folder, "--json"))
    rows = {row["k"]: row for row in found["rows"]}
    return [rows[group["rows"][0]] for group in found["ranking"] if group["mean"] is not None]


def draw(searches: dict[str, list[Row]]) -> plt.Figure:
    """Draws learning rate and dev loss of each draw; those that were stopped are pale."""
    figure, axis = plt.subplots(figsize=(WIDTHS["column"], 2.4), layout="constrained")
    lines = []
    for search, style in looks(searches).items():
        style |= {"linestyle": ""}
        for state, paleness in (("pruned", 0.35), ("complete", 1)):
            shown = [row for row in searches[search] if row["state"] == state]
            line = axis.plot([row["set"][RATE] for row in shown], [row["metric"] for row in shown], **style, alpha=paleness, label=search)[0]
        lines.append(line)
    axis.set(xscale="log", xlabel="learning rate", ylabel="dev loss")
    plain_log_ticks(axis.xaxis, (1, 3))
    legend_above(figure, lines)
    return figure


def make(arguments: argparse.Namespace) -> Made:
    name, tiny, _ = arguments.folder.name.partition("-tiny")
    searches = {search: draws_of(arguments.folder.parent / f"{name}_{search}{tiny}") for search in ("attention", "vector")}
    rows = [["search", "units", "layers", "direction", "dropout", "learning rate", "updates", "", "dev loss"]]
    for search, draws in searches.items():
        for one in draws:
            units, layers, direction, dropout, rate = one["set"].values()
            dropped = "none" if dropout == "null" else "0.2"
            rows.append([search, str(units), str(layers), direction, dropped, f"{rate:.6f}", f"{one['updates']:,}", one["state"], f"{one['metric']:.3f}"])
    text = markdown(rows, 5) if len(rows) > 1 else "The searches have not been run.\n"
    return text, lambda: draw(searches), "The draws of both searches: learning rate and dev loss; those that were stopped early are pale."


if __name__ == "__main__":
    sys.exit(run_script(__doc__, make))
