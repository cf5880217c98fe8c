#!/usr/bin/python3
"""Measures pointing accuracy and AER of forced references and of the search's output, by both conventions for the word that a row of weights aligns.

searched.py FOLDER: FOLDER contains the records of the study, whose test sentences with recorded matrices are measured. Gold links are those of the
reference. A word of the output has the gold links of the same word in the reference, so only words that are in both count, and forced references are
measured in the same way. A link is a pair of a source position and a word. Pointing accuracy is the share of sure links among the links of words that
have a sure gold link. All values are in percent, means over seeds.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1]), str(Path(__file__).resolve().parents[2] / "scripts")]

from softalign_tools import plain_matplotlib  # isort: skip
import h5py
import matplotlib.pyplot as plt
import numpy as np
from links import links_of, ratio

from softalign_tools.drawing import SMALL, WIDTHS, bounds, legend_above, looks
from softalign_tools.program import answer
from softalign_tools.study_script import Made, cell, complete_runs, markdown, run_script

MODULES = {"forced": "cross", "searched": "cross_search"}
CONVENTIONS = ("predicted", "read")
NO_WORDS = ("<unk>", "</s>", "")  # two <unk> are not the same word


@dataclass
class Counts:
    """Counts of links over sentences. Only words that have a link in the reference and are in the output count."""

    links: int = 0  # found, of these words
    sure_hits: int = 0
    hits: int = 0
    sure: int = 0  # sure gold links of words in the output
    pointed: int = 0  # links found, of words that have a sure gold link
    pointed_right: int = 0

    def add(self, other: Counts) -> None:
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)

    @property
    def aer(self) -> float:
        return 100 * (1 - ratio(self.sure_hits + self.hits, self.links + self.sure))

    @property
    def pointing(self) -> float:
        return 100 * ratio(self.pointed_right, self.pointed)


def count(gold: np.ndarray, reference: Sequence[str], written: Sequence[str], links: Sequence[tuple[int, int]]) -> Counts:
    """Counts one sentence. gold: [target, source] of the reference, 1 possible, 2 sure; links: (source, output) positions that were found."""
    there = set(written).difference(NO_WORDS)
    known = {(int(i), reference[j]) for j, i in np.argwhere(gold > 0) if reference[j] in there}
    sure = {(int(i), reference[j]) for j, i in np.argwhere(gold == 2) if reference[j] in there}
    linked, surely = {word for _, word in known}, {word for _, word in sure}
    found = {(i, written[t]) for i, t in links if written[t] in linked}
    pointed = [(i, written[t]) for i, t in links if written[t] in surely]
    return Counts(len(found), len(found & sure), len(found & known), len(sure), len(pointed), sum(link in sure for link in pointed))


def exported(run: Path, module: str, row_aligns: str) -> list[str]:
    return answer("export", run, "--what", "links", "--module", module, "--row-aligns", row_aligns).splitlines()


def of_record(run: Path, labels: Sequence[str]) -> dict[tuple[str, str], list[Counts]]:
    """Returns for each (forced or searched, convention) the counts by length bucket, and at the end those of all sentences."""
    counts = {(way, rule): [Counts() for _ in (*labels, "all")] for way in MODULES for rule in CONVENTIONS}
    with h5py.File(run / "run.h5") as file:
        cross = file["alignments/cross"]
        gold, lengths = cross["gold"][:], cross["src_len"][:] - 1
        lines = file["test/line"][: len(lengths)] - 1  # in the text; skipped lines have no links
        texts = {}
        for way, module in MODULES.items():
            group = file["alignments"][module]
            texts[way] = [list(words[:end]) for words, end in zip(group["tgt_tokens"].asstr()[-1], group["tgt_len"][-1])]
    place = [next(k for k, label in enumerate(labels) if length <= bounds(label)[1]) for length in lengths]
    for way, rule in counts:
        written = exported(run, MODULES[way], rule)
        for k, line in enumerate(written[at] for at in lines):
            one = count(gold[k, : len(texts["forced"][k])], texts["forced"][k], texts[way][k], list(links_of(line, str(run))))
            counts[way, rule][place[k]].add(one)
            counts[way, rule][-1].add(one)
    return counts


Found = dict[str, dict[tuple[str, str], list[list[Counts]]]]  # variant -> (forced or searched, convention) -> seed -> bucket


def read(folder: Path) -> tuple[Found, list[str]]:
    """Returns the counts and the labels of the buckets. Leaves out the variants of the other convention, because both are measured for every model."""
    found: Found = defaultdict(lambda: defaultdict(list))
    labels: list[str] = []
    for run in complete_runs(folder):
        with h5py.File(run["place"] / "run.h5") as file:
            spec = json.loads(file["provenance/identity_json"].asstr()[()])
            labels = list(file["test/by_length/label"].asstr())
        if not (spec["task"].get("test") or {}).get("alignment") or spec["evaluate"].get("row_aligns") == "read":
            continue
        for key, counts in of_record(run["place"], labels).items():
            found[run["variant"]][key].append(counts)
    return found, labels


def table(found: Found) -> str:
    keys = [(way, rule) for way in MODULES for rule in CONVENTIONS]
    head = [f"{measure}, {way}, {rule}" for measure in ("AER", "pointing") for way, rule in keys]
    rows = [["", *head]]
    for variant, counts in found.items():
        measured = [[seed[-1].aer for seed in counts[key]] for key in keys] + [[seed[-1].pointing for seed in counts[key]] for key in keys]
        rows.append([variant, *map(cell, measured)])
    return markdown(rows)


def draw(found: Found, labels: Sequence[str]) -> plt.Figure:
    """Draws both measures by length; rows stand for the predicted word."""
    measures = {"AER (%)": lambda counts: counts.aer, "pointing accuracy (%)": lambda counts: counts.pointing}
    figure, axes = plt.subplots(len(measures), len(MODULES), figsize=(WIDTHS["page"], 4.2), sharex=True, sharey="row", layout="constrained")
    styles = looks(found)
    lines = {}
    for row, (title, measure) in zip(axes, measures.items()):
        for axis, way in zip(row, MODULES):
            for variant, counts in found.items():
                seeds = np.array([[measure(bucket) for bucket in seed[:-1]] for seed in counts[way, "predicted"]])
                lines[variant] = axis.plot(range(len(labels)), seeds.mean(axis=0), **styles[variant], label=variant)[0]
            axis.set_xlim(-0.3, len(labels) - 0.7)
        row[0].set(ylabel=title, ylim=(0, None))
    for axis, way in zip(axes[0], MODULES):
        axis.set_title(way, fontsize=SMALL)
    for axis in axes[-1]:
        axis.set_xticks(range(len(labels)), labels)
        axis.set_xlabel("source length (tokens)")
    legend_above(figure, list(lines.values()))
    return figure


def make(arguments: argparse.Namespace) -> Made:
    found, labels = read(arguments.folder)
    of = "Of words that both reference and translation have, on the test sentences whose matrices are kept"
    caption = "By source length, rows standing for the word predicted: with the reference forced on the decoder, and of what the search writes. Means over seeds."
    return f"{of}\n\n{table(found)}", lambda: draw(found, labels), caption


if __name__ == "__main__":
    sys.exit(run_script(__doc__, make))
