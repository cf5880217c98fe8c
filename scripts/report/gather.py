"""What a report is about: the runs of a place, those that cannot be read, and which of them belong together."""

from __future__ import annotations

import os.path
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from palette import look_places
from program import report_of
from report.metrics import Metric, metric_of, unknown
from report.plan import Plan
from report.run import Problem, Recorded, oddities, read_run
from stored import STUDY, RecordError, demand


@dataclass(frozen=True)
class Placed:
    """A run with its place in figures: those of a panel share it, those of a series differ in nothing but the seed."""

    recorded: Recorded
    data: dict[str, Any]  # what the program says of it

    @property
    def panel(self) -> str:
        return self.data["panel"]

    @property
    def series(self) -> str:
        return self.data["series"]

    @property
    def state(self) -> str:
        return self.data["state"]

    @property
    def attempts(self) -> list[dict[str, Any]]:
        """Each with a state: the last may still be running."""
        rows = self.recorded.attempts
        going_on = len(rows) - 1 if self.state == "running" else -1
        missing = ("running" if at == going_on else "stopped without a word" for at in range(len(rows)))
        return [row | {"state": str(row["state"] or state)} for row, state in zip(rows, missing)]

    @property
    def name(self) -> str:
        parts = [self.panel, self.series, f"seed {self.recorded.seed}"]
        return ", ".join(part for part in parts if part)


@dataclass
class Subject:
    kind: str  # run | runs | study | sweep
    name: str
    data: dict[str, Any]  # softalign export --what report
    question: str = ""
    runs: list[Placed] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    study: dict[str, Any] | None = None
    plan: Plan | None = None
    plugins: Sequence[str] = ()  # those that the user named, for metrics that the program does not have

    @property
    def panels(self) -> dict[str, list[Placed]]:
        found: dict[str, list[Placed]] = {}
        for placed in self.runs:
            found.setdefault(placed.panel, []).append(placed)
        return found

    @property
    def series(self) -> list[str]:
        """Every series once, the best first where there is one: the first are drawn."""
        return self.data["series"]

    @cached_property
    def looks(self) -> dict[str, int]:
        """Series -> the place of its colour and marker."""
        return look_places(self.series)

    @property
    def ranked_by(self) -> str:
        """The dev metric of that order; "" for a study, which has an order of its own."""
        return self.data["ranked_by"]

    def metric(self, name: str) -> Metric:
        """Of any series: "train/gradient_norm", "bleu"."""
        name = name.rpartition("/")[2]
        facts = self.data["metrics"].get(name)
        return unknown(name) if facts is None else metric_of(name, facts)

    @property
    def metrics(self) -> list[Metric]:
        return [metric_of(name, facts) for name, facts in self.data["metrics"].items()]


def by_series(runs: list[Placed]) -> dict[str, list[Placed]]:
    found: dict[str, list[Placed]] = {}
    for placed in runs:
        found.setdefault(placed.series, []).append(placed)
    return found


def _read(run: dict[str, Any], subject: Subject) -> Recorded | None:
    place = Path(run["place"])
    record = place / "run.h5" if os.path.isdir(place) else place
    try:
        if os.path.exists(record) and not run["fault"]:
            return read_run(record)
        text = run["fault"].removeprefix(f"{record}: ") or f"no run.h5: state {run['state']}; `softalign recover` makes what there is"
        subject.problems.append(Problem(str(place), text))
        subject.problems += [Problem(str(place), note) for note in oddities(place)]
    except RecordError as error:
        subject.problems.append(Problem(str(place), str(error).removeprefix(f"{record}: ")))
    return None


def read_runs(subject: Subject) -> None:
    seen: dict[str, Path] = {}
    for run in subject.data["runs"]:
        recorded = _read(run, subject)
        if recorded is None:
            continue
        place = str(recorded.run.path.parent)
        subject.problems += [Problem(place, note) for note in recorded.notes]
        if recorded.run_id in seen:
            subject.problems.append(Problem(place, f"left out: the same run as in {seen[recorded.run_id].parent}"))
            continue
        seen[recorded.run_id] = recorded.run.path
        subject.runs.append(Placed(recorded, run))


def folders_of(places: list[Path]) -> list[Path]:
    """A sweep or study may be given by its file."""
    return [place.parent if place.name in ("plan.jsonl", "study.json") else place for place in places]


def add_problems(data: dict[str, Any], problems: list[Problem]) -> None:
    """Those that the program has, of places that have none yet."""
    named = {problem.place for problem in problems}
    problems += [Problem(one["place"], one["text"].removeprefix(f"{one['place']}: ")) for one in data["problems"] if one["place"] not in named]


def study_of(data: dict[str, Any], folder: Path, problems: list[Problem]) -> dict[str, Any] | None:
    """What study.json says, where there is one that a page can be made of."""
    try:
        if data["study"] is not None:
            demand(data["study"], STUDY, "it")
    except ValueError as error:
        problems.append(Problem(str(folder / "study.json"), f"cannot be read: {error}; the runs are shown without it"))
        return None
    return data["study"]


def gather(places: list[Path], plugins: Sequence[str] = ()) -> Subject:
    """Reads what is there. Throws RecordError when a place does not exist or there is nothing to report on."""
    for place in places:
        if not os.path.exists(place):
            raise RecordError(f"{place}: no such file or folder")
    places = folders_of(places)
    data = report_of(places, plugins=plugins)
    subject = Subject(data["kind"], data["name"], data, plugins=plugins)
    read_runs(subject)
    add_problems(data, subject.problems)
    if data["kind"] == "sweep":
        subject.plan = Plan(data["list"], {placed.recorded.run_id: placed.recorded for placed in subject.runs})
    subject.study = study_of(data, places[0], subject.problems)
    if subject.study is not None:
        subject.question = subject.study.get("question", "")
        subject.kind, subject.name = "study", subject.name or subject.study.get("name", "")
    subject.name = subject.name or ", ".join(dict.fromkeys(p.recorded.run.name for p in subject.runs)) or places[0].resolve().name
    if not subject.runs and subject.plan is None and subject.study is None and not subject.problems:
        raise RecordError(f"{places[0]}: no run here; give a run's folder, a study's or a sweep's")
    return subject
