"""The table of configurations: means of the main metrics over seeds, and differences from the baseline, as `compare` reports them."""

from __future__ import annotations

from dataclasses import dataclass

from softalign_tools.charts import Json
from softalign_tools.report.gather import Subject
from softalign_tools.report.svg import number, p_text, spread


@dataclass(frozen=True)
class Cell:
    text: str
    best: bool = False
    against: str = ""  # difference from the baseline: "+3.20, n = 3, p 0.004"


@dataclass(frozen=True)
class Comparison:
    panel: str
    head: dict[str, str]  # metric -> title
    rows: list[tuple[str, int, list[Cell]]]  # series, number of seeds, a cell for each metric
    baseline: str  # the series that the other series are tested against; "" if none is tested
    importance: dict[str, dict[str, float]]  # parameters -> metric -> share of the variance between runs
    untested: list[str]  # "repeats: no registered metric: give its plugin with --plugin", for metrics without a p-value


def _against(one: Json) -> str:
    """Returns the mean difference over pairs of seeds, the number of pairs, and the corrected p-value (Holm)."""
    difference = one["over_seeds"]["mean"]
    if difference is None:
        return ""
    text = f"{'+' if difference >= 0 else '−'}{number(abs(difference))}, n = {one['over_seeds']['pairs']}"
    p = one.get("estimate", {}).get("p_holm")
    return text if p is None else f"{text}, p {p_text(p)}"


def _cell(value: Json, best: bool, against: str) -> Cell:
    if value["mean"] is None:
        return Cell("–")
    return Cell(spread(value["mean"], value["sd"]), best, against)


def _main_first(subject: Subject, names: list[str]) -> list[str]:
    """Returns the names, first the metric that ranks the configurations, else the last in which higher or lower is better, to show it beside them."""
    facts, ranked = subject.data["metrics"], subject.ranked_by.removeprefix("dev/")
    judged = [name for name in names if facts.get(name, {"higher_is_better": None})["higher_is_better"] is not None]
    first = ranked if ranked in names else next(reversed(judged), None)
    return sorted(names, key=lambda name: name != first)


def _comparison(subject: Subject, panel: Json) -> Comparison:
    data, series = panel["comparison"], panel["series"]
    names = _main_first(subject, [metric["name"] for metric in data["metrics"]])
    against = {(one["metric"], one["group"]): _against(one) for one in data["against_baseline"]}
    best = {metric["name"]: metric["best_group"] for metric in data["metrics"]}
    rows = []
    for group in data["groups"]:
        at = group["group"]
        cells = [_cell(group["metrics"][name], best[name] == at, against.get((name, at), "")) for name in names]
        rows.append((series[at - 1] or subject.name, len(group["runs"]), cells))
    importance: dict[str, dict[str, float]] = {}
    for metric in data["metrics"]:
        for effect in metric.get("importance", {"effects": []})["effects"]:
            importance.setdefault(" × ".join(effect["parameters"]), {})[metric["name"]] = effect["share"]
    reasons = {f"{one['metric']}: {one['untested']}": None for one in data["against_baseline"] if one.get("untested")}
    baseline = series[data["baseline"] - 1] if against else ""
    return Comparison(panel["name"], {name: subject.title(name) for name in names}, rows, baseline, importance, list(reasons))


def comparisons(subject: Subject) -> list[Comparison]:
    """Returns the comparison of each panel that has something to compare."""
    found = [_comparison(subject, panel) for panel in subject.data["panels"] if "comparison" in panel]
    return [one for one in found if len(one.rows) > 1 and one.head]
