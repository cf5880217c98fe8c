"""What study_pages.py and the scripts of single studies (experiments/NAME/*.py) have in common: complete runs, tables, options."""

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
    """As study.json has them, with `place`, the folder of each."""
    return [run | {"place": folder / run["path"]} for run in read_study(folder)["runs"] if run["state"] == "complete"]


def cell(numbers: Sequence[float], digits: int = 1) -> str:
    """Mean and deviation over seeds of what is a number; what is the same for all stands alone, nothing of none."""
    numbers = [number for number in numbers if not math.isnan(number)]
    deviation = f" ±{stdev(numbers):,.{digits}f}" if len(set(numbers)) > 1 else ""
    return f"{mean(numbers):,.{digits}f}{deviation}" if numbers else ""


def digits_of(numbers: Sequence[float]) -> int:
    """Digits behind the point for a column of such numbers: three of 0.123, none of 1,234."""
    largest = max((abs(number) for number in numbers if not math.isnan(number)), default=0)
    return next(digits for least, digits in ((1000, 0), (100, 1), (10, 2), (0, 3)) if largest >= least)


def markdown(rows: Sequence[Sequence[str]], text_columns: int = 1) -> str:
    """The first row is the head."""
    lines = ["| " + " | ".join(text.replace("|", "\\|") for text in row) + " |" for row in rows]
    rule = "| " + " | ".join("---" if column < text_columns else "---:" for column in range(len(rows[0]))) + " |"
    return "\n".join([lines[0], rule, *lines[1:]]) + "\n"


Made = tuple[str, Callable[[], Figure], str]  # what is printed, what draws the figure, and what that shows


def run_script(description: str, make: Callable[[argparse.Namespace], Made], add: Callable[[argparse.ArgumentParser], None] | None = None) -> int:
    """NAME.py FOLDER [--output FIGURE]: prints what `make` made of the records of a study and draws its figure. The exit status."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="of the study's records")
    parser.add_argument("--output", type=Path, metavar="FIGURE", help="PNG or PDF")
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
