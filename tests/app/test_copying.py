"""The pointer-generator copies words that are in no vocabulary: a small experiments/headlines, from training to all commands."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from command_line import answer, error, json_lines, softalign, trained_run

h5py = pytest.importorskip("h5py", reason="python3-h5py is not installed")
np = pytest.importorskip("numpy", reason="python3-numpy is not installed")

HEADLINES = Path(__file__).parents[2] / "experiments/headlines"
SMALL = ("model.encoder.units=32", "model.decoder.units=32", "model.attention.score.units=32", "train.optimizer.learning_rate=0.005",
         "train.batch.sentences=16", "evaluate.lengths=[20]")  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("headlines")
    subprocess.run([sys.executable, HEADLINES / "build.py", "--output", folder / "data", "--train", "600"], check=True)
    (folder / "headlines.yaml").write_text((HEADLINES / "headlines.yaml").read_text().replace("min_count: 50", "min_count: 12"))
    return folder


@pytest.fixture(scope="module")
def run(folder: Path) -> Path:
    return trained_run(folder, *SMALL, spec="headlines.yaml")


def words_of(vocabulary: str) -> set[str]:
    return set(vocabulary.split("\n")[1:])


def lines_of(folder: Path, name: str) -> list[str]:
    return (folder / "data" / name).read_text().splitlines()


def test_it_writes_names_that_no_vocabulary_has(folder: Path, run: Path) -> None:
    plain = trained_run(folder, *SMALL, "model.output=softmax", "diagnostics=null", spec="headlines.yaml")
    pointed = answer("evaluate", plain, "unknown_words.by=attention", cwd=folder)["metrics"]["all"]
    found, without = (answer("show", one, cwd=folder)["test"]["all"] for one in (run, plain))
    print(found["exact_match"], pointed["exact_match"], without["exact_match"])
    assert without["exact_match"] == 0 and found["exact_match"] > max(60, pointed["exact_match"])
    assert found["free_running_accuracy"] > found["exact_match"] - 1 and found["free_running_accuracy"] > without["free_running_accuracy"] + 20
    with h5py.File(run / "run.h5") as file:
        known = words_of(file["data/target_vocabulary"].asstr()[()]) | words_of(file["data/source_vocabulary"].asstr()[()])
        sources, references, hypotheses, replaced = (file[f"test/{name}"].asstr()[:] for name in ("source", "reference", "hypothesis", "replaced_words"))
        exact = file["test/exact"][:]
    seen = {word for line in lines_of(folder, "train.report") for word in line.split()}
    for source, reference, hypothesis, links in zip(sources, references, hypotheses, replaced, strict=True):
        assert set(reference.split()) - known and not (set(reference.split()) - known) & seen  # new words in each reference
        copied = [tuple(map(int, link.split("-"))) for link in links.split()]
        assert all(hypothesis.split()[j] == source.split()[i] == source.split()[source.split().index(source.split()[i])] for i, j in copied)
        unknown = [j for j, word in enumerate(hypothesis.split()) if word not in known and word != "<unk>"]
        assert [j for _, j in copied] == unknown
    assert [h == r for h, r in zip(hypotheses, references, strict=True)] == exact.astype(bool).tolist()
    softalign("verify", run, cwd=folder)


def test_commands_show_copied_words(folder: Path, run: Path) -> None:
    sources, targets = lines_of(folder, "test.report")[:8], lines_of(folder, "test.headline")[:8]
    text = "".join(f"{line}\n" for line in sources)
    with h5py.File(run / "run.h5") as file:
        hypotheses = file["test/hypothesis"].asstr()[:8].tolist()
    found = [one["hypotheses"][0] for one in json_lines("translate", run, cwd=folder, text=text)]
    assert [one["text"] for one in found] == hypotheses
    for one, source in zip(found, sources, strict=True):
        assert one["replaced"] and all(source.split()[word["source"]] == word["word"] for word in one["replaced"])
        assert all(one["tokens"][word["symbol"]] == "<unk>" for word in one["replaced"])
    assert softalign("translate", run, "unknown_words.by=forbid", cwd=folder, text=text).stdout.splitlines() == hypotheses

    (folder / "source").write_text(text)
    (folder / "target").write_text("".join(f"{one['text']}\n" for one in found))
    scored = json_lines("score", run, "--source", "source", "--target", "target", cwd=folder)
    for one, again in zip(found, scored, strict=True):
        assert again["log_probability"] == pytest.approx(one["log_probability"], abs=1e-4)
    other = [line.replace(line.split()[0], "nobody", 1) for line in targets]  # a name that the source lacks
    (folder / "target").write_text("".join(f"{line}\n" for line in other))
    assert all(one["log_probability"] < -3 for one in json_lines("score", run, "--source", "source", "--target", "target", cwd=folder))


def test_alignments_have_the_words_that_are_read_and_written(folder: Path, run: Path) -> None:
    with h5py.File(run / "run.h5") as file:
        for module, written in (("cross", "reference"), ("cross_search", "hypothesis")):
            group = file[f"alignments/{module}"]
            for at, sentence in enumerate(group["sentence"][:]):
                for side, words in (("src", "source"), ("tgt", written)):
                    tokens = group[f"{side}_tokens"].asstr()[...].reshape(len(group["sentence"]), -1)[at].tolist()
                    assert [token for token in tokens if token not in ("", "</s>")] == file[f"test/{words}"].asstr()[sentence].split(), module
    source = lines_of(folder, "test.report")[0]
    (folder / "one").write_text(f"{source}\n")
    text = softalign("translate", run, "--alignments", "w.h5", "--force", cwd=folder, text=f"{source}\n").stdout
    (folder / "two").write_text(text)
    softalign("score", run, "--source", "one", "--target", "two", "--alignments", "s.h5", "--force", cwd=folder)
    for name in ("w.h5", "s.h5"):
        with h5py.File(folder / name) as file:
            group = file["alignments/cross"]
            assert [*source.split(), "</s>"] == group["src_tokens"].asstr()[0].tolist()
            assert [*text.split(), "</s>"] == group["tgt_tokens"].asstr()[0, 0].tolist()


def test_names_may_be_demanded(folder: Path, run: Path) -> None:
    source = "kelzon from tarvi has won the rally ahead of bonda ."
    (folder / "demand").write_text("bonda beats nobody\n")
    (one,) = json_lines("translate", run, "--prefixes", "demand", cwd=folder, text=source)
    assert one["hypotheses"][0]["text"].startswith("bonda beats nobody")
    assert [word["word"] for word in one["hypotheses"][0]["replaced"]][:2] == ["bonda", "nobody"]
    assert one["hypotheses"][0]["replaced"][0]["source"] == 9 and "source" not in one["hypotheses"][0]["replaced"][1]
    (folder / "demand").write_text("beats bonda\ttarvi\n")
    ask = ("translate", run, "search=beam", "search.width=8", "--constraints", "demand")
    (one,) = json_lines(*ask, cwd=folder, text=source)
    assert "beats bonda" in one["hypotheses"][0]["text"] and "tarvi" in one["hypotheses"][0]["text"]
    (folder / "demand").write_text("nobody\n")
    assert "'nobody' is not in the target vocabulary" in error(*ask, cwd=folder, code=3, text=source)


def test_an_ensemble_copies(folder: Path, run: Path) -> None:
    other = trained_run(folder, *SMALL, "seed=2", "train.epochs=2", spec="headlines.yaml")
    plain = trained_run(folder, *SMALL, "model.output=softmax", "train.epochs=2", "diagnostics=null", spec="headlines.yaml")
    for together in (other, plain):
        metrics = answer("evaluate", run, together, "--ensemble", cwd=folder)["metrics"]["all"]
        print(metrics["exact_match"], metrics["perplexity"])
        assert metrics["exact_match"] > 60 > answer("evaluate", together, cwd=folder)["metrics"]["all"]["exact_match"]


def test_the_other_parts_of_a_run_know_copied_words(folder: Path) -> None:
    more = ("train.epochs=2", "train.label_smoothing=0.1", "train.scheduled_sampling={type: linear, k: 1, slope: 0.001, least: 0.2}",
            "evaluate.search={type: sample, samples: 3}", "diagnostics.faithfulness={sentences: 10, permutations: 2}",
            "diagnostics.bottleneck={sentences: 20}", "diagnostics.cost={sentences: 5}")  # fmt: skip
    found = []
    for layer in ("pointer_generator", "pointer"):
        for threads in (1, 3):
            run = trained_run(folder, *SMALL, *more, f"model.output={layer}", "--threads", threads, "--results", f"threads-{threads}", spec="headlines.yaml")
            with h5py.File(run / "run.h5") as file:
                found.append([file["test"].attrs["perplexity"], *file["test/hypothesis"].asstr()[:]])
                own = file["diagnostics/faithfulness/test"]
                assert own["own_accuracy"][-1] > own["permuted_accuracy"][-1] and 0 < own["permuted_distance"][-1] <= 1
        assert found[-1] == found[-2]
        readouts = json.loads(softalign("export", run, "--what", "states", cwd=folder).stdout)["readouts"]["symbol"]
        assert "<unk>" in readouts


def test_p_gen_is_low_where_a_name_is_copied(folder: Path, run: Path) -> None:
    def exported(group: str, name: str) -> Any:
        with h5py.File(run / "run.h5") as file:
            return file[f"diagnostics/p_gen/{group}/{name}"][:]

    mean, copied, by_step = (exported("test", name) for name in ("mean", "of_copied", "by_step"))
    assert 0.05 < mean[-1] < 0.95 and copied[-1] < 0.2 < mean[-1]
    assert exported("dev", "of_copied")[0] > copied[-1] and by_step.shape == (1, 10)
    assert "copies nothing" in error("run", "headlines.yaml", "model.output=softmax", cwd=folder, code=2)
