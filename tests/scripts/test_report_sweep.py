"""What a report says of a sweep, on rows that are written down here."""

import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from report import heatmaps, lengths, sweep
from report.checklist import checklist
from report.configurations import best_configuration, configurations, ranked
from report.figures import BOTTOM, TOP, WIDTH, Line, line_chart
from report.gather import Placed, Subject
from report.metrics import limits_of
from report.page import Report, headlines, html
from report.plan import Plan, Row, RowState, read_plan
from report.svg import Scale, apart, width_of

Told = tuple[dict[str, Any], str, float]  # what is set, state, value


def swept(rows: Sequence[Told], minimize: bool = True, **more: Any) -> tuple[Plan, list[RowState]]:
    """Rows of one configuration have the seeds 1, 2, ..."""
    parameters = list(dict.fromkeys(path for values, _, _ in rows for path in values))
    given = {"name": "made", "method": "grid", "metric": "dev/loss", "early_terminate": {"type": "none"}} | more
    plan = Plan(Path("made"), minimize=minimize, parameters=parameters, rows=[], source="", hash="", **given)
    for k, (values, _, _) in enumerate(rows):
        plan.rows.append(Row(k, f"{k:016x}", 1 + sum(row.values == values for row in plan.rows), values))
    return plan, [RowState(row, state, value, None) for row, (_, state, value) in zip(plan.rows, rows)]


def units(*values: tuple[int, str, float]) -> list[Told]:
    return [({"encoder.units": size}, state, value) for size, state, value in values]


def test_the_best_is_a_configuration_and_no_lucky_seed():
    rows = units((8, "complete", 1.0), (8, "complete", 3.0), (16, "complete", 1.5), (16, "complete", 1.7))
    plan, states = swept(rows)
    best = best_configuration(plan, states)
    assert [s.row.k for s in best.complete] == [2, 3] and math.isclose(best.mean, 1.6)
    assert best.said == "1.600 ± 0.141, mean ± sd over 2 seeds (rows 2, 3)"
    assert [s.row.k for s in best_configuration(*swept(rows, minimize=False)).complete] == [0, 1]
    assert [c.rows[0].row.k for c in ranked(plan, states)] == [2, 0]


def test_fewer_complete_seeds_are_not_better_and_pruned_ones_do_not_count():
    rows = units((8, "complete", 0.1), (8, "failed", math.nan), (16, "complete", 2.0), (16, "complete", 2.2))
    rows += units((24, "pruned", 0.01), (24, "pruned", 0.01), (32, "complete", math.nan))
    plan, states = swept(rows)
    assert [s.row.k for s in best_configuration(plan, states).complete] == [2, 3]
    assert [c.rows[0].row.k for c in ranked(plan, states)] == [2, 0, 4]
    assert best_configuration(*swept(rows[4:6])) is None and len(configurations(states)) == 4


def test_one_seed_has_no_deviation():
    assert best_configuration(*swept(units((8, "complete", 0.5)))).said == "0.5000, one seed (row 0)"


def test_a_cell_s_best_is_a_mean_over_seeds():
    told = [({"a.x": x, "a.y": y}, "complete", value) for x in (1, 2) for y in (1, 2) for value in (1.0 * x, 3.0 * y)]
    (heat,) = heatmaps.heatmaps(*swept(told))
    assert ["1", "1", "2", "2", "2"] in heat.table and ["2", "2", "4", "4", "2"] in heat.table


def test_what_is_the_same_in_all_rows_is_said_once():
    rows = [({"encoder.units": n, "train.epochs": 200, "train.clip": 1.0}, "complete", 1.0 / n) for n in (8, 8, 16, 16)]
    plan, states = swept(rows, fixed=("train.epochs",))
    assert plan.varied == ["encoder.units"] and plan.in_all_rows == "epochs 200, clip 1"
    assert [plan.label(row) for row in plan.rows] == ["units 8", "units 8", "units 16", "units 16"]
    subject = Subject("sweep", "made", plan=plan)
    said = {item.question: item.answer for item in checklist(subject, {}, states)}
    assert said["Bounds for each hyperparameter"] == ["encoder.units: 8, 16", "in all rows: epochs 200, clip 1"]
    told = [line for answer in said.values() for line in answer]
    assert sum("epochs" in line for line in told) == 1 and any(line.startswith("units 16: dev/loss") for line in told)
    page = html(Report(subject, states, {}, checklist(subject, {}, states), []))
    assert page.count("epochs 200") == 2 and '<th scope="col">epochs' not in page  # below Sweep and in the checklist


