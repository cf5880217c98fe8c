"""What a trained model is asked for: n-best lists, samples, forced decoding, ensembles."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from program import TINY, answer, error, softalign

h5py = pytest.importorskip("h5py", reason="python3-h5py is not installed")

LINES = ["a b c", "", "h g f e d", "c d"]
TEXT = "\n".join(LINES) + "\n"


@pytest.fixture(scope="module")
def second(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run like `trained`, of another seed and size."""
    folder = tmp_path_factory.mktemp("second")
    (folder / "tiny.yaml").write_text(TINY)
    softalign("run", "tiny.yaml", "seed=2", "model.encoder.units=6", "train.epochs=10", cwd=folder)
    (run,) = folder.glob("results/tiny/*")
    return run


def json_lines(*arguments: object, cwd: Path, **more: Any) -> list[dict[str, Any]]:
    return [json.loads(line) for line in softalign(*arguments, "--json", cwd=cwd, **more).stdout.splitlines()]


def probability(hypothesis: dict[str, Any]) -> float:
    return math.exp(hypothesis["log_probability"])


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
    refused = error("translate", trained, "--n-best", 6, cwd=tmp_path, code=2)
    assert "--n-best 6: this search returns 5 of a sentence; say search.width=6 for a beam" in refused
    assert "returns 1" in error("translate", trained, "--n-best", 2, "--search", "greedy", cwd=tmp_path, code=2)


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
        assert f"override 3 ('{asked}'): evaluate.{search}: it reads attention weights" in softalign("run", "tiny.yaml", *none, asked, cwd=here, code=2).stderr
    assert not (here / "results").exists()
    softalign("run", "tiny.yaml", *none, cwd=here)
    (run,) = here.glob("results/tiny/*")
    for command in ("translate", "evaluate"):
        refused = error(command, run, "search.coverage_penalty=1", cwd=here, code=2)
        assert refused.endswith("search: it reads attention weights, and the model has none; leave coverage_penalty out")


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
    assert done.stderr == f"perplexity {math.exp(nats / symbols):.4g}: {nats:.6g} nats over {symbols} symbols with </s>\n"
    (tmp_path / "target").write_text("a b c\n")
    said = error(*ask, cwd=tmp_path, code=3)
    assert said == "softalign: target ends after 1 lines, source goes on; line k of one must belong to line k of the other"


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


def test_an_ensemble_is_the_mean_of_its_models(trained: Path, second: Path, tmp_path: Path) -> None:
    (tmp_path / "source").write_text("a b c\n")
    (tmp_path / "target").write_text("c\n")
    files = ("--source", "source", "--target", "target")

    def first_symbol(*runs: object) -> float:
        return json_lines("score", *runs, *files, cwd=tmp_path)[0]["log_probabilities"][0]

    one, other = first_symbol(trained), first_symbol(second)
    mean = math.log((math.exp(one) + math.exp(other)) / 2)
    assert first_symbol(trained, second) == pytest.approx(mean, abs=1e-5)
    assert first_symbol(second, trained, second) == pytest.approx(
        math.log((math.exp(one) + 2 * math.exp(other)) / 3), abs=1e-5)  # fmt: skip
    assert first_symbol(trained, second, "--average", "log-probabilities") >= min(one, other)
    softalign("translate", trained, second, "search.width=3", "--alignments", "x.h5", cwd=tmp_path, text=TEXT)
    with h5py.File(tmp_path / "x.h5") as file:
        assert file.attrs["run_id"].decode() == f"{trained.name} {second.name}"
    here = trained.parents[2]
    both = answer("evaluate", trained, second, cwd=here)
    assert both["ensemble"] == {"run_ids": [trained.name, second.name], "average": "probabilities"}
    alone = answer("evaluate", trained, trained, cwd=here)["metrics"]["all"]
    expected = answer("evaluate", trained, cwd=here)["metrics"]["all"]
    assert alone.keys() == expected.keys()
    for name, value in expected.items():
        assert alone[name] == pytest.approx(value, abs=1e-4)
    said = softalign("evaluate", trained, second, cwd=here).stdout.splitlines()[0]
    assert said.endswith(", 2 models together (mean of probabilities)")


def test_runs_of_other_vocabularies_are_no_ensemble(trained: Path, here: Path) -> None:
    (here / "tiny.yaml").write_text(TINY.replace("symbols: 8", "symbols: 7"))
    softalign("run", "tiny.yaml", "train.epochs=1", cwd=here)
    (run,) = here.glob("results/tiny/*")
    refused = error("translate", trained, run, cwd=here, code=2)
    assert "cannot be asked together: their source vocabularies differ (11 and 10 symbols)" in refused
    assert trained.name in refused and run.name in refused


def test_sentences_without_references_are_translated_and_not_measured(here: Path) -> None:
    for split, n in {"train": 20, "dev": 4, "test": 4}.items():
        for side in ("en", "es"):
            (here / f"{split}.{side}").write_text("".join(f"a b c {i % 5}\n" for i in range(n)))
    model = TINY[TINY.index("model:") :]
    files = "  train: {source: train.en, target: train.es}\n  dev: {source: dev.en}\n  test: {source: test.en}\n"
    (here / "text.yaml").write_text(f"name: text\ntask:\n  type: parallel_text\n{files}{model}")
    done = softalign("run", "text.yaml", cwd=here)
    for split in ("dev", "test"):
        assert f"note: the {split} sentences have no references: they are translated and not measured" in done.stderr
    (run,) = here.glob("results/text/*")
    assert answer("show", run, cwd=here)["test"]["all"] == {"n": 4}
    text = (here / "test.en").read_text()
    with h5py.File(run / "run.h5") as file:
        hypotheses = file["test/hypothesis"].asstr()[:].tolist()
        assert set(file["alignments"]) == {"cross_search", "cross_dev_search"}
    assert hypotheses == softalign("translate", run, cwd=here, text=text).stdout.splitlines()
    assert answer("evaluate", run, cwd=here)["metrics"]["all"] == {"n": 4}
    for shown in (done, softalign("show", run, cwd=here), softalign("evaluate", run, cwd=here)):
        assert "\nnothing is measured: no references\nlength  n\n" in shown.stdout
    rows = json.loads(softalign("export", run, "--what", "sentences", "--format", "json", cwd=here).stdout)
    told = {"run_id", "name", "seed", "sentence", "source", "source_length", "hypothesis", "model_score"}
    assert len(rows) == 4 and all({key for key, cell in row.items() if cell is not None} == told for row in rows)
    softalign("verify", run, cwd=here)
    softalign("ls", cwd=here)
    softalign("compare", run, cwd=here, code=None)
    refused = error("run", "text.yaml", "train.early_stopping.metric=dev/loss", "seed=2", cwd=here, code=2)
    assert "train.early_stopping: the dev sentences have no references, so there is nothing to watch" in refused
    assert "training needs the translations" in error("run", "text.yaml", "~task.train.target", cwd=here, code=2)
    linked = error("run", "text.yaml", "task.test.alignment=test.es", cwd=here, code=2)
    assert "task.test: alignment links a target, and none is given" in linked


def test_a_model_that_is_told_the_links_translates_nothing_new(here: Path) -> None:
    softalign("run", "tiny.yaml", "model.attention=true_alignment", "train.epochs=1", cwd=here)
    (run,) = here.glob("results/tiny/*")
    assert "reads the known links" in error("translate", run, cwd=here, code=2)
    softalign("evaluate", run, cwd=here)  # its own sentences have links
