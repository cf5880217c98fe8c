#!/usr/bin/python3
"""Draws figures for a paper, as PDF and PNG: `figures.py COMMAND --help`.

all          every figure that the records have the numbers for, into a folder
lengths      a metric by source length, mean and deviation over seeds, with the number of sentences
curves       learning curves, mean and deviation over seeds
alignments   attention matrices with their words, known links outlined
images       an image with each word's attention over it, where sources are images
heatmap      a metric over two parameters of a sweep

Runs that differ in nothing but their seed are one line of a figure. The same files give the same bytes. A figure that cannot be drawn
stops no other. Exit status: 1 a figure cannot be drawn or written, 2 the command line is wrong, 3 the data is wrong or missing.
"""

from __future__ import annotations

import ending  # isort: skip
import missing_package  # isort: skip
import argparse
import os.path
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import plain_matplotlib  # isort: skip
import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from drawing import legend_order, save_figure
from output import OutputError, add_force, check, printable, say
from paper import FONTS, SMALLEST, WIDTHS, files_of, set_style
from paper_all import Draw, every_figure
from paper_grids import draw_alignments, draw_heatmap
from paper_images import draw_images
from paper_lines import Group, draw_curves, draw_lengths, seeds_text, shared_curve
from records import Alignment, AlignmentFile, Run, averaged, find_files, labels, replicates, units_of
from stored import RecordError
from sweep_table import RANKED, ChoiceError, cells, read_sweep

Work = Callable[[argparse.Namespace], Figure]
BANDS = ("sd", "range", "none")
MOST = 40  # values of a parameter along one side of a heatmap


def note(text: str) -> None:
    say("figures", text)


def read(places: Sequence[Path]) -> list[AlignmentFile]:
    return find_files(places, note)


def every(arguments: argparse.Namespace) -> Iterator[tuple[Path, Draw]]:
    """Each with its place; of two with one name the second has ~2 behind it."""
    seen: dict[str, int] = {}
    for name, draw in every_figure(read(arguments.places), arguments.sentences, arguments.width, arguments.band, note):
        seen[name] = seen.get(name, 0) + 1
        yield arguments.out / (name if seen[name] == 1 else f"{name}~{seen[name]}"), draw


def measured(files: Sequence[AlignmentFile], what: str) -> list[Run]:
    """The runs that have something of it, in the order of a legend."""
    kept = []
    for file in files:
        try:
            if isinstance(file, Run) and (file.by_length if what == "test" else file.series(what)):
                kept.append(file)
            else:
                note(f"{file.path} is left out: it has no results of {what} yet")
        except RecordError as error:
            note(f"left out: {error}")
    if not kept:
        raise RecordError(f"no run has results of {what}")
    return legend_order(kept)


def named(groups: Sequence[Group], names: Sequence[str]) -> list[Group]:
    """With the names that --name OLD=NEW gives them."""
    new = dict(name.rpartition("=")[::2] for name in names)
    for old in new:
        if old not in [name for name, _ in groups]:
            raise ChoiceError(f"--name: nothing is called '{old}'; there are: {', '.join(repr(name) for name, _ in groups)}")
    return [(new.get(name, name), runs) for name, runs in groups]


def lengths(arguments: argparse.Namespace) -> Figure:
    runs = measured(read(arguments.places), "test")
    if other := [r for r in runs if (r.panel, r.by_length.buckets) != (runs[0].panel, runs[0].by_length.buckets)]:
        raise ChoiceError(f"{runs[0].path} and {other[0].path} were tested on other data, buckets or units of length: draw them apart")
    there = [metric for metric in runs[0].by_length.metrics if all(metric in run.by_length.metrics for run in runs)]
    wanted = arguments.metric or ["bleu" if "bleu" in there else "token_accuracy"]
    for metric in wanted:
        if metric not in there:
            raise ChoiceError(f"--metric {metric}: not in every run's test/by_length; there are: {', '.join(there)}")
    groups = named(replicates(runs), arguments.name)
    note(seeds_text(groups, arguments.band))
    return draw_lengths(groups, wanted, arguments.width, arguments.band, arguments.height)


