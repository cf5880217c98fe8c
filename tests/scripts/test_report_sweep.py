"""The report of a sweep, on rows that are listed here."""

import json
import math
import re
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from softalign_tools.charts import Chart, Line
from softalign_tools.report import heatmaps, sweep
from softalign_tools.report.checklist import checklist
from softalign_tools.report.comparison import comparisons
from softalign_tools.report.figures import BOTTOM, TOP, WIDTH, Figure, line_chart
from softalign_tools.report.gather import Subject
from softalign_tools.report.page import Report, headlines, html
from softalign_tools.report.panels import ALL, Table
from softalign_tools.report.plan import Plan, Row
from softalign_tools.report.svg import Scale, apart, number, width_of

Told = tuple[dict[str, Any], str, float]  # options set, state, value of the metric


def swept(
    rows: Sequence[Told], minimize: bool = True, fixed: Sequence[str] = (), method: str = "grid", scales: Mapping[str, str] = {}
) -> tuple[Plan, list[Row]]:
    """Returns the plan and the rows as the program exports them. Rows of one configuration have the seeds 1, 2, ..."""
    paths = list(dict.fromkeys(path for values, _, _ in rows for path in values))
    parameters = [
        {"path": p, "name": p.rpartition(".")[2], "varied": p not in fixed, "scale": scales.get(p, ""),
         "values": [rows[0][0].get(p)] if p in fixed else []} for p in paths
    ]
    groups: dict[str, list[int]] = {}
    for k, (values, _, _) in enumerate(rows):
        groups.setdefault(str(sorted(values.items())), []).append(k)
    ranking = []
    for ks in groups.values():
        complete = [k for k in ks if rows[k][1] == "complete" and math.isfinite(rows[k][2])]
        known = [rows[k][2] for k in complete] or [rows[k][2] for k in ks if math.isfinite(rows[k][2])]
        if known:
            sd = statistics.stdev(known) if len(known) > 1 else None
            ranking.append({"rows": ks, "complete": complete, "mean": statistics.fmean(known), "sd": sd})
    ranking.sort(key=lambda one: (-len(one["complete"]), one["mean"] if minimize else -one["mean"]))
    plan_rows = [
        {
            "k": k,
            "run_id": f"{k:016x}",
            "folder": f"results/made/{k:016x}",
            "seed": 1,
            "configuration": " ".join(f"{p.rpartition('.')[2]}={v}" for p, v in values.items() if p not in fixed) + " ",
            "set": values,
            "state": state,
            "updates": 10,
            "metric": value if math.isfinite(value) else None,
        }
        for k, (values, state, value) in enumerate(rows)
    ]
    metric = {"name": "dev/loss", "goal": "minimize" if minimize else "maximize", "scale": scales.get("metric", "")}
    head = {"name": "made", "method": method, "metric": metric, "early_terminate": {"type": "none"}, "hash": "", "file": ""}
    plan = Plan({**head, "parameters": parameters, "rows": plan_rows, "ranking": ranking})
    return plan, plan.states


def units(*values: tuple[int, str, float]) -> list[Told]:
    return [({"encoder.units": size}, state, value) for size, state, value in values]


def test_the_best_is_told_with_its_seeds():
    rows = units((8, "complete", 1.0), (8, "complete", 3.0), (16, "complete", 1.5), (16, "complete", 1.7))
    assert swept(rows)[0].best.result_text == "1.600 ± 0.141, mean ± sd over 2 seeds (rows 2, 3)"
    assert swept(units((8, "complete", 0.5)))[0].best.result_text == "0.5000, one seed (row 0)"
    assert swept(units((8, "pruned", 0.5)))[0].best is None


def test_a_cell_s_best_is_a_mean_over_seeds():
    plan_rows = [({"a.x": x, "a.y": y}, "complete", value) for x in (1, 2) for y in (1, 2) for value in (1.0 * x, 3.0 * y)]
    (heat,) = heatmaps.heatmaps(*swept(plan_rows))
    assert ["1", "1", "2", "2", "2"] in heat.table and ["2", "2", "4", "4", "2"] in heat.table


