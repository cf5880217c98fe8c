"""The sweeps and studies that a page of several places is about. Each has its own rows, claims and tables, which are not of one
piece with the others': the page says what they are and how they came out; the whole of each is in its own report."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from report.configurations import best_configuration
from report.gather import Subject, folders_of, is_run_folder, read_study
from report.plan import read_plan, row_states
from report.svg import counted
from report.sweep import state_counts


@dataclass(frozen=True)
class Part:
    """came_out: the best configuration of a sweep, the claims of a study."""

    folder: Path
    kind: str  # sweep | study
    size: str
    came_out: str


def part_folders(place: Path) -> list[Path]:
    """Sweeps and studies at or below a folder, by path; nothing is looked for inside them or inside a run."""
    if not place.is_dir() or is_run_folder(place):
        return []
    if (place / "plan.yaml").exists() or (place / "study.json").exists():
        return [place]
    below = sorted(p for p in place.iterdir() if p.is_dir() and not p.is_symlink())
    return [found for folder in below for found in part_folders(folder)]


def _sweep(folder: Path, subject: Subject) -> Part | None:
    plan = read_plan(folder / "plan.yaml", subject.problems)
    if plan is None:
        return None
    states = row_states(plan, [p.recorded for p in subject.runs])
    counts = ", ".join(f"{n} {state}" for state, n in state_counts(states))
    best = best_configuration(plan, states)
    said = f"best {plan.metric} {best.said}: {plan.label(best.rows[0].row)}" if best else "no row is complete"
    return Part(folder, "sweep", f"{counted(len(plan.rows), 'row')}: {counts}", said)


def _study(folder: Path, subject: Subject) -> Part | None:
    study = read_study(folder / "study.json", subject)
    if study is None:
        return None
    held = [claim["verdict"] == "holds" for claim in study["claims"] if claim["expect"] == "holds"]
    return Part(folder, "study", counted(len(study["runs"]), "run"), f"{sum(held)} of {len(held)} claims hold")


def parts(places: list[Path], subject: Subject) -> list[Part]:
    """[] for a page about one sweep, one study or runs of neither."""
    places = folders_of(places)
    folders = dict.fromkeys(found for place in places for found in part_folders(place))
    if list(folders) == places and len(places) == 1:  # the page itself is about it
        return []
    made = [(_sweep if (f / "plan.yaml").exists() else _study)(f, subject) for f in folders]
    return [part for part in made if part is not None]
