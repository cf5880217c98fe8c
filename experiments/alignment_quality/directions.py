#!/usr/bin/python3
"""The links of both directions and what they share, of every variant that has both, beside those of other aligners, against gold links.

directions.py FOLDER [--source FILE --target FILE --gold FILE]: FOLDER holds the records of the study, and files NAME.links that others have made, as
eflomal.sh does (Pharaoh format, a line a pair). Each run is made to write the gold set's translations (`softalign score --links`). Precision,
recall and AER in percent, mean and deviation over seeds; without these options, of the Bible's test set, whose links are silver.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from statistics import mean, stdev

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

import palette
from drawing import save_figure
from links import Links, intersection, quality, read
from output import add_force
from paper import WIDTHS, set_style
from program import program
from stored import RecordError

DATA = Path(__file__).resolve().parents[1] / "bible_en_es/data"
FORTH, BACK = "en_es", "es_en"  # parts of the study

Row = tuple[float, float, float]  # precision, recall, AER


def forced(run: Path, source: Path, target: Path) -> list[Links]:
    """Those of the run, with the targets forced on its decoder. Throws RecordError with the program's own words."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "links"
        command = [program(), "score", run, "--source", source, "--target", target, "--links", file]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RecordError(done.stderr.strip().removeprefix("softalign: "))
        return read(file)


def rows_of(folder: Path, source: Path, target: Path, gold: list[Links]) -> dict[str, list[Row]]:
    """Name of a row -> a result for each seed."""
    runs: dict[tuple[str, int], dict[str, Path]] = defaultdict(dict)
    for run in json.loads((folder / "study.json").read_text(encoding="utf-8"))["runs"]:
        if run["state"] == "complete":
            runs[run["variant"], run["seed"]][run["part"]] = folder / run["path"]
    found: dict[str, list[Row]] = defaultdict(list)
    for (variant, _), parts in runs.items():
        if parts.keys() != {FORTH, BACK}:
            continue
        forth, back = forced(parts[FORTH], source, target), forced(parts[BACK], target, source)
        turned = [{at[::-1]: sure for at, sure in links.items()} for links in back]
        both = [intersection(ours, theirs, False) for ours, theirs in zip(forth, turned)]
        for name, links in ((FORTH, forth), (f"{BACK}, turned", turned), ("both", both)):
            found[f"{variant}, {name}"].append(quality(zip(gold, links)))
    for file in sorted(folder.glob("*.links")):
        links = read(file)
        if len(links) != len(gold):
            raise ValueError(f"{file} has {len(links)} lines, where the gold set has {len(gold)}")
        found[file.stem].append(quality(zip(gold, links)))
    return found


def cell(numbers: Sequence[float]) -> str:
    numbers = [number for number in numbers if not math.isnan(number)]  # the precision of no links
    return f"{mean(numbers):.2f} ±{stdev(numbers):.2f}" if len(numbers) > 1 else f"{numbers[0]:.2f}" if numbers else ""


def table(found: dict[str, list[Row]]) -> str:
    lines = [["", "precision", "recall", "AER"], ["---", "---:", "---:", "---:"]]
    lines += [[name, *(cell(column) for column in zip(*rows))] for name, rows in found.items()]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def draw(found: dict[str, list[Row]]) -> plt.Figure:
    figure, axis = plt.subplots(figsize=(WIDTHS["column"], 0.16 * len(found) + 0.5), layout="constrained")
    for place, rows in enumerate(found.values()):
        axis.plot([aer for _, _, aer in rows], [place] * len(rows), ls="", marker="o", ms=3, mec="white", mew=0.3, color=palette.colour(0))
    axis.set(xlabel="alignment error rate (%)", ylim=(len(found) - 0.5, -0.5), xlim=(0, 100))
    axis.set_yticks(range(len(found)), found)
    return figure


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--source", type=Path, default=DATA / "test.en.gz", help=f"of the gold set, in the language that {FORTH} reads")
    parser.add_argument("--target", type=Path, default=DATA / "test.es.gz", help="the translations, line by line")
    parser.add_argument("--gold", type=Path, default=DATA / "test.align.gz", help="i-j sure, ipj possible, source and target from 0, line by line")
    parser.add_argument("--out", type=Path, metavar="FILE", help="PNG or PDF")
    add_force(parser)
    arguments = parser.parse_args()
    try:
        found = rows_of(arguments.folder, arguments.source, arguments.target, read(arguments.gold))
    except (OSError, ValueError, RecordError) as error:
        print(error, file=sys.stderr)
        return 3
    print(f"Links of all of {arguments.gold.name.removesuffix('.gz')}, references forced on the decoders\n\n{table(found)}")
    if arguments.out:
        set_style("serif")
        save_figure(draw(found), arguments.out, arguments.force)
    return 0


if __name__ == "__main__":
    sys.exit(main())