def test_what_is_not_complete_is_counted_apart_in_a_cell():
    ends = {(1, 1): [("complete", 2.0), ("pruned", 8.0)], (1, 2): [("complete", 4.0)], (2, 1): [("pruned", 9.0)] * 2, (2, 2): [("pruned", 9.0), ("running", 7.0)]}
    rows = [({"a.x": x, "a.y": y}, state, value) for (x, y), runs in ends.items() for state, value in runs]
    (heat,) = heatmaps.heatmaps(*swept(rows))
    assert heat.table == [
        ["1", "1", "2", "2", "1, left out: 1 pruned"],
        ["2", "1", "–", "–", "0, left out: 2 pruned"],
        ["1", "2", "4", "4", "1"],
        ["2", "2", "–", "–", "0, left out: 1 pruned, 1 running"],
    ]
    assert ">2 pruned<" in heat.drawing and ">2 others<" in heat.drawing


DATA = {"kind": "sweep", "name": "made", "series": [], "ranked_by": "dev/loss", "metrics": {}, "resamples": 1000, "not_read": 0, "panels": [], "runs": [], "parts": []}
DATA |= {"alignments": {"texts": [], "panes": [], "translations": [], "every": 1, "runs": 0}}


def test_what_is_the_same_in_all_rows_is_said_once():
    rows = [({"encoder.units": n, "train.epochs": 200, "train.clip": 1.0}, "complete", 1.0 / n) for n in (8, 8, 16, 16)]
    plan, states = swept(rows, fixed=("train.epochs", "train.clip"))
    assert plan.varied == ["encoder.units"] and plan.in_all_rows == "epochs 200, clip 1"
    assert [row.label for row in plan.states] == ["units=8", "units=8", "units=16", "units=16"]
    subject = Subject(DATA, plan=plan)
    answers = {item.question: item.answer for item in checklist(subject, {})}
    assert answers["Bounds for each hyperparameter"] == ["encoder.units: 8, 16", "in all rows: epochs 200, clip 1"]
    lines = [line for answer in answers.values() for line in answer]
    assert sum("epochs" in line for line in lines) == 1 and any(line.startswith("units=16: dev/loss") for line in lines)
    page = html(Report(subject, {}, checklist(subject, {})))
    assert page.count("epochs 200") == 2 and '<th scope="col">epochs' not in page  # in the section Sweep and in the checklist


def test_options_that_some_rows_do_not_set_have_a_place():
    rows = [(0.1, 3, 2.0), (1.0, None, 4.0), (30.0, 5, 1.0), (10.0, None, 3.0)]
    plan_rows = [({"a.rate": rate} | ({"b.units": units} if units else {}), "complete", value) for rate, units, value in rows]
    plan, states = swept(plan_rows)
    drawn = sweep.parallel(plan, states)
    assert [row[2] for row in drawn.table] == ["3", "not set", "5", "not set"] and "not set" in drawn.drawing
    assert drawn.drawing.count("data-k=") == 4
    (heat,) = heatmaps.heatmaps(plan, states)
    assert ["1", "not set", "4", "4", "1"] in heat.table and len(heat.table) == 4


def test_a_sweep_of_one_configuration_has_its_rows():
    rows = [({"encoder.units": 8, "train.epochs": 200}, "complete", 1.0)] * 2
    plan, states = swept(rows, fixed=("train.epochs",))
    assert plan.states[0].label == "units=8" and plan.in_all_rows == "epochs 200"
    assert sweep.parallel(plan, states) is not None and heatmaps.heatmaps(plan, states) == []
    plan, states = swept(rows, fixed=("train.epochs", "encoder.units"))
    assert plan.states[0].label == "the only configuration" and sweep.parallel(plan, states) is None


def test_what_optuna_stopped_is_said_to_be_its_decision(monkeypatch):
    plan, states = swept(units((8, "pruned", 2.0), (16, "complete", 1.0)), method="optuna")
    cuts = {"optuna": math.nan, "median": 1.25}
    decided = [sweep.Decision(0, 20, rule, 2.0, cut, "stop", "") for rule, cut in cuts.items()]
    monkeypatch.setattr(sweep, "decisions", lambda states, recorded: decided)
    page = html(Report(Subject(DATA, plan=plan), {}, []))
    rows = re.findall(r'<tr><th scope="row">0</th><td>20</td>.*', page)
    assert ["decided by optuna&#39;s pruner</td>" in row for row in rows] == [True, False] and "<td>1.250</td>" in rows[1]


