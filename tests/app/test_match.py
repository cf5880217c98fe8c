"""model.match: baselines that are as large or as costly as a model, in runs, studies, sweeps and records."""

from __future__ import annotations

import json
import re
from pathlib import Path

import h5py
import pytest

from command_line import answer, error, json_lines, softalign, trained_run

VANILLA = "extends: tiny.yaml\nmodel: {attention: {type: none}, match: {to: tiny.yaml}}\n"
STUDY = """\
name: fair
seeds: [1, 2]
variants:
  none: {model.attention: {type: none}, model.match.to: additive}
  cheap: {model.attention: {type: none}, model.match: {to: none, by: multiplications, adjust: model.encoder.units}}
  additive: {}
parts:
  reverse: {base: tiny.yaml}
"""
SWEEP = """\
name: fair
base: vanilla.yaml
parameters:
  model.encoder.units: {values: [30, 60]}
  train.optimizer.learning_rate: {values: [0.01, 0.02]}
"""
MATCHED = re.compile(r"model\.decoder\.units=(\d+): ([\d,]+) parameters, ([+-]\d\.\d\d) % from the ([\d,]+) of (\S+)")


@pytest.fixture()
def fair(here: Path) -> Path:
    """Models so wide that one unit more is less than 2 % more."""
    tiny = here / "tiny.yaml"
    wide = tiny.read_text().replace("{type: gru, units: 8", "{type: gru, units: 50").replace("attentional_gru, units: 8", "attentional_gru, units: 100")
    tiny.write_text(wide)
    (here / "vanilla.yaml").write_text(VANILLA)
    (here / "study.yaml").write_text(STUDY)
    (here / "sweep.yaml").write_text(SWEEP)
    return here


def parameters(run: Path) -> int:
    with h5py.File(run / "run.h5") as file:
        return int(file.attrs["parameters"])


def count(*arguments: str, cwd: Path) -> int:
    return answer("parameters", *arguments, cwd=cwd)["count"]


def test_plan_validation_and_record_say_what_was_matched(fair: Path) -> None:
    target = count("tiny.yaml", cwd=fair)
    plan = answer("run", "vanilla.yaml", "--dry-run", cwd=fair)
    found = MATCHED.match(plan["matched"])
    assert found and int(found[4].replace(",", "")) == target and found[5] == "tiny.yaml"
    assert int(found[2].replace(",", "")) == plan["parameters"]
    assert abs(plan["parameters"] - target) <= target / 100
    assert plan["matched"] in softalign("run", "vanilla.yaml", "--dry-run", cwd=fair).stdout
    assert f"vanilla.yaml:2:41: model.match: {plan['matched']}" in answer("validate", "vanilla.yaml", cwd=fair)[0]["notes"]
    by_hand = answer("run", "tiny.yaml", "model.attention={type: none}", f"model.decoder.units={found[1]}", "--dry-run", cwd=fair)
    assert by_hand["run_id"] == plan["run_id"] and "matched" not in by_hand
    from_outside = ["tiny.yaml", "model.attention={type: none}", "model.match.to=tiny.yaml"]
    assert answer("run", *from_outside, "--dry-run", cwd=fair)["run_id"] == plan["run_id"]

    outcome = answer("run", "vanilla.yaml", cwd=fair)
    assert outcome["run_id"] == plan["run_id"] and parameters(fair / Path(outcome["record"]).parent) == plan["parameters"]
    assert answer("show", outcome["run_id"], cwd=fair)["provenance"]["matched"] == plan["matched"]
    assert f"matched     {plan['matched']}\n" in softalign("show", outcome["run_id"], cwd=fair).stdout


