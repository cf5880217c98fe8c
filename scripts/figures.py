#!/usr/bin/python3
"""Draws figures for a paper, as PDF and PNG: `figures.py COMMAND --help`.

all          every figure that the records have the numbers for, into a folder
lengths      a metric by source length, mean and deviation over seeds, with the number of sentences
curves       learning curves, mean and deviation over seeds
alignments   attention matrices with their words, gold links outlined
images       an image with each word's attention over it, where sources are images
heatmap      a metric over two parameters of a sweep
states       principal components of a model's annotations and readouts

Runs that differ only in their seed are one line of a figure. The same files give the same bytes. A figure that cannot be drawn does not
stop the others. Exit status: 1 a figure cannot be drawn or written, 2 the command line is wrong, 3 the data is wrong or missing.
"""

from __future__ import annotations

from softalign_tools import ending, missing_package  # isort: skip
import argparse
import os.path
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path

from softalign_tools import plain_matplotlib  # isort: skip
from matplotlib.figure import Figure

from softalign_tools import figures
from softalign_tools.drawing import FONTS, WIDTHS, files_of, save_figure, set_style
from softalign_tools.figures import BANDS
from softalign_tools.files import OutputError, add_force, check, printable, say
from softalign_tools.paper_all import Draw
from softalign_tools.program import RecordError
from softalign_tools.sweep_table import ChoiceError

Work = Callable[[argparse.Namespace], Figure]


def note(text: str) -> None:
    say("figures", text)


def named(arguments: argparse.Namespace) -> dict[str, str]:
    """Returns {OLD: NEW} from the options --name OLD=NEW."""
    return dict(name.rpartition("=")[::2] for name in arguments.name)


def lengths(a: argparse.Namespace) -> Figure:
    return figures.lengths(a.places, a.metric or [], a.band, named(a), a.width, a.height, note)


def curves(a: argparse.Namespace) -> Figure:
    return figures.curves(a.places, a.metric or [], a.smooth, a.band, named(a), a.width, a.height, note)


def alignments(a: argparse.Namespace) -> Figure:
    return figures.alignments(a.places, a.sentences, a.module, a.head, a.pieces, named(a), a.width, note)


def images(a: argparse.Namespace) -> Figure:
    return figures.images(a.places, a.sentences, a.module, a.head, a.pieces, named(a), a.width, note)


def heatmap(a: argparse.Namespace) -> Figure:
    where = dict(condition.split("=", 1) for condition in a.where)
    return figures.heatmap(a.sweep, a.x, a.y, a.metric, where, a.best, a.width, a.height, note)


