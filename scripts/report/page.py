"""From places to one HTML file: gathers, computes, fills the templates. No clock, no network, no path of this machine."""

from __future__ import annotations

import json
import math
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

import palette
from output import PAGE_MARK
from report import alignments, curves, diagnostics, lengths, sweep
from report.checklist import Item, checklist
from report.comparison import comparisons
from report.figures import Figure
from report.gather import Placed, Subject, gather
from report.heatmaps import heatmaps
from report.lengths import ALL, Table
from report.parts import Part, parts
from report.plan import RowState, text_of
from report.run import shown_place
from report.summary import common_facts, run_facts
from report.svg import counted, number, or_nan, spread

HERE = Path(__file__).parent
CSS = ["base.css", "figures.css", "sweep.css", "explorer.css", "print.css"]
JS = ["page.js", "sweep.js", "matrix.js", "explorer.js"]
EXPLORED, EXPLORED_ROWS = 60, 12  # runs with alignments on the page; rows of a sweep
FIRST_FACTS = [
    "run",
    "state",
    "tested",
    "notes",
    "parameters",
    "data",
    "time",
    "code",
    "machine",
    "started",
    "attempts",
    "determinism",
]
FIRST_FIGURES = 6  # of a panel; more are folded away


@dataclass
class Report:
    """Everything computed; the page and the checklist are drawn from it."""

    subject: Subject
    states: list[RowState]
    tables: dict[str, list[Table]]
    items: list[Item]
    parts: list[Part]  # of a page about several places


def compute(places: list[Path], plugins: Sequence[str] = ()) -> Report:
    subject = gather(places, plugins)
    states = subject.plan.states if subject.plan else []
    several = parts(places, subject)
    tables = lengths.tables(subject)
    return Report(subject, states, tables, checklist(subject, tables, states, several), several)


def headlines(subject: Subject, tables: dict[str, list[Table]]) -> list[tuple[str, str, str]]:
    """(value, metric and whose it is, how sure) of what only one series of one panel has: the tiles at the top."""
    tiles = []
    for metric in (m for m in subject.metrics if m.main):
        found = [(panel, s, t) for panel, each in tables.items() for t in each if t.metric == metric for s in t.columns]
        if len(found) != 1:
            continue
        panel, series, table = found[0]
        estimate = table.columns[series][table.buckets.index(ALL)]
        low, high = estimate.interval
        sure = counted(estimate.n, "sentence")
        sure = f"{number(low)} to {number(high)}, 95 % over {sure}" if math.isfinite(low) else sure
        sure += f", mean of {len(estimate.seeds)} seeds" if len(estimate.seeds) > 1 else ""
        of = [panel if len(subject.panels) > 1 else "", series if len(subject.series) > 1 else ""]
        of_whom = f" of {' / '.join(part for part in of if part)}" if any(of) else ""
        value = number(estimate.mean) + (" %" if metric.units == "%" else "")
        tiles.append((value, metric.title + of_whom, sure))
    return tiles


def hash_of(content: str) -> Markup:
    """As a Content-Security-Policy names the only script that a browser runs: none that a record might smuggle in."""
    return Markup(f"'sha256-{b64encode(sha256(content.encode()).digest()).decode()}'")


def embedded(value: Any) -> Markup:
    """JSON that may stand inside a script element."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return Markup(text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029"))


def explored(report: Report) -> list[Placed]:
    """The runs whose alignments are on the page: those of the best series, of a study the first."""
    order = report.subject.series
    most = EXPLORED_ROWS if report.subject.plan else EXPLORED
    return sorted(report.subject.runs, key=lambda p: order.index(p.series) if report.subject.ranked_by else 0)[:most]


def drawn_series(subject: Subject) -> str:
    """Which of many series are in the figures, and how to see others; empty where all are."""
    count, shown = len(subject.series), curves.SHOWN
    if count <= shown:
        return ""
    if subject.study:
        return f"Of {count} variants the first {shown} of the study are drawn; its tables have all."
    text = f"Of {count} configurations the best {shown} by {subject.ranked_by} are drawn, the best first"
    return f"{text}." if subject.plan else f"{text}; a report of fewer runs, named by their ids, draws those."


def seeds(value: dict[str, Any]) -> str:
    """A value of study.json: its mean, and its deviation over seeds where there are several."""
    return spread(or_nan(value["mean"]), value["deviation"] if value["seeds"] > 1 else None)


def sweep_parts(report: Report) -> dict[str, Any] | None:
    plan, states = report.subject.plan, report.states
    if plan is None:
        return None
    counts = sweep.state_counts(states)
    by_value = sorted((s for s in states if math.isfinite(s.value)), key=lambda s: s.value if plan.minimize else -s.value)
    best = plan.best
    return {
        "plan": plan,
        "states": states,
        "counts": counts,
        "bar": sweep.state_bar(counts) if counts else "",
        "best": best,
        "best_rows": [s.row.k for s in best.complete] if best else [],
        "order": " ".join(str(s.row.k) for s in by_value),
        "parallel": sweep.parallel(plan, states),
        "heatmaps": heatmaps(plan, states),
        "decisions": sweep.decisions(states),
    }


def main_figures(report: Report) -> list[Figure]:
    """Of each panel the main metric by length, the last of those that a first look judges by; of the only one the last three."""
    main = [(panel, [t for t in found if t.metric.main and t.metric.judged][-1 if len(report.tables) > 1 else -3 :]) for panel, found in report.tables.items()]
    made = [(panel, lengths.figure(report.subject, t)) for panel, last in main for t in last]
    return [replace(figure, title=f"{panel}: {figure.title}" if panel else figure.title) for panel, figure in made]


def html(report: Report) -> str:
    subject = report.subject
    environment = Environment(loader=FileSystemLoader(HERE / "templates"), autoescape=True, undefined=StrictUndefined)
    environment.trim_blocks = environment.lstrip_blocks = True
    environment.filters.update(number=number, seeds=seeds, spread=spread, shown_place=shown_place)
    environment.filters.update(text_of=text_of, title_of=lambda name: subject.metric(name).title)
    explorer = alignments.explorer(subject, explored(report))
    by_length = {panel: [lengths.figure(subject, t) for t in found] for panel, found in report.tables.items()}
    return environment.get_template("page.html").render(
        subject=subject,
        css=Markup(palette.css() + "".join((HERE / "css" / name).read_text() for name in CSS)),
        js=Markup('"use strict";\n' + "".join((HERE / "js" / name).read_text() for name in JS)),
        tiles=headlines(subject, report.tables),
        comparisons=comparisons(subject),
        main_figures=main_figures(report),
        facts=run_facts(subject.runs[0]) if len(subject.runs) == 1 else common_facts(subject.runs),
        run_facts=[(p, run_facts(p)) for p in subject.runs],
        problems=[problem.shown for problem in subject.problems],
        study=subject.study,
        sweep=sweep_parts(report),
        parts=report.parts,
        curves=curves.figures(subject),
        by_length=by_length,
        diagnostics=diagnostics.panels(subject),
        explorer=explorer,
        generator=Markup(PAGE_MARK),
        hash_of=hash_of,
        data=embedded(explorer) if explorer["panes"] else None,
        checklist=report.items,
        resamples=subject.data["resamples"],
        first_figures=FIRST_FIGURES,
        first_facts=FIRST_FACTS,
        drawn_series=drawn_series(subject),
    )


__all__ = ["Report", "compute", "html"]
