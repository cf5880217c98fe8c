"""Lines keep their numbers if some are skipped; the program reports characters that the training text lacks."""

from __future__ import annotations

import csv
import io
import shutil
import unicodedata
from pathlib import Path

import pytest

from command_line import answer, needs_subwords, softalign, trained_run, write_corpus

h5py = pytest.importorskip("h5py", reason="python3-h5py is not installed")

FILES = [f"task.{split}.{side}" for split in ("train", "dev") for side in ("source", "target")]


@pytest.fixture
def gaps(here: Path) -> Path:
    """Returns a run on a text whose test set has no source in lines 3 and 6 of 8, and whose dev set has no target in line 1 of 4."""
    write_corpus(here)
    for name in ("test.en", "test.es"):
        (here / name).write_text("".join(f"{'a b c '[: 2 * (i % 3) + 2]}{i % 5}\n" for i in range(8)))
    lines = (here / "test.en").read_text().splitlines()
    (here / "test.en").write_text("".join(" \n" if i in (2, 5) else line + "\n" for i, line in enumerate(lines)))
    (here / "dev.es").write_text("\n" + "a b\n" * 3)
    return trained_run(here, "record={alignments: 30, snapshots: 3}", spec="text.yaml")


def test_sentences_know_their_line(gaps: Path, here: Path) -> None:
    kept = [1, 2, 4, 5, 7, 8]
    with h5py.File(gaps / "run.h5") as file:
        assert file["test/line"][:].tolist() == kept and file["data/dev/line"][:].tolist() == [2, 3, 4]
    assert "sentence 2 (line 4)" in softalign("show", gaps, "--sentence", 2, cwd=here).stdout
    dev = answer("show", gaps, "--sentence", 2, "--module", "cross_dev", cwd=here)
    assert (dev["sentence"], dev["line"]) == (2, 4)
    rows = list(csv.DictReader(io.StringIO(softalign("export", gaps, "--what", "sentences", cwd=here).stdout)))
    assert [int(row["line"]) for row in rows] == kept and rows[2]["source"] == "a 3"
    every = softalign("export", gaps, "--what", "sentences", "--every-line", cwd=here).stdout
    every = list(csv.DictReader(io.StringIO(every)))
    assert [row["line"] for row in every] == [str(line) for line in range(1, 9)]
    assert [row for row in every if row["sentence"] != ""] == rows and every[5]["source"] == every[5]["nll"] == ""
    assert "the same bits again" in softalign("verify", gaps, cwd=here).stdout


def test_a_text_without_files_has_no_lines(trained: Path) -> None:
    with h5py.File(trained / "run.h5") as file:
        assert "line" not in file["test"] and "files" not in file["data"]
    assert "line" not in softalign("export", trained, "--what", "sentences", cwd=trained).stdout.splitlines()[0].split(",")
    assert "(line" not in softalign("show", trained, "--sentence", 2, cwd=trained).stdout


def test_links_stand_in_the_line_of_their_sentence(gaps: Path, here: Path) -> None:
    exported = softalign("export", gaps, "--what", "links", cwd=here)
    assert exported.stderr.startswith("note: 2 lines")
    softalign("score", gaps, "--source", "test.en", "--target", "test.es", "--links", "scored.links", cwd=here)
    assert exported.stdout == (here / "scored.links").read_text() and len(exported.stdout.splitlines()) == 8
    dev = softalign("export", gaps, "--what", "links", "--module", "cross_dev", cwd=here).stdout
    softalign("score", gaps, "--source", "dev.en", "--target", "dev.es", "--links", "scored_dev.links", cwd=here)
    assert dev == (here / "scored_dev.links").read_text() and dev.startswith("\n") and len(dev.splitlines()) == 4
    few = trained_run(here, "record.alignments=3", "name=few", spec="text.yaml")
    exported = softalign("export", few, "--what", "links", cwd=here)
    assert len(exported.stdout.splitlines()) == 4 and "3 of 6" in exported.stderr


def test_skipped_lines_are_told(gaps: Path, here: Path) -> None:
    told = "test: 6 of 8 pairs kept, 0 too long, 2 empty, 0 truncated; skipped lines: 3, 6\n"
    run = softalign("run", "text.yaml", "seed=2", cwd=here)
    evaluated = softalign("evaluate", gaps, cwd=here)
    assert told in run.stderr and told in evaluated.stderr
    for shown in (run, evaluated, softalign("show", gaps, cwd=here)):
        assert "6 of 8 lines" in shown.stdout
    found = answer("evaluate", gaps, cwd=here)
    assert (found["lines"], found["metrics"]["all"]["n"]) == (8, 6)
    assert answer("run", "text.yaml", "seed=2", cwd=here)["lines"] == 8
    (here / "test.en").write_text("".join(f"a {'b ' * (i % 3)}\n" for i in range(8)))
    assert "skipped" not in softalign("evaluate", gaps, cwd=here).stderr
    (here / "test.en").write_text("a\n" + "\n" * 30 + "b\n")
    (here / "test.es").write_text("a\n" * 32)
    assert "skipped lines: 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, ...\n" in softalign("evaluate", gaps, cwd=here).stderr


