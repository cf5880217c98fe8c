"""Figures for papers: they show the values of the records, are reproducible, and errors are reported."""

import math
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import figures
import h5py
import numpy as np
import pytest
from made_records import TEXT, change_spec, write_alignments, write_images, write_record
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.figure import Figure
from matplotlib.image import imread
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.text import Text

from softalign_tools import drawing
from softalign_tools import figures as paper_figures
from softalign_tools import fonts, matrices, paper_all, paper_grids, paper_lines, sweep_table
from softalign_tools.charts import Chart, Json, Line
from softalign_tools.program import RecordError, report_of


@pytest.fixture(autouse=True)
def style():
    drawing.set_style("serif")


def data_of(*places: Path) -> Json:
    return report_of(places, "--resamples=0")


def by_length(place: Path, metrics: list[str], width: str, band: str = "sd") -> Figure:
    data = data_of(place)
    made = paper_lines.lengths(data, data["panels"][0], band)
    return paper_lines.draw_lengths([made[metric] for metric in metrics], width, paper_lines.trained_on(data, data["panels"][0]))


def item_of(path: Path, sentence: int, module: str = "") -> matrices.Alignment:
    found = data_of(path)["alignments"]
    return matrices.alignment(matrices.chosen_pane(found["panes"], module), sentence, found["texts"])


def run(*arguments: object, seed: str = "0") -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, figures.__file__, *map(str, arguments)], capture_output=True, text=True, check=False,
                          env={**os.environ, "PYTHONHASHSEED": seed})  # fmt: skip


@pytest.fixture
def refused(capsys) -> Callable[..., str]:
    """Returns a function that runs figures.py, checks its exit status and returns the last line of its errors."""

    def check(status: int, *arguments: object) -> str:
        try:
            ended = figures.main([str(argument) for argument in arguments])
        except SystemExit as exit:  # by argparse
            ended = exit.code
        message = capsys.readouterr().err.splitlines()[-1]
        assert ended == status, message
        return message

    return check


def write_curve(path: Path, updates: list[int], values: list[float], series: str = "dev") -> Path:
    with h5py.File(path, "a") as file:
        if series in file:
            del file[series]
        file[f"{series}/update"], file[f"{series}/loss"] = updates, np.array(values, float)
    return path


def write_sweep(folder: Path, rows: list[dict[str, object]], goal: str = "minimize") -> Path:
    folder.mkdir(exist_ok=True)
    with h5py.File(folder / "sweep.h5", "w") as file:
        file.attrs["format"], file.attrs["metric"] = np.bytes_("softalign-sweep"), np.bytes_("dev/loss")
        file.attrs["goal"] = np.bytes_(goal)
        file["run"] = np.arange(len(rows))
        for name in rows[0]:
            values = [row[name] for row in rows]
            file.create_dataset(name, data=values, dtype=TEXT if isinstance(values[0], str) else None)
    return folder


def table_of(sweep: Path) -> sweep_table.SweepTable:
    return sweep_table.SweepTable(**data_of(sweep)["table"])


def grid_rows(**more: object) -> list[dict[str, object]]:
    """Learning rates 0.1, 0.01 and units 8, 16, two seeds; the loss of (0.01, 16) is missing. All other losses differ."""
    return [{"seed": seed, "model.encoder.units": units, "train.rate": rate, **more,
             "dev_loss": math.nan if (rate, units) == (0.01, 16) else 10 * rate + units + seed, "dev_loss_best": units - rate}
            for rate in (0.1, 0.01) for units in (8.0, 16.0) for seed in (1, 2)]  # fmt: skip


def test_lengths_are_the_mean_and_deviation_over_seeds(tmp_path):
    for score in ("additive", "dot"):
        for seed in (1, 2, 3):
            write_record(tmp_path, score, seed)
    figure = by_length(tmp_path, ["bleu", "perplexity"], "column")
    assert figure.get_size_inches()[0] == pytest.approx(3.03)
    for axis, metric in zip(figure.axes, ("bleu", "perplexity")):
        bars = [item for item in axis.collections if isinstance(item, LineCollection)]
        assert len(axis.lines) == len(bars) == 2
        for line, bar, score in zip(axis.lines, bars, ("additive", "dot")):
            values = np.array([h5py.File(tmp_path / f"{score}-{seed}/run.h5")[f"test/by_length/{metric}"][:] for seed in (1, 2, 3)])
            mean, deviation = values.mean(0), values.std(0, ddof=1)
            assert deviation.max() > 0.1
            assert np.round(line.get_xdata()).tolist() == list(range(6))
            assert line.get_ydata() == pytest.approx(mean)
            ends = np.array([segment[:, 1] for segment in bar.get_segments()])
            limits = (0, 100) if metric == "bleu" else (1, math.inf)
            assert ends[:, 0] == pytest.approx(np.clip(mean - deviation, *limits)) and ends[:, 1] == pytest.approx(np.clip(mean + deviation, *limits))
    ticks = [tick.get_text() for tick in figure.axes[0].get_xticklabels()]
    assert ticks[0].split() == ["1–10", "121"] and ticks[5].split() == ["51–60", "172"]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["additive", "dot"]


