"""Outputs of a trained model: n-best lists, samples, forced decoding."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from command_line import answer, error, json_lines, only_run, softalign, text_spec, trained_run, write_corpus

h5py = pytest.importorskip("h5py", reason="python3-h5py is not installed")

LINES = ["a b c", "", "h g f e d", "c d"]
TEXT = "\n".join(LINES) + "\n"


def test_n_best_lists_hold_score_log_probability_and_text(trained: Path, tmp_path: Path) -> None:
    best = softalign("translate", trained, cwd=tmp_path, text=TEXT).stdout.splitlines()
    listed = softalign("translate", trained, "--n-best", 3, cwd=tmp_path, text=TEXT).stdout.splitlines()
    rows = [line.split("\t") for line in listed]
    assert [(int(row[0]), int(row[1])) for row in rows] == [(line, rank) for line in (0, 2, 3) for rank in (1, 2, 3)]
    assert [row[4] for row in rows if row[1] == "1"] == [best[0], best[2], best[3]]
    objects = json_lines("translate", trained, "--n-best", 3, cwd=tmp_path, text=TEXT)
    assert [one["line"] for one in objects] == [0, 1, 2, 3] and objects[1]["hypotheses"] == []
    flat = [hypothesis for one in objects for hypothesis in one["hypotheses"]]
    for row, hypothesis in zip(rows, flat, strict=True):
        assert (float(row[2]), float(row[3]), row[4]) == (
            hypothesis["score"], hypothesis["log_probability"], hypothesis["text"])  # fmt: skip
        assert len(hypothesis["tokens"]) == len(hypothesis["log_probabilities"])
        assert sum(hypothesis["log_probabilities"]) == pytest.approx(hypothesis["log_probability"])
        assert hypothesis["score"] == pytest.approx(hypothesis["log_probability"] / len(hypothesis["tokens"]))
    one = json_lines("translate", trained, cwd=tmp_path, text=TEXT)
    assert [len(line["hypotheses"]) for line in one] == [1, 0, 1, 1]
    given = ("search=beam", "search.width=2")
    assert len(softalign("translate", trained, "--n-best", 2, *given, cwd=tmp_path, text="a b\n").stdout.splitlines()) == 2
    for words in (["--n-best", 6], ["--n-best", 2, "--search", "greedy"], ["--n-best", 2, "--search", "sample"], ["--search", "greedy", "search=beam"]):
        error("translate", trained, *words, cwd=tmp_path, code=2)


def test_penalties_change_the_ranking_and_nothing_else(trained: Path, tmp_path: Path) -> None:
    def flat(*options: str) -> dict[str, dict[str, Any]]:
        (one,) = json_lines("translate", trained, "--n-best", 5, *options, cwd=tmp_path, text="a b c d e\n")
        return {hypothesis["text"]: hypothesis for hypothesis in one["hypotheses"]}

    average, none, gnmt = flat(), flat("search.length_penalty=none"), flat("search.length_penalty=gnmt")
    assert set(average) == set(none) == set(gnmt) == set(flat("search.coverage_penalty=0.2"))
    for text, one in gnmt.items():
        steps = len(one["tokens"])
        assert one["log_probability"] == none[text]["score"] == none[text]["log_probability"]
        assert one["score"] == pytest.approx(one["log_probability"] / ((5 + steps) / 6))
    long = flat("search.min_ratio=1.5")  # 9 symbols of 6 with </s>
    assert min(len(one["tokens"]) for one in long.values()) >= 10
    assert "search.min_ratio: " in error("translate", trained, "search.min_ratio=3", cwd=tmp_path, code=2)


def test_coverage_is_refused_where_there_is_no_attention(here: Path) -> None:
    none = ("model.attention=none", "train.epochs=1")
    for search in ("search", "dev_search"):
        asked = f"evaluate.{search}={{type: beam, coverage_penalty: 1}}"
        assert f"override 3 ('{asked}'): " in softalign("run", "tiny.yaml", *none, asked, cwd=here, code=2).stderr
    assert not (here / "results").exists()
    run = trained_run(here, *none)
    covered = trained_run(here, "train.epochs=1", "evaluate.search={type: beam, coverage_penalty: 1}")
    for command in (["translate", run], ["evaluate", run], ["translate", run, covered, "--ensemble"]):
        assert "override 1 (" in error(*command, "search.coverage_penalty=1", cwd=here, code=2)
    translated = softalign("translate", covered, run, "--ensemble", "search.coverage_penalty=0.5", cwd=here, text=TEXT)
    assert len(translated.stdout.splitlines()) == 4


def test_samples_depend_on_seed_and_line_alone(trained: Path, tmp_path: Path) -> None:
    def samples(text: str, *options: object) -> list[list[str]]:
        ask = ("translate", trained, "search=sample", "search.samples=4", "search.temperature=3", "--n-best", 4)
        lines = json_lines(*ask, *options, cwd=tmp_path, text=text)
        return [[hypothesis["text"] for hypothesis in line["hypotheses"]] for line in lines]

    some = samples(TEXT * 20)
    assert some == samples(TEXT * 20, "batch=3", "--threads", 1) == samples(TEXT * 20, "search.seed=1")
    assert some != samples(TEXT * 20, "search.seed=2") and some[:4] == samples(TEXT)
    assert some[0] != some[4]  # the same words in another line
    greedy = softalign("translate", trained, "--search", "greedy", cwd=tmp_path, text=TEXT).stdout.splitlines()
    assert [line[0] if line else "" for line in samples(TEXT, "search.top_k=1")] == greedy
    assert "search.top_p" in error("translate", trained, "search=sample", "search.top_p=1.5", cwd=tmp_path, code=2)
    metrics = answer("evaluate", trained, "search=sample", cwd=trained.parents[2])
    assert metrics["search"]["type"] == "sample"
    assert answer("evaluate", trained, "evaluate.search=sample", cwd=trained.parents[2]) == metrics  # as a spec has it


def test_equal_samples_are_one_hypothesis_with_its_count(trained: Path, tmp_path: Path) -> None:
    ask = ("translate", trained, "search=sample", "search.samples=40", "search.top_k=2", "--n-best", 40)
    (line,) = json_lines(*ask, "--alignments", "x.h5", cwd=tmp_path, text="a b c\n")
    found = line["hypotheses"]
    distinct = {(one["text"], one["finished"]) for one in found}
    assert 1 < len(distinct) == len(found) < 40 and sum(one["drawn"] for one in found) == 40
    assert len(softalign(*ask, cwd=tmp_path, text="a b c\n").stdout.splitlines()) == len(found)
    with h5py.File(tmp_path / "x.h5") as file:
        assert len(file["alignments"]) == len(found)
    (line,) = json_lines("translate", trained, cwd=tmp_path, text="a b c\n")
    assert "drawn" not in line["hypotheses"][0]


def test_scores_of_translations_are_those_of_the_search(trained: Path, tmp_path: Path) -> None:
    found = json_lines("translate", trained, "--alignments", "found.h5", cwd=tmp_path, text=TEXT)
    best = [one["hypotheses"][0] if one["hypotheses"] else {"text": ""} for one in found]
    (tmp_path / "source").write_text(TEXT)
    (tmp_path / "target").write_text("".join(one["text"] + "\n" for one in best))
    ask = ("score", trained, "--source", "source", "--target", "target")
    scored = json_lines(*ask, "--alignments", "forced.h5", cwd=tmp_path)
    assert scored[1] == {"line": 1}
    for hypothesis, score in zip(best, scored, strict=True):
        for key in ("log_probability", "tokens", "log_probabilities"):
            assert hypothesis.get(key) == score.get(key)
    with h5py.File(tmp_path / "found.h5") as one, h5py.File(tmp_path / "forced.h5") as other:
        cross, forced = one["alignments/cross"], other["alignments/cross"]
        assert cross["weights"][:].tobytes() == forced["weights"][:].tobytes()
        for name in ("tgt_tokens", "src_tokens", "sentence"):
            assert cross[name][:].tolist() == forced[name][:].tolist()
    done = softalign(*ask, cwd=tmp_path)
    rows = done.stdout.split("\n")
    assert len(rows) == 5 and rows[1] == ""
    assert float(rows[0].split("\t")[0]) == best[0]["log_probability"]
    assert [float(x) for x in rows[0].split("\t")[1].split()] == best[0]["log_probabilities"]
    symbols = sum(len(one["tokens"]) for one in best if one["text"])
    nats = -sum(one["log_probability"] for one in best if one["text"])
    assert done.stderr.startswith(f"perplexity {math.exp(nats / symbols):.4g}: {nats:.6g} nats over {symbols} symbols")
    (tmp_path / "target").write_text("a b c\n")
    error(*ask, cwd=tmp_path, code=3)


def test_score_tells_unknown_words_reads_pipes_and_refuses_searches(trained: Path, tmp_path: Path) -> None:
    (tmp_path / "source").write_text("a b zz\n\nc c\n")
    (tmp_path / "target").write_text("zz yy a\na\nc c\n")
    ask = ("score", trained, "--source", "source", "--target", "target")
    done = softalign(*ask, cwd=tmp_path)
    for part in ("1 of 5 source", "2 of 6 target", "line 2"):
        assert part in done.stderr
    piped = ("score", trained, "--source", "/dev/stdin", "--target", "target")
    assert softalign(*piped, cwd=tmp_path, text=(tmp_path / "source").read_bytes()).stdout == done.stdout
    assert softalign(*ask, "batch=1", cwd=tmp_path).stdout == done.stdout
    for option in ("search=greedy", "search.width=2", "lengths=[3]"):
        assert f"override 1 ('{option}'): " in error(*ask, option, cwd=tmp_path, code=2)
    softalign(*ask, "--search", "greedy", cwd=tmp_path, code=2)
    error("translate", trained, "lengths=[3]", cwd=tmp_path, code=2)


def test_alignments_of_every_hypothesis(trained: Path, tmp_path: Path) -> None:
    softalign("translate", trained, "--n-best", 3, "--alignments", "x.h5", cwd=tmp_path, text=TEXT)
    softalign("translate", trained, "--alignments", "best.h5", cwd=tmp_path, text=TEXT)
    with h5py.File(tmp_path / "x.h5") as file, h5py.File(tmp_path / "best.h5") as best:
        assert set(file["alignments"]) == {"cross", "cross_2", "cross_3"}
        assert file["alignments/cross/weights"][:].tobytes() == best["alignments/cross/weights"][:].tobytes()
        for module in file["alignments"].values():
            assert module["sentence"][:].tolist() == [0, 2, 3]
            length = module["tgt_len"][0, 0]
            assert module["weights"][0, 0, 0, :length, :4].sum(axis=1) == pytest.approx([1] * length, abs=1e-5)


def test_sentences_without_references_are_translated_and_not_measured(here: Path) -> None:
    write_corpus(here)
    spec = text_spec().replace("dev.en, target: dev.es", "dev.en").replace("test.en, target: test.es", "test.en")
    (here / "text.yaml").write_text(spec)
    done = softalign("run", "text.yaml", cwd=here)
    assert done.stderr.count("no references") == 2
    run = only_run(here, "text")
    assert answer("show", run, cwd=here)["test"]["all"] == {"n": 4}
    text = (here / "test.en").read_text()
    with h5py.File(run / "run.h5") as file:
        hypotheses = file["test/hypothesis"].asstr()[:].tolist()
        assert set(file["alignments"]) == {"cross_search", "cross_dev_search"}
    assert hypotheses == softalign("translate", run, cwd=here, text=text).stdout.splitlines()
    assert answer("evaluate", run, cwd=here)["metrics"]["all"] == {"n": 4}
    softalign("show", run, cwd=here)
    rows = json.loads(softalign("export", run, "--what", "sentences", "--format", "json", cwd=here).stdout)
    cells = {"run_id", "name", "seed", "sentence", "line", "source", "source_length", "hypothesis", "model_score"}
    assert len(rows) == 4 and all({key for key, cell in row.items() if cell is not None} == cells for row in rows)
    softalign("verify", run, cwd=here)
    softalign("ls", cwd=here)
    softalign("compare", run, cwd=here, code=None)
    for change in ("train.early_stopping.metric=dev/loss", "~task.train.target", "task.test.alignment=test.es"):
        error("run", "text.yaml", change, "seed=2", cwd=here, code=2)


def test_a_model_that_is_told_the_links_translates_nothing_new(here: Path) -> None:
    run = trained_run(here, "model.attention=true_alignment", "train.epochs=1")
    error("translate", run, cwd=here, code=2)
    softalign("evaluate", run, cwd=here)  # its own sentences have links
