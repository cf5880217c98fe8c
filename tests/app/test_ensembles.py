"""Ensembles of trained models, and sentences that a model cannot read."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from command_line import MODEL, TINY, answer, error, json_lines, softalign, trained_run

h5py = pytest.importorskip("h5py", reason="python3-h5py is not installed")

LINES = ["a b c", "", "h g f e d", "c d"]
TEXT = "\n".join(LINES) + "\n"


@pytest.fixture(scope="module")
def second(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns a run like `trained` with another seed and size."""
    folder = tmp_path_factory.mktemp("second")
    (folder / "tiny.yaml").write_text(TINY)
    return trained_run(folder, "seed=2", "model.encoder.units=6", "train.epochs=10")


def together(*runs: object) -> list[object]:
    return [*runs, "--ensemble"]


def matrices(file: Path, module: str = "cross") -> list[Any]:
    """Returns the weights of a file of alignments, a matrix without padding for each sentence."""
    with h5py.File(file) as record:
        group = record["alignments"][module]
        sizes = zip(group["tgt_len"][0], group["src_len"], strict=True)
        return [group["weights"][0, i, 0, :t, :s] for i, (t, s) in enumerate(sizes)]


def test_an_ensemble_is_the_mean_of_its_models(trained: Path, second: Path, tmp_path: Path) -> None:
    (tmp_path / "source").write_text("a b c\n")
    (tmp_path / "target").write_text("c\n")
    files = ("--source", "source", "--target", "target")

    def first_symbol(*runs: object) -> float:
        return json_lines("score", *together(*runs), *files, cwd=tmp_path)[0]["log_probabilities"][0]

    one, other = first_symbol(trained), first_symbol(second)
    mean = math.log((math.exp(one) + math.exp(other)) / 2)
    assert first_symbol(trained, second) == pytest.approx(mean, abs=1e-5)
    assert first_symbol(second, trained, second) == pytest.approx(
        math.log((math.exp(one) + 2 * math.exp(other)) / 3), abs=1e-5)  # fmt: skip
    assert first_symbol(trained, second, "--ensemble-mean", "log-probabilities") >= min(one, other)
    softalign("translate", *together(trained, second), "search.width=3", "--alignments", "x.h5", cwd=tmp_path, text=TEXT)
    with h5py.File(tmp_path / "x.h5") as file:
        assert file.attrs["run_id"].decode() == f"{trained.name} {second.name}"
    here = trained.parents[2]
    both = answer("evaluate", *together(trained, second), cwd=here)
    assert both["ensemble"] == {"run_ids": [trained.name, second.name], "average": "probabilities"}
    alone = answer("evaluate", *together(trained, trained), cwd=here)["metrics"]["all"]
    expected = answer("evaluate", trained, cwd=here)["metrics"]["all"]
    assert alone.keys() == expected.keys()
    for name, value in expected.items():
        assert alone[name] == pytest.approx(value, abs=1e-4)


def test_alignments_of_every_hypothesis_of_an_ensemble(trained: Path, second: Path, tmp_path: Path) -> None:
    found = json_lines("translate", *together(trained, second), "--n-best", 3, "--alignments", "x.h5", cwd=tmp_path, text=TEXT)
    found = [one["hypotheses"] for one in found if one["hypotheses"]]
    (tmp_path / "source").write_text("".join(line + "\n" for line in LINES if line))
    for rank in range(3):
        (tmp_path / "target").write_text("".join(one[rank]["text"] + "\n" for one in found))
        for name, runs in {"both": (trained, second), "one": (trained,), "other": (second,)}.items():
            files = ("--source", "source", "--target", "target", "--alignments", f"{name}.h5")
            softalign("score", *together(*runs), *files, cwd=tmp_path)
        parts = (matrices(tmp_path / f"{name}.h5") for name in ("both", "one", "other"))
        kept = matrices(tmp_path / "x.h5", f"cross_{rank + 1}" if rank else "cross")
        for ensemble, both, one, other in zip(kept, *parts, strict=True):
            assert ensemble.tobytes() == both.tobytes()
            assert ensemble == pytest.approx((one + other) / 2, abs=1e-6) and ensemble.shape[1] > 2