def test_a_single_run_has_no_band(tmp_path):
    figure = by_length(write_record(tmp_path, "dot"), ["token_accuracy"], "page")
    assert not [item for item in figure.axes[0].collections if isinstance(item, LineCollection)] and not figure.legends


def test_runs_that_differ_in_more_than_their_seed_are_apart(tmp_path):
    for seed in (1, 2):
        write_record(tmp_path, "dot", seed)
    change_spec(write_record(tmp_path, "dot", 3), "model: {", "train: {epochs: 3}\nmodel: {")
    assert [line.seeds for line in paper_lines.curve(data_of(tmp_path), "dev/perplexity", "sd").lines] == [[1, 2], [3]]


def test_curves_are_drawn_where_all_seeds_have_a_value(tmp_path):
    write_curve(write_record(tmp_path, "dot", 1), [10, 20, 30], [4, 2, 1])
    write_curve(write_record(tmp_path, "dot", 2), [10, 20], [2, 1])
    figure = paper_lines.draw_curves([paper_lines.curve(data_of(tmp_path), "dev/loss", "range")], "column")
    (axis,) = figure.axes
    assert axis.lines[0].get_xydata().tolist() == [[10, 3], [20, 1.5]]
    (band,) = [item for item in axis.collections if isinstance(item, PolyCollection)]
    assert {(10, 2), (10, 4), (20, 1), (20, 2)} <= set(map(tuple, band.get_paths()[0].vertices.tolist()))
    ended = run("curves", tmp_path, "--output", tmp_path / "curve")
    assert ended.returncode == 0 and "toy-dot: drawn up to update 20, the last with dev/loss in all its runs" in ended.stderr


def test_a_single_evaluation_is_a_point(tmp_path):
    for seed, loss in ((1, 4), (2, 2)):
        write_curve(write_record(tmp_path, "dot", seed), [10], [loss])
    (axis,) = paper_lines.draw_curves([paper_lines.curve(data_of(tmp_path), "dev/loss", "range")], "column").axes
    assert axis.lines[0].get_xydata().tolist() == [[10, 3]] and axis.lines[0].get_marker() not in ("", "None")
    (bar,) = [item for item in axis.collections if isinstance(item, LineCollection)]
    assert bar.get_segments()[0].tolist() == [[10, 2], [10, 4]]
    assert run("curves", tmp_path, "--output", tmp_path / "curve").returncode == 0


def test_another_name_changes_no_colour(tmp_path):
    for score in ("additive", "dot", "general"):
        write_record(tmp_path, score)
    chart = paper_lines.curve(data_of(tmp_path), "dev/perplexity", "sd")
    (renamed,) = paper_figures.renamed([chart], {"additive": "zzz", "dot": "general", "general": "dot"})
    before, after = (paper_lines.draw_curves([one], "column") for one in (chart, renamed))
    colours = [[line.get_color() for line in figure.axes[0].lines] for figure in (before, after)]
    assert colours[0] == colours[1] and len(set(colours[0])) == 3
    assert [text.get_text() for text in after.legends[0].get_texts()] == ["zzz", "general", "dot"]


def test_neighbouring_numbers_are_one_span():
    assert [paper_figures.spans(some) for some in ([], [3], [0, 1, 2, 5, 7, 8])] == ["", "3", "0 to 2, 5, 7 to 8"]


def test_a_legend_of_long_names_stays_in_its_figure():
    names = [f"score.type additive, score.units {i}, decoder.units 16, encoder.units 16, snapshots 2, epochs {i}" for i in range(17)]
    chart = Chart("BLEU", "percent", (0, 100), [Line(name, [0, 1], [i, i + 1]) for i, name in enumerate(names)], ticks=["1-10", "11+"], counts=["3", "4"])
    figure = paper_lines.draw_lengths([chart], "column", {None})
    figure.canvas.draw()
    (legend,) = figure.legends
    box, axis = legend.get_window_extent(), figure.axes[0].get_window_extent()
    assert 0 <= box.x0 and box.x1 <= figure.bbox.x1 and axis.y1 <= box.y0 and box.y1 <= figure.bbox.y1
    assert axis.height / figure.dpi > 0.8
    assert [text.get_text().replace("\n", " ") for text in legend.get_texts()] == names


@pytest.mark.parametrize("count", [1, 5, 9, 14])
def test_a_legend_is_read_row_by_row(count: int):
    names = [f"additive-{i}" for i in range(count)]
    figure = drawing.Drawing(figsize=(7.4, 3), layout="constrained")
    drawing.legend_above(figure, [Line2D([], [], label=name) for name in names])
    figure.canvas.draw()
    rows: dict[int, list[tuple[float, str]]] = {}
    for text in figure.legends[0].get_texts():
        box = text.get_window_extent()
        rows.setdefault(-round(box.y0), []).append((box.x0, text.get_text()))
    assert [name for _, row in sorted(rows.items()) for _, name in sorted(row)] == names
    assert max(map(len, rows.values())) - min(map(len, rows.values())) < len(rows)


def test_a_letter_that_the_fonts_lack_takes_finite_room():
    drawing.set_style("serif")
    for words in ("\u6f22", "\u200b", " ", ""):  # drawn in another font or as a box; without an outline
        assert 0 <= drawing.text_width(words, 8) < 1.2 * 8 / 72


