"""Figures for papers from the paths of records, as `figures.py COMMAND` and the Python package draw them, with the program's own numbers.

Each function raises RecordError if the records have nothing to draw, ChoiceError if they lack what was requested; `note` is called with remarks, for
example on runs that are left out.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from softalign_tools import charts
from softalign_tools.charts import Chart, Json
from softalign_tools.drawing import SMALLEST, Drawing
from softalign_tools.matrices import Alignment, alignment, chosen_pane, is_plain, shown
from softalign_tools.paper_all import Draw, Note, every_figure, main_metrics
from softalign_tools.paper_grids import draw_alignments, draw_heatmap, draw_images
from softalign_tools.paper_lines import LONGEST_NAME, bucket_sets, curve, draw_curves, draw_lengths, draw_states, seeds_text, trained_on
from softalign_tools.paper_lines import lengths as length_charts
from softalign_tools.program import RecordError, answer, report_of
from softalign_tools.sweep_table import RANKED, ChoiceError, SweepTable, cells, spoken

BANDS = ("sd", "range", "none")  # around means over seeds
FEW = 4  # sentences whose alignment is drawn if none is requested
MOST = 40  # values of a parameter along one side of a heatmap
Place = str | Path


def read(places: Sequence[Place], note: Note, *options: str) -> Json:
    """Returns the program's report of these paths, with a note for each that it cannot read. Raises RecordError if it can read none."""
    data = report_of(places, "--resamples=0", *options)
    lines = [f"{one['place']}: {one['text']}" for one in data["problems"]]
    if not data["runs"] and not data["alignments"]["panes"]:
        last = lines.pop() if lines else f"no run.h5 in {', '.join(map(str, places))}: run the experiment first"
        for line in lines:
            note(line)
        raise RecordError(last)
    if data["not_read"]:
        lines.append(f"of {len(data['runs']) + data['not_read']} runs {len(data['runs'])} are read, those of the first configurations; name fewer to draw others")
    for line in lines:
        note(line)
    return data


def with_sentences(sentences: Sequence[int]) -> list[str]:
    return [f"--sentences={','.join(map(str, sentences))}"] if sentences else []


def every(places: Sequence[Place], sentences: Sequence[int], width: str, band: str, note: Note) -> Iterator[tuple[str, Draw]]:
    """Yields name and drawing function of every figure for which the records have numbers; repeated names get the suffixes ~2, ~3, ..."""
    seen: dict[str, int] = {}
    data = read(places, note, *with_sentences(sentences))
    drawn = {pane["run"] for pane in data["alignments"]["panes"]}
    for at, run in enumerate(data["runs"]):
        if not run["complete"] and not run["record"]["series"] and at not in drawn:
            note(f"{run['place']} is in no figure: nothing is measured yet")
    for name, draw in every_figure(data, sentences, width, band, note):
        seen[name] = seen.get(name, 0) + 1
        yield name if seen[name] == 1 else f"{name}~{seen[name]}", draw


def renamed(drawn: Sequence[Chart], names: Mapping[str, str]) -> list[Chart]:
    """Returns the charts with some lines renamed; the look of the lines does not change."""
    there = list(dict.fromkeys(line.series for chart in drawn for line in chart.lines))
    for old in names:
        if old not in there:
            raise ChoiceError(f"--name: nothing is called '{old}'; there are: {', '.join(map(repr, there))}")
    return [replace(chart, lines=[replace(line, series=names.get(line.series, line.series), look=line.look or line.series) for line in chart.lines]) for chart in drawn]


def lengths(
    places: Sequence[Place], metrics: Sequence[str], band: str, names: Mapping[str, str], width: str, height: float | None, note: Note
) -> Drawing:
    """Draws a panel for each test metric by source length. metrics: default is the last main metric that was measured, else token accuracy."""
    data = read(places, note)
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
    made = length_charts(data, panels[0], band)
    wanted = metrics or [[name for name in ("token_accuracy", *main_metrics(data)) if name in made][-1]]
    for metric in wanted:
        if metric not in made:
            raise ChoiceError(f"--metric {metric}: not in every run's test/by_length; there are: {', '.join(sorted(made))}")
    drawn = renamed([made[metric] for metric in wanted], names)
    note(seeds_text(drawn[0], band))
    return draw_lengths(drawn, width, trained_on(data, panels[0]), height)


