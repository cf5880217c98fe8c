"""scripts/report.py and `softalign report`, on records that the program makes for these tests."""

import base64
import hashlib
import json
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from functools import partial
from html.parser import HTMLParser
from pathlib import Path

import h5py
import numpy as np
import pytest
from markupsafe import Markup
from report_places import IMAGES, PROGRAM, ROOT, STOPPING, SWEEP, TINY, make_broken_sweep, make_run, make_study, make_sweep, softalign, truncate

from softalign_tools.matrices import unpacked
from softalign_tools.program import report_of
from softalign_tools.report import heatmaps, panels, svg, sweep
from softalign_tools.report.figures import Figure, legend
from softalign_tools.report.gather import gather
from softalign_tools.report.page import compute, html
from softalign_tools.report.summary import common_facts

SCRIPT = ROOT / "scripts/report.py"


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Path:
    return make_run(tmp_path_factory.mktemp("run"), "train.epochs=12")


@pytest.fixture(scope="module")
def study(tmp_path_factory) -> Path:
    return make_study(tmp_path_factory.mktemp("study"))


@pytest.fixture(scope="module")
def demo(tmp_path_factory) -> Path:
    return make_broken_sweep(tmp_path_factory.mktemp("sweep"))


def report(*arguments: object, code: int = 0, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, SCRIPT, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **environment})
    assert done.returncode == code, done.stdout + done.stderr
    return done


def data_of(page: str) -> dict:
    return json.loads(re.search(r'id="alignment-data">(.*?)</script>', page, re.S)[1])


