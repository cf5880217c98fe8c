"""Makes one HTML file from records: gathers, computes, fills the templates. Uses no clock or network, and writes no path of this machine."""

from __future__ import annotations

import math
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from softalign_tools import palette
from softalign_tools.charts import Json
from softalign_tools.files import PAGE_MARK
from softalign_tools.report import panels, sweep
from softalign_tools.report.checklist import Item, checklist
from softalign_tools.report.comparison import comparisons
from softalign_tools.report.figures import Figure, legend
from softalign_tools.report.gather import Subject, gather, run_name, shown_place
from softalign_tools.report.heatmaps import heatmaps
from softalign_tools.report.panels import Table
from softalign_tools.report.plan import text_of
from softalign_tools.report.summary import common_facts, run_facts
from softalign_tools.report.svg import counted, embedded, number, or_nan, p_text, spread

HERE = Path(__file__).parent
CSS = ["base.css", "figures.css", "sweep.css", "explorer.css", "print.css"]
JS = ["page.js", "charts.js", "save.js", "sweep.js", "matrix.js", "explorer.js"]
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


@dataclass
class Report:
    """The data from which the page and the checklist are made."""

    subject: Subject
    tables: dict[str, list[Table]]
    items: list[Item]


def compute(places: list[Path], plugins: Sequence[str] = ()) -> Report:
    subject = gather(places, plugins)
    tables = panels.tables(subject)
    return Report(subject, tables, checklist(subject, tables))


def headlines(subject: Subject, tables: dict[str, list[Table]]) -> list[tuple[str, str, str]]:
    """Returns the tiles at the top, (value, metric and series, uncertainty), for the main metrics that only one series of one panel has."""
    tiles = []
    for metric in (facts for facts in subject.data["metrics"].values() if facts["main"]):
        found = [(panel, s, t) for panel, each in tables.items() for t in each if t.metric == metric for s in t.columns]
        if len(found) != 1:
            continue
        panel, series, table = found[0]
        cell = table.columns[series][0]
        sure = counted(int(table.counts[0].partition("–")[0]), "sentence")
        sure = f"{number(cell['low'])} to {number(cell['high'])}, 95 % over {sure}" if cell["low"] is not None else sure
        sure += f", mean of {len(cell['seeds'])} seeds" if len(cell["seeds"]) > 1 else ""
        of = [panel if len(subject.data["panels"]) > 1 else "", series if len(subject.series) > 1 else ""]
        of_whom = f" of {' / '.join(part for part in of if part)}" if any(of) else ""
        value = number(cell["mean"]) + (" %" if metric["units"] == "percent" else "")
        tiles.append((value, metric["title"] + of_whom, sure))
    return tiles


def hash_of(content: str) -> Markup:
    """Returns the hash by which a Content-Security-Policy allows only this script, so that a browser runs none that a record might smuggle in."""
    return Markup(f"'sha256-{b64encode(sha256(content.encode()).digest()).decode()}'")


def explorer(subject: Subject) -> Json:
    """Returns the data of the alignment explorer: the packed matrices as the program exports them, with the names of runs."""
    found = subject.data["alignments"]

    def named(each: list[Json]) -> list[Json]:
        return [{key: value for key, value in one.items() if key != "file"} | {"run": run_name(subject.runs[one["run"]])} for one in each]

    return found | {"panes": named(found["panes"]), "translations": named(found["translations"]), "of": len(subject.runs)}


def seeds(value: dict[str, Any]) -> str:
    """Returns the mean of a value of study.json, and its deviation over seeds if there are several."""
    return spread(or_nan(value["mean"]), value["deviation"] if value["seeds"] > 1 else None)


def sweep_parts(subject: Subject) -> dict[str, Any] | None:
    plan = subject.plan
    if plan is None:
        return None
    states, best = plan.states, plan.best
    counts = sweep.state_counts(states)
    by_value = sorted((s for s in states if math.isfinite(s.value)), key=lambda s: s.value if plan.minimize else -s.value)
    return {
        "plan": plan,
        "states": states,
        "counts": counts,
        "bar": sweep.state_bar(counts) if counts else "",
        "best": best,
        "best_rows": [s.k for s in best.complete] if best else [],
        "order": " ".join(str(s.k) for s in by_value),
        "parallel": sweep.parallel(plan, states),
        "heatmaps": heatmaps(plan, states),
        "decisions": sweep.decisions(states, {run["run_id"]: run["record"]["early_termination"] for run in subject.runs}),
    }


def main_figures(report: Report) -> list[Figure]:
    """Returns figures by length of the main metrics in which higher or lower is better: the last of each panel, or the last three of the only panel."""
    main = [(panel, [t for t in found if t.metric["main"] and t.judged][-1 if len(report.tables) > 1 else -3 :]) for panel, found in report.tables.items()]
    made = [(panel, panels.length_figure(report.subject, t)) for panel, last in main for t in last if not t.chart.all_zero]
    return [replace(figure, title=f"{panel}: {figure.title}" if panel else figure.title) for panel, figure in made]


def html(report: Report) -> str:
    subject = report.subject
    environment = Environment(loader=FileSystemLoader(HERE / "templates"), autoescape=True, undefined=StrictUndefined)
    environment.trim_blocks = environment.lstrip_blocks = True
    environment.filters.update(number=number, p=p_text, seeds=seeds, spread=spread, shown_place=shown_place)
    environment.filters.update(legend=legend, text_of=text_of, run_name=run_name, title_of=subject.title)
    explored = explorer(subject)
    return environment.get_template("page.html").render(
        subject=subject,
        css=Markup(palette.css() + "".join((HERE / "css" / name).read_text() for name in CSS)),
        js=Markup('"use strict";\n' + "".join((HERE / "js" / name).read_text() for name in JS)),
        tiles=headlines(subject, report.tables),
        comparisons=comparisons(subject),
        main_figures=main_figures(report),
        facts=run_facts(subject.runs[0]) if len(subject.runs) == 1 else common_facts(subject.runs),
        read_runs={run["run_id"] for run in subject.runs},
        run_facts=[(run, run_facts(run)) for run in subject.runs],
        problems=[problem.shown for problem in subject.problems],
        study=subject.study,
        sweep=sweep_parts(subject),
        parts=subject.parts,
        curves=panels.curves(subject),
        by_length=panels.lengths(subject, report.tables),
        clocks=embedded(panels.clocks(subject)),
        diagnostics=panels.diagnostics(subject),
        explorer=explored,
        generator=Markup(PAGE_MARK),
        hash_of=hash_of,
        data=embedded(explored) if explored["panes"] or explored["translations"] else None,
        checklist=report.items,
        resamples=subject.data["resamples"],
        first_facts=FIRST_FACTS,
        drawn_series=panels.drawn_series(subject),
    )
