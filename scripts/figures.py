#!/usr/bin/python3
"""Draws figures for a paper, as PDF and PNG: `figures.py COMMAND --help`.

all          every figure that the records have the numbers for, into a folder
lengths      a metric by source length, mean and deviation over seeds, with the number of sentences
curves       learning curves, mean and deviation over seeds
alignments   attention matrices with their words, known links outlined
images       an image with each word's attention over it, where sources are images
heatmap      a metric over two parameters of a sweep
states       principal components of a model's annotations and readouts

Runs that differ in nothing but their seed are one line of a figure. The same files give the same bytes. A figure that cannot be drawn
stops no other. Exit status: 1 a figure cannot be drawn or written, 2 the command line is wrong, 3 the data is wrong or missing.
"""

from __future__ import annotations

import ending  # isort: skip
import missing_package  # isort: skip
import argparse
import json
import os.path
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import plain_matplotlib  # isort: skip
import matplotlib.pyplot as plt
from matplotlib.figure import Figure

import charts
from charts import Chart, Json
from drawing import save_figure
from matrices import Alignment, alignment, chosen_pane, shown
from output import OutputError, add_force, check, printable, say
from paper import FONTS, SMALLEST, WIDTHS, files_of, set_style
from paper_all import Draw, every_figure, main_metrics
from paper_grids import draw_alignments, draw_heatmap
from paper_images import draw_images
from paper_lines import LONGEST_NAME, bucket_sets, curve, draw_curves, draw_lengths, lengths as length_charts, seeds_text, trained_on
from paper_states import draw_states
from program import RecordError, answer, report_of
from sweep_table import RANKED, ChoiceError, SweepTable, cells

Work = Callable[[argparse.Namespace], Figure]
BANDS = ("sd", "range", "none")
MOST = 40  # values of a parameter along one side of a heatmap


def note(text: str) -> None:
    say("figures", text)


def read(places: Sequence[Path], *options: str) -> Json:
    """What the program says of them; a line for each that it cannot read. Throws RecordError where nothing is left."""
    data = report_of(places, "--resamples=0", *options)
    lines = [f"{one['place']}: {one['text']}" for one in data["problems"]]
    if not data["runs"] and not data["alignments"]["panes"]:
        last = lines.pop() if lines else f"no run.h5 in {', '.join(map(str, places))}: run the experiment first"
        for line in lines:
            note(line)
        raise RecordError(last)
    for line in lines:
        note(line)
    return data


def every(arguments: argparse.Namespace) -> Iterator[tuple[Path, Draw]]:
    """Each with its place; of two with one name the second has ~2 behind it."""
    seen: dict[str, int] = {}
    data = read(arguments.places, *([f"--sentences={','.join(map(str, arguments.sentences))}"] if arguments.sentences else []))
    drawn = {pane["run"] for pane in data["alignments"]["panes"]}
    for at, run in enumerate(data["runs"]):
        if not run["complete"] and not run["record"]["series"] and at not in drawn:
            note(f"{run['place']} is in no figure: nothing is measured yet")
    for name, draw in every_figure(data, arguments.sentences, arguments.width, arguments.band, note):
        seen[name] = seen.get(name, 0) + 1
        yield arguments.out / (name if seen[name] == 1 else f"{name}~{seen[name]}"), draw


def renamed(drawn: Sequence[Chart], names: Sequence[str]) -> list[Chart]:
    """With the names that --name OLD=NEW gives their lines."""
    new = dict(name.rpartition("=")[::2] for name in names)
    there = list(dict.fromkeys(line.series for chart in drawn for line in chart.lines))
    for old in new:
        if old not in there:
            raise ChoiceError(f"--name: nothing is called '{old}'; there are: {', '.join(map(repr, there))}")
    return [replace(chart, lines=[replace(line, series=new.get(line.series, line.series)) for line in chart.lines]) for chart in drawn]