IMAGE = " ".join(["0", "7"] * 32)  # of 8 x 8 pixels


@pytest.fixture()
def captions(here: Path) -> Path:
    """Returns a run on images, of images.yaml in the same working folder."""

    def digit(split: str, number: int, level: int) -> str:
        return " ".join([split, str(number), *(str(level if i % 3 else 0) for i in range(64))])

    lines = [digit(split, k, 1 + k + 3 * j) for j, split in enumerate(("train", "dev", "test")) for k in range(3)]
    (here / "digits.txt").write_text("\n".join(lines) + "\n")
    task = "task: {type: image_captions, digits: digits.txt, examples: {train: 16, dev: 4, test: 4}}\n"
    model = MODEL.replace("{type: gru, units: 8}", "{type: image_grid, channels: [4, 4]}", 1)
    (here / "images.yaml").write_text("name: images\n" + task + model)
    return trained_run(here, "train.epochs=1", spec="images.yaml")


def test_images_that_a_model_cannot_read_are_refused_by_their_line(captions: Path, here: Path) -> None:
    asked = f"{IMAGE}\n\n{IMAGE.replace('7', '255')}\n{IMAGE}\n"
    assert error("translate", captions, cwd=here, code=3, text=asked).startswith("standard input:3: ")
    assert error("translate", captions, cwd=here, code=3, text=f"{IMAGE[2:]}\n").startswith("standard input:1: ")
    (here / "source").write_text(asked)
    (here / "target").write_text("one\n" * 4)
    files = ("--source", "source", "--target", "target")
    assert error("score", captions, *files, cwd=here, code=3).startswith("source:3: ")


def test_annotations_are_those_of_the_model_that_aligns(captions: Path, here: Path) -> None:
    blind = trained_run(here, "train.epochs=1", "model.attention=none", "model.encoder.channels=[4]", spec="images.yaml")
    for name, runs in {"both": (blind, captions), "one": (captions,)}.items():
        softalign("translate", *together(*runs), "--alignments", f"{name}.h5", cwd=here, text=f"{IMAGE}\n")
    assert [[one.shape[1] for one in matrices(here / f"{name}.h5")] for name in ("both", "one")] == [[4], [4]]
    both = answer("evaluate", *together(blind, captions), cwd=here)["metrics"]["all"]
    assert 0 <= both["pointing_accuracy"] <= 100


def test_an_ensemble_is_asked_for_and_names_its_members(trained: Path, second: Path, here: Path) -> None:
    """A pattern such as results/NAME/*/ may match more runs than intended."""
    for command in (["translate"], ["evaluate"], ["score", "--source", "tiny.yaml", "--target", "tiny.yaml"]):
        error(*command, trained, second, cwd=here, code=2)
    said = softalign("translate", *together(trained, second), cwd=here, text=TEXT).stderr
    assert trained.name in said and second.name in said
    error("translate", trained, "tiny.yaml", cwd=here, code=2)


def test_an_ensemble_says_whose_options_hold(trained: Path, second: Path, here: Path) -> None:
    other = trained_run(here, "train.epochs=1", "evaluate.search.min_ratio=0.5", "evaluate.unknown_words.by=forbid")
    assert "differ" not in softalign("translate", *together(trained, second), cwd=here, text=TEXT).stderr
    for runs in ((trained, other), (other, trained)):
        for command in ("translate", "evaluate"):
            said = softalign(command, *together(*runs), cwd=here, text=TEXT).stderr
            for option in ("evaluate.search.min_ratio", "evaluate.unknown_words"):
                assert f"note: runs {runs[0].name} and {runs[1].name} differ in {option}" in said
    assert "differ" not in softalign("translate", *together(trained, other), "search=greedy", "unknown_words=null", cwd=here, text=TEXT).stderr


def test_runs_of_other_tasks_or_vocabularies_are_no_ensemble(trained: Path, here: Path) -> None:
    for change in ("task.type=copy", "task.symbols=7"):
        other = trained_run(here, change, "train.epochs=1")
        for command in ("evaluate", "translate"):
            refused = error(command, *together(trained, other), cwd=here, code=2)
            assert trained.name in refused and other.name in refused