def with_words(path: Path, words: list[str], sentence: int = 0) -> Path:
    """Replaces the first words of a sentence, in source and target."""
    with h5py.File(path, "a") as file:
        group = file["alignments/cross"]
        group["src_tokens"][sentence, : len(words)] = words
        group["tgt_tokens"][0, sentence, : len(words)] = words
    return path


def test_words_that_draw_nothing_are_shown_by_their_numbers(tmp_path):
    path = with_words(write_record(tmp_path, "dot", lengths=(6,)), ["\u200d", "\ufeff", "\u200b\u3000", "\ufeffa", "a\u200db", " "])
    assert item_of(path, 5).source[:6] == ["U+200D", "U+FEFF", "U+200B U+3000", "U+FEFFa", "a\u200db", " "]
    ended = run("alignments", path, "--sentences", "5", "--output", tmp_path / "x")
    assert ended.returncode == 0 and len(ended.stdout.split()) == 2, ended.stderr


@pytest.mark.parametrize("error, status", [(IndexError("string index out of range"), 1), (RecordError("damaged"), 3)])
def test_a_figure_that_cannot_be_drawn_stops_no_other(tmp_path, monkeypatch, capsys, error, status):
    def fails(*_: object) -> Figure:
        raise error

    monkeypatch.setattr(paper_all, "curves", fails)
    write_record(tmp_path / "runs", "dot")
    (tmp_path / "out").mkdir()
    (tmp_path / "out/reverse_alignment_12.pdf").write_text("not ours")
    assert figures.main(["all", str(tmp_path / "runs"), "--output", str(tmp_path / "out")]) == status  # the status of the first fault
    captured = capsys.readouterr()
    assert str(error) in captured.err and "reverse_alignment_12.pdf: exists" in captured.err and "Traceback" not in captured.err
    assert [Path(line).name for line in captured.out.split()] == [f"reverse_{name}.{kind}" for name in ("by_length", "alignment_5") for kind in ("pdf", "png")]


def test_letters_that_the_fonts_of_a_figure_lack_are_drawn_in_one_that_has_them(tmp_path):
    """The section [tests] of packages.txt has a Chinese font."""
    path = with_words(write_record(tmp_path, "dot", lengths=(6,)), ["漢字", "日本", "ab"])
    for style in ("serif", "sans"):
        ended = run("alignments", path, "--sentences", "5", "--font", style, "--output", tmp_path / style)
        assert (ended.returncode, ended.stderr) == (0, "")
        pdf = (tmp_path / f"{style}.pdf").read_bytes()
        assert re.findall(rb"/BaseFont /\S*(Droid|Noto|WenQuan|IPA|VL|WQY|unifont)", pdf, re.IGNORECASE), re.findall(rb"/BaseFont /\S+", pdf)


def test_letters_that_no_font_has_are_named_with_a_package(tmp_path, monkeypatch, capsys):
    for function in (fonts.installed, fonts.family_with, fonts.note_missing):
        function.cache_clear()
    monkeypatch.setattr(fonts.font_manager, "findSystemFonts", lambda: [__file__])  # this file is not a font
    path = with_words(write_record(tmp_path, "dot", lengths=(6,)), ["漢字", "अ"])
    assert figures.main(["alignments", str(path), "--sentences", "5", "--output", str(tmp_path / "x")]) == 0
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith("no font here has अ字漢: apt-get install fonts-noto-core fonts-wqy-zenhei")
    for function in (fonts.installed, fonts.family_with):
        function.cache_clear()


def test_panels_of_several_series_say_which(tmp_path):
    path = write_record(tmp_path, "dot")
    for series in ("dev", "train"):
        write_curve(path, [10, 20], [2, 1], series)
    data = data_of(path)
    train, dev = (paper_lines.curve(data, f"{split}/loss", "sd") for split in ("train", "dev"))
    both = paper_lines.draw_curves([train, dev], "page")
    assert [axis.get_ylabel().rpartition(", ")[2] for axis in both.axes] == ["train", "dev"]
    (alone,) = paper_lines.draw_curves([dev], "page").axes
    assert "dev" not in alone.get_ylabel()


def test_smoothed_curves_are_means_of_successive_updates(tmp_path):
    path = write_curve(write_record(tmp_path, "dot"), [1, 2, 3, 4, 5], [8, 6, 4, 2, 9], "train")
    (line,) = paper_lines.curve(report_of([path], "--resamples=0", "--smooth=2"), "train/loss", "sd").lines
    assert line.at == [2, 4] and line.mean == [7, 3]


