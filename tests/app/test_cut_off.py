"""Numbers next to BLEU: tokenisations, brevity penalty, sentences that were cut at the length limit; speed and memory of a run."""

from __future__ import annotations

from pathlib import Path

import h5py

from command_line import answer, softalign, trained_run


def test_sentences_that_the_length_limit_cut_are_counted(here: Path) -> None:
    run = trained_run(here, "evaluate.search={type: greedy, max_ratio: 0.01, max_extra: 1}")
    test = answer("evaluate", run, cwd=here)["metrics"]["all"]
    assert test["cut_off"] == 100 and 0 < test["brevity_penalty"] < 1 and test["length_ratio"] < 0.5
    whole = answer("evaluate", run, "search.max_ratio=50", "search.max_extra=1000", cwd=here)["metrics"]["all"]
    assert whole["cut_off"] < 100


def test_every_bleu_has_its_signature(here: Path) -> None:
    names = {"bleu": "none", "bleu_13a": "13a", "bleu_intl": "intl", "bleu_char": "char"}
    run = trained_run(here, f"evaluate.metrics=[{', '.join(names)}]")
    with h5py.File(run / "run.h5") as file:
        for name, tokenisation in names.items():
            assert f"|tok:{tokenisation}|" in str(file["test"].attrs[f"{name}_signature"])
            assert name in file["test/by_length"] and name in file["dev"]


def test_a_spec_lists_its_metrics(here: Path) -> None:
    every = trained_run(here)
    run = trained_run(here, "evaluate.metrics=[loss, {bleu: {tokenize: 13a}}, chrf]")
    assert run.name != every.name
    metrics = answer("evaluate", run, cwd=here)["metrics"]["all"]
    assert set(metrics) - {"n"} == {"loss", "bleu_13a", "chrf"}
    with h5py.File(run / "run.h5") as file, h5py.File(every / "run.h5") as whole:
        assert set(file["test/by_length"]) == {"label", "n", "bucket", "loss", "bleu_13a", "chrf"}
        assert "bleu_stats" not in file["test"] and "bleu_13a_stats" in file["test"]
        assert file["test"].attrs["chrf"] == whole["test"].attrs["chrf"]
        assert "bleu_13a" not in whole["test"].attrs
    assert "bleu_13a" in softalign("show", run, cwd=here).stdout
    softalign("compare", run, every, "--metric", "chrf", cwd=here)
    softalign("run", "tiny.yaml", "evaluate.metrics=[loss]", "train.early_stopping={metric: dev/bleu}", cwd=here, code=2)


def test_speed_and_memory_are_recorded_and_no_part_of_the_bits(here: Path) -> None:
    run, again = trained_run(here), trained_run(here, "--results", "again")
    with h5py.File(run / "run.h5") as file:
        assert file["system/update"][:].tolist() == [4, 8]
        assert (file["system/tokens_per_s"][:] > 0).all() and (file["system/memory_mb"][:] > 1).all()
    assert all(part["different"] == 0 for part in answer("diff", run, again, cwd=here)["bits"].values())
    assert "system  tokens_per_s " in softalign("tail", run, cwd=here).stdout
    (line,) = answer("ls", cwd=here)
    assert line["last"]["system/tokens_per_s"] > 0 and line["last"]["system/memory_mb"] > 1
