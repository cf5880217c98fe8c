"""The sweeps and studies that a page of several places is about. Each has its own rows, claims and tables, which are not of one
piece with the others': the page says what they are and how they came out; the whole of each is in its own report."""

from __future__ import annotations

import os.path
from dataclasses import dataclass
from pathlib import Path

from records import folders_with
from report.gather import Subject, add_problems, folders_of, study_of
from report.plan import Plan
from program import report_of
from report.run import Problem
from report.svg import counted
from report.sweep import state_counts
from stored import RecordError


@dataclass(frozen=True)
class Part:
    """came_out: the best configuration of a sweep, the claims of a study."""

    folder: Path
    kind: str  # sweep | study
    size: str
    came_out: str


def part_folders(place: Path) -> list[Path]:
    """Sweeps and studies at or below a folder, by path; nothing is looked for inside them or inside a run."""
    return [folder for folder in folders_with(place, {"identity.json", "plan.jsonl", "study.json"}) if not os.path.lexists(folder / "identity.json")]


def _part(folder: Path, subject: Subject) -> Part | None:
    try:
        data = report_of([folder], plugins=subject.plugins)
    except RecordError as error:
        subject.problems.append(Problem(str(folder), str(error)))
        return None
    add_problems(data, subject.problems)
    if data["kind"] == "sweep":
        plan = Plan(data["list"], {placed.recorded.run_id: placed.recorded for placed in subject.runs})
        counts = ", ".join(f"{n} {state}" for state, n in state_counts(plan.states))
        outcome = f"best {plan.metric} {plan.best.result_text}: {plan.best.rows[0].row.label}" if plan.best else "no row is complete"
        return Part(folder, "sweep", f"{counted(len(plan.rows), 'row')}: {counts}", outcome)
    study = study_of(data, folder, subject.problems)
    if study is None:
        return None
    claims = study["claims"]
    settled = [claim for claim in claims if claim["expect"] == "holds"]
    held = [claim["verdict"] == "holds" for claim in settled or claims]
    return Part(folder, "study", counted(len(data["runs"]), "run"), f"{sum(held)} of {len(held)} {'' if settled else 'open '}claims hold")


def parts(places: list[Path], subject: Subject) -> list[Part]:
    """[] for a page about one sweep, one study or runs of neither."""
    places = folders_of(places)
    folders = dict.fromkeys(found for place in places for found in part_folders(place))
    if list(folders) == places and len(places) == 1:  # the page itself is about it
        return []
    made = [_part(folder, subject) for folder in folders]
    return [part for part in made if part is not None]