def test_matrices_are_those_of_the_record_with_their_words_and_links(tmp_path):
    path = write_record(tmp_path, "dot", lengths=(14, 19))
    items = [item_of(path, sentence) for sentence in (12, 5)]
    with h5py.File(path) as file:
        assert np.abs(items[0].weights - file["alignments/cross/weights"][0, 1, 0]).max() <= 0.5 / 255 + 1e-6
    items = [replace(item, gold=np.roll(item.gold, 1, axis=0)) for item in items]  # so that the links are not symmetric
    figure, size = paper_grids.draw_alignments([(str(item.sentence), item) for item in items], "column")
    assert 5 < size <= 7 and figure.get_size_inches()[0] == pytest.approx(3.03)
    for axis, item in zip(figure.axes, items):
        assert (axis.images[0].get_array() == item.weights).all() and axis.images[0].get_clim() == (0, 1)
        assert [tick.get_text() for tick in axis.get_xticklabels()] == item.source
        assert [tick.get_text() for tick in axis.get_yticklabels()] == item.target
        links = {(int(p.get_y() + 0.5), int(p.get_x() + 0.5)) for p in axis.patches if isinstance(p, Rectangle)}
        assert links == set(map(tuple, np.argwhere(item.gold == 2).tolist()))
    boxes = [axis.get_tightbbox(figure.canvas.get_renderer()) for axis in figure.axes]
    assert all(box.x0 >= 0 and box.x1 <= figure.bbox.x1 and box.y0 >= 0 and box.y1 <= figure.bbox.y1 for box in boxes)
    assert not boxes[0].overlaps(boxes[1])


def test_of_many_frames_some_numbers_are_written_and_those_of_a_word_have_one_outline():
    gold = np.zeros((2, 150), np.uint8)
    gold[0, :60], gold[1, 60:], gold[1, 149] = 2, 2, 1
    item = matrices.Alignment(0, [f"#{k}" for k in range(150)], ["a", "b"], np.eye(2, 150), gold)
    figure, size = paper_grids.draw_alignments([("x", item)], "page")
    axis = figure.axes[0]
    assert [label.get_text() for label in axis.get_xticklabels()] == [f"#{k}" for k in range(0, 150, 10)] and size >= drawing.SMALLEST
    boxes = [(box.get_x() + 0.5, box.get_y() + 0.5, box.get_width()) for box in axis.patches if box.get_zorder() in (2, 3)]
    assert sorted(boxes) == [(0, 0, 60), (60, 1, 89), (149, 1, 1)]
    few = matrices.Alignment(0, ["#0", "#1", "#2"], ["a", "b"], np.eye(2, 3), None)
    short, _ = paper_grids.draw_alignments([("x", few)], "column")
    assert [label.get_text() for label in short.axes[0].get_xticklabels()] == ["#0", "#1", "#2"]


def test_images_lie_over_the_attention_of_each_word(tmp_path):
    path = write_record(tmp_path, "dot", lengths=(6, 4))
    inks = write_images(path, "test", side=2, height=4)
    items = [item_of(path, sentence) for sentence in (0, 1)]
    assert [item.image.ink.shape for item in items] == [(4, 6), (4, 4)]
    # Positions computed by hand: cells of 2 x 2 pixels, two per column.
    assert items[0].image.position.tolist() == [[0, 0, 2, 2, 4, 4]] * 2 + [[1, 1, 3, 3, 5, 5]] * 2
    figure = paper_grids.draw_images([("", item) for item in items], "column")
    words = [(item, ink, row) for item, ink in zip(items, inks) for row in range(len(item.target))]
    axes = [axis for axis in figure.axes if len(axis.images) == 2]
    assert len(axes) == len(words) == 7 + 5
    for axis, (item, ink, row) in zip(axes, words):
        shade, black = (image.get_array() for image in axis.images)
        assert (shade == item.weights[row][item.image.position]).all() and axis.images[0].get_clim() == (0, 1)
        assert np.asarray(black)[..., 3] == pytest.approx(0.85 * ink, abs=0.02)
        lines = [segment for lines in axis.collections for segment in lines.get_segments()]
        linked = (item.gold[row][item.image.position] == 2).sum()
        assert len(lines) == (8 if linked else 0)  # the edges of one cell
    texts = [text.get_text() for text in figure.texts]
    assert texts[: len(words)] == [item.target[row] for item, _, row in words]


def test_only_images_are_drawn_as_images(refused, tmp_path):
    path = write_record(tmp_path, "dot")
    refused(3, "images", path, "--sentences", "5", "--output", tmp_path / "x")


def test_panels_that_belong_together_share_a_row(tmp_path):
    item = item_of(write_record(tmp_path, "dot", lengths=(9,)), 5)
    six = [("", item)] * 6
    width = next(0.1 * w for w in range(10, 63) if paper_grids.columns_of(six, 1, 0.1 * w) == 3)
    assert paper_grids.columns_of(six, 2, width) == 2 and paper_grids.columns_of(six, 3, width) == 3
    assert paper_grids.columns_of(six[:4], 1, 6.3) == 4


