"""References in specs, ${model.encoder.units}, and lists of seeds on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import TINY, answer, error, softalign, trained_run

LINKED = TINY.replace("decoder: {type: attentional_gru, units: 8}", "decoder: {type: attentional_gru, units: '${model.encoder.units}'}")


@pytest.fixture()
def linked(tmp_path: Path) -> Path:
    (tmp_path / "tiny.yaml").write_text(LINKED)
    (tmp_path / "plain.yaml").write_text(TINY)
    return tmp_path


def resolved(folder: Path, *overrides: str, spec: str = "tiny.yaml") -> dict[str, dict]:
    return json.loads(softalign("resolve", spec, *overrides, "--json", cwd=folder).stdout)


def test_a_reference_is_the_value_that_it_names(linked: Path) -> None:
    assert resolved(linked) == resolved(linked, spec="plain.yaml")
    assert resolved(linked, "model.encoder.units=12")["model"]["decoder"]["units"] == 12
    assert resolved(linked, "model.decoder.units=4")["model"]["decoder"]["units"] == 4
    assert resolved(linked, "model.embedding=${model.decoder.units}", "model.encoder.units=6")["model"]["embedding"] == 6
    (linked / "over.yaml").write_text("extends: tiny.yaml\nmodel: {encoder: {units: 5}}\n")
    assert resolved(linked, spec="over.yaml")["model"]["decoder"]["units"] == 5


def test_references_stand_for_blocks_and_inside_texts(linked: Path) -> None:
    text = softalign("resolve", "tiny.yaml", "notes=of $${x}, ${model.encoder.units} wide, ${model.attention.score.type}", cwd=linked).stdout
    assert "of $${x}, 8 wide, additive" in text
    changed = resolved(linked, "evaluate.dev_search=${evaluate.search}", "evaluate.search={type: beam, width: 3}")
    assert changed["evaluate"]["dev_search"] == changed["evaluate"]["search"] and changed["evaluate"]["search"]["width"] == 3


def test_a_run_with_the_text_of_a_reference_is_verified(here: Path) -> None:
    run = trained_run(here, "notes=cost $${seed}")
    assert answer("show", run, cwd=here)["notes"] == "cost ${seed}"
    softalign("verify", run, cwd=here)
    (here / "again.yaml").write_text(softalign("resolve", run / "spec.yaml", cwd=here).stdout)
    assert 'notes: "cost $${seed}"' in softalign("resolve", "again.yaml", cwd=here).stdout.replace("notes: cost $${seed}", 'notes: "cost $${seed}"')


def test_resolve_names_the_reference_as_the_origin(linked: Path) -> None:
    (line,) = [line for line in softalign("resolve", "tiny.yaml", cwd=linked).stdout.splitlines() if "${" in line]
    assert line.split("#")[1].strip() == "tiny.yaml:11, ${model.encoder.units}"


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("${model.encoder.unit}", "did you mean 'units'"),
        ("${model.decoder.units}", "leads back to itself"),
        ("${model.encoder", "}"),
        ("${}", "names no option"),
        ("a ${model.encoder}", "cannot stand inside a text"),
    ],
)
def test_wrong_references_are_refused_at_their_place(linked: Path, value: str, words: str) -> None:
    (linked / "tiny.yaml").write_text(TINY.replace("attentional_gru, units: 8", f"attentional_gru, units: '{value}'"))
    said = error("resolve", "tiny.yaml", cwd=linked, code=2)
    assert said.startswith("tiny.yaml:11:") and words in said


def test_a_sweep_follows_references(linked: Path) -> None:
    (linked / "sweep.yaml").write_text("name: wide\nbase: tiny.yaml\nparameters: {model.encoder.units: {values: [4, 6]}}\n")
    rows = [row["run_id"] for row in answer("sweep", "plan", "sweep.yaml", cwd=linked)["rows"]]
    one = [f"model.{part}.units=4" for part in ("encoder", "decoder")]
    assert rows[0] == answer("run", "plain.yaml", *one, "--dry-run", cwd=linked)["run_id"] and len(set(rows)) == 2


def test_several_seeds_are_run_as_each_alone(here: Path) -> None:
    alone = answer("run", "tiny.yaml", "seed=2", cwd=here)
    outcomes = answer("run", "tiny.yaml", "seed=1,2,3", cwd=here)
    assert [one["was_complete"] for one in outcomes] == [False, True, False] and outcomes[1]["run_id"] == alone["run_id"]
    runs = {run["run_id"]: run for run in answer("ls", cwd=here)}
    assert len(runs) == 3 and alone["run_id"] in runs and all(run["state"] == "complete" and run["name"] == "tiny" for run in runs.values())
    (group,) = answer("compare", "results/tiny", cwd=here)["groups"]
    assert [run["seed"] for run in group["runs"]] == [1, 2, 3]


def test_seeds_and_other_changes_may_follow(here: Path) -> None:
    softalign("run", "tiny.yaml", "seed=[1, 2]", cwd=here)
    said = softalign("run", "tiny.yaml", "train.epochs=1", "seed=2,3", cwd=here).stdout
    assert said.count("token_accuracy") == 2 and "seed 2\n" in said
    assert len(answer("ls", cwd=here)) == 4
    assert "2" in error("run", "tiny.yaml", "seed=2,2", cwd=here, code=2)
    error("run", "tiny.yaml", "seed=2,x", cwd=here, code=2)
    assert softalign("run", "tiny.yaml", "seed=7,8", "--dry-run", cwd=here).stdout.count("planned") == 2
    assert len(answer("ls", cwd=here)) == 4
