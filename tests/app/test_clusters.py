"""Test sentences that are not independent of each other: task.test.clusters."""

from __future__ import annotations

from pathlib import Path

import h5py
import pytest
from command_line import answer, error, softalign, text_spec, trained_run

LEARNS = ("train.epochs=3", "train.optimizer={type: adam, learning_rate: 0.02}")


@pytest.fixture
def text(here: Path) -> Path:
    """Returns a corpus in which each of 40 test sentences occurs twice; one line is blank."""
    for split, lines in {"train": 60, "dev": 6, "test": 40}.items():
        once = [f"{' '.join('abcdefgh'[(i * k) % 8] for k in range(1, 3 + i % 5))}\n" for i in range(lines)]
        all_lines = ["\n", *once, *once] if split == "test" else once
        for side in ("en", "es"):
            (here / f"{split}.{side}").write_text("".join(all_lines))
    (here / "keys").write_text("".join(f"document {i % 40}\n" for i in range(-1, 80)))
    (here / "apart.yaml").write_text(text_spec())
    (here / "together.yaml").write_text(text_spec().replace("test.es}", "test.es, clusters: keys}"))
    return here


def test_intervals_draw_clusters(text: Path) -> None:
    errors = {}
    for spec in ("apart", "together"):
        for seed in (1, 2):
            for units in (8, 12):
                run = trained_run(text, *LEARNS, f"seed={seed}", f"model.encoder.units={units}", f"name={spec}", spec=f"{spec}.yaml")
        (against,) = answer("compare", f"results/{spec}", "--metric", "token_accuracy", cwd=text)["against_baseline"]
        errors[spec] = against["estimate"]["standard_error"] ** 2 - against["over_seeds"]["sd"] ** 2 / 2
    assert errors["together"] / errors["apart"] == pytest.approx(2, rel=0.15)  # the variance over the sentences
    with h5py.File(run / "run.h5") as file:
        assert file["test/cluster"][:].tolist() == [*range(40), *range(40)]  # without the blank line's
    assert "the same bits again" in softalign("verify", run, cwd=text).stdout


def test_clusters_of_other_lines_are_refused(text: Path) -> None:
    (text / "keys").write_text("a\nb\n")
    assert "keys has 2" in softalign("validate", "together.yaml", cwd=text, code=3).stderr
    assert "absent" in error("run", "together.yaml", "task.test.clusters=absent", cwd=text, code=3)
