"""What a report is about: the runs of a place, those that cannot be read, and which of them belong together."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from records import attentions, differences
from report.plan import Plan, read_plan
from report.run import Problem, Recorded, oddities, read_run
from stored import RecordError, demand, read_bytes

NUMBER = (int, float, type(None))
VALUE = {"mean": NUMBER, "deviation": NUMBER, "seeds": int}
CLAIM = {"claim": str, "because": str, "expect": str, "verdict": re.compile("holds|fails|empty|unmeasured|unknown")}
JUDGED = {"left": VALUE, "right": VALUE, "sentences": int, "confidence": NUMBER}
STUDY = {  # what the page needs of study.json
    "name?": str,
    "question?": str,
    "runs": [{"part": str, "variant": str, "run_id": str}],
    "tables": [
        {"title": str, "metric": str, "units": str, "columns": [str], "rows": [{"name": str, "n": [int], "values": [VALUE]}]}
    ],
    "claims": [(CLAIM | JUDGED, CLAIM | {"left?": ()})],
}


@dataclass(frozen=True)
class Placed:
    """A run with its place in figures: those of a panel share it, those of a series differ in nothing but the seed."""

    recorded: Recorded
    panel: str
    series: str

    @property
    def name(self) -> str:
        parts = [self.panel, self.series, f"seed {self.recorded.seed}"]
        return ", ".join(part for part in parts if part)


@dataclass
class Subject:
    kind: str  # run | runs | study | sweep
    name: str
    question: str = ""
    runs: list[Placed] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    study: dict[str, Any] | None = None
    plan: Plan | None = None
    ranking: list[str] = field(default_factory=list)  # series, the best first; none of a study, which has an order of its own
    ranked_by: str = ""  # the dev metric

    @property
    def panels(self) -> dict[str, list[Placed]]:
        found: dict[str, list[Placed]] = {}
        for placed in self.runs:
            found.setdefault(placed.panel, []).append(placed)
        return found

    @property
    def series(self) -> list[str]:
        """Every series once, in the order of the runs or of `ranking`: its index decides its colour and whether it is drawn."""
        return list(dict.fromkeys([*self.ranking, *(placed.series for placed in self.runs)]))


def by_series(runs: list[Placed]) -> dict[str, list[Placed]]:
    found: dict[str, list[Placed]] = {}
    for placed in runs:
        found.setdefault(placed.series, []).append(placed)
    return found


def is_run_folder(folder: Path) -> bool:
    return any((folder / name).exists() for name in ("run.h5", "identity.json", "attempt-001/CLAIM"))


def run_folders(place: Path) -> list[Path]:
    """The run folders at or below a folder, by path; nothing is looked for inside a run."""
    if is_run_folder(place):
        return [place]
    below = sorted(p for p in place.iterdir() if p.is_dir() and not p.is_symlink()) if place.is_dir() else []
    return [run for folder in below for run in run_folders(folder)]


def _state_of(folder: Path) -> str:
    try:
        return str(json.loads(read_bytes(folder / "status.json")).get("state", "unknown"))
    except (OSError, ValueError, AttributeError):
        return "unknown"


def read_all(folders: list[Path], problems: list[Problem]) -> list[Recorded]:
    runs: dict[str, Recorded] = {}
    for folder in folders:
        record = folder if folder.is_file() else folder / "run.h5"
        if not record.exists():
            problems += [Problem(str(folder), f"no run.h5: state {_state_of(folder)}; `softalign recover` makes what there is")]
            problems += [Problem(str(folder), note) for note in oddities(folder)]
            continue
        try:
            recorded = read_run(record)
        except RecordError as error:
            problems.append(Problem(str(folder), str(error).removeprefix(f"{record}: ")))
            continue
        problems += [Problem(str(folder), note) for note in recorded.notes]
        if recorded.run_id in runs:
            problems.append(
                Problem(str(folder), f"left out: the same run as in {runs[recorded.run_id].run.path.parent.parent.name}")
            )
        else:
            runs[recorded.run_id] = recorded
    return list(runs.values())


def _place_freely(runs: list[Recorded]) -> list[Placed]:
    """Runs of no study: a panel for each test set, a series for each set of settings."""
    sets = list(dict.fromkeys(r.run.test_set for r in runs))
    names = [next(r.run.task["type"].replace("_", " ") for r in runs if r.run.test_set == key) for key in sets]
    panels = {key: name if names.count(name) == 1 else f"{name} ({n})" for n, (key, name) in enumerate(zip(sets, names), 1)}
    placed = []
    for key in sets:
        group = [r for r in runs if r.run.test_set == key]
        named = [r.run for r in group]
        for recorded, attention, apart in zip(group, attentions(named), differences(named)):
            details = [text for text in apart if not text.startswith("seed ")]
            placed.append(Placed(recorded, panels[key] if len(sets) > 1 else "", ", ".join([attention, *details])))
    return placed


def read_study(path: Path, subject: Subject) -> dict[str, Any] | None:
    try:
        study = json.loads(read_bytes(path))
        if not isinstance(study, dict) or study.get("format") != "softalign-study":
            raise ValueError("its 'format' is not softalign-study")
        demand(study, STUDY, "it")
        return study
    except (OSError, ValueError, RecursionError) as error:
        subject.problems.append(Problem(str(path), f"cannot be read: {error}; the runs are shown without it"))
        return None


def _place_study(study: dict[str, Any], runs: list[Recorded], subject: Subject) -> list[Placed]:
    found = {recorded.run_id: recorded for recorded in runs}
    placed = []
    for row in study.get("runs", []):
        if recorded := found.pop(row["run_id"], None):
            placed.append(Placed(recorded, row["part"], row["variant"]))
    for left in found.values():
        subject.problems.append(Problem(str(left.run.path.parent), "left out: study.json does not name it"))
    return placed


def _place_sweep(plan: Plan, runs: list[Recorded], subject: Subject) -> list[Placed]:
    found = {recorded.run_id: recorded for recorded in runs}
    placed = []
    for row in plan.rows:
        if recorded := found.pop(row.run_id, None):
            placed.append(Placed(recorded, "", plan.label(row)))
    for left in found.values():
        subject.problems.append(Problem(str(left.run.path.parent), "left out: the plan has no such row"))
    return placed


def folders_of(places: list[Path]) -> list[Path]:
    """A sweep or study may be given by its file."""
    return [place.parent if place.name in ("plan.yaml", "study.json") else place for place in places]


def gather(places: list[Path]) -> Subject:
    """Reads what is there. Throws RecordError when a place does not exist or there is nothing to report on."""
    for place in places:
        if not place.exists():
            raise RecordError(f"{place}: no such file or folder")
    places = folders_of(places)
    folders = [run for place in places for run in ([place] if place.is_file() else run_folders(place))]
    one = places[0] if len(places) == 1 and places[0].is_dir() else None
    subject = Subject("run" if len(folders) == 1 else "runs", "")
    runs = read_all(folders, subject.problems)
    if one is not None and (one / "plan.yaml").exists():
        subject.kind, subject.plan = "sweep", read_plan(one / "plan.yaml", subject.problems)
    elif one is not None and (one / "study.json").exists():
        subject.kind, subject.study = "study", read_study(one / "study.json", subject)
    if subject.plan:
        subject.name, subject.runs = subject.plan.name, _place_sweep(subject.plan, runs, subject)
    elif subject.study:
        subject.name, subject.question = subject.study.get("name", ""), subject.study.get("question", "")
        subject.runs = _place_study(subject.study, runs, subject)
    else:
        subject.runs = _place_freely(runs)
        subject.name = ", ".join(dict.fromkeys(r.run.name for r in runs)) or places[0].resolve().name
    if not runs and subject.plan is None and subject.study is None and not subject.problems:
        raise RecordError(f"{places[0]}: no run here; give a run's folder, a study's or a sweep's")
    return subject
