"""Every figure for which a set of records has numbers. Each is a function that draws when called, so that a failing one does not stop the others."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from softalign_tools import charts
from softalign_tools.charts import Json
from softalign_tools.drawing import Drawing
from softalign_tools.matrices import Alignment, alignment, chosen_pane, lengths_of
from softalign_tools.paper_grids import draw_alignments
from softalign_tools.paper_lines import bucket_sets, curve, draw_curves, draw_lengths, lengths, seeds_text, trained_on

Draw = Callable[[], "Drawing | None"]  # None: the records lack the numbers
Named = tuple[str, Draw]  # name of the figure, without a folder, and its drawing function
Note = Callable[[str], None]  # receives remarks, for example on what is left out
LONGEST = 30  # most source tokens of an example sentence, if the lengths trained on are unknown
LONGEST_NAME = 80  # characters that a file name takes from a panel's or task's name


def main_metrics(data: Json) -> list[str]:
    """Returns the metrics for a first look: the first two main ones, and the last, which measures the output of the search."""
    judged = [name for name, facts in data["metrics"].items() if facts["main"] and facts["higher_is_better"] is not None]
    return [*judged[:2], *judged[2:][-1:]]


def example_sentences(panes: Sequence[Json], texts: Sequence[str], longest: int) -> list[int]:
    """Returns, from the sentences that all panes have, one of median length up to `longest` tokens, and one of median length from there to twice that."""
    first, *others = [lengths_of(pane, texts) for pane in panes]
    there = {s: length for s, length in first.items() if all(s in other for other in others)}
    chosen = []
    for group in ([s for s in there if there[s] <= longest], [s for s in there if longest < there[s] <= 2 * longest]):
        if group:
            chosen.append(sorted(group, key=lambda s: (there[s], s))[len(group) // 2])
    return chosen


def by_length(data: Json, panel: Json, width: str, band: str, own: tuple[int, ...]) -> Drawing | None:
    made = lengths(data, panel, band, own)
    drawn = [made[metric] for metric in main_metrics(data) if metric in made]
    return draw_lengths(drawn, width, trained_on(data, panel)) if drawn else None


def curves(data: Json, panel: Json, width: str, band: str) -> Drawing | None:
    alone = data | {"panels": [panel]}
    made = [curve(alone, f"dev/{metric}", band) for metric in main_metrics(data)]
    most = max((len(chart.lines) for chart in made if chart), default=0)
    drawn = [chart for chart in made if chart and len(chart.lines) == most and all(line.at for line in chart.lines)]
    return draw_curves(drawn, width) if drawn else None


def alignments(named: Sequence[tuple[str, Json]], texts: Sequence[str], sentence: int, width: str) -> Drawing | None:
    items = [(name, item) for name, pane in named if sentence in pane["sentence"] and (item := alignment(pane, sentence, texts))]
    items = [panel for panel in items if panel[1].source == items[0][1].source]  # runs with another data_seed were tested on other sentences
    return draw_alignments(items, width, len(items))[0] if items else None


def first_seeds(data: Json, panel: Json) -> dict[str, Json]:
    """Returns series -> the pane of its first seed that has alignments."""
    found: dict[str, Json] = {}
    order = sorted(range(len(data["runs"])), key=lambda at: data["runs"][at]["seed"])
    for at in (at for name in panel["all_series"] for at in order if (data["runs"][at]["panel"], data["runs"][at]["series"]) == (panel["name"], name)):
        run = data["runs"][at]
        pane = chosen_pane(pane for pane in data["alignments"]["panes"] if pane["run"] == at)
        if pane is not None and pane["sentence"]:
            found.setdefault(run["series"] or run["name"], pane)
    return found


def file_name(panel: Json, runs: Sequence[Json]) -> str:
    task = runs[0]["record"]["spec"].get("task") if runs else None
    kind = task.get("type") if isinstance(task, dict) else None
    return (re.sub(r"[^\w-]+", "_", panel["name"]).strip("_") or re.sub(r"[^\w-]+", "_", str(kind or "runs")))[:LONGEST_NAME]


def every_figure(data: Json, asked: Sequence[int], width: str, band: str, note: Note) -> Iterator[Named]:
    """Yields all figures. Runs that were tested on the same data share one. asked: sentences whose alignment is drawn; []: a short and a long one."""
    texts = data["alignments"]["texts"]
    for panel in data["panels"]:
        runs = [run for run in data["runs"] if run["panel"] == panel["name"]]
        panel = panel | {"all_series": list(dict.fromkeys(run["series"] for run in runs))}
        name, panes = file_name(panel, runs), first_seeds(data, panel)
        if not panel["curves"] and not panel.get("tables") and not panes:
            continue
        made = [*lengths(data, panel, band).values(), *(curve(data | {"panels": [panel]}, one["name"], band) for one in panel["curves"])]
        if made:
            note(f"{name}: {seeds_text(max(made, key=lambda chart: len(chart.lines)), band)}")
        for number, own in enumerate(bucket_sets(panel), 1):
            yield f"{name}_by_length" + f"_{number}" * (number > 1), partial(by_length, data, panel, width, band, own)
        yield f"{name}_curves", partial(curves, data, panel, width, band)
        if panes:
            if len(panes) < sum(any(pane["run"] == at and pane["kind"] == "forced" for pane in data["alignments"]["panes"]) for at, run in enumerate(data["runs"]) if run in runs):
                note(f"{name}: the alignments are those of the first seed")
            bounds = [charts.trained_lengths(data["runs"][pane["run"]]) for pane in panes.values()]
            for sentence in asked or example_sentences(list(panes.values()), texts, max((bound or (0, LONGEST))[1] for bound in bounds)):
                yield f"{name}_alignment_{sentence}", partial(alignments, list(panes.items()), texts, sentence, width)
    files = dict.fromkeys(pane["file"] for pane in data["alignments"]["panes"] if pane["run"] < 0)
    for file in files:
        pane = chosen_pane(pane for pane in data["alignments"]["panes"] if pane["file"] == file)
        if pane is not None and pane["sentence"]:
            for sentence in asked or example_sentences([pane], texts, LONGEST):
                yield f"{Path(file).stem}_alignment_{sentence}", partial(alignments, [("", pane)], texts, sentence, width)


__all__ = ["Alignment", "Draw", "every_figure"]