def test_a_decision_may_compare_runs_that_are_not_in_the_plan():
    _, states = swept(units((8, "pruned", 2.0), (16, "complete", 1.0)))
    decided = {"update": 20, "rule": "median", "value": 2.0, "cut": 1.5, "stop": True, "compared": {"an-unknown-run": 1.5, states[1].run_id: 1.0}}
    [decision] = sweep.decisions(states, {states[0].run_id: json.dumps({"decisions": [decided]})})
    assert (decision.update, decision.compared) == (20, "1: 1, an-unknown-run: 1.500")


def test_a_tile_says_whose_value_it_is():
    metric = {"title": "pointing accuracy", "units": "percent", "main": True, "higher_is_better": True}

    def table(**columns: float) -> Table:
        cells = {s: [{"mean": v, "sd": 1.0, "seeds": [v - 1, v + 1], "low": None, "high": None}] for s, v in columns.items()}
        return Table(metric, [ALL], ["40"], cells, Chart("", "", (0, 1), []))

    def subject(panels: Sequence[str], series: Sequence[str]) -> Subject:
        return Subject({**DATA, "series": list(series), "panels": list(panels), "metrics": {"pointing_accuracy": metric}})

    one, study = subject(["ab"], ["none"]), subject(["ab", "cd"], ["none", "dot"])
    assert headlines(one, {"ab": [table(none=65.5)]}) == [("65.50 %", "pointing accuracy", "40 sentences, mean of 2 seeds")]
    assert headlines(study, {"cd": [table(dot=65.5)]})[0][1] == "pointing accuracy of cd / dot"
    assert headlines(study, {"ab": [table(dot=1)], "cd": [table(dot=2)]}) == []


def texts_of(drawing: str) -> list[tuple[float, float, str, str]]:
    """Returns (x, y, classes, text) of all texts that are not rotated."""
    found = re.findall(r'<text x="([\d.-]+)" y="([\d.-]+)" class="([^"]*)">([^<]*)<', drawing)
    return [(float(x), float(y), classes, text) for x, y, classes, text in found]


def boxes_of(drawing: str) -> list[tuple[float, float, float]]:
    """Returns (left, right, y) of the texts."""
    share = {"mid": 0.5, "end": 1.0}
    found = []
    for x, y, classes, text in texts_of(drawing):
        begin = x - width_of(text) * next((s for end, s in share.items() if end in classes.split()), 0.0)
        found.append((begin, begin + width_of(text), y))
    return found


DRAWN = [10 ** (-5 + 4 * i / 29) for i in range(30)]


def test_names_below_a_heatmap_are_apart():
    rows = [({"a.rate": rate, "a.units": n}, "complete", 1 + rate * n) for rate in DRAWN for n in (1, 2)]
    (heat,) = heatmaps.heatmaps(*swept(rows))
    turned = re.findall(r'translate\(([\d.-]+) [\d.]+\) rotate\(-38\)"[^>]*>([^<]+)<', heat.drawing)
    assert len(turned) == heatmaps.BINS and all(float(x) > width_of(text) * math.cos(math.radians(38)) for x, text in turned)
    gaps = [float(b) - float(a) for (a, _), (b, _) in zip(turned, turned[1:])]
    assert min(gaps) * math.sin(math.radians(38)) > 12  # pixels between the rotated lines of text
    few = [({"a.x": x, "a.y": y}, "complete", x + y) for x in (1, 2) for y in (1, 2)]
    assert "rotate" not in heatmaps.heatmaps(*swept(few))[0].drawing


