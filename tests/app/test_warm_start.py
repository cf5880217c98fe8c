"""spec.init: parameters of another run, word vectors, frozen parameters."""

from __future__ import annotations

import shutil
from pathlib import Path

import h5py
import numpy as np
import pytest

from command_line import answer, error, only_run, softalign, trained_run, write_corpus

NEARLY_STILL = ["train.max_updates=1", "train.optimizer={type: sgd, learning_rate: 1e-30}"]


def parameters(run: Path) -> dict[str, np.ndarray]:
    with h5py.File(run / "run.h5") as file:
        return {name: data[()] for name, data in file["parameters"].items() if not name.startswith("axis")}


def test_a_warm_start_without_training_gives_the_same_numbers(here: Path) -> None:
    first = trained_run(here, "train.epochs=20")
    softalign("run", "tiny.yaml", "name=warm", f"init.from={first}/run.h5", *NEARLY_STILL, cwd=here)
    warm = only_run(here, "warm")
    assert answer("show", warm, cwd=here)["test"] == answer("show", first, cwd=here)["test"]
    for name, values in parameters(first).items():
        assert np.array_equal(parameters(warm)[name], values), name
    assert "the same bits again" in softalign("verify", warm, cwd=here).stdout


def test_the_identity_has_what_was_taken_not_where(here: Path) -> None:
    first = trained_run(here)
    shutil.copytree(first, here / "elsewhere")
    again = trained_run(here, "--results", "again")

    def run_id(place: Path | str) -> str:
        return answer("run", "tiny.yaml", f"init.from={place}", "--dry-run", cwd=here)["run_id"]

    assert run_id("elsewhere") == run_id(again / "run.h5") == run_id(first) != first.name
    assert run_id(trained_run(here, "seed=2")) != run_id(first)


def test_a_part_is_taken_and_a_part_stays(here: Path) -> None:
    first = trained_run(here, "train.epochs=20")
    init = f"init={{from: {first}, only: [encoder.*, source.*], freeze: [encoder.*, source.*]}}"
    warm = trained_run(here, init, "model.attention.score=general", "train.epochs=3", "--threads", 2)
    old, new = parameters(first), parameters(warm)
    for name in new:
        if name.startswith(("encoder.", "source.")):
            assert np.array_equal(old[name], new[name]), name
        elif name in old:
            assert not np.array_equal(old[name], new[name]), name
    other = trained_run(here, init, "model.attention.score=general", "train.epochs=3", "--threads", 1, "--results", "one")
    assert all(part["different"] == 0 for part in answer("diff", warm, other, cwd=here)["bits"].values())
    assert "the same bits again" in softalign("verify", warm, "--quick", cwd=here).stdout
    last = answer("evaluate", warm, "--state", "last", cwd=here)["metrics"]
    assert last == answer("evaluate", warm, cwd=here)["metrics"]


def test_a_run_is_named_by_the_beginning_of_its_id_and_a_part_by_one_pattern(here: Path) -> None:
    first, other = trained_run(here), trained_run(here, "seed=2", "--results", "elsewhere")
    part = ["init.only=encoder.*", "init.freeze=encoder.*"]
    named = trained_run(here, f"init.from={first.name[:6]}", *part)
    assert named.name == trained_run(here, f"init={{from: {first}, only: [encoder.*], freeze: [encoder.*]}}").name
    assert f"../{first.name}" in (named / "spec.yaml").read_text()
    assert all(np.array_equal(parameters(named)[name], old) for name, old in parameters(first).items() if name.startswith("encoder."))
    assert "the same bits again" in softalign("verify", named, cwd=here).stdout
    error("run", "tiny.yaml", f"init.from={other.name}", cwd=here, code=2)
    answer("run", "tiny.yaml", f"init.from={other.name}", "--results", "elsewhere", cwd=here)
    sweep = f"name: parts\nbase: tiny.yaml\nparameters:\n  init.only: {{values: [encoder.*, source.*]}}\n  init.from: {{value: {first.name[:6]}}}\n"
    (here / "sweep.yaml").write_text(sweep + "seeds: [1]\n")
    softalign("sweep", "run", "sweep.yaml", cwd=here)
    assert {row["state"] for row in answer("sweep", "status", "sweep.yaml", cwd=here)["rows"]} == {"complete"}


@pytest.mark.parametrize("frozen", ["projection.*", "projection.b", "decoder.*", "target.*"])
def test_any_part_may_stay(here: Path, frozen: str) -> None:
    fresh = parameters(trained_run(here, "train.optimizer={type: sgd, learning_rate: 1e-30}", "train.max_updates=1"))
    run = trained_run(here, f"init.freeze=['{frozen}']")
    for name, values in parameters(run).items():
        assert np.allclose(values, fresh[name], rtol=0, atol=1e-20) == name.startswith(frozen.rstrip("*")), name


def test_what_does_not_fit_is_refused(here: Path) -> None:
    first = trained_run(here)
    fault = error("run", "tiny.yaml", f"init.from={first}", "model.decoder.units=9", cwd=here, code=2)
    assert "init.from: " in fault and "[8,24] there" in fault
    for code, *changes in (
        (2, f"init.from={first}", "model.attention.score=general"),
        (2, f"init={{from: {first}, only: [encodr.*]}}"),
        (2, "init.freeze=[nothing]"),
        (2, "init.freeze=['*']"),
        (3, "init.from=absent.h5"),
        (3, f"init.from={'x' * 300}"),
    ):
        softalign("run", "tiny.yaml", *changes, cwd=here, code=code)
    write_corpus(here)
    text = trained_run(here, spec="text.yaml")
    (here / "train.en").write_text("".join(f"x y c {i % 5}\n" for i in range(20)))
    assert "source.embedding.E" in error("run", "text.yaml", f"init.from={text}", cwd=here, code=3)


