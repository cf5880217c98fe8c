"""Every figure that a set of records has the numbers for. Each is drawn when it is called, so that none stops the others."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from matplotlib.figure import Figure

from drawing import METRICS, legend_order
from paper_grids import draw_alignments
from paper_lines import draw_curves, draw_lengths, seeds_text, shared_curve
from records import Alignment, AlignmentFile, Run, averaged, labels, replicates, units_of
from stored import RecordError

Draw = Callable[[], "Figure | None"]  # None: the records lack the numbers
Named = tuple[str, Draw]  # with the figure's name, without a folder
Note = Callable[[str], None]  # is told what is left out
LONGEST = 30  # source tokens of an example sentence, where the training data says nothing


def example_sentences(files: Sequence[AlignmentFile], longest: int) -> list[int]:
    """Of the sentences that all files keep, one of middling length up to `longest` tokens and one of up to twice that."""
    shared = {s: length for s, length in files[0].sentences.items() if all(s in file.sentences for file in files)}
    chosen = []
    for group in ([s for s in shared if shared[s] <= longest], [s for s in shared if longest < shared[s] <= 2 * longest]):
        if group:
            chosen.append(sorted(group, key=lambda s: (shared[s], s))[len(group) // 2])
    return chosen


def readable(file: AlignmentFile, sentence: int, note: Note) -> Alignment | None:
    """None, and a note that says why, where it cannot be read."""
    try:
        return file.alignment(sentence)
    except RecordError as error:
        note(str(error))
        return None


def by_length(runs: Sequence[Run], width: str, band: str, note: Note) -> Figure | None:
    runs = [run for run in runs if run.by_length]
    for run in runs:
        if run.by_length.buckets != runs[0].by_length.buckets:
            note(f"{run.path} is not in the figure by length: it has other buckets than {runs[0].path}")
    runs = [run for run in runs if run.by_length.buckets == runs[0].by_length.buckets]
    metrics = [metric for metric in METRICS if runs and all(metric in run.by_length.metrics for run in runs)]
    return draw_lengths(replicates(runs), metrics, width, band) if metrics else None


def curves(runs: Sequence[Run], width: str, band: str, note: Note) -> Figure | None:
    groups = replicates(averaged([run for run in runs if any(metric in run.dev for metric in METRICS)], note))
    metrics = [("dev", metric) for metric in METRICS if groups and all(len(shared_curve(runs, "dev", metric)[0]) for _, runs in groups)]
    return draw_curves(groups, metrics, width, band, units=units_of(runs)) if metrics else None


def alignments(named: Iterable[tuple[str, AlignmentFile]], sentence: int, width: str, note: Note) -> Figure | None:
    panels = [(name, item) for name, file in named if (item := readable(file, sentence, note))]
    panels = [panel for panel in panels if panel[1].source == panels[0][1].source]  # another data_seed draws others
    return draw_alignments(panels, width, len(panels))[0] if panels else None


def every_figure(files: Sequence[AlignmentFile], asked: Sequence[int], width: str, band: str, note: Note) -> Iterator[Named]:
    """Runs that were tested on the same data share a figure. asked: the sentences whose alignment is drawn; [] for a short and a long one."""
    for file in files:
        if isinstance(file, Run) and not file.has_results:
            note(f"{file.path} is in no figure: nothing is measured yet")
    sets: dict[str, list[Run]] = {}
    for run in legend_order(file for file in files if isinstance(file, Run) and file.has_results):
        sets.setdefault(str([run.panel, run.task["type"], run.spec.get("evaluate", {}).get("lengths")]), []).append(run)
    called = [re.sub(r"[^\w-]+", "_", runs[0].panel).strip("_") or runs[0].task["type"] for runs in sets.values()]
    for index, (name, runs) in enumerate(zip(called, sets.values())):
        if called.count(name) > 1:
            name += f"_{called[: index + 1].count(name)}"
        note(f"{name}: {seeds_text(replicates(runs), band)}")
        yield f"{name}_by_length", partial(by_length, runs, width, band, note)
        yield f"{name}_curves", partial(curves, runs, width, band, note)
        if attending := [seeds[0] for _, seeds in replicates([run for run in runs if run.sentences])]:
            if len(attending) < sum(bool(run.sentences) for run in runs):
                note(f"{name}: the alignments are those of the first seed")
            longest = max((run.trained_lengths or (0, LONGEST))[1] for run in attending)
            for sentence in asked or example_sentences(attending, longest):
                yield f"{name}_alignment_{sentence}", partial(alignments, list(zip(labels(attending), attending)), sentence, width, note)
    for file in files:
        if not isinstance(file, Run) and file.sentences:
            for sentence in asked or example_sentences([file], LONGEST):
                yield f"{file.path.stem}_alignment_{sentence}", partial(alignments, [("", file)], sentence, width, note)