def test_a_heatmap_has_the_means_over_seeds(tmp_path):
    table = table_of(write_sweep(tmp_path / "sweep", grid_rows()))
    assert table.parameter("units") == "model.encoder.units" and table.measured(None) == "dev_loss"
    found = sweep_table.cells(table, "train.rate", "model.encoder.units", "dev_loss", {}, False)
    assert (found.x, found.y, found.n.tolist()) == (["0.01", "0.1"], ["8", "16"], [[2, 2], [0, 2]])
    assert found.values == pytest.approx(np.array([[9.6, 10.5], [math.nan, 18.5]]), nan_ok=True)
    figure = paper_grids.draw_heatmap(found, ("rate", "units"), "dev loss", "column", "minimize")
    axis = figure.axes[0]
    assert (axis.images[0].get_array().filled(math.nan)[0] == found.values[0]).all() and axis.images[0].origin == "lower"
    written = {text.get_position(): text.get_text() for text in axis.texts}
    assert written == {(0, 0): "9.6", (1, 0): "10.5", (0, 1): "–", (1, 1): "18.5"}
    assert [patch.get_xy() for patch in axis.patches] == [(-0.5, -0.5)]  # the best
    (best,) = paper_grids.draw_heatmap(found, ("rate", "units"), "dev loss", "column", "maximize").axes[0].patches
    assert best.get_xy() == (0.5, 0.5)


def test_other_parameters_are_chosen_or_taken_at_their_best(tmp_path):
    rows = [*grid_rows(score="dot"), *[{**row, "dev_loss": row["dev_loss"] - 1} for row in grid_rows(score="additive")]]
    table = table_of(write_sweep(tmp_path / "sweep", rows))
    ask = (table, "train.rate", "model.encoder.units", "dev_loss")
    with pytest.raises(sweep_table.ChoiceError):
        sweep_table.cells(*ask, {}, False)
    assert sweep_table.cells(*ask, {"score": "dot"}, False).values[0, 0] == pytest.approx(9.6)
    assert sweep_table.cells(*ask, {}, True).values[0, 0] == pytest.approx(8.6)
    greatest = table_of(write_sweep(tmp_path / "sweep", rows, "maximize"))
    assert sweep_table.cells(greatest, *ask[1:], {}, True).values[0, 0] == pytest.approx(9.6)


@pytest.fixture
def commands(tmp_path) -> dict[str, list[object]]:
    for seed in (1, 2):
        write_curve(write_record(tmp_path / "runs", "dot", seed), [10, 20], [seed, 1])
    sweep = write_sweep(tmp_path / "sweep", grid_rows())
    write_images(write_record(tmp_path, "general", lengths=(6, 4)), "test", side=2, height=4)
    return {"lengths": [tmp_path / "runs"], "images": [tmp_path / "general-1/run.h5", "--sentences", "0,1"], "curves": [tmp_path / "runs"], "heatmap": [sweep],
            "alignments": [tmp_path / "runs/dot-1/run.h5", "--sentences", "5"]}  # fmt: skip


@pytest.mark.parametrize("command", ["lengths", "curves", "alignments", "images", "heatmap"])
def test_the_same_files_give_the_same_bytes_with_fonts_in_them(commands, tmp_path, command):
    stems = [tmp_path / "one", tmp_path / "two"]
    for stem, seed in zip(stems, "12"):
        ended = run(command, *commands[command], "--output", stem, seed=seed)
        assert ended.returncode == 0 and ended.stdout.split() == [f"{stem}.pdf", f"{stem}.png"], ended.stderr
    for kind in (".pdf", ".png"):
        one, two = (stem.with_suffix(kind).read_bytes() for stem in stems)
        assert one == two
    pdf = stems[0].with_suffix(".pdf").read_bytes()
    assert b"Date" not in pdf and b"/FontFile2" in pdf and b"/Type3" not in pdf
    assert b"/MediaBox [ 0 0 218.16 " in pdf  # 3.03 in


def test_what_is_asked_wrongly_ends_with_2(refused, commands, tmp_path):
    runs, sweep = commands["lengths"][0], commands["heatmap"][0]
    other = change_spec(write_record(tmp_path / "other", "none"), "symbols: 32", "symbols: 33")  # other test data
    for words in (
        ["lengths", runs, "--metric", "bleus"],
        ["curves", runs, "--metric", "dev/bleu"],
        ["alignments", *commands["alignments"][:2], "5,6"],
        ["heatmap", sweep, "--x", "epochs", "--y", "units"],
        ["heatmap", sweep, "--x", "units"],
        ["heatmap", *commands["heatmap"], "--metric", "test/bleu"],
        ["heatmap", *commands["heatmap"], "--where", "rate=7"],
        ["lengths", runs, "--name", "dit=Dot"],
        ["lengths", runs, "--height", "0"],
        ["lengths", runs, other],
        ["curves", runs, "--metric", "train/loss", "--smooth", "9" * 30],
        *(["curves", runs, "--metric", name] for name in ("/", "a/", "/a", "a,,b", "a/b/c")),
    ):
        refused(2, *words, "--output", tmp_path / "x")
    for name in ("", "/", ".", ".."):
        refused(2, "lengths", runs, "--output", name)
    assert not list(tmp_path.glob("x.*"))