def curves(
    places: Sequence[Place], metrics: Sequence[str], smooth: int, band: str, names: Mapping[str, str], width: str, height: float | None, note: Note
) -> Drawing:
    """Draws a panel for each metric by update, "bleu" (of dev) or "train/loss". smooth: the number of updates whose mean is one point of train/.."""
    wanted = [metric if "/" in metric else f"dev/{metric}" for metric in metrics or ["dev/loss"]]
    data = read(places, note, f"--smooth={smooth}")
    drawn, most = [], max((len(one["lines"]) for panel in data["panels"] for one in panel["curves"]), default=0)
    for name in wanted:
        chart = curve(data, name, band)
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
    drawn = renamed(drawn, names)
    note(seeds_text(drawn[0], band))
    return draw_curves(drawn, width, height)


def spans(numbers: Sequence[int]) -> str:
    """Returns ascending numbers as text, consecutive ones as a span: "0 to 299, 304"."""
    first = [n for at, n in enumerate(numbers) if at == 0 or numbers[at - 1] != n - 1]
    last = [n for at, n in enumerate(numbers) if at + 1 == len(numbers) or numbers[at + 1] != n + 1]
    return ", ".join(f"{a}" if a == b else f"{a} to {b}" for a, b in zip(first, last))


def titles_of(data: Json, runs: Sequence[int]) -> dict[int, str]:
    """Returns each run's title, with its panel and seed only if they distinguish it from the other runs."""
    of = [data["runs"][at] for at in runs]
    several, twins = len({run["panel"] for run in of}) > 1, Counter((run["panel"], run["series"]) for run in of)
    parts = [(run["panel"] * several, run["series"] or run["name"], f"seed {run['seed']}" * (twins[run["panel"], run["series"]] > 1)) for run in of]
    return {at: shown(", ".join(part for part in named if part), LONGEST_NAME) for at, named in zip(runs, parts)}


def chosen(
    places: Sequence[Place], sentences: Sequence[int], module: str, heads: Sequence[int], pieces: bool, names: Mapping[str, str], note: Note
) -> list[tuple[str, Alignment]]:
    """Returns the requested alignments, one for each sentence, file and head, with titles that distinguish them."""
    data, kept = read(places, note, *with_sentences(sentences)), "kept" if sentences else "sentence"
    files: dict[str, list[Json]] = {}
    for pane in data["alignments"]["panes"]:
        files.setdefault(pane["file"], []).append(pane)
    panes = [pane for of_file in files.values() if (pane := chosen_pane(of_file, module, pieces)) is not None]
    if not panes and module and files:
        first, of_file = next(iter(files.items()))
        raise ChoiceError(f"--module {module}: not in any of these; in {first} there are: {', '.join(sorted(p['module'] for p in of_file)) or 'none'}")
    if not panes:
        raise RecordError("no alignment in any of these: a run without attention, or `record.alignments: 0`")
    there = [s for s in panes[0][kept] if all(s in pane[kept] for pane in panes)]
    sentences = sentences or there[:FEW]
    if not sentences:
        raise RecordError("no sentence is in every file")
    for sentence in sentences:
        if sentence not in there:
            raise ChoiceError(f"--sentences {sentence}: not in every file; there are: {spans(there) or 'none'}")
    named = len(panes) > 1 or not is_plain(panes[0])
    titles = titles_of(data, [pane["run"] for pane in panes if pane["run"] >= 0]) if named else {}
    for old in names:
        if old not in titles.values():
            raise ChoiceError(f"--name: nothing is called '{old}'; there are: {', '.join(map(repr, titles.values()))}")
    for pane in panes:
        if unknown := [head for head in heads if head not in pane["heads"]]:
            raise ChoiceError(f"--head {unknown[0]}: not in {pane['module']} of {pane['file']}; there are: {spans(pane['heads'])}")
    panels = []
    for sentence in sentences:
        for pane in panes:
            name = titles.get(pane["run"], Path(pane["file"]).stem if named else "")
            for head in heads or [None]:
                parts = [names.get(name, name), part_title(pane, head), f"sentence {sentence}" * (len(sentences) > 1)]
                item = alignment(pane, sentence, data["alignments"]["texts"], head)
                if item is None:
                    raise RecordError(f"{pane['file']}: a weight of sentence {sentence} is not a number")
                panels.append((", ".join(part for part in parts if part), item))
    return panels