def test_colours_of_cells_are_logarithmic_where_the_axis_is():
    def cells(*values: float) -> list[str]:
        plan_rows = [({"a.x": at % 2, "a.y": at // 2}, "complete", v) for at, v in enumerate(values)]
        (heat,) = heatmaps.heatmaps(*swept(plan_rows))
        assert ("logarithmic" in heat.drawing) == (max(values) >= 30 * min(values))
        shown = re.findall(r'class="value mid on-(q\d)">([^<]+)<', heat.drawing)
        return [dict((text, q) for q, text in shown)[number(v)] for v in values]

    assert cells(2.5, 0.147, 0.00135, 0.02) == ["q0", "q2", "q5", "q3"]
    assert cells(3.0, 2.0, 1.0, 1.1) == ["q0", "q3", "q5", "q5"]


@pytest.mark.parametrize("scale, middle", [("log", True), ("linear", False), ("", True)])
def test_an_axis_has_the_scale_that_was_declared(scale, middle):
    """Without a declared scale, the values 1, 10 and 100 get a logarithmic axis, because they are far apart."""
    plan_rows = [({"a.rate": rate}, "complete", value) for rate, value in ((1, 1.0), (10, 2.0), (100, 3.0))]
    places = {text: y for x, y, classes, text in texts_of(sweep.parallel(*swept(plan_rows, scales={"a.rate": scale})).drawing) if x < 100}
    assert (abs(places["10"] - (places["1"] + places["100"]) / 2) < 1) == middle
    columns = heatmaps.binned([2.0**k for k in range(-9, 1)], scale)
    assert columns[0][0] == ("0.00195–0.168" if scale == "linear" else "0.002–0.0055")


def test_a_percentage_is_never_drawn_by_its_logarithm():
    plan_rows = [({"a.x": at % 2, "a.y": at // 2}, "complete", v) for at, v in enumerate((0.5, 2.0, 40.0, 90.0))]
    plan, states = swept(plan_rows, minimize=False, scales={"metric": "linear"})
    (heat,) = heatmaps.heatmaps(plan, states)
    assert "logarithmic" not in heat.drawing
    assert {"20", "40", "60", "80"} <= {text for *_, text in texts_of(sweep.parallel(plan, states).drawing)}


@pytest.mark.parametrize("values", [(1.2301465, 1.4403217), (1.2301465, 5.1, 40.44321), (0.5, 0.5), (87.123456, 99.87654321)])
def test_ticks_of_the_metric_are_round_and_within_the_drawing(values):
    plan, states = swept(units(*((8 * k, "complete", v) for k, v in enumerate(values, 1))))
    drawing = sweep.parallel(plan, states).drawing
    width = float(re.search(r'viewBox="0 0 ([\d.]+)', drawing)[1])
    ticks = [text for x, _, classes, text in texts_of(drawing) if classes == "tick" and x > width - 60]
    assert ticks and all(len(text) <= 4 for text in ticks)
    assert all(0 <= left and right <= width for left, right, _ in boxes_of(drawing))


def test_ticks_of_a_parameter_have_four_digits_and_do_not_touch():
    plan_rows = [({"a.rate": rate}, "complete", 1.0 + rate) for rate in (0.0123457, 0.0123999, 0.5, 2.0)]
    texts = [text for x, _, classes, text in texts_of(sweep.parallel(*swept(plan_rows)).drawing) if classes == "tick" and x < 100]
    assert texts == ["0.01235", "0.5", "2"]
    assert apart([("a", 10), ("b", 15), ("c", 22), ("d", 30)]) == [("a", 10), ("c", 22)]


def test_every_tick_of_parallel_coordinates_has_a_plate_over_the_lines():
    plan_rows = [({"a.rate": rate, "b.kind": kind}, "complete", rate) for rate in DRAWN for kind in ("one", "another")]
    drawing = str(sweep.parallel(*swept(plan_rows)).drawing)
    assert drawing.rindex('class="row ') < drawing.index('class="plate"')
    assert len(re.findall(r'class="plate"/><text [^>]*class="tick"', drawing)) == drawing.count('class="tick"') > 10


def test_the_metric_of_a_small_sweep_is_in_sight_on_a_telephone():
    def least(count: int) -> int:
        plan_rows = [({f"a.p{at}": k for at in range(count)}, "complete", 1.0 + k) for k in range(3)]
        return int(re.search(r"min-width:(\d+)px", sweep.parallel(*swept(plan_rows)).drawing)[1])

    assert least(2) <= 350 < least(4)  # a screen of 400 px leaves 350


def test_a_scale_without_round_logarithms_has_round_numbers():
    assert Scale(1.0123, 4.1234567, 0, 100, log=True).ticks() == [2, 3, 4]
    assert Scale(2.0123, 4.9, 0, 100, log=True).ticks() == [3, 4]


def drawn(at: list[float], mean: list[float], sd: list[float], limits: tuple[float, float] = (-math.inf, math.inf), units: str = "") -> Figure:
    low, high = ([m + sign * s for m, s in zip(mean, sd)] for sign in (-1, 1))
    chart = Chart("t", units, limits, [Line("a", at, mean, low, high)])
    return line_chart(chart, "t", ["a"], [0], [[f"{m} ± {s}" for m, s in zip(mean, sd)]], "answers")


def test_the_last_update_is_not_cut_off():
    for updates in ([0, 2000], [0, 100000], [0, 600]):
        drawing = drawn(updates, [1, 2], [0, 0]).drawing
        assert f">{updates[-1]:,}<" in drawing and all(right <= WIDTH for _, right, _ in boxes_of(drawing))


LIMITS = {"loss": (0, math.inf), "token_accuracy": (0, 100), "perplexity": (1, math.inf)}


def band_of(name: str, mean: list[float], sd: list[float]) -> tuple[list[float], list[str]]:
    """Returns (y of the band's outline, in pixels; the cells)."""
    figure = drawn([1, 2], mean, sd, LIMITS.get(name.rpartition("/")[2], (-math.inf, math.inf)), "percent" if "accuracy" in name else "")
    d = re.search(r'<path d="([^"]*)" class="band', figure.drawing)[1]
    return [float(pair.split(",")[1]) for pair in d[1:].split("L")], [row[1] for row in figure.table]


def test_bands_end_where_the_metric_does_and_the_table_keeps_the_deviation():
    def places(low: float, high: float, *values: float) -> list[float]:
        scale = Scale(low, high, BOTTOM, TOP)
        return [scale(v) for v in values]

    outline, cells = band_of("dev/loss", [1.0, 0.5], [0.2, 0.9])
    room = 0.05 * 1.4
    assert outline == places(-room, 1.4 + room, 1.2, 1.4, 0.0, 0.8) and cells == ["1.0 ± 0.2", "0.5 ± 0.9"]
    outline, _ = band_of("dev/token_accuracy", [90.0, 98.0], [5.0, 7.0])
    assert outline == places(0, 105, 95.0, 100.0, 91.0, 85.0)
    outline, _ = band_of("dev/perplexity", [3.0, 1.2], [0.5, 0.9])
    assert max(outline) == places(1 - 0.125, 3.5 + 0.125, 1.0)[0]
    outline, _ = band_of("dev/of_a_plugin", [1.0, 0.5], [0.2, 0.9])
    assert max(outline) == places(-0.49, 1.49, -0.4)[0]
    outline, _ = band_of("train/loss", [1.0, 0.01], [0.5, 0.5])  # a logarithmic axis
    assert outline == [Scale(0.005 / 1.1, 1.5 * 1.1, BOTTOM, TOP, log=True)(v) for v in (1.5, 0.51, 0.005, 0.5)]



def test_the_importance_of_parameters_is_in_the_page():
    value, against = {"mean": 1.0, "sd": None, "n": 1}, {"baseline": 1, "against_baseline": []}
    effects = [{"parameters": ["lr"], "share": 0.5}, {"parameters": ["lr", "units"], "share": 0.0625}]
    metrics = [{"name": "bleu", "best_group": None, "importance": {"effects": effects}}, {"name": "loss", "best_group": None}]
    groups = [{"group": k, "runs": [{}], "metrics": {"bleu": value, "loss": value}} for k in (1, 2)]
    panel = {"name": "", "series": ["a", "b"], "curves": [], "clocks": [], "diagnostics": [], "comparison": {"metrics": metrics, "groups": groups, **against}}
    subject = Subject(DATA | {"panels": [panel]})
    assert [one.importance for one in comparisons(subject)] == [{"lr": {"bleu": 0.5}, "lr × units": {"bleu": 0.0625}}]
    shares = re.findall(r'<th scope="row" class="wrap">(lr.*?)</th>(?:<td>–</td>)?<td><meter value="(.*?)"></meter> (.*?)</td>', html(Report(subject, {}, [])))
    assert shares == [("lr", "0.5", "50.0 %"), ("lr × units", "0.0625", "6.2 %")]
