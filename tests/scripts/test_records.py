"""Reading records, on records made here in the layout that results/README.md documents."""

from pathlib import Path

import drawing
import h5py
import numpy as np
import pytest
import records
from made_records import BUCKETS, write_record


PUBLISHED = Path(__file__).parents[2] / "results/published"


def labels_below(*places: Path) -> list[str]:
    return records.labels(records.find_files(places, print))


def test_images_are_not_as_long_as_their_digits_are_many():
    run = records.read_file(PUBLISHED / "images.h5")
    assert run.task["length"]["train"] and run.trained_lengths is None


def test_a_run_reads_as_it_was_written(tmp_path):
    run = records.read_file(write_record(tmp_path, "additive"))
    assert (run.trained_lengths, run.sentences) == ((4, 30), {5: 12, 12: 44})
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


def test_runs_have_the_names_that_the_program_gives_them(tmp_path):
    for score, seed in (("none", 1), ("dot", 1)):
        write_record(tmp_path, score, seed)
    assert labels_below(tmp_path) == ["dot", "none"]
    write_record(tmp_path, "dot", 2)
    assert labels_below(tmp_path) == ["dot, seed 1", "dot, seed 2", "none"]
    groups = records.replicates(records.find_files([tmp_path], print))
    assert [(name, [run.seed for run in runs]) for name, runs in groups] == [("dot", [1, 2]), ("none", [1])]


def test_only_complete_runs_enter_a_mean(tmp_path):
    for seed, state in ((1, "complete"), (2, "interrupted")):
        write_record(tmp_path, "dot", seed, state=state)
    runs, notes = records.find_files([tmp_path], print), []
    assert [run.seed for run in records.averaged(runs, notes.append)] == [1]
    assert notes == [f"{runs[1].path} is left out of the mean: it is interrupted"]
    assert records.averaged(runs[1:], notes.append) == runs[1:] and len(notes) == 1


def test_a_run_that_is_there_twice_is_read_once_where_it_is_complete(tmp_path):
    half = write_record(tmp_path / "half", "dot", state="interrupted")
    whole = write_record(tmp_path / "whole", "dot")
    with h5py.File(half, "a") as one, h5py.File(whole, "a") as other:
        one.attrs["run_id"] = other.attrs["run_id"]
    notes: list[str] = []
    files = records.find_files([tmp_path, whole], notes.append)
    assert [file.path for file in files] == [whole]
    assert notes == [f"{half} is left out: it is the same run as {whole}"]


def test_the_beginning_of_an_id_names_a_run(tmp_path, monkeypatch):
    write_record(tmp_path / "results", "dot").parent.rename(tmp_path / "results/0123456789abcdef")
    monkeypatch.chdir(tmp_path)
    notes: list[str] = []
    assert [file.path for file in records.find_files([Path("0123"), Path("4567")], notes.append)] == [Path("results/0123456789abcdef/run.h5")]
    assert len(notes) == 1 and "4567" in notes[0]


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