def part_title(pane: Json, head: int | None) -> str:
    """Returns the module and head of an alignment as text: "cross_layer1, mean of 2 heads"; "" for plain attention with one head."""
    of = f"head {head}" if head is not None else f"mean of {len(pane['heads'])} heads" * (len(pane["heads"]) > 1)
    return ", ".join(part for part in (pane["module"] * (not is_plain(pane)), of) if part)


def alignments(
    places: Sequence[Place], sentences: Sequence[int], module: str, heads: Sequence[int], pieces: bool, names: Mapping[str, str], width: str, note: Note
) -> Drawing:
    """Draws alignments. module: "" for the default. heads: one panel each; []: the mean of all. pieces: between sub-words or characters, not words."""
    panels = chosen(places, sentences, module, heads, pieces, names, note)
    figure, size = draw_alignments(panels, width, len(panels) // len({item.sentence for _, item in panels}))
    if size < SMALLEST:
        remedy = "use --width page, or" if width == "column" else "choose"
        note(f"the words are only {size:.1f} points high: {remedy} shorter sentences")
    return figure


def images(places: Sequence[Place], sentences: Sequence[int], module: str, heads: Sequence[int], pieces: bool, names: Mapping[str, str], width: str, note: Note) -> Drawing:
    panels = chosen(places, sentences, module, heads, pieces, names, note)
    if any(item.image is None for _, item in panels):
        raise RecordError("the sources of these sentences are no images: figures.py alignments draws them")
    return draw_images(panels, width)


def heatmap(
    sweep: Place, x: str | None, y: str | None, metric: str | None, where: Mapping[str, object], best: bool, width: str, height: float | None, note: Note
) -> Drawing:
    """Draws a metric, the mean over seeds, over two parameters of a sweep. where: only rows with these values; best: other parameters at their best."""
    data = report_of([sweep], "--resamples=0")
    if data["table"] is None:
        raise RecordError(next((f"{one['place']}: {one['text']}" for one in data["problems"]), f"{sweep}: no sweep.h5 here; `softalign sweep status` writes it"))
    table = SweepTable(**data["table"])
    (x, y), metric = table.axes(x, y), table.measured(metric)
    if x == y:
        raise ChoiceError("--x and --y are the same parameter")
    name = table.metric.replace("/", "_") if metric == RANKED else metric
    own = name.removesuffix("_best") == table.metric.replace("/", "_")
    if best and not own:
        raise ChoiceError(f"--best: what is best is only known of the sweep's own metric, {table.metric}")
    wanted = {table.parameter(key): value if isinstance(value, str) else spoken(value) for key, value in where.items()}
    found = cells(table, x, y, metric, wanted, best)
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
    of_best, measure = "best " * measure.endswith("_best"), measure.removesuffix("_best")
    facts = data["metrics"].get(measure, {"title": measure.replace("_", " "), "units": ""})
    names = (x.rpartition(".")[2], y.rpartition(".")[2])
    across, down = (part.replace("_", " ") for part in ((x, y) if names[0] == names[1] else names))
    return draw_heatmap(found, (across, down), f"{of_best}{split} {charts.labelled(facts['title'], facts['units'])}", width, table.goal if own else None, height)


def states(run: Place, width: str) -> Drawing:
    return draw_states(json.loads(answer("export", "--what", "states", "--", run)), width)
