"""Reading records and drawing them, on records made here in the layout that results/README.md documents."""

import subprocess
import sys
from pathlib import Path

import drawing
import figures
import h5py
import numpy as np
import plot
import pytest
import records
from made_records import BUCKETS, TEXT, change_spec, write_alignments, write_record
from matplotlib.figure import Figure
from matplotlib.text import Text


def labels_below(*places: Path) -> list[str]:
    return records.labels(records.find_files(places, print))


def texts(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.findobj(Text) if text.get_text()]


def run_plot(*arguments: Path | str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, plot.__file__, *arguments], capture_output=True, text=True, check=False)


def test_settings_of_the_working_directory_do_not_enter(tmp_path):
    record = write_record(tmp_path / "runs", "dot")
    (tmp_path / "matplotlibrc").write_text("text.usetex: True\nno setting\n")
    for script in (plot, figures):
        done = subprocess.run([sys.executable, script.__file__, "--help"], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")
    done = subprocess.run([sys.executable, plot.__file__, record, "--out", "out"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_run_reads_as_it_was_written(tmp_path):
    run = records.read_file(write_record(tmp_path, "additive"))
    assert (run.label, run.trained_lengths, run.sentences) == ("additive", (4, 30), {5: 12, 12: 44})
    assert run.by_length.labels == BUCKETS and run.by_length.n[0] == 121
    assert 95 < run.by_length.metrics["token_accuracy"][0] <= 100
    assert run.dev["perplexity"][0].tolist() == list(range(0, 2000, 250))
    short = run.alignment(5)
    assert short.weights.shape == (13, 13) and short.source[:12] == short.target[:12][::-1]
    assert short.source_length == 12
    assert short.weights.sum(1) == pytest.approx(np.ones(13), abs=1e-5)
    for alignment in (short, run.alignment(12)):
        n = alignment.source_length
        assert (alignment.gold[:n, :n][::-1] == 2 * np.eye(n)).all()
        assert (alignment.weights.argmax(1)[:n] == alignment.gold.argmax(1)[:n]).all()
    with pytest.raises(records.RecordError, match="no alignment of sentence 7"):
        run.alignment(7)


def test_runs_say_every_key_in_which_any_of_them_differ(tmp_path):
    for score, seed in (("none", 1), ("dot", 1)):
        write_record(tmp_path, score, seed)
    assert labels_below(tmp_path) == ["dot", "none"]  # their attention is all
    write_record(tmp_path, "dot", 2)
    assert labels_below(tmp_path) == ["dot, seed 1", "dot, seed 2", "none, seed 1"]
    change_spec(tmp_path / "none-1/run.h5", "model: {", "train: {epochs: 3}\nmodel: {encoder: {units: 8}, ")
    assert labels_below(tmp_path) == ["dot, seed 1", "dot, seed 2", "none, seed 1, units 8, epochs 3"]


def test_an_option_of_a_score_is_said_only_when_it_is_no_matter_of_course(tmp_path):
    write_record(tmp_path, "none")
    for folder, units in (("a", 64), ("b", 128)):
        change_spec(write_record(tmp_path / folder, "additive"), "type: additive", f"type: additive, units: {units}")
    assert labels_below(tmp_path / "a", tmp_path / "none-1") == ["additive", "none"]
    assert labels_below(tmp_path) == ["additive, units 64", "additive, units 128", "none"]


def test_global_attention_is_named_beside_another_with_its_score(tmp_path):
    for score in ("additive", "dot"):
        write_record(tmp_path, score)
    assert labels_below(tmp_path) == ["additive", "dot"]
    change_spec(write_record(tmp_path / "hard", "additive"), "type: global", "type: hard")
    assert labels_below(tmp_path) == ["global additive", "dot", "hard additive"]


def test_what_some_runs_do_without_is_said_of_both(tmp_path):
    changes = {"a": "early_stopping: null, clip_norm: 1", "b": "early_stopping: {patience: 3}, clip_norm: null", "c": "early_stopping: null"}
    for folder, train in changes.items():
        change_spec(write_record(tmp_path / folder, "dot"), "model: {", f"train: {{{train}}}\nmodel: {{")
    assert labels_below(tmp_path / "a", tmp_path / "b") == [
        "dot, clip_norm 1, no early_stopping",
        "dot, no clip_norm, early_stopping.patience 3",
    ]
    change_spec(tmp_path / "a/dot-1/run.h5", "clip_norm: 1", "clip_norm: null")  # as good as not known to an older program
    assert records.differences(records.find_files([tmp_path / "a", tmp_path / "c"], print)) == [[], []]


def test_runs_that_differ_in_much_are_called_by_their_names(tmp_path):
    write_record(tmp_path, "dot")
    change_spec(write_record(tmp_path, "none"), "model: {", "train: {a: 1, b: 1, c: 1, d: 1}\nmodel: {")
    assert labels_below(tmp_path) == ["dot, toy-dot", "none, toy-none"]


def test_a_run_that_is_there_twice_is_read_once_where_it_is_complete(tmp_path):
    half = write_record(tmp_path / "half", "dot", state="interrupted")
    whole = write_record(tmp_path / "whole", "dot")
    with h5py.File(half, "a") as one, h5py.File(whole, "a") as other:
        one.attrs["run_id"] = other.attrs["run_id"]
    notes: list[str] = []
    files = records.find_files([tmp_path, whole], notes.append)
    assert [file.path for file in files] == [whole]
    assert notes == [f"{half} is left out: it is the same run as {whole}"]


def test_a_score_keeps_its_look_whatever_stands_beside_it(tmp_path):
    runs = {score: records.read_file(write_record(tmp_path, score)) for score in ("none", "dot", "additive", "cosine", "mine")}
    alone = plot.looks([runs["dot"]])[runs["dot"].path]
    together = plot.looks(list(runs.values()))
    assert together[runs["dot"].path] == alone
    assert len(set(together.values())) == 5
    many = [records.Run(Path(f"{i}"), {}, "dot") for i in range(60)]
    assert len(set(plot.looks(many).values())) == 60


def test_a_run_without_results_is_in_no_legend(tmp_path):
    runs = [records.read_file(write_record(tmp_path, *of)) for of in (("none",), ("dot",))]
    interrupted = change_spec(write_record(tmp_path, "dot", 2, state="interrupted"), "model: {", "train: {epochs: 1}\nmodel: {")
    runs += [records.read_file(path) for path in (interrupted, write_record(tmp_path, "additive", state="begun"))]
    assert runs[2].sentences == {}  # those of the dev set are no test sentences
    styles = plot.looks(runs)
    by_length = texts(plot.draw_by_length(runs, styles, "title"))
    assert {"none", "dot"} <= set(by_length) and not [text for text in by_length if "seed" in text or "additive" in text]
    curves = texts(plot.draw_curves(runs, styles, "title"))
    assert {"none, seed 1", "dot, seed 1", "dot, seed 2, epochs 1"} <= set(curves) and "additive, seed 1" not in curves
    drawn = run_plot(tmp_path, "--out", tmp_path / "figures")
    assert drawn.stderr == f"plot: {tmp_path}/additive-1/run.h5 is in no figure: nothing is measured yet\n"


def test_of_text_only_the_longest_sentence_trained_on_is_known(tmp_path):
    run = records.read_file(write_record(tmp_path, "dot"))
    assert "lengths trained on" in texts(plot.draw_by_length([run], plot.looks([run]), ""))
    run = records.read_file(change_spec(run.path, "length: {train: [4, 30], dev: [4, 30], test: [4, 60]}", "max_length: 30"))
    assert run.trained_lengths == (None, 30)
    shown = texts(plot.draw_by_length([run], plot.looks([run]), ""))
    assert "up to the longest trained on" in shown and "perplexity, logarithmic axis" in shown


def test_a_title_names_the_spec_where_it_says_more_than_the_task(tmp_path):
    runs = [records.read_file(write_record(tmp_path, score)) for score in ("none", "dot")]
    assert plot.subject(runs) == "toy (reverse)" and plot.subject(runs[:1]) == "toy-none (reverse)"
    for run in runs:
        change_spec(run.path, "toy-", "reverse-")
    assert plot.subject([records.read_file(run.path) for run in runs]) == "reverse"


def test_names_of_panels_do_not_meet(tmp_path):
    item = records.read_file(write_record(tmp_path, "dot", lengths=(2,))).alignment(5)
    figure = plot.draw_alignment([(f"additive, seed {i}, learning_rate 0.0001", item) for i in (1, 2, 3)], "title")
    names = [text for text in figure.texts if text.get_text().startswith("additive")]
    boxes = [name.get_window_extent(figure.canvas.get_renderer()) for name in names]
    assert len(boxes) == 3 and all(left.x1 < right.x0 for left, right in zip(boxes, boxes[1:]))
    assert boxes[-1].x1 < figure.bbox.x1


def test_other_length_buckets_are_another_figure(tmp_path):
    write_record(tmp_path, "dot")
    other = change_spec(write_record(tmp_path, "none"), "model: {", "evaluate: {lengths: [60]}\nmodel: {")
    with h5py.File(other, "a") as file:
        for name, values in dict(file["test/by_length"]).items():
            kept = values[:1]
            del file[f"test/by_length/{name}"]
            file.create_dataset(f"test/by_length/{name}", data=kept, dtype=TEXT if name == "label" else None)
    drawn = run_plot(tmp_path, "--out", tmp_path / "figures")
    assert drawn.returncode == 0, drawn.stderr
    assert {"reverse_1_by_length.png", "reverse_2_by_length.png"} <= {file.name for file in (tmp_path / "figures").iterdir()}


def test_a_file_of_alignments_is_drawn(tmp_path):
    for place in (tmp_path / "mine.h5", tmp_path / "other/mine.h5"):
        place.parent.mkdir(exist_ok=True)
        with h5py.File(place, "w") as file:
            file.attrs["format"] = np.bytes_("softalign-alignments")
            write_alignments(file.create_group("alignments/cross"), (3, 5), np.random.default_rng(1))
            del file["alignments/cross/gold"]
    out = tmp_path / "figures"
    drawn = run_plot(tmp_path / "mine.h5", tmp_path / "other/mine.h5", "--out", out, "--sentences", "12")
    assert drawn.stdout.split() == [f"{out}/mine_alignment_12.png", f"{out}/mine_alignment_12~2.png"], drawn.stderr


@pytest.mark.parametrize("length, x", [(0, -0.5), (10, 0.5), (15, 1.0), (30, 2.5), (60, 5.5), (99, 5.5)])
def test_a_length_lies_in_its_bucket(length, x):
    assert drawing.place(length, BUCKETS) == pytest.approx(x)


def test_open_buckets_end_the_axis():
    assert drawing.bounds("61+") == (61, float("inf"))
    assert drawing.place(70, ["1-60", "61+"]) == 1.5


def test_every_figure_is_drawn(tmp_path):
    for score in ("none", "additive", "dot", "general"):
        write_record(tmp_path / "runs", score)
    out = tmp_path / "figures"
    ended = run_plot(tmp_path / "runs", "--out", out)
    assert ended.returncode == 0 and ended.stderr == ""
    names = ["reverse_by_length", "reverse_curves", "reverse_alignment_5", "reverse_alignment_12"]
    assert ended.stdout.split() == [str(out / f"{name}.png") for name in names]
    for name in names:
        pixels = 255 * plot.plt.imread(out / f"{name}.png")[:, :, :3].mean(axis=2)
        assert min(pixels.shape) > 400 and pixels.mean() > 200 and pixels.min() < 100  # light, with dark text


def test_what_is_no_record_is_said_in_one_line(tmp_path):
    (tmp_path / "run.h5").write_bytes(b"nothing")
    for place, text in ((tmp_path / "run.h5", "damaged, or no HDF5 file"), (tmp_path / "absent", "no such file")):
        ended = run_plot(place)
        assert ended.returncode == 3 and text in ended.stderr and len(ended.stderr.splitlines()) == 1