def test_data_that_is_wrong_or_missing_ends_with_3(refused, commands, tmp_path):
    (tmp_path / "bad.h5").write_bytes(b"nothing")
    nameless = write_record(tmp_path / "nameless", "dot")
    with h5py.File(nameless, "a") as file:
        del file["provenance/identity_json"]
    (tmp_path / "odd").mkdir()
    (tmp_path / "odd/run.h5").symlink_to("x" * 300)
    (tmp_path / "loop.h5").symlink_to("loop.h5")
    begun, vanilla = write_record(tmp_path / "begun", "dot", state="begun"), write_record(tmp_path / "vanilla", "none")
    for place in (tmp_path / "bad.h5", begun, tmp_path / "odd", tmp_path / "loop.h5", tmp_path / "absent", "x" * 300):
        refused(3, "lengths", place, "--output", tmp_path / "x")
    for place in (tmp_path / "absent", commands["alignments"][0], "x" * 300):
        refused(3, "heatmap", place, "--x", "a", "--y", "b", "--output", tmp_path / "x")
    for place, *more in ([vanilla], [nameless], [nameless, "--module", "cross"]):
        refused(3, "alignments", place, "--sentences", "5", *more, "--output", tmp_path / "x")


def test_a_place_that_cannot_be_written_ends_with_1(refused, commands, tmp_path):
    (tmp_path / "file").touch()
    refused(1, "lengths", *commands["lengths"], "--output", tmp_path / "file/x")


