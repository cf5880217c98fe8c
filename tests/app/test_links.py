"""Alignments as links between words: AER on gold links, both values of evaluate.row_aligns, Pharaoh files."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from command_line import answer, error, needs_subwords, softalign, text_spec, trained_run

sys.path.insert(0, str(Path(__file__).parents[2] / "experiments"))
import links  # noqa: E402

h5py = pytest.importorskip("h5py", reason="python3-h5py is not installed")

WORDS = ("reading", "singing", "reads", "sings", "reader", "singer")
READ = "evaluate.row_aligns=read"
CHARACTERS = "task.vocabulary.type=characters"
BPE = "task.vocabulary={type: sentencepiece, size: 18, model: bpe}"  # parts of words


@pytest.fixture
def gold(here: Path) -> Path:
    """Writes a corpus: each word is linked to the word at its position, the first one possibly also to the last; one sentence has no links."""
    for split, lines in {"train": 40, "dev": 6, "test": 12}.items():
        texts = [" ".join(WORDS[(i * k) % 6] for k in range(1, 3 + i % 3)) for i in range(lines)]
        (here / f"{split}.en").write_text("".join(text + "\n" for text in texts))
        (here / f"{split}.es").write_text("".join(text.upper() + "\n" for text in texts))
        last = [len(text.split()) - 1 for text in texts]
        known = [" ".join(f"{i}-{i}" for i in range(n)) + f" {n}p{n} {n}p0" for n in last]
        (here / f"{split}.links").write_text("".join("\n" if i == 4 else line + "\n" for i, line in enumerate(known)))
    (here / "text.yaml").write_text(text_spec(more=", alignment: {}.links"))
    return here


def error_rate(gold: Path, file: Path) -> float:
    return links.quality(links.paired(gold, links.read(gold), file))[2]


@pytest.mark.parametrize("vocabulary", ["task.vocabulary.type=words", CHARACTERS, BPE])
def test_the_error_rate_is_that_of_the_exported_links(gold: Path, vocabulary: str) -> None:
    if vocabulary == BPE:
        needs_subwords()
    predicted, read = (trained_run(gold, vocabulary, "train.epochs=60", *more, spec="text.yaml") for more in ([], [READ]))
    found = {}
    for run, rows in ((predicted, "predicted"), (read, "read")):
        softalign("export", run, "--what", "links", "-o", f"{rows}.links", cwd=gold)
        softalign("score", run, "--source", "test.en", "--target", "test.es", "--links", f"{rows}.scored", cwd=gold)
        assert (gold / f"{rows}.scored").read_bytes() == (gold / f"{rows}.links").read_bytes()
        with h5py.File(run / "run.h5") as file:
            found[rows] = file["test"].attrs["aer"]
            assert file["test/attention_links"][4].tolist() == [0, 0, 0, 0]  # nothing is known of that sentence
        assert found[rows] == error_rate(gold / "test.links", gold / f"{rows}.links")
        assert answer("evaluate", run, cwd=gold)["metrics"]["all"]["aer"] == found[rows]
    assert (gold / "predicted.links").read_bytes() != (gold / "read.links").read_bytes()
    other = softalign("export", predicted, "--what", "links", "--row-aligns", "read", cwd=gold)
    assert other.stdout == (gold / "read.links").read_text() and other.stderr == ""
    evaluated = answer("evaluate", predicted, "row_aligns=read", cwd=gold)
    assert (evaluated["row_aligns"], evaluated["metrics"]["all"]["aer"]) == ("read", found["read"])


def test_links_are_between_words_whatever_symbols_are(gold: Path) -> None:
    run = trained_run(gold, CHARACTERS, spec="text.yaml")
    with h5py.File(run / "run.h5") as file:
        sure = [sum("-" in link for link in line.split()) for line in (gold / "test.links").read_text().splitlines()]
        assert file["test/attention_links"][:, 3].tolist() == sure
        assert file["test/pointing_tokens"][:].tolist() == sure
        assert set(file["alignments/words_cross/src_tokens"].asstr()[0].ravel()) - {"", "</s>"} <= set(WORDS)
        assert file["test"].attrs["length_unit"] == b"characters"
    softalign("translate", run, "--links", "out.links", text="".join((gold / "test.en").read_text()), cwd=gold)
    hypotheses = softalign("translate", run, text="".join((gold / "test.en").read_text()), cwd=gold).stdout.splitlines()
    for line, source, target in zip((gold / "out.links").read_text().splitlines(), (gold / "test.en").read_text().splitlines(), hypotheses):
        for i, j in (map(int, link.split("-")) for link in line.split()):
            assert i < len(source.split()) and j < max(1, len(target.split()))


def test_any_test_set_is_measured_on_gold_links(gold: Path) -> None:
    run = trained_run(gold, "task.test.alignment=null", spec="text.yaml")
    for name in ("en", "es", "links"):
        (gold / f"new.{name}").write_text("".join((gold / f"test.{name}").read_text().splitlines(True)[:5]))
    softalign("score", run, "--source", "new.en", "--target", "new.es", "--links", "found.links", cwd=gold)
    new = [f"task.test.{key}=new.{name}" for key, name in (("source", "en"), ("target", "es"), ("alignment", "links"))]
    measured = answer("evaluate", run, *new, cwd=gold)["metrics"]["all"]["aer"]
    assert measured == error_rate(gold / "new.links", gold / "found.links")
    assert "aer" not in answer("evaluate", run, cwd=gold)["metrics"]["all"]


def test_the_convention_is_named_where_its_metrics_stand(gold: Path) -> None:
    plain = trained_run(gold, spec="text.yaml")
    read = trained_run(gold, READ, spec="text.yaml")
    assert "row:" not in softalign("show", plain, cwd=gold).stdout
    for shown in (softalign("show", read, cwd=gold), softalign("evaluate", plain, "row_aligns=read", cwd=gold)):
        assert {"aer: row:read", "pointing_accuracy: row:read"} <= set(shown.stdout.splitlines())
    softalign("compare", "results", "--metric", "aer", cwd=gold, code=2)
    assert len(json.loads(softalign("export", "results", "--what", "report", cwd=gold).stdout)["panels"]) == 2
    assert "the same bits again" in softalign("verify", read, cwd=gold).stdout


def test_runs_of_one_convention_are_tested(gold: Path) -> None:
    for seed in (1, 2):
        for score in ("additive", "general"):
            softalign("run", "text.yaml", READ, f"model.attention.score={score}", f"seed={seed}", cwd=gold)
    compared = answer("compare", "results", "--metric", "aer", cwd=gold)
    assert "untested" not in compared["against_baseline"][0]
    assert compared["metrics"][0]["signature"] == "row:read"


def test_links_are_where_the_weights_are_largest_or_reach_a_threshold(gold: Path) -> None:
    run = trained_run(gold, spec="text.yaml")
    with h5py.File(run / "run.h5") as file:
        group = file["alignments/cross"]
        sizes = [(t - 1, s - 1) for t, s in zip(group["tgt_len"][-1], group["src_len"][:])]
        weights = [group["weights"][-1, i, 0, :t, : s + 1] for i, (t, s) in enumerate(sizes)]
    argmax = [sorted((int(w[j].argmax()), j) for j in range(len(w)) if w[j].argmax() < w.shape[1] - 1) for w in weights]
    above = [[(i, j) for i in range(w.shape[1] - 1) for j in range(len(w)) if w[j, i] >= np.float32(0.26)] for w in weights]
    for expected, options in ((argmax, ()), (above, ("--threshold", 0.26))):
        text = "".join(" ".join(f"{i}-{j}" for i, j in line) + "\n" for line in expected)
        assert softalign("export", run, "--what", "links", *options, cwd=gold).stdout == text
    searched = softalign("export", run, "--what", "links", "--module", "cross_search", cwd=gold).stdout
    softalign("translate", run, "--links", "found.links", cwd=gold, text=(gold / "test.en").read_text())
    assert (gold / "found.links").read_text() == searched
    for threshold in ("nan", "1.1", "-0.1", "x"):
        error("export", run, "--what", "links", f"--threshold={threshold}", cwd=gold, code=2)
    error("translate", run, "--links", "both", "--alignments", "./both", cwd=gold, text="reads\n", code=2)
    assert not (gold / "both").exists()


def test_translated_lines_have_a_line_of_links_each(gold: Path) -> None:
    run = trained_run(gold, spec="text.yaml")
    softalign("translate", run, "--links", "a.links", cwd=gold, text="reads sings\n\nsinger\n\n")
    lines = (gold / "a.links").read_text().split("\n")
    assert len(lines) == 5 and lines[1] == lines[3] == ""
    again = ("translate", run, "--links", "a.links")
    error(*again, cwd=gold, code=2)
    softalign(*again, "--force", cwd=gold, text="reads\n")
    assert (gold / "a.links").read_text().count("\n") == 1
    none = trained_run(gold, "model.attention=none", spec="text.yaml")
    error("translate", none, "--links", "b.links", cwd=gold, code=2)
    error("export", none, "--what", "links", cwd=gold, code=2)


def test_an_export_says_what_it_does_not_hold(gold: Path) -> None:
    run = trained_run(gold, "record.alignments=3", spec="text.yaml")
    done = softalign("export", run, "--what", "links", cwd=gold)
    assert done.stdout.count("\n") == 3 and "3 of 12" in done.stderr
    trained_run(gold, spec="text.yaml")
    for words in ([run, "--module", "cros"], [run, "--head", 1], ["results"]):
        error("export", *words, "--what", "links", cwd=gold, code=2)


@pytest.mark.parametrize("link", ["0-9", "0:0"])
def test_gold_links_of_a_test_set_that_cannot_be_are_refused_before_training(gold: Path, link: str) -> None:
    lines = (gold / "test.links").read_text().splitlines()
    lines[7] += " " + link
    (gold / "test.links").write_text("\n".join(lines) + "\n")
    assert "test.links:8: " in softalign("run", "text.yaml", cwd=gold, code=3).stderr
    assert not list(gold.glob("results/*/*/run.h5"))