def states(a: argparse.Namespace) -> Figure:
    return figures.states(a.run, a.width)


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

    def command(work: Work | None, help: str, places: str | None = None) -> argparse.ArgumentParser:
        name = work.__name__ if work else "all"
        added = commands.add_parser(name, help=help, description=help)
        added.set_defaults(work=work)
        if places:
            added.add_argument("places", nargs="+", type=Path, metavar=places, help="folders, run.h5 files or ids of runs")
        if work is None:
            added.add_argument("-o", "--output", type=Path, metavar="FOLDER", help="folder of the figures (default: figures/ and the name of the first folder)")
        else:
            added.add_argument("-o", "--output", type=file_stem, default=Path("figures") / name, metavar="NAME",
                               help=f"write NAME.pdf and NAME.png (default: figures/{name})")  # fmt: skip
        added.add_argument("--width", choices=WIDTHS, default="column", help="width: one column, 3.03 in, or both, 6.3 in (default: column)")
        add_force(added)
        added.add_argument("--font", choices=FONTS, default="serif", help="font: with serifs, like the text of a paper, or without (default: serif)")
        return added

    whole = command(None, "every figure that the records have the numbers for", "RUN|FOLDER")
    whole.add_argument("--sentences", type=numbers, default=[], metavar="I,J", help="sentences whose alignments are drawn (default: a short and a long one)")
    whole.add_argument("--band", choices=BANDS, default="sd", help="spread over seeds (default: sd, the standard deviation)")
    for work, example, help in ((lengths, "bleu", "a metric by source length, over seeds"),
                                (curves, "dev/loss", "learning curves, over seeds")):  # fmt: skip
        lines = command(work, help, "RUN|FOLDER")
        lines.add_argument("--metric", type=metrics, metavar="A,B", help=f"metrics, one panel each (default: {example})")
        lines.add_argument("--band", choices=BANDS, default="sd", help="spread over seeds (default: sd, the standard deviation)")
        lines.add_argument("--name", action="append", default=[], type=pair, metavar="OLD=NEW", help="name of a line in the legend")
        lines.add_argument("--height", type=size, help="height in inches")
    lines.add_argument("--smooth", type=count, default=1, metavar="N", help="updates averaged into one point of train/.. (default: 1)")
    for work, help in ((alignments, "attention matrices with their words"),
                       (images, "images with each word's attention over them")):  # fmt: skip
        matrices = command(work, help, "RUN")
        matrices.add_argument("--sentences", type=numbers, default=[], metavar="I,J", help="sentence numbers from 0, as in the record (default: the first few)")
        matrices.add_argument("--module", default="", metavar="NAME", help="alignments of the record, such as encoder_layer1 (default: cross)")
        matrices.add_argument("--head", type=numbers, default=[], metavar="H,I", help="heads or hops of such a layer, from 0, one panel each (default: their mean)")
        matrices.add_argument("--pieces", action="store_true", help="draw subwords or characters instead of words")
        matrices.add_argument("--name", action="append", default=[], type=pair, metavar="OLD=NEW", help="title of a run")
    grid = command(heatmap, "a metric over two parameters of a sweep")
    grid.add_argument("sweep", type=Path, metavar="SWEEP", help="folder of the sweep, or its sweep.h5")
    grid.add_argument("--x", metavar="PARAM", help="swept option, or the end of its path; optional if the sweep varies exactly two")
    grid.add_argument("--y", metavar="PARAM")
    grid.add_argument("--metric", metavar="dev/loss", help="dev/loss (the last value) or dev/loss_best (default: the metric of the sweep)")
    grid.add_argument("--where", action="append", default=[], type=pair, metavar="PARAM=VALUE", help="only rows with these values")
    grid.add_argument("--best", action="store_true", help="use the best values of all other parameters")
    grid.add_argument("--height", type=size, help="height in inches")
    command(states, "principal components of a model's annotations and readouts").add_argument("run", type=Path, metavar="RUN")
    return result


def figures_of(arguments: argparse.Namespace, stem: Path) -> Iterable[tuple[Path, Draw]]:
    if arguments.work is None:
        made = figures.every(arguments.places, arguments.sentences, arguments.width, arguments.band, note)
        return ((arguments.output / name, draw) for name, draw in made)
    for file in files_of(stem):
        check(file, arguments.force)
    return [(stem, partial(arguments.work, arguments))]


def save(place: Path, draw: Draw, force: bool) -> None:
    if (figure := draw()) is None:
        return
    for file in files_of(place):
        save_figure(figure, file, force)
        print(printable(file))


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
        note(f"{place}: cannot be written: {error.strerror}; choose another place with --output")
        return 1
    except Exception as error:  # from a library that cannot draw the values of a record
        note(f"{place}: cannot be drawn: {type(error).__name__}: {error}")
        return 1


def main(words: Sequence[str] | None = None) -> int:
    arguments = parser().parse_args(words)
    set_style(arguments.font)
    if arguments.output is None:
        place = Path(os.path.realpath(arguments.places[0]))
        arguments.output = Path("figures") / (place.name if os.path.isdir(place) else place.parent.name)
    stem = arguments.output.with_suffix("") if arguments.output.suffix in (".pdf", ".png") else arguments.output
    found: list[tuple[Path, Draw]] = []
    ended = [attempt(stem, lambda: found.extend(figures_of(arguments, stem)))]
    ended += [attempt(place, partial(save, place, draw, arguments.force)) for place, draw in found]
    return next(filter(None, ended), 0)


if __name__ == "__main__":
    sys.exit(main())