@pytest.mark.parametrize("vocabulary", ["words", "sentencepiece"])
def test_evaluate_needs_no_training_text(here: Path, vocabulary: str) -> None:
    if vocabulary == "sentencepiece":
        needs_subwords()
    write_corpus(here)
    run = trained_run(here, f"task.vocabulary={{type: {vocabulary}, size: 12}}", spec="text.yaml")
    tested = answer("evaluate", run, cwd=here)
    away = here / "away"
    away.mkdir()
    shutil.move(run / "run.h5", away)
    for name in ("test.en", "test.es"):
        (here / name).rename(away / f"new.{name[-2:]}")
    for name in ("train.en", "train.es", "dev.en", "dev.es"):
        (here / name).unlink()
    new = [f"task.test.{side}=new.{name}" for side, name in (("source", "en"), ("target", "es"))]
    there = softalign("evaluate", "run.h5", *new, cwd=away)
    assert ", ".join(FILES) in there.stderr
    again = answer("evaluate", "run.h5", *new, cwd=away)
    assert again["metrics"] == tested["metrics"] and again["missing_data"] == FILES and again["changed_data"] == []
    dev = answer("evaluate", "run.h5", "--split", "dev", *(one.replace("test", "dev") for one in new), cwd=away)
    assert dev["metrics"] == tested["metrics"] and dev["split"] == "dev"
    assert "test.en" in softalign("evaluate", "run.h5", cwd=away, code=3).stderr


def test_unknown_symbols_are_told(here: Path) -> None:
    write_corpus(here)
    (here / "test.en").write_text("a B q 1\nA a q 2\nC a c 3\na q x. 4\n")
    run = trained_run(here, spec="text.yaml")
    again = softalign("run", "text.yaml", "--force", cwd=here).stderr
    note = "note: test.source: 7 of 16 symbols (43.8 %), 5 of 11 types are not in the vocabulary: B q A C x.\n"
    assert note in again and "target: " not in again
    assert note in softalign("run", "text.yaml", "--dry-run", cwd=here).stderr
    softalign("report", run, "-o", "page.html", cwd=here)
    assert "source 43.8 % unknown, 5 of 11 types" in (here / "page.html").read_text()
    with h5py.File(run / "run.h5") as file:
        files = file["data/files"]
        assert files["option"].asstr()[:].tolist() == [f"{s}.{side}" for s in ("train", "dev", "test") for side in ("source", "target")]
        assert [files[name][4] for name in ("symbols", "unknown", "types", "unknown_types", "in_lower_case")] == [16, 7, 11, 5, 3]
    assert "source 43.8 % unknown (5 of 11 types); target 0.0 % unknown (0 of" in softalign("show", run, cwd=here).stdout
    evaluated = softalign("evaluate", run, cwd=here).stderr
    assert evaluated == note
    (here / "test.en").write_text("A B A\n" * 4)
    evaluated = softalign("evaluate", run, cwd=here).stderr
    assert "note: test.source: 12 of 12 symbols (100.0 %), 2 of 2 types are not in the vocabulary: A B; 12 of them are known in lower case\n" in evaluated
    (here / "test.en").write_text("a b. c,\n" * 4)
    assert "8 of them are known without their punctuation\n" in softalign("evaluate", run, cwd=here).stderr


def test_each_of_several_training_files_is_counted(here: Path) -> None:
    write_corpus(here)
    for name in ("more.en", "more.es"):
        (here / name).write_text("a\n\nb c\n")
    run = trained_run(here, *(f"task.train.{side}=[train.{name}, more.{name}]" for side, name in (("source", "en"), ("target", "es"))), spec="text.yaml")
    with h5py.File(run / "run.h5") as file:
        files = dict(zip(file["data/files/option"].asstr()[:], file["data/files/symbols"][:]))
    assert (files["train.source.1"], files["train.source.2"], files["train.target.2"], files["test.source"]) == (80, 3, 3, 16)


def test_texts_written_in_other_ways_are_told(here: Path) -> None:
    write_corpus(here)
    for name in ("train.en", "dev.en", "test.en"):
        text = (here / name).read_text().replace("b", "bé")
        (here / name).write_text(unicodedata.normalize("NFD", text) if name == "test.en" else text)
    (here / "dev.es").write_text("a b\n" + "\ufeffa b\n" + "é\n" + unicodedata.normalize("NFD", "é\n"))
    run = trained_run(here, spec="text.yaml")
    told = softalign("run", "text.yaml", "--force", cwd=here).stderr
    for message in (told, softalign("evaluate", run, cwd=here).stderr):
        assert "note: test.source: in another Unicode form" in message
    assert told.count("note: dev.target: 1 line") == 2  # a mark of the byte order, and two forms
    assert "note: test.target" not in told