def curves(arguments: argparse.Namespace) -> Figure:
    wanted = [tuple((metric if "/" in metric else f"dev/{metric}").split("/", 1)) for metric in arguments.metric or ["dev/loss"]]
    files = read(arguments.places)
    runs = averaged(measured(files, wanted[0][0]), note)
    groups = named(replicates(runs), arguments.name)
    for series, metric in wanted:
        for name, group in groups:
            shared, _ = shared_curve(group, series, metric, arguments.smooth if series == "train" else 1)
            ends = [run.series(series)[metric][0][-1] for run in group if metric in run.series(series)]
            if len(ends) < len(group):
                there = sorted(set.intersection(*(set(run.series(series)) for run in runs)) - {"wall_time"})
                raise ChoiceError(f"--metric {series}/{metric}: not in every run; in {series} there are: {', '.join(there)}")
            if not len(shared):
                raise RecordError(f"{name}: no update at which all its runs have a value of {series}/{metric}")
            if shared[-1] <= max(ends) - (arguments.smooth if series == "train" else 1):
                note(f"{name}: drawn up to update {shared[-1]}, the last with {series}/{metric} in all its runs")
    note(seeds_text(groups, arguments.band))
    return draw_curves(groups, wanted, arguments.width, arguments.band, arguments.height, units_of(runs), arguments.smooth)


def chosen(arguments: argparse.Namespace) -> list[tuple[str, Alignment]]:
    """The sentences asked for, of each file, with a name where there is more than one."""
    all_files = [replace(file, module=arguments.module) for file in read(arguments.places)]
    files = [file for file in all_files if file.sentences]
    if not files and arguments.module:
        raise ChoiceError(f"--module {arguments.module}: not in any of these; in {all_files[0].path} there are: {', '.join(all_files[0].modules) or 'none'}")
    if not files:
        raise RecordError("no alignment in any of these: a run without attention, or `record.alignments: 0`")
    there = [s for s in files[0].sentences if all(s in file.sentences for file in files)]
    for sentence in arguments.sentences:
        if sentence not in there:
            raise ChoiceError(f"--sentences {sentence}: not in every file; there are: {', '.join(map(str, there)) or 'none'}")
    runs = [file for file in files if isinstance(file, Run)]
    labelled = dict(named(list(zip(labels(runs), ([run] for run in runs))), arguments.name)) if len(files) > 1 else {}
    titles = {runs[0].path: name for name, runs in labelled.items()}
    found = []
    for file in files:
        try:
            found.append((file, [file.alignment(sentence, arguments.pieces) for sentence in arguments.sentences]))
        except RecordError as error:
            note(f"left out: {error}")
    if not found:
        raise RecordError("no alignment of these sentences can be read")
    panels = []
    for at, sentence in enumerate(arguments.sentences):
        for file, items in found:
            name = titles.get(file.path, file.path.stem if len(files) > 1 else "")
            parts = [name] * bool(name) + [f"sentence {sentence}"] * (len(arguments.sentences) > 1)
            panels.append((", ".join(parts), items[at]))
    return panels


