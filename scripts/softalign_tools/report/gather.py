"""Gathers the subject of a report: its runs, the records that cannot be read, and the series that the runs belong to."""

from __future__ import annotations

import os.path
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from softalign_tools.charts import Json, labelled
from softalign_tools.palette import look_places
from softalign_tools.program import RecordError, report_of
from softalign_tools.report.plan import Plan
from softalign_tools.report.svg import counted
from softalign_tools.report.sweep import state_counts
from softalign_tools.study_json import STUDY, demand


def shown_place(place: str | Path) -> str:
    """Returns a path's name and that of its folder."""
    return "/".join(Path(os.path.realpath(place)).parts[-2:])


@dataclass(frozen=True)
class Problem:
    """A record that could not be read, or that is odd; it is named on the page and on standard error."""

    place: str
    text: str

    @property
    def shown(self) -> tuple[str, str]:
        """The problem as a page shows it, independent of the location of the records."""
        return shown_place(self.place), self.text.replace(self.place, shown_place(self.place))


@dataclass(frozen=True)
class Part:
    """A sweep or study on a page about several paths. came_out: the best configuration of a sweep, the number of a study's claims that hold."""

    folder: Path
    kind: str  # sweep | study
    size: str
    came_out: str


@dataclass
class Subject:
    """The subject of a report. data: the output of softalign export --what report."""

    data: Json
    problems: list[Problem] = field(default_factory=list)
    study: Json | None = None
    plan: Plan | None = None
    parts: list[Part] = field(default_factory=list)  # for a page about several paths

    @property
    def kind(self) -> str:
        """The kind of subject: run, runs, study or sweep."""
        return "study" if self.study is not None else self.data["kind"]

    @property
    def name(self) -> str:
        named = (self.study or {}).get("name", "") or ", ".join(dict.fromkeys(run["name"] for run in self.runs))
        return self.data["name"] or named or self.data["place"]

    @property
    def question(self) -> str:
        return (self.study or {}).get("question", "")

    @property
    def runs(self) -> list[Json]:
        """The runs whose records were read, as the program describes them."""
        return self.data["runs"]

    @property
    def read_text(self) -> str:
        """A sentence that says which runs were read; empty if all were."""
        if not (others := self.data["not_read"]):
            return ""
        return f"Of {len(self.runs) + others:,} runs the records of {len(self.runs)} are read, those of the first configurations; of the others there is what tables of all runs say."

    @property
    def series(self) -> list[str]:
        """All series, the best first if they are ranked; the first ones are drawn."""
        return self.data["series"]

    @cached_property
    def looks(self) -> dict[str, int]:
        """Series -> the index of its colour and marker."""
        return look_places(self.series)

    @property
    def ranked_by(self) -> str:
        """The dev metric that orders the series; "" for a study, which has its own order."""
        return self.data["ranked_by"]

    def title(self, metric: str) -> str:
        """Returns a metric's title and units, "BLEU (%)"; the name of a metric that the program does not know."""
        facts = self.data["metrics"].get(metric, {"title": metric, "units": ""})
        return labelled(facts["title"], facts["units"])


def run_name(run: Json) -> str:
    """Returns the name of a run: its panel (runs that share figures), its series (runs that differ only in the seed), and its seed."""
    return ", ".join(part for part in (run["panel"], run["series"], f"seed {run['seed']}") if part)


def _study_of(data: Json, folder: Path, problems: list[Problem]) -> Json | None:
    """Returns the content of study.json; None if there is no file that a page can be made of."""
    try:
        if data["study"] is not None:
            demand(data["study"], STUDY, "it")
    except ValueError as error:
        problems.append(Problem(str(folder / "study.json"), f"cannot be read: {error}; the runs are shown without it"))
        return None
    return data["study"]


def _part(data: Json, problems: list[Problem]) -> Part | None:
    folder = Path(data["place"])
    if data["list"] is not None and data["kind"] == "sweep":
        plan = Plan(data["list"])
        counts = ", ".join(f"{n} {state}" for state, n in state_counts(plan.states))
        outcome = f"best {plan.metric} {plan.best.result_text}: {plan.best.rows[0].label}" if plan.best else "no row is complete"
        return Part(folder, "sweep", f"{counted(len(plan.states), 'row')}: {counts}", outcome)
    study = _study_of(data, folder, problems)
    if study is None:
        return None
    settled = [claim for claim in study["claims"] if claim["expect"] == "holds"]
    held = [claim["verdict"] == "holds" for claim in settled or study["claims"]]
    return Part(folder, "study", counted(data["runs"], "run"), f"{sum(held)} of {len(held)} {'' if settled else 'open '}claims hold")


def gather(places: Sequence[Path], plugins: Sequence[str] = ()) -> Subject:
    """Reads the records at these paths. plugins: the plugins that the user named, for metrics that the program does not have. Raises RecordError
    if a path does not exist or there is nothing to report on."""
    for place in places:
        if not os.path.exists(place):
            raise RecordError(f"{place}: no such file or folder")
    places = [place.parent if place.name in ("plan.jsonl", "study.json") else place for place in places]
    data = report_of(places, *(f"--plugin={plugin}" for plugin in plugins))
    subject = Subject(data | {"place": places[0].resolve().name}, [Problem(**one) for one in data["problems"]])
    if data["kind"] == "sweep":
        subject.plan = Plan(data["list"])
    subject.study = _study_of(data, places[0], subject.problems)
    subject.parts = [part for one in data["parts"] if (part := _part(one, subject.problems)) is not None]
    if not subject.runs and subject.plan is None and subject.study is None:
        if not subject.problems:
            raise RecordError(f"{places[0]}: contains no run; give the folder of a run, a study or a sweep")
        others = f", and {len(subject.problems) - 1} more" if len(subject.problems) > 1 else ""
        raise RecordError(f"nothing to report on: {subject.problems[0].place}: {subject.problems[0].text}{others}")
    return subject
