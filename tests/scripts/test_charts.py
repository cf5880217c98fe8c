"""The charts of pages and figures, on records made here in the layout documented in results/record.md."""

from pathlib import Path

import h5py
import numpy as np
import pytest
from made_records import BUCKETS, write_record

from softalign_tools import charts, drawing, figures, paper_lines
from softalign_tools.matrices import alignment, chosen_pane, lengths_of
from softalign_tools.program import report_of

PUBLISHED = Path(__file__).parents[2] / "results/published"


def data_of(*places: Path, smooth: int = 1) -> charts.Json:
    return report_of(places, "--resamples=0", f"--smooth={smooth}")


def test_images_are_not_as_long_as_their_digits_are_many():
    (run,) = data_of(PUBLISHED / "images.h5")["runs"]
    assert run["record"]["spec"]["task"]["length"]["train"] and charts.trained_lengths(run) is None


def test_text_is_as_long_as_its_bound_only_where_the_bound_left_some_out():
    (run,) = data_of(PUBLISHED / "subwords.h5")["runs"]
    assert run["record"]["data"]["train"]["dropped_too_long"] == 0 and charts.trained_lengths(run) is None
    run["record"]["data"]["train"]["dropped_too_long"] = 1
    assert charts.trained_lengths(run) == (None, run["record"]["spec"]["task"]["max_length"])


def test_a_run_is_drawn_as_it_was_written(tmp_path):
    data = data_of(write_record(tmp_path, "additive"))
    (run,), (panel,), texts = data["runs"], data["panels"], data["alignments"]["texts"]
    pane = chosen_pane(data["alignments"]["panes"])
    assert (charts.trained_lengths(run), lengths_of(pane, texts)) == ((4, 30), {5: 12, 12: 44})
    chart = paper_lines.lengths(data, panel, "sd")["token_accuracy"]
    assert chart.ticks == BUCKETS and chart.counts[0] == "121" and 95 < chart.lines[0].mean[0] <= 100
    assert list(charts.curves(panel)["dev/perplexity"].lines[0].at) == list(range(0, 2000, 250))
    short = alignment(pane, 5, texts)
    assert short.weights.shape == (13, 13) and short.source[:12] == short.target[:12][::-1]
    assert short.weights.sum(1) == pytest.approx(np.ones(13), abs=13 * 0.5 / 255)
    for sentence, n in ((5, 12), (12, 44)):
        item = alignment(pane, sentence, texts)
        assert (item.gold[:n, :n][::-1] == 2 * np.eye(n)).all()
        assert (item.weights.argmax(1)[:n] == item.gold.argmax(1)[:n]).all()


def test_runs_have_the_names_that_the_program_gives_them(tmp_path):
    for score, seed in (("none", 1), ("dot", 1)):
        write_record(tmp_path, score, seed)
    data = data_of(tmp_path)
    assert figures.titles_of(data, [0, 1]) == {0: "dot", 1: "none"}
    write_record(tmp_path, "dot", 2)
    data = data_of(tmp_path)
    assert set(figures.titles_of(data, [0, 1, 2]).values()) == {"dot, seed 1", "dot, seed 2", "none"}
    lines = paper_lines.curve(data, "dev/perplexity", "sd").lines
    assert [(line.series, line.seeds) for line in lines] == [("none", [1]), ("dot", [1, 2])]  # the usual order of names


def test_a_mean_and_its_bands(tmp_path):
    for seed, end in ((1, 2.0), (2, 4.0)):
        with h5py.File(write_record(tmp_path, "dot", seed), "a") as file:
            file["dev/perplexity"][-1] = end
    lines = {band: paper_lines.curve(data_of(tmp_path), "dev/perplexity", band).lines[0] for band in ("sd", "range", "none")}
    assert all(line.mean[-1] == 3 for line in lines.values())
    assert [lines["sd"].low[-1], lines["sd"].high[-1]] == pytest.approx([3 - 2**0.5, 3 + 2**0.5])
    assert [lines["range"].low[-1], lines["range"].high[-1]] == [2, 4] and np.isnan(lines["none"].low).all()


def test_only_complete_runs_enter_a_mean(tmp_path):
    for seed, state in ((1, "complete"), (2, "interrupted")):
        write_record(tmp_path, "dot", seed, state=state)
    (line,) = paper_lines.curve(data_of(tmp_path), "dev/perplexity", "sd").lines
    assert line.seeds == [1] and line.left_out == [str(tmp_path / "dot-2")]
    (line,) = paper_lines.curve(data_of(tmp_path / "dot-2"), "dev/perplexity", "sd").lines
    assert line.seeds == [2] and not line.left_out


def test_a_run_that_is_there_twice_is_read_once_where_it_is_complete(tmp_path):
    half = write_record(tmp_path / "half", "dot", state="interrupted")
    whole = write_record(tmp_path / "whole", "dot")
    with h5py.File(half, "a") as one, h5py.File(whole, "a") as other:
        one.attrs["run_id"] = other.attrs["run_id"]
    data = data_of(tmp_path, whole)
    assert [run["place"] for run in data["runs"]] == [str(whole.parent)]
    assert data["problems"] == [{"place": str(half.parent), "text": f"left out: the same run as in {whole.parent}"}]


def test_the_beginning_of_an_id_names_a_run(tmp_path, monkeypatch):
    write_record(tmp_path / "results", "dot").parent.rename(tmp_path / "results/0123456789abcdef")
    monkeypatch.chdir(tmp_path)
    data = data_of(Path("0123"), Path("4567"))
    assert [run["place"] for run in data["runs"]] == ["results/0123456789abcdef"]
    assert [problem["place"] for problem in data["problems"]] == ["4567"]


def test_a_usual_name_keeps_its_look_whatever_stands_beside_it():
    together = drawing.looks(["none", "dot", "additive", "cosine", "mine"])
    assert together["dot"] == drawing.looks(["dot"])["dot"]
    assert len({str(look) for look in together.values()}) == 5
    assert len({str(look) for look in drawing.looks(map(str, range(60))).values()}) == 60


@pytest.mark.parametrize("length, x", [(0, -0.5), (10, 0.5), (15, 1.0), (30, 2.5), (60, 5.5), (99, 5.5)])
def test_a_length_lies_in_its_bucket(length, x):
    assert drawing.place(length, BUCKETS) == pytest.approx(x)


def test_open_buckets_end_the_axis():
    assert drawing.bounds("61+") == (61, float("inf"))
    assert drawing.place(70, ["1-60", "61+"]) == 1.5