def test_one_configuration_is_named_by_what_could_be_another():
    rows = [({"encoder.units": 8, "train.epochs": 200}, "complete", 1.0)] * 2
    plan, states = swept(rows, fixed=("train.epochs",))
    assert plan.label(plan.rows[0]) == "units 8" and plan.in_all_rows == "epochs 200"
    assert sweep.parallel(plan, states) is not None and heatmaps.heatmaps(plan, states) == []
    plan, states = swept(rows, fixed=("train.epochs", "encoder.units"))
    assert plan.label(plan.rows[0]) == "the only configuration" and sweep.parallel(plan, states) is None


def test_a_plan_says_which_parameters_are_fixed(tmp_path):
    rows = "\n".join(f"- {{k: {k}, run_id: {k:016x}, seed: 1, set: {{a.x: {k}, a.y: 3}}}}" for k in range(2))
    (tmp_path / "plan.yaml").write_text(f"name: p\nparameters: [a.x, a.y]\nfixed: [a.y]\nrows:\n{rows}\n")
    assert read_plan(tmp_path / "plan.yaml", []).fixed == ("a.y",)


def test_what_optuna_stopped_is_said_to_be_its_decision(monkeypatch):
    plan, states = swept(units((8, "pruned", 2.0), (16, "complete", 1.0)), method="optuna")
    cuts = {"optuna": math.nan, "median": 1.25}
    decided = [sweep.Decision(0, 20, rule, 2.0, cut, "stop", "") for rule, cut in cuts.items()]
    monkeypatch.setattr(sweep, "decisions", lambda states: decided)
    page = html(Report(Subject("sweep", "made", plan=plan), states, {}, [], []))
    rows = re.findall(r'<tr><th scope="row">0</th><td>20</td>.*', page)
    assert ["decided by optuna&#39;s pruner</td>" in row for row in rows] == [True, False] and "<td>1.250</td>" in rows[1]


def test_a_tile_says_whose_value_it_is():
    def table(**columns: float) -> lengths.Table:
        made = {s: [lengths.Estimate(v, 1.0, (v - 1, v + 1), (math.nan, math.nan), 40)] for s, v in columns.items()}
        return lengths.Table("pointing_accuracy", [lengths.ALL], made, [])

    placed = [Placed(None, panel, series) for panel in ("ab", "cd") for series in ("none", "dot")]
    one, study = Subject("run", "r", runs=placed[:1]), Subject("study", "s", runs=placed)
    assert headlines(one, {"ab": [table(none=65.5)]}) == [("65.50 %", "pointing accuracy", "40 sentences, mean of 2 seeds")]
    assert headlines(study, {"cd": [table(dot=65.5)]})[0][1] == "pointing accuracy of cd / dot"
    assert headlines(study, {"ab": [table(dot=1)], "cd": [table(dot=2)]}) == []


def texts_of(drawing: str) -> list[tuple[float, float, str, str]]:
    """(x, y, classes, text) of all that is not turned."""
    found = re.findall(r'<text x="([\d.-]+)" y="([\d.-]+)" class="([^"]*)">([^<]*)<', drawing)
    return [(float(x), float(y), classes, text) for x, y, classes, text in found]


def boxes_of(drawing: str) -> list[tuple[float, float, float]]:
    """(left, right, y) of texts."""
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
    assert min(gaps) * math.sin(math.radians(38)) > 12  # so far are the lines of text from each other
    few = [({"a.x": x, "a.y": y}, "complete", x + y) for x in (1, 2) for y in (1, 2)]
    assert "rotate" not in heatmaps.heatmaps(*swept(few))[0].drawing