class Page(HTMLParser):
    """Collects the ids, labels, figures and addresses of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids, self.addresses, self.figures, self.unnamed, self.text = [], [], [], [], ""
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        got = dict(attributes)
        self.ids += [got["id"]] if "id" in got else []
        self.addresses += [got[key] for key in ("src", "href", "action") if key in got]
        if tag == "figure":
            self.figures.append(set())
        elif self.figures and "figure" in self.open:
            self.figures[-1].add(tag)
        if tag == "svg" and not ("aria-label" in got or "aria-hidden" in got):
            self.unnamed.append(tag)
        if tag in ("input", "select") and "label" not in self.open and not ("aria-label" in got or "id" in got):
            self.unnamed.append(tag)
        if tag not in ("meta", "link", "input", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, f"</{tag}> closes nothing"

    def handle_startendtag(self, tag, attributes):
        if "figure" in self.open:
            self.figures[-1].add(tag)

    def handle_data(self, data):
        self.text += data


@pytest.mark.parametrize("kind", ["run", "study", "demo"])
def test_a_page_is_whole_and_asks_no_network(kind, request):
    page = html(compute([request.getfixturevalue(kind)]))
    read = Page(page)
    assert len(read.ids) == len(set(read.ids)) and read.open == [] and read.unnamed == []
    assert len(read.figures) > 5 and all({"svg", "table", "figcaption"} <= figure for figure in read.figures)
    links = [a for a in read.addresses if a != "data:,"]
    assert links and all(a.startswith("#") and a[1:] in read.ids for a in links)
    assert "http:" not in page.replace("http://www.w3.org/2000/svg", "") and "https:" not in page and "@import" not in page
    assert "NaN" not in page.partition("<script>")[0] and ">nan<" not in page


def test_the_only_script_that_may_run_is_the_page_s_own(run):
    page = html(compute([run]))
    (allowed,) = re.findall(r"script-src ([^;]*);", page)
    (script,) = re.findall(r"<script>(.*?)</script>", page, re.S)
    assert allowed == f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"
    assert not re.search(r"<[^>]* on\w+=", page)  # the page's policy blocks event handlers in attributes


def test_the_same_records_give_the_same_bytes(demo, tmp_path):
    copy = shutil.copytree(demo, tmp_path / "elsewhere/demo")
    report(demo, "-o", tmp_path / "a.html", PYTHONHASHSEED="1", TZ="UTC")
    report(copy, "-o", tmp_path / "b.html", PYTHONHASHSEED="2", TZ="Asia/Tokyo")
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


def test_a_deviation_has_the_decimals_of_its_mean():
    spreads = [(78.1, 1.027), (0.44421, 0.067), (99, 0), (3, None), (float("nan"), 1)]
    assert [svg.spread(*one) for one in spreads] == ["78.10 ± 1.03", "0.4442 ± 0.0670", "99.00 ± 0.00", "3", "–"]


def test_seeds_and_sentences_are_kept_apart(study):
    found = gather([study])
    (table,) = (t for t in panels.tables(found)["reverse"] if t.metric["title"] == "token accuracy")
    cell = table.columns["additive"][0]
    values = [run["test"]["token_accuracy"] for run in found.runs if run["series"] == "additive"]
    assert len(values) == 2 and cell["mean"] == pytest.approx(np.mean(values)) and cell["sd"] == pytest.approx(np.std(values, ddof=1))
    assert cell["low"] < cell["mean"] < cell["high"] and table.counts[0] == "40"
    text = panels.cell_text(cell)
    assert text in Page(html(compute([study]))).text and f"{cell['mean']:.2f} ± {cell['sd']:.2f} [" in text


def column_of(place: Path, title: str) -> panels.Table:
    (table,) = (t for t in compute([place]).tables[""] if t.metric["title"] == title)
    return table


def test_a_value_that_its_counts_deny_has_no_interval(run, tmp_path):
    copy = shutil.copytree(run, tmp_path / "run")
    with h5py.File(copy / "run.h5", "a") as file:
        file["test"].attrs["chrf"] = 99.0
    (column,) = column_of(copy, "chrF2").columns.values()
    assert column[0]["mean"] == 99 and column[1]["mean"] is not None  # the recorded values
    assert all(cell["low"] is cell["high"] is None for cell in column)


def test_a_metric_of_a_plugin_is_told_like_ours(run, tmp_path):
    """The record has a metric that the program does not know."""
    copy = shutil.copytree(run, tmp_path / "run")
    with h5py.File(copy / "run.h5", "a") as file:
        group = file["test/by_length"]
        made = group.create_dataset("mine", data=np.full(len(group["n"]), 0.25))
        facts = {"long_name": "my own", "units": "nats", "higher_is_better": 0, "valid_min": 0.0, "order": 1, "main": 1,
                 "searched": 0, "of_rows": 0, "signature": "", "baseline_of": ""}  # fmt: skip
        for name, value in facts.items():
            made.attrs[name] = np.bytes_(value) if isinstance(value, str) else value
        file["test"].attrs["mine"] = 0.5
    table = column_of(copy, "my own")
    (column,) = table.columns.values()
    assert (table.metric["units"], column[0]["mean"]) == ("nats", 0.5)
    assert "my own (nats)" in html(compute([copy]))


def test_curves_have_other_axes_and_a_trend_as_recorded(tmp_path):
    made = make_run(tmp_path, "train.epochs=30")
    (panel,) = report_of([made])["panels"]
    with h5py.File(made / "run.h5") as file:
        train = file["train"]
        (clock,) = panel["clocks"]
        at = np.searchsorted(train["update"][:], clock["at"])
        assert clock["tokens"] == np.cumsum(train["tokens"][:])[at].tolist() and clock["seconds"] == pytest.approx(train["wall_time"][:][at])
        (loss,) = (one for one in panel["curves"] if one["name"] == "train/loss")
        assert loss["trend"][0]["mean"] == pytest.approx(train["loss"][:].reshape(50, -1).mean(axis=1))
        assert loss["trend"][0]["at"] == train["update"][5::6].tolist()
    assert all(one["trend"] == [] for one in panel["curves"] if one["split"] == "dev")
    page = html(compute([made]))
    assert re.search(r'train: loss.*?class="raw .*?class="line ', page) and page.count('class="raw ') < page.count('class="line ')


def test_a_legend_has_the_order_of_the_figure_with_most_lines():
    figures = [Figure("", Markup(""), [], [], legend=[(name, Markup(""), "") for name in names]) for names in (["additive", "dot"], ["none", "additive", "dot"], ["none"])]
    assert [name for name, *_ in legend(figures)] == ["none", "additive", "dot"]


def test_a_chart_of_zeros_is_left_out_and_named(run):
    made = compute([run])
    (curve,) = (one for one in made.subject.data["panels"][0]["curves"] if one["name"] == "dev/chrf")
    assert "<figcaption>dev: chrF2 (%)" in html(made)
    for line in curve["lines"]:
        line["mean"] = [0.0] * len(line["mean"])
    page = html(made)
    assert "<figcaption>dev: chrF2 (%)" not in page and re.search(r"Left out, since all of their values are 0: [^.]*dev: chrF2 \(%\)", page)


def test_the_page_holds_the_matrices_links_and_words_of_the_record(run):
    data = data_of(html(compute([run])))
    panes = {pane["module"]: pane for pane in data["panes"]}
    assert {name: pane["kind"] for name, pane in panes.items()} == {
        "cross": "forced",
        "cross_dev": "dev",
        "cross_search": "searched",
    }
    assert len(panes["cross_dev"]["updates"]) == 12
    with h5py.File(run / "run.h5") as file:
        for name, pane in panes.items():
            group = file["alignments"][name]
            u, at = len(pane["updates"]) - 1, 1
            s, t = group["src_len"][at], group["tgt_len"][u, at]
            words = data["texts"][pane["source"][at]].split("\n")
            assert words == group["src_tokens"].asstr()[at, :s].tolist()
            assert data["texts"][pane["target"][u][at]].split("\n") == group["tgt_tokens"].asstr()[u, at, :t].tolist()
            weights = unpacked(pane["weights"][u][0][at], t, s)
            assert np.abs(weights - group["weights"][u, at, 0, :t, :s]).max() <= 0.5 / 255 + 1e-6
            if "gold" in group:
                links = {divmod(link >> 1, s): 1 + (link & 1) for link in pane["gold"][at]}
                gold = group["gold"][at, :t, :s]
                assert links == {(y, x): gold[y, x] for y, x in np.argwhere(gold)} and links
        assert panes["cross"]["loss"][1] == pytest.approx(file["test/nll"][1] / file["test/target_tokens"][1], abs=1e-4)


def test_the_page_holds_the_images_of_the_record(tmp_path):
    made = make_run(tmp_path, *IMAGES)
    data = data_of(html(compute([made])))
    panes = {pane["module"]: pane for pane in data["panes"]}
    with h5py.File(made / "run.h5") as file:
        for module, split in (("cross", "test"), ("cross_search", "test"), ("cross_dev", "dev")):
            pane, group = panes[module], file[f"images/{split}"]
            assert pane["images"]["height"] == group.attrs["height"] == 8
            for at, number in enumerate(pane["sentence"]):
                text = data["texts"][pane["images"]["pixels"][at]]
                grey = group["pixels"][number, : 8 * group["width"][number]]
                assert [round(int(c, 36) / 35 * 16) for c in text] == grey.tolist() and grey.any()
                columns = len(data["texts"][pane["source"][at]].split("\n"))
                assert max(pane["images"]["position"][: len(text)]) == columns - 1
        # The program's gold links of a word are the source positions with ink of its digit.
        shape = int(file["images/test/width"][0]), 8
        ink = file["images/test/pixels"][0, : shape[0] * 8].reshape(shape) > 0
        position = file["images/test/position"][: shape[0] * 8].reshape(shape)
        linked = {int(p) for p in np.flatnonzero(file["alignments/cross/gold"][0].any(axis=0))}
        assert linked == set(position[ink].tolist())


def test_an_encoder_s_attention_is_told_from_the_decoder_s(run, tmp_path):
    copy = shutil.copytree(run, tmp_path / "run")
    with h5py.File(copy / "run.h5", "a") as file:
        file.copy("alignments/cross", "alignments/encoder_layer1")
    pages = html(compute([run])), html(compute([copy]))
    assert ["its rows are source words, too" in page for page in pages] == [False, True]
    panes = {pane["module"]: pane for pane in data_of(pages[1])["panes"]}
    assert panes["encoder_layer1"]["kind"] == "encoder" and panes["cross"]["kind"] == "forced"
    assert panes["encoder_layer1"]["set"] == panes["cross"]["set"]


def test_damaged_alignments_are_named_and_the_others_shown(run, tmp_path):
    copy = shutil.copytree(run, tmp_path / "run")
    with h5py.File(copy / "run.h5", "a") as file:
        del file["alignments/cross/src_len"]
    done = report(copy)
    assert "its alignments 'cross' are left out" in done.stderr
    assert {p["module"] for p in data_of((copy / "report.html").read_text())["panes"]} == {"cross_dev", "cross_search"}


def test_a_study_shows_its_claims_with_verdicts_and_its_tables(study):
    page = html(compute([study]))
    outcome = json.loads((study / "study.json").read_text())
    assert [claim["verdict"] for claim in outcome["claims"]] == ["holds", "fails", "unmeasured"]
    first, second = re.findall(r'<li class="card"><span class="badge (\w+)">\w+</span> <code>(.*?)</code>', page)
    assert first == ("holds", "token_accuracy(reverse/additive) &gt;= 0") and second[0] == "fails"
    assert '<span class="badge unmeasured">open, not measured</span>' in page
    assert "because it cannot be less" in page and "1 of 2" in page and outcome["question"] in page
    value = outcome["tables"][0]["rows"][0]["values"][0]
    assert f"<td>{value['mean']:.2f} ± {value['deviation']:.2f}</td>" in page
    claim = outcome["claims"][0]
    found = claim["estimate"]
    assert found["low"] < claim["difference"]["mean"] < found["high"] and 0 < found["p"] <= found["p_holm"] <= 1
    p, corrected = (svg.p_text(found[name]).replace("<", "&lt;") for name in ("p", "p_holm"))
    assert f"[{svg.number(found['low'])}, {svg.number(found['high'])}], p {p}, corrected {corrected}" in page
    assert f"holds for {claim['seeds']} of 2 seeds" in page


def decisions(made) -> list[sweep.Decision]:
    return sweep.decisions(made.subject.plan.states, {run["run_id"]: run["record"]["early_termination"] for run in made.subject.runs})


def test_a_sweep_shows_states_and_its_best_configuration(demo):
    made = compute([demo])
    states = [s.state for s in made.subject.plan.states]
    assert states == ["complete"] * 10 + ["corrupt", "planned"]
    best = made.subject.plan.best
    dev = {run["run_id"]: run["dev"]["loss"] for run in made.subject.runs}
    measured = [dev[s.run_id] for s in best.complete]
    assert len(measured) == 2 and math.isclose(best.mean, np.mean(measured)) and math.isclose(best.sd, np.std(measured, ddof=1))
    pairs = [[s.value for s in made.subject.plan.states[k : k + 2]] for k in range(0, 10, 2)]
    assert math.isclose(best.mean, min(map(np.mean, pairs)))
    card = re.search(r'<li class="tile double">.*?</li>', html(made))[0]
    assert f"<b>{best.result_text.partition(',')[0]}</b>" in card and "mean ± sd over 2 seeds (rows " in card
    drawn = sweep.parallel(made.subject.plan, made.subject.plan.states)
    assert drawn.drawing.count("data-k=") == 10 == len(drawn.table)
    (heat,) = heatmaps.heatmaps(made.subject.plan, made.subject.plan.states)
    pair = [s.value for s in made.subject.plan.states if s.values["model.attention.score.type"] == "dot" and s.k in (6, 7)]
    assert ["dot", "0.001", svg.number(np.mean(pair)), svg.number(np.mean(pair)), "2"] in heat.table
    assert "1 corrupt" in Page(html(made)).text and not decisions(made)


def test_rows_that_failed_or_lost_their_record_are_told(demo, tmp_path):
    copy = shutil.copytree(demo, tmp_path / "demo")
    rows = compute([copy]).subject.plan.states
    (copy / rows[3].run_id / "run.h5").unlink()  # this row was complete
    (copy / "failures").mkdir(exist_ok=True)
    (copy / "failures" / rows[11].run_id).write_text("train.en: no such file <b>\n")  # this row was planned
    (copy / "failures" / rows[0].run_id).write_text("of an attempt before\n")
    made = compute([copy])
    assert [made.subject.plan.states[k].state for k in (0, 3, 11)] == ["complete", "failed", "failed"]
    page = html(made)
    assert "failed</span>: train.en: no such file &lt;b&gt;</td>" in page and "of an attempt before" not in page


def test_a_parameter_of_many_values_is_binned():
    values = [10 ** (-4 + 3 * i / 39) for i in range(40)]
    bins = heatmaps.binned(values, "")
    assert len(bins) == heatmaps.BINS and all(sum(fits(v) for _, fits in bins) == 1 for v in values)
    assert [sum(fits(v) for v in values) for _, fits in bins] == pytest.approx(
        [40 / 6] * 6, abs=1
    )  # the bins have equal widths on the logarithmic scale


def test_a_sweep_without_its_records_is_read_from_its_index(demo, tmp_path):
    (tmp_path / "demo").mkdir()
    shutil.copy(demo / "plan.jsonl", tmp_path / "demo")
    shutil.copytree(demo / "bases", tmp_path / "demo/bases")
    ids = [s.run_id for s in compute([demo]).subject.plan.states]
    with h5py.File(tmp_path / "demo/sweep.h5", "w") as file:
        for name, values in (("run_id", ids), ("state", ["complete"] * 11 + ["failed"])):
            file.create_dataset(name, data=values, dtype=h5py.string_dtype())
        file["dev_loss"] = np.arange(12.0)[::-1]
    made = compute([tmp_path / "demo"])
    assert [s.state for s in made.subject.plan.states] == ["complete"] * 11 + ["failed"] and made.subject.plan.states[0].value == 11
    assert [s.k for s in made.subject.plan.best.complete] == [8, 9]
    assert "No run could be read." in html(made)


def flip(run: Path) -> None:
    content = bytearray((run / "run.h5").read_bytes())
    content[len(content) // 2] ^= 1
    (run / "run.h5").write_bytes(content)


def without(name: str, run: Path) -> None:
    with h5py.File(run / "run.h5", "a") as file:
        del file[name]


DAMAGE = {  # kind of damage: function, number of the four runs that can still be read
    "truncated": (truncate, 3),
    "flipped": (flip, 3),
    "journal": (lambda run: (run / "journal-001.jrnl").write_bytes(b"garbage" * 100), 4),
    "spec.yaml": (lambda run: (run / "spec.yaml").unlink(), 4),
    "recorded spec": (partial(without, "provenance/spec_yaml"), 3),
    "test": (partial(without, "test/by_length/label"), 4),
    "absent": (lambda run: (run / "run.h5").unlink(), 3),
}


@pytest.mark.parametrize("how", DAMAGE)
def test_a_corrupt_run_is_named_and_spoils_nothing(study, tmp_path, how):
    copy = shutil.copytree(study, tmp_path / "small")
    victim = sorted(copy.glob("reverse-none/*/run.h5"))[0].parent
    damage, kept = DAMAGE[how]
    damage(victim)
    done = report(copy)
    assert done.stderr.startswith(f"report: {victim}: ") and len(done.stderr.splitlines()) == 1
    page = (copy / "report.html").read_text()
    assert f"<b>{kept}</b><span>runs read" in page and f"reverse-none/{victim.name}</code>: " in page
    assert len(Page(page).figures) > 5


def test_a_page_about_nothing_is_refused(study, tmp_path):
    run = shutil.copytree(sorted(study.glob("reverse-none/*/run.h5"))[0].parent, tmp_path / "one")
    (run / "run.h5").write_bytes(b"nothing")
    assert "not an HDF5 file" in report(run, code=3).stderr and not (run / "report.html").exists()


def test_a_garbled_plan_or_study_is_named_and_the_runs_are_shown(study, demo, tmp_path):
    both = tmp_path / "all"
    copy, swept = shutil.copytree(study, both / "small"), shutil.copytree(demo, both / "demo")
    outcome = json.loads((copy / "study.json").read_text())
    parts = ("runs", "tables", "claims")
    lacking = [{name: value for name, value in outcome.items() if name != part} for part in parts]
    wrong = [outcome | {part: [{"rows": 7}]} for part in parts]
    for text in ("{", "{}", "[]", "1", "[" * 200_000 + "]" * 200_000, *map(json.dumps, [*lacking, *wrong])):
        (copy / "study.json").write_text(text)
        assert f"report: {copy}/study.json: " in report(copy).stderr, text[:100]
    assert "<b>4</b><span>runs read" in (copy / "report.html").read_text()
    for text in ("1", '{"claims": 1}'):  # the damaged study is one of two folders in this report
        (copy / "study.json").write_text(text)
        assert f"report: {copy}" in report(both).stderr and "small" in (both / "report.html").read_text()
        assert [part.folder.name for part in gather([both]).parts] == ["demo"]
    whole = (swept / "plan.jsonl").read_text()
    for text in ("rows: [{k: 0}", "", whole.replace('"seed":2', '"seed":7', 1)):
        (swept / "plan.jsonl").write_text(text)
        assert f"report: {swept}/plan.jsonl: changed since it was written" in report(swept).stderr
    assert "<b>10</b><span>runs read" in (swept / "report.html").read_text()


def test_odd_entries_below_a_folder_end_no_report(run, tmp_path):
    place = tmp_path / "all"
    shutil.copytree(run, place / "run")
    for name in ("loose", "odd/run.h5", "odd/study.json", "odd/identity.json", "run/spec.yaml"):
        (place / name).parent.mkdir(exist_ok=True)
        (place / name).unlink(missing_ok=True)
        (place / name).symlink_to("x" * 300)  # longer than a file name may be
    (place / "loop").symlink_to("loop")
    subprocess.run([sys.executable, "-c", "import os\nfor _ in range(1200): os.mkdir('d'), os.chdir('d')"], cwd=place, check=True)
    try:
        assert report(place).stderr == f"report: {place}/run: spec.yaml is missing\n"
    finally:
        subprocess.run(["rm", "-r", place / "d"], check=True)  # too deep for shutil.rmtree
    assert run.name in (place / "report.html").read_text()


def test_a_standard_output_that_is_full_or_closed_costs_a_line(run):
    for place, words in (("/dev/full", (run, "--force")), ("/dev/full", (run, "--checklist")), ("&-", (run, "--checklist"))):
        command = ["sh", "-c", f'"$@" >{place}', "sh", sys.executable, SCRIPT, *words]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        assert done.returncode == 1 and done.stderr.startswith("report: standard output: cannot be written: "), done.stderr
        assert len(done.stderr.splitlines()) == 1


def test_a_pipe_is_named_and_not_waited_for(study, demo, tmp_path):
    for number, (whole, name) in enumerate(((demo, "plan.jsonl"), (study, "study.json"), (study, "run.h5"), (study, "journal-001.jrnl"))):
        copy = shutil.copytree(whole, tmp_path / str(number))
        (place, *_) = [copy / name] if (copy / name).exists() else copy.glob(f"*/*/{name}")
        place.unlink()
        os.mkfifo(place)
        message = subprocess.run([PROGRAM, "report", copy], capture_output=True, text=True, timeout=60, check=True).stderr
        assert len([line for line in message.splitlines() if "is a pipe or a device" in line]) == 1, message


def test_words_cannot_become_markup(run, tmp_path):
    copy, evil = shutil.copytree(run, tmp_path / "run"), "</script><img src=x onerror=alert(1)>"
    with h5py.File(copy / "run.h5", "a") as file:
        file["alignments/cross/src_tokens"][0, 0] = evil
        spec = file["provenance/spec_yaml"].asstr()[()].replace('notes: ""', f"notes: '{evil}'")
        del file["provenance/spec_yaml"]
        file["provenance"].create_dataset("spec_yaml", data=spec, dtype=h5py.string_dtype())
    page = html(compute([copy]))
    assert "<img" not in page and "onerror" in page
    assert any(evil in text for text in data_of(page)["texts"])


def test_the_checklist_is_filled_from_the_records(study, demo):
    text = report(study, "--checklist").stdout
    runs = gather([study]).runs
    assert f"loss test {svg.number(runs[0]['test']['loss'])}, validation {svg.number(runs[0]['dev']['loss'])}" in text
    assert "train 200 sentences; dev 20 sentences; test 40 sentences" in text and "sd over 2 seeds" in text
    assert f"reverse / none: {runs[0]['record']['parameters']:,} parameters" in text
    report(study, "--checklist", "-o", study / "checklist.md")
    assert (study / "checklist.md").read_text() == text
    assert "MISSING: no sweep belongs to these runs" in text and "none: the symbols are made by the program" in text
    swept = report(demo, "--checklist").stdout
    assert "12 planned: 10 complete, 1 planned, 1 corrupt" in swept
    assert "train.optimizer.learning_rate: 0.001, 0.01, 0.03" in swept and "grid search, lowest dev/loss" in swept
    shown = Page(html(compute([demo]))).text
    assert "12 planned: 10 complete, 1 planned, 1 corrupt" in shown


def test_without_a_seed_beside_it_a_run_has_no_variation(run):
    text = report(run, "--checklist").stdout
    assert "MISSING: variation over seeds: one seed only" in text and "sd over" not in text
    assert "1 run reported" in text and re.findall(r"\n## .*", text) == re.findall(r"(?<=\n)\n## .*", text)


def test_a_model_without_attention_has_a_report(tmp_path):
    page = html(compute([make_run(tmp_path, "model.attention=none")]))
    assert "The records hold no attention matrices" in page and data_of(page)["panes"] == []
    assert len(data_of(page)["translations"][0]["sentence"]) == 40


def test_a_run_that_is_not_over_has_a_report(run, tmp_path):
    record = Path(shutil.copy(run / "run.h5", tmp_path))
    with h5py.File(record, "a") as file:
        for name in ("test", "parameters", "alignments/cross", "alignments/cross_search"):
            del file[name]
        file.attrs["state"] = np.bytes_("interrupted")
    page = html(compute([record]))
    assert "interrupted, 120 updates" in page and "Test metrics by source length" not in page
    assert [pane["module"] for pane in data_of(page)["panes"]] == ["cross_dev"]


def test_a_sweep_s_claims_are_judged_on_its_page_wherever_it_is_asked_from(tmp_path):
    claim = "loss(best where model.attention.score.type=dot) > 0"
    folder = make_sweep(tmp_path, SWEEP + f"claims:\n  - {{claim: {claim}, because: it is so}}\n")
    page = Page(html(compute([folder])))
    assert f"holds {claim}" in page.text and "because it is so" in page.text
    assert softalign("sweep", "status", folder, cwd=tmp_path.parent).count(f"holds: {claim}") == 1
    (tmp_path / "sweep.yaml").write_text("claims: 3\n")
    assert "its claims cannot be judged" in Page(html(compute([folder]))).text


def test_what_a_sweep_stopped_early_is_told(tmp_path):
    folder = make_sweep(tmp_path, SWEEP.replace("0.001, 0.01, 0.03", "1.0e-5, 0.01") + STOPPING)
    made = compute([folder / "plan.jsonl"])
    assert made.subject.problems == [] and len(made.subject.plan.states) == 8
    status = softalign("sweep", "status", "sweep.yaml", cwd=tmp_path)
    counts = dict(sweep.state_counts(made.subject.plan.states))
    assert counts["complete"] + counts["pruned"] == 8
    assert f"demo: {counts['complete']} complete, {counts['pruned']} pruned" in status
    best = made.subject.plan.best
    (rows,) = re.findall(r"^best dev/loss: .*\(rows? ([\d, ]+)\)$", status, re.M)
    assert rows == ", ".join(str(s.k) for s in best.complete) and f"best dev/loss: {best.mean:.4f}" in status
    assert made.subject.plan.in_all_rows == "train.epochs 3"
    assert {s.values["train.optimizer.learning_rate"] for s in made.subject.plan.states} == {1e-5, 0.01}
    found = decisions(made)
    stopped = {d.k for d in found if d.verdict == "stop"}
    assert stopped == {s.k for s in made.subject.plan.states if s.state == "pruned"} and stopped
    assert all(d.update >= 0 and d.value > d.cut for d in found if d.verdict.startswith("stop"))
    text = Page(html(made)).text
    assert all(d.rule in text for d in found)


def test_two_runs_are_set_beside_each_other(run, tmp_path):
    other = make_run(tmp_path, "model.attention.score={type: dot}")
    found = gather([run, other])
    assert found.kind == "runs" and len(found.series) == 2 and len(found.data["panels"]) == 1
    assert {p["set"] for p in data_of(html(compute([run, other])))["panes"]} == {"|test", "|dev"}


def test_of_many_runs_the_best_are_drawn_and_the_page_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(panels, "SHOWN", 2)
    rates = (0.0001, 0.03, 0.003)
    for metric, watched in (("dev/loss", ()), ("dev/token_accuracy", ("train.early_stopping={metric: dev/token_accuracy, patience: 9}",))):
        runs = [make_run(tmp_path, *watched, f"train.optimizer.learning_rate={rate}", f"seed={seed}") for rate in rates for seed in (1, 2)]
        made = compute(runs[::-1])
        name, better = metric.removeprefix("dev/"), min if metric == "dev/loss" else max
        values: dict[str, list[float]] = {}
        for run in made.subject.runs:
            with h5py.File(f"{run['place']}/run.h5") as file:
                dev = file[f"dev/{name}"][:]
            values.setdefault(run["series"], []).append(better(dev) if watched else dev[-1])
        best = sorted(values, key=lambda series: sum(values[series]), reverse=better is max)
        assert made.subject.series == best and len(best) == 3 and all(len(seeds) == 2 for seeds in values.values())
        page = html(made)
        assert page.count(f"Of 3 configurations the best 2 by {metric} are drawn, the best first") == 2
        assert page.index(best[0]) < page.index(best[1])


def test_an_open_question_is_answered_and_cannot_fail(study, tmp_path):
    copy = shutil.copytree(study, tmp_path / study.name)
    outcome = json.loads((copy / "study.json").read_text())
    for claim in outcome["claims"][:2]:
        claim["expect"] = "open"
    (copy / "study.json").write_text(json.dumps(outcome))
    assert re.findall(r'<span class="badge (\w+)">(open, [\w ]+)</span>', html(compute([copy]))) == [
        ("answered", "open, holds"), ("answered", "open, does not hold"), ("unmeasured", "open, not measured")]  # fmt: skip


def test_a_study_keeps_its_order(study, monkeypatch):
    monkeypatch.setattr(panels, "SHOWN", 1)
    made = compute([study])
    assert made.subject.series == ["none", "additive"]
    assert "Of 2 variants the first 1 of the study are drawn; its tables have all." in html(made)


def test_bleu_is_not_told_where_no_reference_has_four_words(tmp_path):
    tables = compute([make_run(tmp_path, "task.length.test=[2,3]")]).tables[""]
    assert "BLEU" not in {t.metric["title"] for t in tables} and "chrF2" in {t.metric["title"] for t in tables}
    some = make_run(tmp_path, "evaluate.lengths=[3]")
    for old in (False, True):
        if old:
            with h5py.File(some / "run.h5", "a") as file:
                file["test/by_length/bleu"][0] = 0.0  # as in records of older versions
        bleu = column_of(some, "BLEU")
        (column,) = bleu.columns.values()
        assert bleu.buckets == ["all", "1-3", "4+"] and [cell["mean"] is None for cell in column] == [False, True, False]


def test_a_page_of_several_places_overwrites_none_of_theirs(demo, study, run, tmp_path):
    (demo / "report.html").write_text("mine")
    assert "several places need -o" in report(demo, study, code=2).stderr
    done = subprocess.run([PROGRAM, "report", demo, study], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and (demo / "report.html").read_text() == "mine"
    report(demo, study, run, "-o", tmp_path / "joint.html")
    page = (tmp_path / "joint.html").read_text()
    (demo / "report.html").unlink()
    section = re.search(r'<section id="parts".*?</section>', page, re.S)[0]
    best = compute([demo]).subject.plan.best
    assert f"best dev/loss {best.result_text}: " in section and "12 rows: 10 complete, 1 planned" in section
    assert "1 of 2 claims hold" in section and "softalign report results/small</code>" in section
    assert section.count("<tr>") == 3 and 'id="sweep"' not in page and 'id="parts"' not in html(compute([demo]))
    assert "a search; only the report of each sweep describes it: demo" in report(demo, study, "--checklist").stdout
    shutil.copytree(demo, tmp_path / "results/demo")
    assert [p.folder.name for p in gather([tmp_path / "results"]).parts] == ["demo"]  # a folder of sweeps finds the same


def test_the_program_writes_the_report_and_passes_the_status_on(run, tmp_path):
    out = tmp_path / "out.html"
    assert softalign("report", run, "-o", out, cwd=tmp_path).strip() == str(out)
    assert out.read_text() == html(compute([run]))
    by_id = softalign("report", run.name[:6], "--results", run.parents[1], "--checklist", cwd=tmp_path)
    assert by_id.startswith("# Reproducibility checklist: tiny")
    empty = tmp_path / "empty"
    empty.mkdir()
    assert subprocess.run([PROGRAM, "report", empty], capture_output=True, check=False).returncode == 3


def test_what_cannot_be_written_or_found_is_said_in_one_line(run, tmp_path):
    (tmp_path / "file").write_text("")
    for place in (tmp_path / "file/report.html", tmp_path / ("x" * 300)):
        assert report(run, "-o", place, code=1).stderr.count("\n") == 1
    for place in (tmp_path / "absent", "x" * 300):
        assert report(place, "-o", tmp_path / "x.html", code=3).stderr.count("\n") == 1


def asked(*arguments: object, cwd: Path) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([PROGRAM, "report", *arguments], cwd=cwd, capture_output=True, timeout=300, check=False)


def test_only_a_report_is_replaced(run, tmp_path):
    copy = shutil.copytree(run, tmp_path / "run")
    assert asked(copy, cwd=tmp_path).returncode == 0 and asked(copy, cwd=tmp_path).returncode == 0
    assert asked(copy, "--checklist", "-o", "list.md", cwd=tmp_path).returncode == 0
    assert asked(copy, "--checklist", "-o", "list.md", cwd=tmp_path).returncode == 0
    for name in ("run.h5", "journal-001.jrnl", "spec.yaml"):
        before = (copy / name).read_bytes()
        refused = asked(copy, "-o", copy / name, cwd=tmp_path)
        assert refused.returncode == 2 and b"--force replaces it" in refused.stderr and (copy / name).read_bytes() == before
    (copy / "report.html").unlink()
    (copy / "report.html").symlink_to(copy / "run.h5")  # as in a folder from an untrusted source
    assert asked(copy, "--force", cwd=tmp_path).returncode == 2 and (copy / "run.h5").read_bytes() == (run / "run.h5").read_bytes()
    (copy / "report.html").unlink()
    os.mkfifo(copy / "report.html")  # a pipe without a reader
    assert asked(copy, cwd=tmp_path).returncode == 2


def test_names_may_begin_with_a_dash_and_hold_anything(run, tmp_path):
    for name in ("-r", "--", "a\x1b[31m\nb", os.fsdecode(b"\xff")):
        shutil.copytree(run, tmp_path / name)
        done = asked("--", name, cwd=tmp_path)
        assert done.returncode == 0 and (tmp_path / name / "report.html").exists(), done.stderr
        assert b"\x1b" not in done.stdout and done.stdout.count(b"\n") == 1
        done = asked(f"--output=-{name[-1:]}.html", "--", name, cwd=tmp_path)
        assert done.returncode == 0 and (tmp_path / f"-{name[-1:]}.html").exists(), done.stderr
        (tmp_path / name / "run.h5").write_bytes(b"no record")
        done = asked("--", name, cwd=tmp_path)
        assert done.returncode == 3 and done.stderr.count(b"\n") == 1 and b"\x1b" not in done.stderr + done.stdout


def test_a_killed_run_is_lost_here_as_in_ls(tmp_path):
    process = subprocess.Popen([PROGRAM, "run", TINY, "train.epochs=4000"], cwd=tmp_path, stderr=subprocess.DEVNULL)
    while not list(tmp_path.rglob("run.h5")):
        assert process.poll() is None
        time.sleep(0.05)
    (run,) = tmp_path.glob("results/*/*")
    page = html(compute([run]))
    assert "<dd>1: running</dd>" in page and "<td>running</td>" in page and "stopped without" not in page and "repeats it" not in page
    process.kill()
    process.wait()
    assert "lost" in softalign("ls", "results", cwd=tmp_path)
    page = html(compute([run]))
    assert "<dd>lost, " in page and "<dd>running" not in page and "<dd>1: stopped without a word</dd>" in page and "repeats it" not in page


def test_an_interrupt_ends_it_without_a_word(run, tmp_path):
    page = tmp_path / "page.html"
    for seconds in (0, 0.1, 0.2, 0.4):
        process = subprocess.Popen([PROGRAM, "report", run, "-o", page], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        maps = Path(f"/proc/{process.pid}/maps")
        while process.poll() is None and "numpy" not in maps.read_text():  # until Python has started and imports modules
            time.sleep(0.005)
        time.sleep(seconds)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        assert process.returncode in (-signal.SIGINT, 0), errors
        assert errors == b""
        assert [path.name for path in tmp_path.iterdir() if path != page] == []


def test_the_baseline_is_that_of_compare_and_not_the_best(demo):
    (panel,) = report_of([demo])["panels"]
    ids = [[run["run_id"] for run in group["runs"]] for group in panel["comparison"]["groups"]]
    compared = json.loads(softalign("compare", demo, "--json", cwd=demo, codes=(3,)))
    first = [run["run_id"] for run in compared["groups"][compared["baseline"] - 1]["runs"]]
    assert ids[panel["comparison"]["baseline"] - 1] == first != ids[0]
    page = html(compute([demo]))
    assert re.search(r"<small>[+−][\d.e−]+, n = \d", page)
    assert re.search(r"<td><b>[^<]+ \*</b>", page) and "* and bold: the best of its column" in page
    assert not re.search(r"<b>[^<]*<(br|small)", page)  # differences are not bold
    marked = re.search(r'<th scope="row" class="wrap">([^<]*) \(baseline\)</th>', page)
    assert marked and marked[1] == panel["series"][ids.index(first)]


def test_the_length_ratio_stands_beside_bleu_in_old_records_too(run, tmp_path):
    copy = shutil.copytree(run, tmp_path / "copy")
    with h5py.File(copy / "run.h5", "a") as file:
        ratio = file["test"].attrs["length_ratio"]
        del file["test"].attrs["length_ratio"], file["test/by_length/length_ratio"]
        lengths_of = file["test/bleu_stats"][:, :2].sum(axis=0)
    assert ratio == lengths_of[0] / lengths_of[1]
    for place in (run, copy):
        compared = json.loads(softalign("compare", place, "--json", cwd=tmp_path))
        assert [m["name"] for m in compared["metrics"]][-2:] == ["length_ratio", "bleu"]
        assert compared["groups"][0]["metrics"]["length_ratio"]["mean"] == ratio
        (column,) = column_of(place, "length ratio").columns.values()
        assert column[0]["mean"] == ratio


def test_the_summary_of_several_runs_has_what_they_share(study):
    facts = dict(common_facts(gather([study]).runs))
    assert {"code", "machine", "data", "time"} <= set(facts) and facts["data"].count("test 40 sentences") == 1


def test_a_study_without_its_plan_has_its_name(study, tmp_path):
    copy = shutil.copytree(study, tmp_path / "copy")
    (copy / "plan.jsonl").unlink()
    assert '<p class="kind">Study</p>\n<h1 id="title">small</h1>' in html(compute([copy]))


def test_runs_of_one_name_on_other_sentences_have_a_panel_each(tmp_path):
    make_run(tmp_path)
    make_run(tmp_path, "task.examples.test=30")
    assert [panel["name"] for panel in report_of([tmp_path / "results/tiny"])["panels"]] == ["tiny", "tiny (2)"]
    assert "<section id=\"lengths\"" in html(compute([tmp_path / "results/tiny"]))


def test_a_damaged_unit_of_length_is_told(run, tmp_path):
    copy = shutil.copytree(run, tmp_path / "run")
    with h5py.File(copy / "run.h5", "a") as file:
        file["test"].attrs["length_unit"] = "x" * 3000
    done = subprocess.run([ROOT / "scripts/figures.py", "lengths", copy, "--output", tmp_path / "x"], capture_output=True, text=True, check=False)
    assert done.returncode and "Traceback" not in done.stderr and "length_unit" in done.stderr