def test_a_full_standard_output_is_no_fault_of_the_place(commands, tmp_path):
    with open("/dev/full", "w") as full:
        done = subprocess.run([sys.executable, figures.__file__, "lengths", *commands["lengths"], "--output", tmp_path / "x"], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1 and "figures: standard output: cannot be written: No space left on device\n" in done.stderr


def test_names_of_strangers_are_drawn_on_one_line(tmp_path):
    for score, name in (("dot", "a\x1b[31m\nb"), ("additive", "c" * 5000)):
        with h5py.File(write_record(tmp_path, score), "a") as file:
            file.attrs["name"] = np.bytes_(name)
    names = [line.series for line in paper_lines.curve(data_of(tmp_path), "dev/perplexity", "sd").lines]
    assert len(names) == 2 and all(name.isprintable() and len(name) <= paper_lines.LONGEST_NAME for name in names), names


def test_figures_are_drawn_where_the_working_folder_may_not_be_read(commands, tmp_path):
    if os.getuid() == 0 and shutil.which("setpriv") is None:
        pytest.skip("root may read every folder")
    (tmp_path / "closed").mkdir(mode=0o111)
    bound = ["setpriv", "--bounding-set=-all"] if os.getuid() == 0 else []
    done = subprocess.run([*bound, sys.executable, figures.__file__, "lengths", *commands["lengths"], "--output", tmp_path / "x"], cwd=tmp_path / "closed", capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_one_bad_run_spoils_no_figure_of_the_others(commands, tmp_path):
    runs = commands["lengths"][0]
    (runs / "bad").mkdir()
    (runs / "bad/run.h5").write_bytes(b"nothing")
    lost = write_record(runs, "additive")
    with h5py.File(lost, "a") as file:
        del file["test/by_length/n"]
    ended = run("lengths", runs, "--output", tmp_path / "x")
    assert ended.returncode == 0 and "over seeds: 1, 2" in ended.stderr
    assert f"{runs}/bad: " in ended.stderr and f"{lost.parent}: " in ended.stderr


def test_words_may_hold_dollars():
    item = matrices.Alignment(0, ["$a$", "b"], ["$", "^_$x$"], np.eye(2), None)
    figure, _ = paper_grids.draw_alignments([("", item)], "column")
    assert isinstance(figure, Figure) and not figure.axes[0].get_xticklabels()[0].get_parse_math()


def drawn(data: Json, sentences: list[int], note: Callable[[str], None]) -> dict[str, Figure]:
    figures = {name: draw() for name, draw in paper_all.every_figure(data, sentences, "page", "sd", note)}
    return {name: figure for name, figure in figures.items() if figure is not None}


def every(*places: Path) -> dict[str, Figure]:
    return drawn(data_of(*places), [], print)


def texts(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.findobj(Text) if text.get_text()]


def test_all_draws_every_figure(tmp_path):
    for score in ("none", "additive", "dot", "general"):
        write_record(tmp_path / "runs", score)
    out = tmp_path / "figures"
    ended = run("all", tmp_path / "runs", "--output", out, "--width", "page")
    assert ended.returncode == 0
    names = ["reverse_by_length", "reverse_curves", "reverse_alignment_5", "reverse_alignment_12"]
    assert ended.stdout.split() == [f"{out}/{name}.{kind}" for name in names for kind in ("pdf", "png")]
    for name in names:
        pixels = 255 * imread(out / f"{name}.png")[:, :, :3].mean(axis=2)
        assert min(pixels.shape) > 400 and pixels.mean() > 200 and pixels.min() < 100  # a light background with dark text


def test_all_draws_the_alignments_of_one_seed_of_each_model(tmp_path):
    for score in ("additive", "dot"):
        for seed in (1, 2):
            write_record(tmp_path, score, seed)
    notes: list[str] = []
    shown = texts(drawn(data_of(tmp_path), [12], notes.append)["reverse_alignment_12"])
    assert "additive" in shown  # the other run has another source sentence
    assert not [text for text in shown if "seed" in text]
    assert notes == ["reverse: mean and standard deviation over seeds: 1, 2", "reverse: the alignments are those of the first seed"]


def test_figures_of_several_panels_are_called_after_them(tmp_path):
    data = data_of(*(write_record(tmp_path / name, "dot", symbols) for symbols, name in enumerate("ab")))
    (panel,) = data["panels"]
    data["panels"] = [panel | {"name": name} for name in ("long", "a b (2)")]
    for run, named in zip(data["runs"], data["panels"]):
        run["panel"] = named["name"]
    assert {"long_by_length", "a_b_2_by_length"} <= set(drawn(data, [], print))


def test_a_run_without_results_is_in_no_legend(tmp_path):
    for score in ("none", "dot"):
        write_record(tmp_path, score)
    change_spec(write_record(tmp_path, "dot", 2, state="interrupted"), "model: {", "train: {epochs: 1}\nmodel: {")
    begun = write_record(tmp_path, "additive", state="begun")
    ended = run("all", tmp_path, "--output", tmp_path / "figures")
    assert f"figures: {begun.parent} is in no figure: nothing is measured yet\n" in ended.stderr
    figure = every(tmp_path)
    assert not [text for text in texts(figure["reverse_by_length"]) if "epochs" in text or "additive" in text]
    assert {"none", "dot", "dot, epochs 1"} <= set(texts(figure["reverse_curves"]))


def test_of_text_only_the_longest_sentence_trained_on_is_known(tmp_path):
    path = write_record(tmp_path, "dot")
    assert "lengths trained on" in texts(every(path)["reverse_by_length"])
    change_spec(path, "length: {train: [4, 30], dev: [4, 30], test: [4, 60]}", "max_length: 30")
    assert "up to the longest trained on" not in texts(every(path)["reverse_by_length"])  # no sentence of the corpus need be as long as the limit
    with h5py.File(path, "a") as file:
        file.require_group("data/train").attrs["dropped_too_long"] = 3
    shown = texts(every(path)["reverse_by_length"])
    assert "up to the longest trained on" in shown and "perplexity, log scale" in shown


def test_other_length_buckets_are_another_figure(tmp_path):
    write_record(tmp_path, "dot")
    other = change_spec(write_record(tmp_path, "none"), "model: {", "evaluate: {lengths: [60]}\nmodel: {")
    with h5py.File(other, "a") as file:
        for name, values in dict(file["test/by_length"]).items():
            kept = values[:1]
            del file[f"test/by_length/{name}"]
            file.create_dataset(f"test/by_length/{name}", data=kept, dtype=TEXT if name == "label" else None)
    assert {"reverse_by_length", "reverse_by_length_2"} <= set(every(tmp_path))


def test_a_file_of_alignments_is_drawn(tmp_path):
    for place in (tmp_path / "mine.h5", tmp_path / "other/mine.h5"):
        place.parent.mkdir(exist_ok=True)
        with h5py.File(place, "w") as file:
            file.attrs["format"] = np.bytes_("softalign-alignments")
            write_alignments(file.create_group("alignments/cross"), (3, 5), np.random.default_rng(1))
            del file["alignments/cross/gold"]
    out = tmp_path / "figures"
    ended = run("all", tmp_path / "mine.h5", tmp_path / "other/mine.h5", "--output", out, "--sentences", "12")
    expected = [f"{out}/mine_alignment_12{twin}.{kind}" for twin in ("", "~2") for kind in ("pdf", "png")]
    assert ended.stdout.split() == expected, ended.stderr


def test_an_encoder_s_attention_is_drawn_where_it_is_asked_for(refused, tmp_path):
    path, out = write_record(tmp_path, "none"), ("--output", tmp_path / "x")
    with h5py.File(path, "a") as file:
        write_alignments(file.create_group("alignments/encoder_layer1"), (3, 5), np.random.default_rng(1))
        expected = file["alignments/encoder_layer1/weights"][0, 1, 0]
    refused(3, "alignments", path, "--sentences", "5", *out)
    assert "encoder_layer1" in refused(2, "alignments", path, "--sentences", "5", "--module", "encoder", *out)
    ended = run("alignments", path, "--sentences", "5,12", "--module", "encoder_layer1", *out)
    assert ended.stdout.split() == [f"{tmp_path}/x.pdf", f"{tmp_path}/x.png"], ended.stderr
    assert np.abs(item_of(path, 12, "encoder_layer1").weights - expected[:6, :6]).max() <= 0.5 / 255 + 1e-6


def write_layer(path: Path, module: str) -> np.ndarray:
    """Adds a module with two different heads and without gold links. Returns their weights [head, target, source] of sentence 5."""
    with h5py.File(path, "a") as file:
        group = file.create_group(f"alignments/{module}")
        write_alignments(group, (3, 5), np.random.default_rng(1))
        weights = np.concatenate([group["weights"][:], group["weights"][:] ** 2], axis=2)
        for name in ("gold", "head", "weights"):
            del group[name]
        group["head"], group["weights"] = np.arange(2, dtype=np.int32), weights
        return weights[0, 0, :, :4, :4]


def test_heads_are_drawn_apart_where_they_are_asked_for(refused, tmp_path):
    path = write_record(tmp_path, "dot")
    expected = write_layer(path, "cross_layer1")

    def drawn(heads: list[int], module: str = "cross_layer1") -> dict[str, np.ndarray]:
        return {name: item.weights for name, item in paper_figures.chosen([path], [5], module, heads, False, {}, lambda text: None)}

    apart = drawn([1, 0])
    assert list(apart) == ["toy-dot, cross_layer1, head 1", "toy-dot, cross_layer1, head 0"]
    for weights, head in zip(apart.values(), expected[::-1]):
        assert np.abs(weights - head).max() <= 0.5 / 255 + 1e-6
    (mean,) = drawn([]).items()
    assert mean[0] == "toy-dot, cross_layer1, mean of 2 heads" and np.abs(mean[1] - expected.mean(0)).max() <= 0.5 / 255 + 1e-6
    assert "there are: 0 to 1" in refused(2, "alignments", path, "--module", "cross_layer1", "--head", "0,2", "--output", tmp_path / "x")
    assert list(drawn([], "")) == [""]
    assert run("alignments", path, "--module", "cross_layer1", "--head", "0,1", "--output", tmp_path / "x").returncode == 0


@pytest.mark.parametrize(("module", "sides"), [("encoder_layer1", ["source", "source"]), ("decoder_layer1", ["target", "target read"]), ("cross_layer1", ["target", "source"])])
def test_what_is_not_plain_says_what_it_is_and_what_its_sides_are(tmp_path, module, sides):
    path = write_record(tmp_path, "dot")
    write_layer(path, module)
    figure = paper_figures.alignments([path], [5], module, [], False, {}, "column", lambda text: None)
    figure.draw_without_rendering()
    texts = {text.get_text(): text for text in figure.texts}
    assert f"toy-dot, {module}, mean of 2 heads" in {" ".join(text.split()) for text in texts} and set(sides) <= set(texts)
    boxes = [text.get_window_extent() for text in [*figure.texts, *figure.axes[0].get_xticklabels(), *figure.axes[0].get_yticklabels()] if text.get_text()]
    assert all(box.x0 >= 0 and box.y1 <= figure.bbox.y1 for box in boxes)
    assert not any(one.overlaps(other) for at, one in enumerate(boxes) for other in boxes[:at])


def test_without_sentences_the_first_few_are_drawn(tmp_path):
    path = write_record(tmp_path, "dot", lengths=(4, 5, 6, 7, 8))
    panels = paper_figures.chosen([path], [], "", [], False, {}, lambda text: None)
    assert [item.sentence for _, item in panels] == [5, 12, 19, 26]
    assert run("alignments", path, "--output", tmp_path / "x").returncode == 0


def flat(values: list[float], title: str, units: str) -> Chart:
    return Chart(title, units, (0, 100) if units == "percent" else (1, math.inf), [Line("dot", range(len(values)), values, seeds=[1])], "dev")


def test_axes_have_no_offset_and_a_constant_zero_has_the_whole_range():
    axis, zero = paper_lines.draw_curves([flat([1.0008, 1.0009, 1.001], "perplexity", "1"), flat([0, 0, 0], "exact match", "percent")], "page").axes
    axis.figure.draw_without_rendering()
    assert axis.yaxis.get_offset_text().get_text() == "" and axis.get_yticklabels()[0].get_text().startswith("1.0")
    assert zero.get_ylim()[1] > 100


def test_one_run_has_no_deviation_over_seeds():
    assert paper_lines.seeds_text(flat([1], "loss", "nats"), "sd") == "one run, of seed: 1"


def test_labels_of_an_axis_stay_in_the_figure(tmp_path):
    record = write_record(tmp_path, "dot")
    for metrics, lines in ((["bleu"], 1), (["bleu", "perplexity", "token_accuracy"], 2)):
        figure = by_length(record, metrics, "page")
        figure.draw_without_rendering()
        labels = [axis.xaxis.label for axis in figure.axes]
        assert {len(label.get_text().splitlines()) for label in labels} == {lines}
        assert all(label.get_window_extent().x0 >= 0 and label.get_window_extent().x1 <= figure.bbox.x1 for label in labels)


def test_settings_of_the_working_directory_do_not_enter(tmp_path):
    record = write_record(tmp_path / "runs", "dot")
    (tmp_path / "matplotlibrc").write_text("text.usetex: True\nno setting\n")
    for words in (["--help"], ["all", record, "--output", "out"]):
        subprocess.run([sys.executable, figures.__file__, *words], cwd=tmp_path, capture_output=True, check=True)


def test_states_are_drawn_by_their_first_two_components():
    part = {"explained": [0.5, 0.25, 0.125], "position": [0, 1, 0], "components": [[1.0, 2.0, 3.0], [-1.0, 0.5, 0.0], [9.0, 9.0, 9.0]]}
    figure = paper_lines.draw_states({"annotations": part, "readouts": part | {"components": part["components"][:1]}}, "column")
    axis = figure.axes[0]
    assert axis.collections[0].get_offsets().tolist() == [[1, -1], [2, 0.5], [3, 0]] and axis.collections[0].get_array().tolist() == [0, 1, 0]
    assert (axis.get_title(), axis.get_xlabel(), axis.get_ylabel()) == ("annotations", "component 1 (50 %)", "component 2 (25 %)")
    assert len(figure.axes) == 2  # the plot and its colour bar: one component does not make a plane