def test_a_record_needs_the_other_spec_no_more(fair: Path) -> None:
    run = trained_run(fair, spec="vanilla.yaml")
    other = (fair / "tiny.yaml").read_text()
    (fair / "tiny.yaml").unlink()
    assert softalign("verify", run, cwd=fair).stdout.endswith("the same bits again\n")
    assert softalign("evaluate", run, cwd=fair).stdout
    spec = run / "spec.yaml"
    assert answer("run", spec, cwd=fair)["was_complete"] is True
    longer = softalign("run", spec, "train.epochs=3", cwd=fair)
    assert f"going on from run {run.name}" in longer.stderr
    refused = error("run", "vanilla.yaml", cwd=fair, code=2)
    assert "tiny.yaml" in refused
    (fair / "tiny.yaml").write_text(other)
    assert answer("run", "vanilla.yaml", cwd=fair)["was_complete"] is True


def test_the_variants_of_a_study_are_as_large_and_as_costly(fair: Path) -> None:
    planned = softalign("study", "study.yaml", "--dry-run", cwd=fair).stdout
    assert planned.count(" matched: ") == 2  # once for all seeds
    sizes = {}
    softalign("study", "study.yaml", "train.epochs=1", cwd=fair)
    for variant in ("none", "cheap", "additive"):
        runs = sorted((fair / "results/fair" / f"reverse-{variant}").iterdir())
        assert len(runs) == 2
        sizes[variant] = {parameters(run) for run in runs}
        (line,) = [line for line in planned.splitlines() if line.startswith(f"reverse-{variant} matched: ")] or [""]
        rows = [json.loads(row) for row in (fair / "results/fair/plan.jsonl").read_text().splitlines()]
        texts = {row.get("matched", "") for row in rows if row.get("variant") == variant}
        assert texts == {line.partition(" matched: ")[2]}
    (none,), (additive,) = sizes["none"], sizes["additive"]
    assert none != additive and abs(none - additive) <= additive / 100

    costs = {
        variant: answer("parameters", next((fair / "results/fair" / f"reverse-{variant}").iterdir()) / "spec.yaml", cwd=fair)["cost"]
        for variant in sizes
    }
    each = {variant: cost["multiplications_per_target_symbol"] for variant, cost in costs.items()}
    assert abs(each["cheap"] - each["none"]) <= each["none"] / 100
    assert costs["additive"]["energies"] == 400 and costs["none"]["energies"] == 0
    runs = json.loads((fair / "results/fair/study.json").read_text())["runs"]
    assert {run["variant"] for run in runs if "matched" in run} == {"none", "cheap"}


def test_a_plan_needs_neither_the_study_nor_its_specs(fair: Path) -> None:
    softalign("study", "study.yaml", "train.epochs=1", cwd=fair)
    rows = [json.loads(line) for line in (fair / "results/fair/plan.jsonl").read_text().splitlines()[1:-1]]
    (fair / "tiny.yaml").unlink()
    run = fair / "results/fair" / rows[0]["folder"]
    for file in run.iterdir():
        if file.is_file():
            file.unlink()
    softalign("sweep", "work", "results/fair", "--row", "0", cwd=fair)
    with h5py.File(run / "run.h5") as file:
        assert file.attrs["run_id"].decode() == rows[0]["run_id"]


def test_a_change_to_a_saved_spec_asks_anew(fair: Path) -> None:
    spec = trained_run(fair, spec="vanilla.yaml") / "spec.yaml"
    (fair / "small.yaml").write_text((fair / "tiny.yaml").read_text().replace("units: 100", "units: 80"))
    for changes in (["model.match.to=small.yaml"], ["model.match.by=multiplications", "model.match.to=tiny.yaml"], ["task.symbols=9", "model.match.to=tiny.yaml"]):
        plan = answer("run", spec, *changes, "--dry-run", cwd=fair)
        assert plan["matched"] == answer("run", "vanilla.yaml", *changes, "--dry-run", cwd=fair)["matched"]
    assert "tiny.yaml" in error("run", spec, "task.symbols=9", cwd=fair, code=2)  # it is not beside the saved spec
    assert answer("run", spec, "train.epochs=1", "--dry-run", cwd=fair)["matched"]


