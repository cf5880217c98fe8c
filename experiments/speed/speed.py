#!/usr/bin/python3
"""The speed at which the models of the study train and translate, by threads and source length: tables, and with --output a figure.

speed.py FOLDER [--threads 1,2] [--again]: FOLDER contains the records of the study. Each model of the first seed trains for 40 updates and translates
20,480 words in sentences of each length, 64 sentences per batch, greedily and with outputs forced to the length of the source, so that all models write
the same amount. Models take eight turns, and the medians are used. FOLDER/speed.json caches the times; --again measures them again. Run nothing else
meanwhile.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from itertools import product
from pathlib import Path
from statistics import median
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))

from softalign_tools import plain_matplotlib  # isort: skip
import h5py
import matplotlib.pyplot as plt

from softalign_tools.drawing import WIDTHS, legend_above, looks, plain_log_ticks
from softalign_tools.program import RecordError, program
from softalign_tools.study_script import Made, complete_runs, markdown, run_script

SOURCE = Path(__file__).resolve().parents[1] / "bible_en_es/data/test.en.gz"


class Load(NamedTuple):
    lengths: list[int]  # of sources, in words
    words: int  # to translate, for each length
    updates: int  # of a training run
    turns: int


FULL, TINY = Load([10, 20, 40, 80], 20480, 40, 8), Load([10, 20], 40, 1, 1)
Medians = dict[str, dict[str, dict[str, dict[str, float]]]]
Times = dict[str, dict[str, dict[str, dict[str, list[float]]]]]  # measure -> variant -> threads -> length or "" -> a value for each turn


def timed(*arguments: object, text: str = "") -> float:
    """Runs the program and returns the seconds that it takes. Raises RecordError if it fails."""
    begin = time.monotonic()
    done = subprocess.run([program(), *map(str, arguments)], input=text, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RecordError(done.stderr.strip())
    return time.monotonic() - begin


def sentences_of(length: int, count: int) -> str:
    """Returns `count` lines of `length` words, cut from consecutive verses."""
    words = gzip.decompress(SOURCE.read_bytes()).decode().split()
    return "".join(" ".join(words[i * length : (i + 1) * length]) + "\n" for i in range(count))


def measured(runs: dict[str, Path], threads: list[int], load: Load) -> Times:
    """Returns the seconds per translation, without reading the record, and the target symbols per second of training."""
    times: Times = {what: {variant: {str(n): defaultdict(list) for n in threads} for variant in runs} for what in ("translation", "training")}
    forced = ("search=greedy", "search.max_ratio=1", "search.max_extra=0", "search.min_ratio=1")
    for _ in range(load.turns):
        for number, (variant, place) in product(threads, runs.items()):
            times["training"][variant][str(number)][""].append(trained(place, number, load.updates))
            for length in load.lengths:
                count = load.words // length
                one, all_ = (timed("translate", place, *forced, "--threads", number, text=sentences_of(length, n)) for n in (1, count))
                times["translation"][variant][str(number)][str(length)].append(max(all_ - one, 1e-6) / (count - 1))
    return times


def medians(times: Times) -> Medians:
    return {what: {variant: {number: {key: median(turns) for key, turns in of.items()} for number, of in by.items()} for variant, by in all_.items()} for what, all_ in times.items()}


def trained(place: Path, threads: int, updates: int) -> float:
    with tempfile.TemporaryDirectory() as folder:
        timed("run", place / "spec.yaml", "--results", folder, "--threads", threads, f"train.max_updates={updates}", "task.max_length_test=5")
        (record,) = Path(folder).glob("*/*/run.h5")
        with h5py.File(record) as file:
            return float(file["system/tokens_per_s"][:].max())


def parameters(place: Path) -> int:
    with h5py.File(place / "run.h5") as file:
        return sum(weights.size for name, weights in file["parameters"].items() if not name.startswith("axis"))


def draw(times: Medians) -> plt.Figure:
    found = times["translation"]
    threads = list(next(iter(found.values())))
    figure, axes = plt.subplots(1, len(threads), figsize=(WIDTHS["page"], 2.6), squeeze=False, sharey=True, layout="constrained")
    styles, lines = looks(found), {}
    for axis, number in zip(axes[0], threads):
        for variant, of in found.items():
            lengths = [int(length) for length in of[number]]
            lines[variant] = axis.plot(lengths, [1000 * seconds for seconds in of[number].values()], **styles[variant], label=variant)[0]
        axis.set(xscale="log", yscale="log", xlabel="source words", title=f"threads: {number}")
        axis.set_xticks(lengths, map(str, lengths), minor=False)
        axis.set_xticks([], minor=True)
    plain_log_ticks(axes[0][0].yaxis)
    axes[0][0].set_ylabel("milliseconds for a translation")
    legend_above(figure, list(lines.values()))
    return figure


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--threads", default=f"1,{os.cpu_count()}", help="numbers of threads to measure (default: 1 and all)")
    parser.add_argument("--again", action="store_true", help="measure again")


def make(arguments: argparse.Namespace) -> Made:
    complete = complete_runs(arguments.folder)
    seed = min(run["seed"] for run in complete)
    runs = {run["variant"]: run["place"] for run in complete if run["seed"] == seed}
    kept = arguments.folder / "speed.json"
    if arguments.again or not kept.exists():
        threads = sorted({int(number) for number in arguments.threads.split(",")})
        kept.write_text(json.dumps(measured(runs, threads, TINY if arguments.folder.name.endswith("-tiny") else FULL)))
    times = medians(json.loads(kept.read_text()))
    trained = [["training", "parameters", *(f"target symbols/s, threads: {number}" for number in next(iter(times["training"].values())))]]
    for variant, place in runs.items():
        trained.append([variant, f"{parameters(place):,}", *(f"{of['']:,.0f}" for of in times["training"][variant].values())])
    translated = []
    for number, lengths in next(iter(times["translation"].values())).items():
        translated.append([[f"milliseconds for a translation, threads: {number}", *(f"{length} words" for length in lengths)]])
        for variant in runs:
            translated[-1].append([variant, *(f"{1000 * seconds:.2f}" for seconds in times["translation"][variant][number].values())])
    return "\n".join(map(markdown, (trained, *translated))), lambda: draw(times), "Milliseconds for a translation as long as its source, 64 side by side, by source length."


if __name__ == "__main__":
    sys.exit(run_script(__doc__, make, add))
