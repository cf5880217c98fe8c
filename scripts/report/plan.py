"""A sweep's plan.yaml and what became of its rows; sweep.h5 stands in for records that are not here."""

from __future__ import annotations

import hashlib
import json
import math
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml

from report.run import Problem, Recorded
from stored import RecordError, demand, opened, read_bytes, read_yaml, table

OVER = ("complete", "pruned")
NONE = type(None)
PLAN = {  # what the report reads of plan.yaml
    "name?": str,
    "metric?": ({"name?": str, "goal?": str}, NONE),
    "early_terminate?": ({"type": str}, NONE),
    "parameters?": ([str], NONE),
    "fixed?": ([str], NONE),
    "rows": ([{"k": int, "run_id": (re.compile(r"\w+"), int), "seed?": int, "set?": (dict, NONE)}], NONE),
}
UNSET = "not set"  # an option that a condition of the sweep takes from some rows
STATES = ["complete", "pruned", "running", "claimed", "interrupted", "planned", "failed", "lost", "corrupt"]


@dataclass(frozen=True)
class Row:
    k: int
    run_id: str
    seed: int
    values: dict[str, Any]  # swept parameter -> value


@dataclass(frozen=True)
class Plan:
    folder: Path
    name: str
    method: str
    metric: str  # "dev/loss"
    minimize: bool
    early_terminate: dict[str, Any]
    parameters: list[str]
    rows: list[Row]
    source: str  # the sweep's YAML file
    hash: str
    fixed: tuple[str, ...] = ()  # of the parameters those that the sweep gives one value

    @cached_property
    def varied(self) -> list[str]:
        """The parameters that tell rows apart: not those that are the same in all. Of a single configuration those that could be
        another."""
        values = {p: {text_of(row.values.get(p)) for row in self.rows} for p in self.parameters}
        apart = [p for p in self.parameters if len(values[p]) > 1]
        return apart or [p for p in self.parameters if p not in self.fixed]

    @cached_property
    def in_all_rows(self) -> str:
        """What is left out where rows are named: "epochs 200, units 64"."""
        same = [p for p in self.parameters if p not in self.varied]
        return ", ".join(f"{self.short(p)} {text_of(self.rows[0].values.get(p))}" for p in same) if self.rows else ""

    def short(self, parameter: str) -> str:
        """As few of the last words of its path as tell it from the others; a plugin's type is named by its block, "score"."""
        others = [other.removesuffix(".type") for other in self.parameters]
        words = parameter.removesuffix(".type").split(".")
        ends = [".".join(words[-n:]) for n in range(1, len(words) + 1)]
        return next((e for e in ends if sum(f".{other}".endswith(f".{e}") for other in others) == 1), parameter)

    def label(self, row: Row) -> str:
        """What tells its configuration from the others."""
        return ", ".join(f"{self.short(p)} {text_of(row.values.get(p))}" for p in self.varied) or "the only configuration"

    def index(self) -> dict[str, dict[str, Any]]:
        """run id -> the columns of sweep.h5; {} where there is none that can be read."""
        try:
            with opened(self.folder / "sweep.h5") as file:
                columns = {name: column.tolist() for name, column in table(file).items()}
            return {i: {n: c[at] for n, c in columns.items()} for at, i in enumerate(columns.get("run_id", []))}
        except RecordError:
            return {}


@dataclass(frozen=True)
class RowState:
    """value: of the plan's metric, NaN where nothing is measured; recorded: None where no record can be read."""

    row: Row
    state: str
    value: float
    recorded: Recorded | None
    fault: str = ""  # why it failed


def _value(value: Any) -> Any:
    """As YAML 1.2 has it: PyYAML reads 1e-05 as a text."""
    exponential = isinstance(value, str) and re.fullmatch(r"[-+]?\d+(\.\d*)?[eE][-+]?\d+", value)
    return float(value) if exponential else value


def text_of(value: Any) -> str:
    if value is None:
        return UNSET
    if isinstance(value, float):
        return f"{value:g}"
    return value if isinstance(value, str) else json.dumps(value, default=str)


