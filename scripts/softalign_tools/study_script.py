"""Code shared by study_pages.py and the scripts of single studies (experiments/NAME/*.py): complete runs, tables, options."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from softalign_tools import ending  # isort: skip
from softalign_tools import plain_matplotlib  # isort: skip
from matplotlib.figure import Figure

from softalign_tools.drawing import save_figure, set_style
from softalign_tools.files import OutputError, add_force, printable
from softalign_tools.program import RecordError
from softalign_tools.study_json import read_study


def complete_runs(folder: Path) -> list[dict[str, Any]]:
    """Returns the complete runs of study.json, each with its folder as `place`."""
    return [run | {"place": folder / run["path"]} for run in read_study(folder)["runs"] if run["state"] == "complete"]


def cell(numbers: Sequence[float], digits: int = 1) -> str:
    """Returns mean and standard deviation over seeds, ignoring NaN; only the mean if all are equal, "" if all are NaN."""
    numbers = [number for number in numbers if not math.isnan(number)]
    deviation = f" ±{stdev(numbers):,.{digits}f}" if len(set(numbers)) > 1 else ""
    return f"{mean(numbers):,.{digits}f}{deviation}" if numbers else ""


def digits_of(numbers: Sequence[float]) -> int:
    """Returns the number of decimals for a column of such numbers: three for 0.123, zero for 1,234."""
    largest = max((abs(number) for number in numbers if not math.isnan(number)), default=0)
    return next(digits for least, digits in ((1000, 0), (100, 1), (10, 2), (0, 3)) if largest >= least)


def markdown(rows: Sequence[Sequence[str]], text_columns: int = 1) -> str:
    """Returns a Markdown table. Its first row is the header; columns after the first `text_columns` are right-aligned."""
    lines = ["| " + " | ".join(text.replace("|", "\\|") for text in row) + " |" for row in rows]
    rule = "| " + " | ".join("---" if column < text_columns else "---:" for column in range(len(rows[0]))) + " |"
    return "\n".join([lines[0], rule, *lines[1:]]) + "\n"


Made = tuple[str, Callable[[], Figure], str]  # the text to print, a function that draws the figure, and its caption


def run_script(description: str, make: Callable[[argparse.Namespace], Made], add: Callable[[argparse.ArgumentParser], None] | None = None) -> int:
    """Runs NAME.py FOLDER [--output FIGURE]: prints the text that `make` made from a study's records and draws its figure. Returns the exit status."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="folder of the study's records")
    parser.add_argument("--output", type=Path, metavar="FIGURE", help="figure to write, PNG or PDF")
    if add:
        add(parser)
    add_force(parser)
    arguments = parser.parse_args()
    if arguments.output and arguments.output.suffix not in (".png", ".pdf"):
        parser.error(f"--output {printable(arguments.output)}: a figure is a .png or a .pdf")
    try:
        read_study(arguments.folder, Path(sys.argv[0]).resolve().parent.name)
        text, draw, caption = make(arguments)
        print(text)
        if arguments.output:
            set_style("serif")
            save_figure(draw(), arguments.output, arguments.force)
            print(caption)
    except (OSError, LookupError, ValueError, RecordError, OutputError) as error:
        print(printable(error), file=sys.stderr)
        return 3
    return 0
