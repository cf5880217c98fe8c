#!/usr/bin/python3
"""Compares the links of both directions and their intersection with gold links, beside those of other aligners and of the diagonal.

directions.py FOLDER [--source FILE --target FILE --gold FILE]: FOLDER contains the records of the study, and files NAME.links of other aligners, such as
those of eflomal.sh (Pharaoh format, one line per pair). The gold set's translations are forced on the runs of every variant that has both directions
(`softalign score --links`). Prints precision, recall and AER in percent, mean and standard deviation over seeds. Default: the Bible's test set, whose
links are silver.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1]), str(Path(__file__).resolve().parents[2] / "scripts")]

from softalign_tools import plain_matplotlib  # isort: skip
import matplotlib.pyplot as plt
from links import Links, intersection, lines, quality, read

from softalign_tools import palette
from softalign_tools.drawing import WIDTHS
from softalign_tools.program import answer
from softalign_tools.study_script import Made, cell, complete_runs, markdown, run_script

DATA = Path(__file__).resolve().parents[1] / "bible_en_es/data"
FORTH, BACK = "en_es", "es_en"  # parts of the study

Row = tuple[float, float, float]  # precision, recall, AER


def forced(run: Path, source: Path, target: Path) -> list[Links]:
    """Returns the links of a run, with the targets forced on its decoder. Raises RecordError with the program's message."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "links"
        answer("score", run, "--source", source, "--target", target, "--links", file)
        return read(file)


def diagonal(source: Path, target: Path) -> list[Links]:
    """Returns the diagonal: each target word is linked to the source word at the same relative position. It reads no words."""
    sizes = [(len(a.split()), len(b.split())) for a, b in zip(lines(source), lines(target), strict=True)]
    return [{((2 * j + 1) * s // (2 * t), j): True for j in range(t) if s} for s, t in sizes]


def rows_of(folder: Path, source: Path, target: Path, gold: list[Links]) -> dict[str, list[Row]]:
    """Returns for each row of the table, by name, the results of its seeds."""
    runs: dict[tuple[str, int], dict[str, Path]] = defaultdict(dict)
    for run in complete_runs(folder):
        runs[run["variant"], run["seed"]][run["part"]] = run["place"]
    found: dict[str, list[Row]] = defaultdict(list)
    found["diagonal"].append(quality(zip(gold, diagonal(source, target))))
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


def table(found: dict[str, list[Row]]) -> str:
    rows = [["", "precision", "recall", "AER"]]
    rows += [[name, *(cell(column, 2) for column in zip(*seeds))] for name, seeds in found.items()]
    return markdown(rows)


def draw(found: dict[str, list[Row]]) -> plt.Figure:
    figure, axis = plt.subplots(figsize=(WIDTHS["column"], 0.16 * len(found) + 0.5), layout="constrained")
    for place, rows in enumerate(found.values()):
        axis.plot([aer for _, _, aer in rows], [place] * len(rows), ls="", marker="o", ms=3, mec="white", mew=0.3, color=palette.colour(0))
    axis.set(xlabel="alignment error rate (%)", ylim=(len(found) - 0.5, -0.5), xlim=(0, 100))
    axis.set_yticks(range(len(found)), found)
    return figure


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--source", type=Path, default=DATA / "test.en.gz", help=f"sentences of the gold set in the source language of {FORTH}")
    parser.add_argument("--target", type=Path, default=DATA / "test.es.gz", help="translations, one per line")
    parser.add_argument("--gold", type=Path, default=DATA / "test.align.gz", help="links, one line per sentence: i-j sure, ipj possible, source and target from 0")


def make(arguments: argparse.Namespace) -> Made:
    found = rows_of(arguments.folder, arguments.source, arguments.target, read(arguments.gold))
    of = f"Links of all of {arguments.gold.name.removesuffix('.gz')}, references forced on the decoders"
    return f"{of}\n\n{table(found)}", lambda: draw(found), "The alignment error rates of the table, a point for each seed."


if __name__ == "__main__":
    sys.exit(run_script(__doc__, make, add))