def test_colours_of_cells_are_logarithmic_where_the_axis_is():
    def cells(*values: float) -> list[str]:
        told = [({"a.x": at % 2, "a.y": at // 2}, "complete", v) for at, v in enumerate(values)]
        (heat,) = heatmaps.heatmaps(*swept(told))
        assert ("logarithmic" in heat.drawing) == (max(values) >= 30 * min(values))
        shown = re.findall(r'class="value mid on-(q\d)">([^<]+)<', heat.drawing)
        return [dict((text, q) for q, text in shown)[lengths.number(v)] for v in values]

    assert cells(2.5, 0.147, 0.00135, 0.02) == ["q0", "q2", "q5", "q3"]
    assert cells(3.0, 2.0, 1.0, 1.1) == ["q0", "q3", "q5", "q5"]


@pytest.mark.parametrize("values", [(1.2301465, 1.4403217), (1.2301465, 5.1, 40.44321), (0.5, 0.5), (87.123456, 99.87654321)])
def test_ticks_of_the_metric_are_round_and_within_the_drawing(values):
    plan, states = swept(units(*((8 * k, "complete", v) for k, v in enumerate(values, 1))))
    drawing = sweep.parallel(plan, states).drawing
    width = float(re.search(r'viewBox="0 0 ([\d.]+)', drawing)[1])
    ticks = [text for x, _, classes, text in texts_of(drawing) if classes == "tick" and x > width - 60]
    assert ticks and all(len(text) <= 4 for text in ticks)
    assert all(0 <= left and right <= width for left, right, _ in boxes_of(drawing))


def test_ticks_of_a_parameter_have_four_digits_and_do_not_touch():
    told = [({"a.rate": rate}, "complete", 1.0 + rate) for rate in (0.0123457, 0.0123999, 0.5, 2.0)]
    texts = [text for x, _, classes, text in texts_of(sweep.parallel(*swept(told)).drawing) if classes == "tick" and x < 100]
    assert texts == ["0.01235", "0.5", "2"]
    assert apart([("a", 10), ("b", 15), ("c", 22), ("d", 30)]) == [("a", 10), ("c", 22)]


def test_every_tick_of_parallel_coordinates_has_a_plate_over_the_lines():
    told = [({"a.rate": rate, "b.kind": kind}, "complete", rate) for rate in DRAWN for kind in ("one", "another")]
    drawing = str(sweep.parallel(*swept(told)).drawing)
    assert drawing.rindex('class="row ') < drawing.index('class="plate"')
    assert len(re.findall(r'class="plate"/><text [^>]*class="tick"', drawing)) == drawing.count('class="tick"') > 10


def test_the_metric_of_a_small_sweep_is_in_sight_on_a_telephone():
    def least(count: int) -> int:
        told = [({f"a.p{at}": k for at in range(count)}, "complete", 1.0 + k) for k in range(3)]
        return int(re.search(r"min-width:(\d+)px", sweep.parallel(*swept(told)).drawing)[1])

    assert least(2) <= 350 < least(4)  # of 400 px 350 are left


def test_a_scale_without_round_logarithms_has_round_numbers():
    assert Scale(1.0123, 4.1234567, 0, 100, log=True).ticks() == [2, 3, 4]
    assert Scale(2.0123, 4.9, 0, 100, log=True).ticks() == [3, 4]


def test_the_last_update_is_not_cut_off():
    for updates in ([0, 2000], [0, 100000], [0, 600]):
        drawing = line_chart("t", [Line("a", 0, updates, [1, 2], None, None, ["1", "2"])], False, "said").drawing
        assert f">{updates[-1]:,}<" in drawing and all(right <= WIDTH for _, right, _ in boxes_of(drawing))


def band_of(name: str, mean: list[float], sd: list[float], zero: bool = False) -> tuple[list[float], list[str]]:
    """(y of the band's outline, in pixels; the cells)"""
    low, high = [m - s for m, s in zip(mean, sd)], [m + s for m, s in zip(mean, sd)]
    line = Line("a", 0, [1, 2], mean, low, high, [f"{m} ± {s}" for m, s in zip(mean, sd)])
    figure = line_chart(name, [line], zero, "said", limits_of(name))
    d = re.search(r'<path d="([^"]*)" class="band', figure.drawing)[1]
    return [float(pair.split(",")[1]) for pair in d[1:].split("L")], [row[1] for row in figure.table]


def test_bands_end_where_the_metric_does_and_the_table_keeps_the_deviation():
    def places(low: float, high: float, *values: float) -> list[float]:
        scale = Scale(low, high, BOTTOM, TOP)
        return [scale(v) for v in values]

    outline, cells = band_of("dev/loss", [1.0, 0.5], [0.2, 0.9])
    room = 0.05 * 1.4
    assert outline == places(-room, 1.4 + room, 1.2, 1.4, 0.0, 0.8) and cells == ["1.0 ± 0.2", "0.5 ± 0.9"]
    outline, _ = band_of("dev/token_accuracy", [90.0, 98.0], [5.0, 7.0], zero=True)
    assert outline == places(0, 105, 95.0, 100.0, 91.0, 85.0)
    outline, _ = band_of("dev/perplexity", [3.0, 1.2], [0.5, 0.9])
    assert max(outline) == places(1 - 0.125, 3.5 + 0.125, 1.0)[0]
    outline, _ = band_of("dev/of_a_plugin", [1.0, 0.5], [0.2, 0.9])
    assert max(outline) == places(-0.49, 1.49, -0.4)[0]
    outline, _ = band_of("train/loss", [1.0, 0.01], [0.5, 0.5])  # a logarithmic axis
    assert outline == [Scale(0.005 / 1.1, 1.5 * 1.1, BOTTOM, TOP, log=True)(v) for v in (1.5, 0.51, 0.005, 0.5)]


def test_limits_of_a_metric():
    assert limits_of("dev/bleu") == (0, 100) and limits_of("perplexity") == (1, math.inf)
    assert limits_of("train/gradient_norm") == (0, math.inf) and limits_of("dev/mine") == (-math.inf, math.inf)
