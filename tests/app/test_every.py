"""evaluate.every: dev evaluations after a number of updates. An epoch of the tiny spec has four updates."""

from __future__ import annotations

import signal
from pathlib import Path

import h5py
import pytest

from command_line import answer, only_run, softalign, started, trained_run, wait_until

EVERY = "evaluate.every={updates: %d}"


def dev(run: Path) -> dict[int, float]:
    with h5py.File(run / "run.h5") as record:
        return dict(zip(record["dev/update"][:].tolist(), record["dev/loss"][:].tolist()))


@pytest.mark.parametrize(
    ("changes", "updates"),
    [
        ((EVERY % 3, "train.epochs=2"), [3, 6, 8]),  # and the end
        ((EVERY % 4, "train.epochs=2"), [4, 8]),
        ((EVERY % 3, "train.max_updates=6"), [3, 6]),
        ((EVERY % 5, "train.max_updates=7"), [5, 7]),
        ((EVERY % 100, "train.epochs=3"), [12]),
    ],
)
def test_dev_is_evaluated_so_many_updates_apart_and_at_the_end(here: Path, changes: tuple[str, ...], updates: list[int]) -> None:
    assert list(dev(trained_run(here, *changes))) == updates


def test_the_evaluations_are_those_of_epochs_where_they_coincide(here: Path) -> None:
    assert dev(trained_run(here, "train.epochs=3")) == dev(trained_run(here, "train.epochs=3", EVERY % 4))


def test_early_stopping_counts_evaluations(here: Path) -> None:
    stops = ("train.optimizer.learning_rate=1", "train.early_stopping={patience: 2}", "train.epochs=50")
    run = trained_run(here, EVERY % 3, *stops)
    losses = dev(run)
    best = min(losses, key=losses.__getitem__)
    assert list(losses)[-1] == best + 6 and len(losses) < 66
    with h5py.File(run / "run.h5") as record:
        assert record["test"].attrs["selected_update"] == best
        assert any("2 dev evaluations" in text.decode() for text in record["provenance/events/text"][:])


@pytest.mark.parametrize("more", [[], ["train.average={type: last, epochs: 2}"], ["train.average={type: best, epochs: 2}", "train.schedule={type: plateau}"]])
def test_an_interrupted_run_ends_with_the_same_bits(tmp_path: Path, here: Path, more: list[str]) -> None:
    changes = [EVERY % 3, "train.epochs=400", "record.checkpoint_every=7", *more]
    whole = trained_run(here, *changes)
    other = tmp_path / "other"
    other.mkdir()
    (other / "tiny.yaml").write_text((here / "tiny.yaml").read_text())
    for _ in range(3):
        process = started("run", "tiny.yaml", *changes, cwd=other)
        wait_until(lambda: process.poll() is not None or any(other.glob("results/tiny/*/ckpt/*")))
        process.send_signal(signal.SIGINT)
        process.communicate()
    softalign("run", "tiny.yaml", *changes, cwd=other)
    bits = answer("diff", whole, only_run(other), cwd=here)["bits"]
    assert bits and not [name for name, part in bits.items() if part["different"]]