def edited(text: str) -> int:
    """The first line that is not as `softalign sweep` wrote it, by the checksums behind the lines; 0: none is."""
    header, mark, rows = text.partition("\nrows:  # ")
    if not mark:
        return 1

    def chained(before: str, line: str) -> str:
        return hashlib.sha256(f"{before}\n{line}".encode()).hexdigest()[:16]

    check = chained("", header + "\n")
    lines = rows.splitlines()
    if not lines or lines[0] != check:
        return 1
    at = header.count("\n") + 2
    for at, line in enumerate(lines[1:], at + 1):
        body, _, given = line.rpartition("  # ")
        check = chained(check, body)
        if given != check:
            return at
    return 0 if len(lines) > 1 and lines[-1].startswith("# ") and text.endswith("\n") else at


def read_plan(path: Path, problems: list[Problem]) -> Plan | None:
    """None, and a problem with its name, for a plan that cannot be read; one that was edited is read, and said to be."""
    try:
        text = read_bytes(path).decode()
        plan = read_yaml(text)
        if not isinstance(plan, dict):
            raise ValueError("it is empty, or no map")
        demand(plan, PLAN, "it")
        if line := edited(text):
            problems.append(Problem(f"{path}:{line}", "changed since it was written: its rows may not be those of the runs"))
        metric = plan.get("metric") or {}
        rows = [
            Row(int(r["k"]), str(r["run_id"]), int(r.get("seed", 0)), {p: _value(v) for p, v in (r.get("set") or {}).items()})
            for r in plan["rows"] or []
        ]
        return Plan(
            path.parent,
            str(plan.get("name", path.parent.name)),
            str(plan.get("method", "")),
            str(metric.get("name", "dev/loss")),
            metric.get("goal", "minimize") == "minimize",
            dict(plan.get("early_terminate") or {"type": "none"}),
            [str(p) for p in plan.get("parameters") or []],
            rows,
            str(plan.get("file", "")),
            str(plan.get("hash", "")),
            tuple(str(p) for p in plan.get("fixed") or []),
        )
    except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
        problems.append(Problem(str(path), f"cannot be read as a plan: {' '.join(str(error).split())}"))
        return None


def validation_score(recorded: Recorded, metric: str) -> float:
    """The dev value of the parameters that were tested; of a run without a test, the last dev value."""
    series, _, name = metric.rpartition("/")
    if (found := recorded.series.get(series or "dev")) is None or name not in found.values or not len(found.update):
        return math.nan
    selected = recorded.test.get("selected_update")
    at = [i for i, update in enumerate(found.update) if update == selected] or [len(found.update) - 1]
    return float(found.values[name][at[-1]])


def _state_without_record(folder: Path) -> str:
    if not folder.exists():
        return "planned"
    if (folder / "run.h5").exists():
        return "corrupt"
    try:
        state = str(json.loads(read_bytes(folder / "status.json"))["state"])
    except (OSError, ValueError, KeyError, TypeError):
        return "claimed" if any(folder.glob("attempt-*/CLAIM")) else "planned"
    return "corrupt" if state in OVER else state


def _failure(plan: Plan, row: Row) -> str:
    """Why its last attempt failed, perhaps before it had a folder."""
    try:
        return read_bytes(plan.folder / "failures" / row.run_id).decode(errors="replace").strip()
    except (OSError, ValueError):
        return ""


def row_states(plan: Plan, runs: list[Recorded]) -> list[RowState]:
    found, index = {recorded.run_id: recorded for recorded in runs}, plan.index()
    states = []
    for row in plan.rows:
        failure = _failure(plan, row)
        if recorded := found.get(row.run_id):
            fault = failure if recorded.state == "failed" else ""
            states.append(RowState(row, recorded.state, validation_score(recorded, plan.metric), recorded, fault))
            continue
        state, value = _state_without_record(plan.folder / row.run_id), math.nan
        if state == "planned" and row.run_id in index:  # its folder is not here, the index is
            state = str(index[row.run_id].get("state", state))
            known = index[row.run_id].get(plan.metric.replace("/", "_"))
            value = float(known) if isinstance(known, (int, float)) else math.nan
        if failure and state in ("planned", "failed"):
            states.append(RowState(row, "failed", value, None, failure))
        else:
            states.append(RowState(row, state, value, None))
    return states