def alignments(arguments: argparse.Namespace) -> Figure:
    panels = chosen(arguments)
    figure, size = draw_alignments(panels, arguments.width, len(panels) // len(arguments.sentences))
    if size < SMALLEST:
        remedy = "use --width page, or" if arguments.width == "column" else "choose"
        note(f"the words are only {size:.1f} points high: {remedy} shorter sentences")
    return figure


def images(arguments: argparse.Namespace) -> Figure:
    panels = chosen(arguments)
    if any(item.image is None for _, item in panels):
        raise RecordError("the sources of these sentences are no images: figures.py alignments draws them")
    return draw_images(panels, arguments.width)


def heatmap(arguments: argparse.Namespace) -> Figure:
    table = read_sweep(arguments.sweep)
    x, y, metric = table.parameter(arguments.x), table.parameter(arguments.y), table.measured(arguments.metric)
    if x == y:
        raise ChoiceError("--x and --y are the same parameter")
    shown = table.metric.replace("/", "_") if metric == RANKED else metric
    own = shown.removesuffix("_best") == table.metric.replace("/", "_")
    if arguments.best and not own:
        raise ChoiceError(f"--best: what is best is only known of the sweep's own metric, {table.metric}")
    where = {table.parameter(key): value for key, value in (condition.split("=", 1) for condition in arguments.where)}
    found = cells(table, x, y, metric, where, arguments.best)
    if max(len(found.x), len(found.y)) > MOST:
        raise ChoiceError(f"{max(len(found.x), len(found.y))} values of a parameter: a heatmap is for grids, of at most {MOST}")
    if not found.n.any():
        raise RecordError(f"{table.path}: no run has {shown} yet")
    note(f"{shown}, mean over seeds, in a cell {' to '.join(map(str, sorted({found.n[found.n > 0].min(), found.n.max()})))}")
    for state, runs in sorted(found.left_out.items()):
        note(f"{runs} {'run is' if runs == 1 else 'runs are'} left out: {state}")
    if missing := int((found.n == 0).sum()):
        note(f"{missing} of {found.n.size} cells have no value")
    measure = shown.partition("_")[2]
    split = "best " * measure.endswith("_best") + shown.partition("_")[0]
    names = (x.rpartition(".")[2], y.rpartition(".")[2])
    names = (x, y) if names[0] == names[1] else names
    unit = table.units.get(f"test_{measure.removesuffix('_best')}", "")
    return draw_heatmap(found, tuple(name.replace("_", " ") for name in names), measure.removesuffix("_best"), arguments.width,
                        table.goal if own else None, unit, arguments.height, split)  # fmt: skip


def numbers(text: str) -> list[int]:
    return [int(part) for part in text.split(",")]


def size(text: str) -> float:
    if not 0.5 <= float(text) <= 20:
        raise ValueError
    return float(text)


def count(text: str) -> int:
    if not 1 <= int(text) <= 1_000_000_000:
        raise ValueError
    return int(text)


def file_stem(text: str) -> Path:
    if Path(text).name in ("", ".."):
        raise argparse.ArgumentTypeError(f"'{printable(text)}' names no file")
    return Path(text)


def metrics(text: str) -> list[str]:
    if not all(re.fullmatch(r"[^/]+(/[^/]+)?", name) for name in text.split(",")):
        raise argparse.ArgumentTypeError(f"'{printable(text)}' names no metrics; write bleu, or dev/loss,dev/bleu")
    return text.split(",")


def pair(text: str) -> str:
    if "=" not in text:
        raise argparse.ArgumentTypeError(f"'{text}' has no '='")
    return text


def parser() -> argparse.ArgumentParser:
    result = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = result.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def command(work: Work, help: str, places: str | None = None, name: str = "") -> argparse.ArgumentParser:
        name = name or work.__name__
        added = commands.add_parser(name, help=help, description=help)
        added.set_defaults(work=work)
        if places:
            added.add_argument("places", nargs="+", type=Path, metavar=places, help="records, folders of them, or beginnings of ids of runs")
        if name == "all":
            added.add_argument("--out", type=Path, metavar="FOLDER", help="default: figures/ and the name of the first folder")
        else:
            added.add_argument("--out", type=file_stem, default=Path("figures") / name, metavar="NAME",
                               help=f"writes NAME.pdf and NAME.png (default: figures/{name})")  # fmt: skip
        added.add_argument("--width", choices=WIDTHS, default="column", help="of a column, 3.03 in, or of both, 6.3 in")
        add_force(added)
        added.add_argument("--font", choices=FONTS, default="serif")
        return added

    whole = command(every, "every figure that the records have the numbers for", "RUN|FOLDER", "all")
    whole.add_argument("--sentences", type=numbers, default=[], metavar="I,J", help="to draw alignments of (default: a short and a long one)")
    whole.add_argument("--band", choices=BANDS, default="sd", help="over seeds (default: sd, the deviation)")
    for work, example, help in ((lengths, "bleu", "a metric by source length, over seeds"),
                                (curves, "dev/loss", "learning curves, over seeds")):  # fmt: skip
        lines = command(work, help, "RUN|FOLDER")
        lines.add_argument("--metric", type=metrics, metavar="A,B", help=f"a panel each (default: {example})")
        lines.add_argument("--band", choices=BANDS, default="sd", help="over seeds (default: sd, the deviation)")
        lines.add_argument("--name", action="append", default=[], type=pair, metavar="OLD=NEW", help="what a line is called")
        lines.add_argument("--height", type=size, help="in inches")
    lines.add_argument("--smooth", type=count, default=1, metavar="N", help="the mean of N updates is a point of train/..")
    for work, help in ((alignments, "attention matrices with their words"),
                       (images, "images with each word's attention over them")):  # fmt: skip
        matrices = command(work, help, "RUN")
        matrices.add_argument("--sentences", type=numbers, required=True, metavar="I,J", help="numbered from 0, as in the record")
        matrices.add_argument("--module", default="", metavar="NAME", help="which of the record's alignments, as encoder_layer1; of heads the mean (default: cross)")
        matrices.add_argument("--pieces", action="store_true", help="between sub-words or characters, not between words")
        matrices.add_argument("--name", action="append", default=[], type=pair, metavar="OLD=NEW", help="what a run is called")
    grid = command(heatmap, "a metric over two parameters of a sweep")
    grid.add_argument("sweep", type=Path, metavar="SWEEP", help="its folder, or its sweep.h5")
    grid.add_argument("--x", required=True, metavar="PARAM", help="a swept option, or the end of its path")
    grid.add_argument("--y", required=True, metavar="PARAM")
    grid.add_argument("--metric", metavar="dev/loss", help="the last value, or dev/loss_best (default: the sweep's metric as `sweep status` ranks by it)")
    grid.add_argument("--where", action="append", default=[], type=pair, metavar="PARAM=VALUE", help="only such rows")
    grid.add_argument("--best", action="store_true", help="of the other parameters take the values that are best")
    grid.add_argument("--height", type=size, help="in inches")
    return result


def figures_of(arguments: argparse.Namespace, stem: Path) -> Iterable[tuple[Path, Draw]]:
    if arguments.work is every:
        return every(arguments)
    for file in files_of(stem):
        check(file, arguments.force)
    return [(stem, partial(arguments.work, arguments))]


def save(place: Path, draw: Draw, force: bool) -> None:
    if (figure := draw()) is None:
        return
    for file in files_of(place):
        save_figure(figure, file, force)
        print(printable(file))
    plt.close(figure)


def attempt(place: Path, work: Callable[[], object]) -> int:
    """Runs `work`, reports its error and returns the exit status."""
    try:
        work()
        return 0
    except (ChoiceError, OutputError) as error:
        note(str(error))
        return 2
    except RecordError as error:
        note(str(error))
        return 3
    except OSError as error:
        note(f"{place}: cannot be written: {error.strerror}; choose another place with --out")
        return 1
    except Exception as error:  # of a library that cannot draw what a record holds
        note(f"{place}: cannot be drawn: {type(error).__name__}: {error}")
        return 1


def main(words: Sequence[str] | None = None) -> int:
    arguments = parser().parse_args(words)
    set_style(arguments.font)
    if arguments.out is None:
        place = Path(os.path.realpath(arguments.places[0]))
        arguments.out = Path("figures") / (place.name if os.path.isdir(place) else place.parent.name)
    stem = arguments.out.with_suffix("") if arguments.out.suffix in (".pdf", ".png") else arguments.out
    figures: list[tuple[Path, Draw]] = []
    ended = [attempt(stem, lambda: figures.extend(figures_of(arguments, stem)))]
    ended += [attempt(place, partial(save, place, draw, arguments.force)) for place, draw in figures]
    return next(filter(None, ended), 0)


if __name__ == "__main__":
    sys.exit(main())
