"""The reproducibility checklist of NAACL 2021 (after Dodge et al. 2019 and Pineau et al. 2020), filled in from the records.

Information that the records do not contain is marked as missing; nothing is guessed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from softalign_tools.charts import Json
from softalign_tools.files import TEXT_MARK, printable
from softalign_tools.report.gather import Subject, run_name
from softalign_tools.report.panels import Table
from softalign_tools.report.plan import text_of
from softalign_tools.report.summary import code, data, duration, machine, signatures
from softalign_tools.report.svg import counted, number
from softalign_tools.report.sweep import state_counts


@dataclass(frozen=True)
class Item:
    """A question of the checklist. answer: lines; missing: the information that the author must add by hand."""

    group: str
    question: str
    answer: list[str]
    missing: str = ""


def _groups(runs: Sequence[Json]) -> dict[str, list[Json]]:
    """Returns the runs by panel and series; those of a group differ only in the seed."""
    found: dict[str, list[Json]] = {}
    for run in runs:
        found.setdefault(" / ".join(part for part in (run["panel"], run["series"]) if part), []).append(run)
    return found


def _each(runs: Sequence[Json], text_of_run: Callable[[Json], str]) -> list[str]:
    """Returns one line if all runs have the same text, else one line for each group."""
    answers = {name: list(dict.fromkeys(text_of_run(run) for run in group)) for name, group in _groups(runs).items()}
    every = list(dict.fromkeys(text for texts in answers.values() for text in texts))
    if len(every) == 1:
        return [every[0]] if every[0] else []
    return [f"{name}: {' | '.join(t for t in texts if t)}" for name, texts in answers.items() if any(texts)]


def _runtime(runs: Sequence[Json]) -> list[str]:
    lines = []
    for name, group in _groups(runs).items():
        known = [run["record"]["seconds"] for run in group if run["record"]["seconds"] is not None]
        if known:
            lines.append(f"{name}: {duration(sum(known) / len(known))} on average over {counted(len(known), 'run')}")
    return lines


def _scores(subject: Subject) -> tuple[list[str], bool]:
    lines, all_known = [], True
    for run in subject.runs:
        scores = []
        for name, facts in subject.data["metrics"].items():
            if (test := run["test"].get(name)) is None:
                continue
            dev = run["dev"].get(name)
            all_known &= dev is not None or bool(facts["baseline_of"])
            scores.append(f"{facts['title']} test {number(test)}, validation {'not measured' if dev is None else number(dev)}")
        if scores:
            lines.append(f"{run_name(run)}: {'; '.join(scores)}")
    return lines, all_known and bool(lines)


def _statistics(tables: dict[str, list[Table]]) -> list[str]:
    lines = []
    for panel, found in tables.items():
        for table in found:
            for series, column in table.columns.items():
                cell, seeds = column[0], counted(len(column[0]["seeds"]), "seed")
                spread = f", {seeds}" if cell["sd"] is None else f", sd over {seeds} {number(cell['sd'], 3)}"
                n = counted(int(table.counts[0].partition("–")[0]), "test sentence")
                around = "" if cell["low"] is None else f", {n}, 95 % interval {number(cell['low'])} to {number(cell['high'])}"
                where = " / ".join(part for part in (panel, series) if part)
                lines.append(f"{where}, {table.metric['title']}: mean {number(cell['mean'])}{spread}{around}")
    return lines


def _search(subject: Subject) -> list[Item]:
    group = "Hyperparameter search"
    if subject.plan is None:
        sweeps = [part.folder.name for part in subject.parts if part.kind == "sweep"]
        none = "no sweep belongs to these runs, so the records know of no search"
        if sweeps:
            none = f"there was a search; only the report of each sweep describes it: {', '.join(sweeps)}"
        return [
            Item(
                group,
                "Number of training and evaluation runs",
                [f"{counted(len(subject.runs), 'run')} reported; others, if there were any, are not counted"],
            ),
            Item(group, "Bounds for each hyperparameter", [], none),
            Item(group, "Hyperparameter configurations of the best-performing models", _configurations(subject)),
            Item(group, "Method of choosing hyperparameter values, and the criterion", _selection(subject), none),
        ]
    plan, best = subject.plan, subject.plan.best
    counts = ", ".join(f"{n} {state}" for state, n in state_counts(plan.states))
    bounds = []
    for parameter in plan.varied:
        values = list({text_of(r.values.get(parameter)): r.values.get(parameter) for r in plan.states}.values())
        numeric = all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in values)
        shown = (
            f"{number(min(values))} to {number(max(values))} tried, {len(values)} values" if numeric and len(values) > 8 else ""
        )
        bounds.append(f"{parameter}: {shown or ', '.join(text_of(v) for v in (sorted(values) if numeric else values))}")
    bounds += [f"in all rows: {plan.in_all_rows}"] if plan.in_all_rows else []
    goal = f"{'lowest' if plan.minimize else 'highest'} {plan.metric}, as a mean over the complete seeds of a configuration"
    chosen = []
    if best:
        chosen = [f"{best.rows[0].label}: {plan.metric} {best.result_text}"]
        chosen += [f"row {s.k}: run {s.run_id}, seed {s.seed}, {number(s.value)}" for s in best.complete]
    stop = plan.early_terminate.get("type", "none")
    return [
        Item(group, "Number of training and evaluation runs", [f"{len(plan.states)} planned: {counts}"]),
        Item(group, "Bounds for each hyperparameter", bounds, "" if plan.varied else "nothing was varied"),
        Item(group, "Hyperparameter configuration of the best-performing model", chosen, "" if best else "no row is complete"),
        Item(
            group,
            "Method of choosing hyperparameter values, and the criterion",
            [f"{plan.method or 'unnamed'} search, {goal}; early termination: {stop}", *_selection(subject)],
        ),
    ]


def _configurations(subject: Subject) -> list[str]:
    return ["the resolved specs are in the report and in the records"] if subject.runs else []


def _selection(subject: Subject) -> list[str]:
    def scores(run: Json) -> str:
        train = run["record"]["spec"].get("train")
        stopping = train.get("early_stopping") if isinstance(train, dict) else None
        if not isinstance(stopping, dict):
            return "no early stopping: the last parameters are tested"
        return f"early stopping on {stopping.get('metric')}, patience {stopping.get('patience')}: the best parameters are tested"

    return _each(subject.runs, scores)


def checklist(subject: Subject, tables: dict[str, list[Table]]) -> list[Item]:
    runs, experiments = subject.runs, "Experimental results"
    scores, all_known = _scores(subject)
    measured = sorted({f"{name}: {text}" for run in runs for name, text in signatures(run)})
    statistics = _statistics(tables)
    parameters = _each(runs, lambda run: f"{run['record']['parameters']:,} parameters" if run["record"]["parameters"] else "")
    seeds = sorted({run["seed"] for run in runs})
    data_group, none = "Data sets", "none in the records"
    return [
        Item(experiments, "Description of the model", [], "to be written; the resolved specs name every part"),
        Item(experiments, "Source code", _each(runs, code), "a public address of the code"),
        Item(experiments, "Computing infrastructure", _each(runs, machine), "" if runs else none),
        Item(experiments, "Average runtime of each model", _runtime(runs), "" if _runtime(runs) else none),
        Item(experiments, "Number of parameters in each model", parameters, "" if parameters else none),
        Item(
            experiments,
            "Validation score for each test score",
            scores,
            "" if all_known else "some test scores have no validation score at the tested update" if scores else none,
        ),
        Item(experiments, "Evaluation metrics", measured, "" if measured else "no metric with a signature was measured"),
        *_search(subject),
        Item(
            "Hyperparameter search",
            "Summary statistics of the results",
            statistics,
            none if not statistics else "variation over seeds: one seed only" if len(seeds) < 2 else "",
        ),
        Item(data_group, "Number of examples, and splits", _each(runs, data), "" if runs else none),
        Item(data_group, "Languages and label distributions", *_languages(runs)),
        Item(data_group, "Excluded data and preprocessing", _each(runs, _excluded), "" if runs else none),
        Item(data_group, "Data files", *_files(runs)),
    ]


def _task(run: Json) -> Json:
    task = run["record"]["spec"].get("task")
    return task if isinstance(task, dict) else {}


def _is_generated(run: Json) -> bool:
    return "examples" in _task(run)


def _languages(runs: Sequence[Json]) -> tuple[list[str], str]:
    """Returns (answer, missing)."""
    if runs and all(map(_is_generated, runs)):
        return ["none: the symbols are made by the program"], ""
    return [], "the records do not say"


def _excluded(run: Json) -> str:
    lost = [
        f"{split}: {counts['read']:,} read, {counts.get('dropped_too_long', 0):,} too long, "
        f"{counts.get('dropped_empty', 0):,} empty, {counts.get('truncated', 0):,} truncated"
        for split, counts in run["record"]["data"].items()
        if "read" in counts
    ]
    vocabulary = _task(run).get("vocabulary")
    return "; ".join(lost) + (f"; vocabulary: {vocabulary.get('type')}" if isinstance(vocabulary, dict) else "")


def _files(runs: Sequence[Json]) -> tuple[list[str], str]:
    """Returns (answer, missing)."""
    hashes = sorted({f"{key}: {text}" for run in runs for key, text in run["record"]["hashes"]})
    if hashes:
        return hashes, "an address to download them from"
    if runs and all(map(_is_generated, runs)):
        return _each(runs, lambda run: f"generated: task {_task(run).get('type')}, data_seed {_task(run).get('data_seed')}"), ""
    return [], "the records hold no hashes of files"


def markdown(subject: Subject, items: Sequence[Item]) -> str:
    """Returns the checklist as Markdown. MISSING marks information that the author must add. Text from records cannot become HTML."""
    lines, group = [f"# Reproducibility checklist: {subject.name}", TEXT_MARK, ""], ""
    for item in items:
        if item.group != group:
            group = item.group
            lines += [*([""] if lines[-1] else []), f"## {group}", ""]
        lines.append(f"- **{item.question}**")
        lines += [f"  - {line}" for line in item.answer]
        if item.missing:
            lines.append(f"  - MISSING: {item.missing}")
    lines += ["", *([subject.read_text] if subject.read_text else []), *(f"Left out: {p.place}: {p.text}" for p in subject.problems)]
    safe = [line if line == TEXT_MARK else re.sub("<(?=[A-Za-z/!?])", "&lt;", printable(line)) for line in lines]
    return "\n".join(safe).rstrip() + "\n"