def vocabularies(run: Path) -> list[bytes]:
    with h5py.File(run / "run.h5") as file:
        return [file[f"data/{side}_vocabulary"][()] for side in ("source", "target")]


def test_a_run_on_other_text_takes_vocabularies_and_parameters(here: Path) -> None:
    write_corpus(here)
    first = trained_run(here, spec="text.yaml")
    for side in ("en", "es"):
        (here / f"train.{side}").write_text("".join(f"c 4 b new {i % 7}\n" for i in range(12)))
    take = [f"task.vocabulary.from={first}", f"init.from={first}"]
    warm = trained_run(here, *take, *NEARLY_STILL, spec="text.yaml")
    assert vocabularies(warm) == vocabularies(first)
    assert answer("show", warm, cwd=here)["test"] == answer("show", first, cwd=here)["test"]
    assert "the same bits again" in softalign("verify", warm, cwd=here).stdout
    shutil.copytree(first, here / "copy")
    for place in ("copy", "copy/run.h5", first.name[:6]):  # the identity has what the vocabularies are, not where
        planned = answer("run", "text.yaml", f"task.vocabulary.from={place}", take[1], *NEARLY_STILL, "--dry-run", cwd=here)
        assert planned["run_id"] == warm.name
    shutil.rmtree(here / "copy")
    shutil.rmtree(first)
    assert softalign("translate", warm, cwd=here, text="a b c 1\n").stdout != ""  # its record suffices


def test_vocabularies_of_files(here: Path) -> None:
    write_corpus(here)
    (here / "source.txt").write_text("<unk>\n<s>\n</s>\nb\na\nzebra\n")
    (here / "target.txt").write_text("c\n1\n")
    run = trained_run(here, "task.vocabulary={from: source.txt, target_from: target.txt}", spec="text.yaml")
    assert [text.split()[3:] for text in vocabularies(run)] == [[b"b", b"a", b"zebra"], [b"c", b"1"]]
    one = trained_run(here, "task.vocabulary.from=source.txt", "model.tied_embeddings=all", "model.decoder.readout_units=8", spec="text.yaml")
    assert len(set(vocabularies(one))) == 1
    (here / "source.txt").write_text("a\nb\na\n")
    assert "source.txt:3: 'a' is in line 1, too" in error("run", "text.yaml", "task.vocabulary.from=source.txt", cwd=here, code=3)
    (here / "source.txt").write_text("a\nb 17\n")
    for change, code, named in (
        ("task.vocabulary.from=source.txt", 3, "source.txt:2: "),
        ("task.vocabulary.from=absent", 3, "absent: "),
        ("task.vocabulary.target_from=target.txt", 2, "target_from: "),
        ("task.vocabulary={from: target.txt, dropout: 0.1}", 3, "task.vocabulary.dropout: "),
    ):
        assert named in error("run", "text.yaml", change, cwd=here, code=code)


def test_word_vectors(here: Path) -> None:
    write_corpus(here)
    vectors = {"a": 0.5, "0": -1.25, "unknown": 3.0, "b": 2.0}
    lines = [f"{word} " + " ".join([str(value)] * 8) for word, value in vectors.items()]
    (here / "vectors.txt").write_text("5 8\n" + "\n".join(lines) + "\na " + " ".join(["9"] * 8) + "\n")
    changes = ["init.source_embeddings=vectors.txt", "init.freeze=[source.*]"]
    done = softalign("run", "text.yaml", *changes, cwd=here)
    assert "vectors.txt: 3 of 8 source symbols\n" in done.stderr
    run = only_run(here, "text")
    table = parameters(run)["source.embedding.E"]
    rows = sorted(set(float(row[0]) for row in table if len(set(row)) == 1))
    assert rows == [-1.25, 0.5, 2.0]
    (here / "vectors.txt").write_text("7 8\n" + "\n".join(lines) + "\n")  # its end is missing
    done = softalign("run", "text.yaml", *changes, "seed=2", cwd=here)
    assert "vectors.txt: 3 of 8 source symbols; its first line says 7 vectors, but it has 4\n" in done.stderr
    blanks = "\n".join(f"{symbol} " + " ".join(["0.5"] * 8) for symbol in (". . .", "to name@example.org", "at 1 a.m."))
    (here / "vectors.txt").write_text(blanks + "\n" + "\n".join(lines) + "\n")  # as in vectors made from web pages
    done = softalign("run", "text.yaml", *changes, "seed=3", cwd=here)
    assert "vectors.txt: 3 of 8 source symbols; skipped 3 lines with blanks in the symbol\n" in done.stderr
    wrong = [f"a 1 2 3 4 5 6 {number} 8" for number in ("seven", "nan", "inf", "1e39")]
    for text in (*wrong, "a 1 2 3 4 5 6 7 8 9", "b c 1 2 3 4 5 6 7 x", "a 1 2", "3 5\na 1 2 3 4 5 6 7 8"):
        (here / "vectors.txt").write_text(f"{text}\n")
        assert "vectors.txt:1: " in error("run", "text.yaml", *changes, cwd=here, code=3)
    (here / "one.txt").write_text("a 7\n")
    one = softalign("run", "text.yaml", "init.source_embeddings=one.txt", "model.embedding=1", "name=one", cwd=here).stderr
    assert "one.txt: 1 of 8 source symbols" in one
    (here / "vectors.txt").write_text("q 1 2 3 4 5 6 7 8\n")
    error("run", "text.yaml", *changes, cwd=here, code=3)