def lengths(arguments: argparse.Namespace) -> Figure:
    data = read(arguments.places)
    for run in data["runs"]:
        if not run["complete"]:
            note(f"{run['place']} is left out: it has no results of test yet")
    panels = [panel for panel in data["panels"] if panel.get("tables")]
    if not panels:
        raise RecordError("no run has results of test")
    if len(panels) > 1:
        first, other = (panel["comparison"]["groups"][0]["runs"][0]["place"] for panel in panels[:2])
        raise ChoiceError(f"{first} and {other} were tested on other data or in other units of length: draw them apart")
    if len(bucket_sets(panels[0])) > 1:
        raise ChoiceError("these runs were measured by different buckets of length: draw them apart")
    made = length_charts(data, panels[0], arguments.band)
    wanted = arguments.metric or [[name for name in ("token_accuracy", *main_metrics(data)) if name in made][-1]]
    for metric in wanted:
        if metric not in made:
            raise ChoiceError(f"--metric {metric}: not in every run's test/by_length; there are: {', '.join(sorted(made))}")
    drawn = renamed([made[metric] for metric in wanted], arguments.name)
    note(seeds_text(drawn[0], arguments.band))
    return draw_lengths(drawn, arguments.width, trained_on(data, panels[0]), arguments.height)


def curves(arguments: argparse.Namespace) -> Figure:
    wanted = [metric if "/" in metric else f"dev/{metric}" for metric in arguments.metric or ["dev/loss"]]
    data = read(arguments.places, f"--smooth={arguments.smooth}")
    drawn, most = [], max((len(one["lines"]) for panel in data["panels"] for one in panel["curves"]), default=0)
    for name in wanted:
        chart = curve(data, name, arguments.band)
        series = sum(max((len(one["lines"]) for one in panel["curves"]), default=0) for panel in data["panels"])
        if chart is None or len(chart.lines) < series:
            split = name.partition("/")[0]
            there = sorted({one["metric"] for panel in data["panels"] for one in panel["curves"] if one["split"] == split})
            if not most:
                raise RecordError(f"no run has results of {split}")
            raise ChoiceError(f"--metric {name}: not in every run; in {split} there are: {', '.join(there)}")
        for line in chart.lines:
            if not line.at:
                raise RecordError(f"{line.series}: no update at which all its runs have a value of {name}")
            if line.at[-1] < line.end:
                note(f"{line.series}: drawn up to update {line.at[-1]:g}, the last with {name} in all its runs")
        drawn.append(chart)
    states = {run["place"]: run["state"] for run in data["runs"]}
    for place in dict.fromkeys(place for chart in drawn for line in chart.lines for place in line.left_out):
        note(f"{place} is left out of the mean: it is {states[place]}")
    drawn = renamed(drawn, arguments.name)
    note(seeds_text(drawn[0], arguments.band))
    return draw_curves(drawn, arguments.width, arguments.height)


def titles_of(data: Json, runs: Sequence[int]) -> dict[int, str]:
    """What each run is called beside these others."""
    of = [data["runs"][at] for at in runs]
    several, twins = len({run["panel"] for run in of}) > 1, Counter((run["panel"], run["series"]) for run in of)
    parts = [(run["panel"] * several, run["series"] or run["name"], f"seed {run['seed']}" * (twins[run["panel"], run["series"]] > 1)) for run in of]
    return {at: shown(", ".join(part for part in named if part), LONGEST_NAME) for at, named in zip(runs, parts)}


