"""Extended runs: a run that differs from a complete one only in the length of training continues from it, with the same bits."""

from __future__ import annotations

import shutil
from pathlib import Path

import h5py
import pytest

from command_line import answer, softalign

EARLY = "train.early_stopping={metric: dev/loss, patience: %d}"
PLATEAU = "train.schedule={type: plateau, metric: dev/token_accuracy}"


def run(here: Path, *changes: str) -> tuple[Path, str]:
    """Returns the folder of the run, and its messages."""
    done = softalign("run", "tiny.yaml", *changes, cwd=here)
    return (here / done.stdout.split()[-1]).parent, done.stderr


def bits_differ(here: Path, a: Path, b: Path) -> list[str]:
    return [name for name, part in answer("diff", a, b, cwd=here)["bits"].items() if part["different"]]


# Four updates an epoch.
LONGER = {
    "epochs": (["train.epochs=2"], ["train.epochs=5"], 8),
    "updates": (["train.max_updates=6"], ["train.max_updates=9"], 6),
    "updates of whole epochs": (["train.max_updates=4"], ["train.max_updates=7"], 4),
    "updates, then epochs": (["train.max_updates=6"], ["train.epochs=4"], 6),
    "epochs, then updates": (["train.epochs=3"], ["train.epochs=9", "train.max_updates=14"], 12),
    "accumulated": (["train.max_updates=3", "train.accumulate=3"], ["train.epochs=4", "train.accumulate=3"], 3),
    "early stopping": (["train.epochs=2", EARLY % 1], ["train.epochs=6", EARLY % 3], 8),
    "plateau": (["train.max_updates=6", PLATEAU], ["train.epochs=5", PLATEAU], 6),
    "moving average": (["train.epochs=2", "train.average.type=exponential"], ["train.epochs=4", "train.average.type=exponential"], 8),
    "last epochs": (["train.epochs=9", "train.max_updates=9", "train.average.type=last"], ["train.epochs=4", "train.average.type=last"], 9),
    "best epochs": (["train.epochs=9", "train.max_updates=9", "train.average.type=best"], ["train.epochs=4", "train.average.type=best"], 9),
    "every, at the end": (["train.epochs=2", "evaluate.every={updates: 4}"], ["train.epochs=4", "evaluate.every={updates: 4}"], 8),
    "every, not at the end": (["train.epochs=2", "evaluate.every={updates: 3}"], ["train.epochs=4", "evaluate.every={updates: 3}"], 8),
    "every, within an epoch": (["train.max_updates=6", "evaluate.every={updates: 3}"], ["train.epochs=4", "evaluate.every={updates: 3}"], 6),
    "every, stopped": (["train.max_updates=5", "evaluate.every={updates: 3}", EARLY % 1], ["train.epochs=4", "evaluate.every={updates: 3}", EARLY % 3], 5),
    "shorter": (["train.epochs=6", "record.keep=all"], ["train.epochs=2"], 8),
}


@pytest.mark.parametrize("case", LONGER)
def test_it_ends_with_the_bits_of_a_run_from_the_beginning(here: Path, case: str) -> None:
    before, after, update = LONGER[case]
    first, _ = run(here, *before)
    plan = answer("run", "tiny.yaml", *after, "--dry-run", cwd=here)
    longer, words = run(here, *after)
    assert plan["goes_on_from"] == f"run {first.name} at update {update}"
    assert f"extending run {first.name}, which differs only in the length of its training, at update {update}\n" in words
    scratch, words = run(here, *after, "--from-scratch", "--results", "scratch")
    assert "extending run" not in words and scratch.name == longer.name
    assert bits_differ(here, longer, scratch) == []
    assert "the same bits again" in softalign("verify", longer, cwd=here).stdout


def test_what_would_give_other_bits_is_not_used(here: Path) -> None:
    run(here, "train.epochs=2", EARLY % 3)
    for changes in ((EARLY % 3, "seed=2"), (EARLY % 3, "train.clip_norm=2"), (EARLY % 3, "evaluate.lengths=[3]"), (EARLY % 2,)):
        assert "extending run" not in run(here, "train.epochs=4", *changes)[1]
    assert "extending run" not in run(here, "train.epochs=4")[1]  # which parameters were best without early stopping is not known
    (tiny,) = here.glob("results/tiny")
    shutil.rmtree(tiny)
    cut, _ = run(here, "train.max_updates=6", "record.keep=none")
    assert list((cut / "ckpt").iterdir()) == [] and "extending run" not in run(here, "train.epochs=4")[1]


def test_an_identity_of_another_run_is_not_believed(here: Path) -> None:
    first, _ = run(here, "train.optimizer.learning_rate=0.5")
    other, _ = run(here, "--results", "other")
    shutil.copy(other / "identity.json", first / "identity.json")
    assert "extending run" not in run(here, "train.epochs=4")[1]


def test_an_interrupted_run_is_no_beginning(here: Path) -> None:
    first, _ = run(here)
    (first / "run.h5").unlink()
    assert "extending run" not in run(here, "train.epochs=4")[1]


@pytest.mark.parametrize("keep, updates", [("last", [16, 20]), ("all", [4, 8, 12, 16, 20]), ("none", [])])
def test_checkpoints_that_stay(here: Path, keep: str, updates: list[int]) -> None:
    folder, _ = run(here, "train.epochs=5", f"record.keep={keep}")
    assert sorted(int(path.name.split("-")[1]) for path in folder.glob("ckpt/*")) == updates


def test_the_best_checkpoint_stays(here: Path) -> None:
    folder, words = run(here, "train.epochs=100", "train.optimizer.learning_rate=0.5", EARLY % 4, "record.keep=best")
    best = int(words.rpartition("parameters of epoch ")[2].split()[0])
    updates = [int(path.name.split("-")[1]) for path in folder.glob("ckpt/*")]
    assert len(updates) == 3 and min(updates) == 4 * best


def test_what_another_build_made_or_has_no_checkpoint_is_not_taken_over(here: Path) -> None:
    kept, _ = run(here, "name=kept")
    assert "reusing the complete run in " in run(here, "name=again")[1]
    shutil.rmtree(here / "results/again")
    with h5py.File(kept / "run.h5", "a") as file:
        file["provenance"].attrs["git_commit"] = "0" * 40
    assert "reusing" not in run(here, "name=again")[1]
    shutil.rmtree(here / "results")
    bare, _ = run(here, "name=bare", "record.keep=none")
    run(here, "name=whole", "--from-scratch")
    assert "results/whole/" in run(here, "name=third")[1]  # not the first that has this id, which has no checkpoint
    (here / "sweep.yaml").write_text("name: s\nbase: tiny.yaml\nmetric: {name: dev/loss}\nparameters:\n  train.epochs: {values: [2]}\n")
    assert "complete as third/" in softalign("sweep", "run", "sweep.yaml", "--dry-run", cwd=here).stdout
    for name in ("third", "whole"):
        shutil.rmtree(here / "results" / name)
    assert "  planned\n" in softalign("sweep", "run", "sweep.yaml", "--dry-run", cwd=here).stdout and bare.exists()