def test_every_row_of_a_sweep_is_matched(fair: Path) -> None:
    target = count("tiny.yaml", cwd=fair)
    softalign("sweep", "plan", "sweep.yaml", cwd=fair)
    rows = [json.loads(line) for line in (fair / "results/fair/plan.jsonl").read_text().splitlines()[1:-1]]
    widths = {MATCHED.match(row["matched"])[1] for row in rows}
    assert len(rows) == 4 and len(widths) == 2
    (fair / "tiny.yaml").unlink()
    softalign("sweep", "work", "results/fair", "--row", "3", cwd=fair)
    assert abs(parameters(fair / "results/fair" / rows[3]["folder"]) - target) <= target / 100


@pytest.mark.parametrize("key", ["model.match.to", "model.match.by", "task.symbols"])
def test_a_sweep_of_what_the_match_is_found_from_is_refused(key: str, fair: Path) -> None:
    base = next(line.split()[1] for line in (fair / "sweep.yaml").read_text().splitlines() if line.startswith("base:"))
    (fair / "other.yaml").write_text(f"name: other\nbase: {base}\nparameters:\n  {key}: {{values: [8, 9]}}\n")
    assert f"{key} would change what is matched" in error("sweep", "plan", "other.yaml", cwd=fair, code=2)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("{to: tiny.yaml, adjust: model.decoder.readout_units}", "bad.yaml:2:65: model.match.adjust: 'model.decoder.readout_units' is no size"),
        ("{to: bad.yaml}", "bad.yaml:2:46: model.match.to: specs match each other in a circle: bad.yaml -> bad.yaml"),
        ("{target: 100}", "bad.yaml:2:41: model.match: nothing comes within 1 % of 100: model.decoder.units=1 gives "),
        ("{to: gone.yaml}", "bad.yaml:2:46: gone.yaml: cannot be read"),
        ("{target: 9, symbols: [5, 3]}", "bad.yaml:2:66: model.match.symbols, item 2: expected an integer in [4, 1000000], got '3'"),
    ],
)
def test_a_match_without_solution_is_refused_with_its_place(fair: Path, spec: str, message: str) -> None:
    (fair / "bad.yaml").write_text(f"extends: tiny.yaml\nmodel: {{attention: {{type: none}}, match: {spec}}}\n")
    for command in ("run", "validate"):
        assert message in error(command, "bad.yaml", cwd=fair, code=2)
    assert not (fair / "results").exists()


def test_variants_that_match_each_other_are_refused(fair: Path) -> None:
    study = STUDY.replace("additive: {}", "additive: {model.match.to: cheap}")
    (fair / "study.yaml").write_text(study)
    line = 1 + study.splitlines().index("  additive: {model.match.to: cheap}")
    refused = error("study", "study.yaml", "--dry-run", cwd=fair, code=2)
    assert re.search(rf"study\.yaml:(4|5|{line}):\d+: model.match.to: variants match each other in a circle: none -> additive -> cheap -> none", refused)


def test_parameters_says_what_a_symbol_costs(fair: Path) -> None:
    short = answer("parameters", "tiny.yaml", "--lengths", "10,10", cwd=fair)["cost"]
    long = answer("parameters", "tiny.yaml", "--lengths", "40", cwd=fair)["cost"]
    assert (short["energies"], long["energies"]) == (100, 1600)
    assert long["projection"] == 40 * 50 * 11  # readout, symbols
    assert short["multiplications_per_target_symbol"] < long["multiplications_per_target_symbol"]
    changed = answer("parameters", "tiny.yaml", "--lengths", "10,10", "model.decoder.units=4", cwd=fair)
    assert changed["cost"]["multiplications"] < short["multiplications"]
    assert "('7')" in error("parameters", "tiny.yaml", "--lengths", "5", "7", cwd=fair, code=2)
    assert "3 numbers" in error("parameters", "tiny.yaml", "--lengths", "5,7,8", cwd=fair, code=2)
    text = softalign("parameters", "tiny.yaml", cwd=fair).stdout.splitlines()[-1]
    assert text.endswith(": 20 source and 20 target positions") and "; 400 energies, " in text