def chosen(arguments: argparse.Namespace) -> list[tuple[str, Alignment]]:
    """The sentences asked for, of each file, with a name where there is more than one."""
    data = read(arguments.places, f"--sentences={','.join(map(str, arguments.sentences))}")
    files: dict[str, list[Json]] = {}
    for pane in data["alignments"]["panes"]:
        files.setdefault(pane["file"], []).append(pane)
    panes = [pane for of_file in files.values() if (pane := chosen_pane(of_file, arguments.module, arguments.pieces)) is not None]
    if not panes and arguments.module and files:
        first, of_file = next(iter(files.items()))
        raise ChoiceError(f"--module {arguments.module}: not in any of these; in {first} there are: {', '.join(sorted(p['module'] for p in of_file)) or 'none'}")
    if not panes:
        raise RecordError("no alignment in any of these: a run without attention, or `record.alignments: 0`")
    there = [s for s in panes[0]["kept"] if all(s in pane["kept"] for pane in panes)]
    for sentence in arguments.sentences:
        if sentence not in there:
            raise ChoiceError(f"--sentences {sentence}: not in every file; there are: {', '.join(map(str, there)) or 'none'}")
    titles = titles_of(data, [pane["run"] for pane in panes if pane["run"] >= 0]) if len(panes) > 1 else {}
    new = dict(name.rpartition("=")[::2] for name in arguments.name)
    for old in new:
        if old not in titles.values():
            raise ChoiceError(f"--name: nothing is called '{old}'; there are: {', '.join(map(repr, titles.values()))}")
    panels = []
    for sentence in arguments.sentences:
        for pane in panes:
            name = titles.get(pane["run"], Path(pane["file"]).stem if len(panes) > 1 else "")
            parts = [new.get(name, name)] * bool(name) + [f"sentence {sentence}"] * (len(arguments.sentences) > 1)
            item = alignment(pane, sentence, data["alignments"]["texts"])
            if item is None:
                raise RecordError(f"{pane['file']}: a weight of sentence {sentence} is no number")
            panels.append((", ".join(parts), item))
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
    data = report_of([arguments.sweep], "--resamples=0")
    if data["table"] is None:
        raise RecordError(next((f"{one['place']}: {one['text']}" for one in data["problems"]), f"{arguments.sweep}: no sweep.h5 here; `softalign sweep status` writes it"))
    table = SweepTable(**data["table"])
    (x, y), metric = table.axes(arguments.x, arguments.y), table.measured(arguments.metric)
    if x == y:
        raise ChoiceError("--x and --y are the same parameter")
    name = table.metric.replace("/", "_") if metric == RANKED else metric
    own = name.removesuffix("_best") == table.metric.replace("/", "_")
    if arguments.best and not own:
        raise ChoiceError(f"--best: what is best is only known of the sweep's own metric, {table.metric}")
    where = {table.parameter(key): value for key, value in (condition.split("=", 1) for condition in arguments.where)}
    found = cells(table, x, y, metric, where, arguments.best)
    if max(len(found.x), len(found.y)) > MOST:
        raise ChoiceError(f"{max(len(found.x), len(found.y))} values of a parameter: a heatmap is for grids, of at most {MOST}")
    if not found.n.any():
        raise RecordError(f"{table.place}: no run has {name} yet")
    note(f"{name}, mean over seeds, in a cell {' to '.join(map(str, sorted({found.n[found.n > 0].min(), found.n.max()})))}")
    for state, runs in sorted(found.left_out.items()):
        note(f"{runs} {'run is' if runs == 1 else 'runs are'} left out: {state}")
    if missing := int((found.n == 0).sum()):
        note(f"{missing} of {found.n.size} cells have no value")
    split, _, measure = name.partition("_")
    best, measure = "best " * measure.endswith("_best"), measure.removesuffix("_best")
    facts = data["metrics"].get(measure, {"title": measure.replace("_", " "), "units": ""})
    names = (x.rpartition(".")[2], y.rpartition(".")[2])
    names = (x, y) if names[0] == names[1] else names
    return draw_heatmap(found, tuple(name.replace("_", " ") for name in names), f"{best}{split} {charts.labelled(facts['title'], facts['units'])}",
                        arguments.width, table.goal if own else None, arguments.height)  # fmt: skip


def states(arguments: argparse.Namespace) -> Figure:
    return draw_states(json.loads(answer("export", "--what", "states", "--", arguments.run)), arguments.width)


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
    grid.add_argument("--x", metavar="PARAM", help="a swept option, or the end of its path; a sweep of two needs neither --x nor --y")
    grid.add_argument("--y", metavar="PARAM")
    grid.add_argument("--metric", metavar="dev/loss", help="the last value, or dev/loss_best (default: the sweep's metric as `sweep status` ranks by it)")
    grid.add_argument("--where", action="append", default=[], type=pair, metavar="PARAM=VALUE", help="only such rows")
    grid.add_argument("--best", action="store_true", help="of the other parameters take the values that are best")
    grid.add_argument("--height", type=size, help="in inches")
    command(states, "principal components of a model's annotations and readouts").add_argument("run", type=Path, metavar="RUN")
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
