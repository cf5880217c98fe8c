"""`softalign study` from the command line: its output, its files and its exit status."""

from __future__ import annotations

import json
from pathlib import Path

import h5py
import pytest

from command_line import answer, interrupt, softalign, started, wait_until

ROOT = Path(__file__).parents[2]
STUDY = f"""
name: small
question: Does it run?
variants:
  none: {{model.attention: none}}
  additive: [model.attention.score.units=5]
parts:
  reverse:
    base: {ROOT}/configs/tiny.yaml
    report: {{metrics: [token_accuracy]}}
claims:
  - claim: token_accuracy(reverse/additive) >= 0
"""
SLOW = ["task.examples.train=4000", "train.epochs=40"]


@pytest.fixture()
def here(tmp_path: Path) -> Path:
    (tmp_path / "study.yaml").write_text(STUDY)
    return tmp_path


def outcome(here: Path) -> dict:
    return json.loads((here / "results/small/study.json").read_text())


def states(here: Path) -> list[str]:
    return [run["state"] for run in outcome(here)["runs"]]


def records(here: Path) -> dict[Path, float]:
    return {path: path.stat().st_mtime for path in here.rglob("run.h5")}


def test_it_prints_tables_and_claims_and_leaves_study_json(here: Path):
    ran = softalign("study", "study.yaml", cwd=here)
    assert "row 1: reverse/additive seed=1: begins" in ran.stderr
    assert ran.stdout.startswith("Does it run?\n\nreverse: token_accuracy (percent) by source length\n")
    assert "1. holds: token_accuracy(reverse/additive) >= 0" in ran.stdout
    runs = outcome(here)["runs"]
    assert [(run["variant"], run["seed"], run["state"]) for run in runs] == [("none", 1, "complete"), ("additive", 1, "complete")]
    for run in runs:
        assert (here / "results/small" / run["path"] / "run.h5").exists()
    assert outcome(here)["claims"][0]["verdict"] == "holds"
    again = softalign("study", "study.yaml", "--json", cwd=here)
    assert json.loads(again.stdout) == outcome(here)


def test_a_table_has_a_column_for_each_length_that_has_sentences(here: Path):
    table = softalign("study", "study.yaml", "evaluate.lengths=[5,100,200]", "seed=3", cwd=here).stdout.split("\n\n")[1].splitlines()
    assert table[1].split() == ["all", "1-5", "6-100"] and table[2].split()[0] == "n"
    assert [line.split()[0] for line in table[3:5]] == ["none", "additive"]
    for column in (1, 2, 3):  # the better value is marked, and the column is aligned at its last digit
        cells = [line.split()[column] for line in table[3:5]]
        assert sum(cell.endswith("*") for cell in cells) == (cells[0] != cells[1])
        assert len({line.index(cell) + len(cell.rstrip("*")) for line, cell in zip(table[3:5], cells)}) == 1


def test_notes_come_once_and_runs_may_be_forced(here: Path):
    other = STUDY.replace("{model.attention: none}", "{model.attention: none, train.optimizer: adamw}")
    other = other.replace(">= 0", ">= -100")  # a claim for which two seeds suffice
    (here / "study.yaml").write_text(other.replace("variants:", "seeds: [1, 2]\nvariants:", 1))
    first = softalign("study", "study.yaml", cwd=here)
    assert first.stderr.count("not taken over from the block it replaces: learning_rate") == 1, first.stderr
    before = records(here)
    assert "begins" not in softalign("study", "study.yaml", cwd=here).stderr
    assert records(here) == before
    forced = softalign("study", "study.yaml", "--force", "--only", "*/none", cwd=here)
    assert forced.stderr.count("begins") == 2
    assert forced.stdout == first.stdout
    assert sum(records(here)[path] != stamp for path, stamp in before.items()) == 2


def test_a_claim_about_a_variant_that_was_stopped_is_broken(here: Path):
    slow = STUDY.replace("[model.attention.score.units=5]", "[train.optimizer.learning_rate=1.0e-7]")
    (here / "study.yaml").write_text(slow.replace("variants:", "early_terminate: {type: asha, min_updates: 1, eta: 2}\nvariants:", 1))
    ran = softalign("study", "study.yaml", cwd=here, code=4)
    assert states(here) == ["complete", "pruned"]
    assert "1. NO COMPLETE RUNS: " in ran.stdout and "no runs of reverse/additive are complete with all seeds" in ran.stdout
    assert outcome(here)["claims"][0]["verdict"] == "absent"


def test_runs_side_by_side_are_the_same(here: Path):
    first = softalign("study", "study.yaml", cwd=here)
    both = softalign("study", "study.yaml", "--workers", 2, "--results", "other", cwd=here)
    assert both.stdout == first.stdout


def test_the_commands_of_sweeps_take_a_study(here: Path):
    softalign("sweep", "plan", "study.yaml", cwd=here)
    assert "small: 2 planned" in softalign("sweep", "status", "study.yaml", cwd=here).stdout
    first = softalign("sweep", "run", "study.yaml", "--rows", 1, cwd=here)
    assert "1. holds: token_accuracy(reverse/additive) >= 0" in first.stdout
    assert "small: 1 complete, 1 planned" in softalign("sweep", "status", "results/small", cwd=here).stdout
    softalign("study", "study.yaml", cwd=here)
    assert states(here) == ["complete", "complete"]


def test_study_takes_a_sweep(here: Path):
    sweep = STUDY[: STUDY.index("variants:")] + f"base: {ROOT}/configs/tiny.yaml\ntiny: {{train.max_updates: 1}}\n"
    sweep += "parameters: {model.embedding: {values: [4, 5]}}\nclaims: [{claim: loss(best) > 0}]\n"
    (here / "study.yaml").write_text(sweep)
    ran = softalign("study", "study.yaml", "--tiny", cwd=here)
    assert "small-tiny: 2 complete" in ran.stdout and "1. holds: loss(best) > 0" in ran.stdout
    told = json.loads(softalign("sweep", "run", "study.yaml", "--tiny", "--json", cwd=here).stdout)
    assert [row["updates"] for row in told["rows"]] == [1, 1] and told["claims"][0]["verdict"] == "holds"


def test_a_study_that_grows_keeps_its_runs(here: Path):
    softalign("study", "study.yaml", cwd=here)
    before = records(here)
    (here / "study.yaml").write_text(STUDY.replace("  additive:", "  general: {model.attention.score: general}\n  additive:"))
    softalign("study", "study.yaml", cwd=here)
    assert [run["variant"] for run in outcome(here)["runs"]] == ["none", "general", "additive"]
    assert {path: records(here)[path] for path in before} == before and len(records(here)) == 3


def test_a_dry_run_lists_and_writes_nothing(here: Path):
    lines = softalign("study", "study.yaml", "--dry-run", "--only", "*/none", cwd=here).stdout.splitlines()
    assert lines[0].split() == ["row", "run", "seed", "id", "state"]
    assert len(lines) == 3 and lines[1].split()[:2] == ["0", "reverse-none"] and "planned" in lines[1]
    assert lines[2] == "1 row would be run, 1 at a time"
    assert list(here.iterdir()) == [here / "study.yaml"]


def test_some_runs_leave_the_claims_open(here: Path):
    ran = softalign("study", "study.yaml", "--only", "*/none", cwd=here)
    assert "Claims\n1 claim is not judged yet: runs are missing\n" in ran.stdout


def test_a_broken_claim_is_status_4_after_everything_is_printed(here: Path):
    (here / "study.yaml").write_text(STUDY.replace(">= 0", "> 100"))
    ran = softalign("study", "study.yaml", cwd=here, code=4)
    assert "1. FAILS: token_accuracy(reverse/additive) > 100" in ran.stdout
    assert "reverse: token_accuracy" in ran.stdout


def test_few_sentences_have_no_p_and_no_interval(here: Path):
    claims = "  - claim: perplexity(reverse/none) > 1\n"
    (here / "study.yaml").write_text(STUDY + claims)
    text = softalign("study", "study.yaml", "task.examples.test=9", "train.max_updates=1", cwd=here, code=4).stdout
    assert "no interval" in text.split("2. UNDECIDED")[1]
    both = softalign("compare", "results/small", cwd=here).stdout
    assert "0.0010" not in both and "0.0000" not in both and "nan" not in both


def test_start_is_before_the_first_update(here: Path):
    shape = "attention_shape.start.coverage(reverse/additive) - attention_shape.coverage(reverse/additive)"
    claims = f"  - claim: {shape} < 0\n    expect: open\n  - claim: cost.start.energies(reverse/additive) > 0\n    expect: open\n"
    changes = "'diagnostics={attention_shape: {}, cost: {}}'"
    (here / "study.yaml").write_text(STUDY.replace("score.units=5]", f"score.units=5, {changes}]") + claims)
    softalign("study", "study.yaml", cwd=here)
    (moved, unmeasured) = outcome(here)["claims"][1:]
    assert moved["left"]["mean"] != 0
    assert unmeasured["verdict"] == "unmeasured"  # the cost diagnostic is computed only at the end
    run = next(run for run in outcome(here)["runs"] if run["variant"] == "additive")
    with h5py.File(here / "results/small" / run["path"] / "run.h5") as file:
        found = [file[f"diagnostics/attention_shape/{split}/coverage"][at] for split, at in (("dev", 0), ("test", -1))]
    assert moved["left"]["mean"] == pytest.approx(found[0] - found[1])


WRONG = {  # text in the study, its replacement, and the position in the error message
    "key": ("variants:", "varants:", "study.yaml:4:1: "),
    "diagnostic": (">= 0", "- attention_shape.coverage(reverse/none) > 0", "study.yaml:12:12: "),
    "finding": (">= 0", "- attention_shape.covrage(reverse/additive) > 0", "study.yaml:12:12: "),
    "p": (">= 0", ">= cost.energies(reverse/additive)\n    p: 0.05", "study.yaml:13:5: "),
    "spec": ("{model.attention: none}", "{model.attention: none, diagnostics.attention_shape: {}}", "(of reverse/none)"),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_study_is_refused_before_anything_is_written(what: str, here: Path):
    old, new, place = WRONG[what]
    study = STUDY.replace("score.units=5]", "score.units=5, 'diagnostics.attention_shape={}']") if what in ("diagnostic", "finding") else STUDY
    (here / "study.yaml").write_text(study.replace(old, new))
    assert place in softalign("study", "study.yaml", cwd=here, code=2).stderr
    assert list(here.iterdir()) == [here / "study.yaml"]


def test_a_tiny_study_says_what_it_is_worth(here: Path):
    claim = "  - claim: token_accuracy(reverse/additive) > 100\n"
    (here / "study.yaml").write_text(STUDY + claim)
    assert "--tiny: the models are hardly trained" in softalign("study", "study.yaml", "--tiny", cwd=here).stdout
    assert all(run["updates"] == 2 for run in answer("ls", cwd=here))  # unless the part says otherwise
    (here / "study.yaml").write_text(STUDY.replace("    report:", "    tiny: {train.max_updates: 1}\n    report:"))
    softalign("study", "study.yaml", "--tiny", cwd=here)
    assert {run["updates"] for run in answer("ls", cwd=here)} == {1, 2}


def test_an_interruption_is_status_75_and_the_same_command_goes_on(here: Path):
    running = started("study", "study.yaml", *SLOW, cwd=here)
    wait_until(lambda: any(j.stat().st_size > 3000 for j in here.rglob("*.jrnl")))  # a run is training
    interrupt(running)
    assert states(here) == ["interrupted", "planned"]
    softalign("study", "study.yaml", "--only", "*/none", *SLOW, cwd=here)
    (log,) = (here / "results/small/logs").iterdir()
    assert "resuming at update" in log.read_text()


def test_two_at_once_share_the_work(here: Path):
    slow = ["study", "study.yaml", "task.examples.train=1000", "train.epochs=40"]
    other = started(*slow, "--only", "*/none", cwd=here)
    wait_until(lambda: any(j.stat().st_size > 3000 for j in here.rglob("*.jrnl")))
    ran = softalign(*slow, cwd=here)
    other.communicate(timeout=60)
    assert other.returncode == 0 and "1. holds" in ran.stdout
    assert len(records(here)) == 2 and not list(here.rglob("attempt-002"))


def test_a_run_that_fails_is_named_and_the_others_are_made(here: Path):
    (here / "study.yaml").write_text(STUDY.replace("model.attention: none", "model.attention: none, train.optimizer.learning_rate: 1e30"))
    ran = softalign("study", "study.yaml", cwd=here, code=None)
    assert ran.returncode not in (0, 75) and "some rows failed" in ran.stderr
    assert states(here) == ["failed", "complete"]
    assert "1 claim is not judged" not in ran.stdout


def test_runs_that_are_complete_under_another_name_are_taken_over(here: Path):
    made = softalign("run", f"{ROOT}/configs/tiny.yaml", "model.attention.score.units=5", cwd=here).stdout.split()[-1]
    run_id = Path(made).parent.name
    rows = softalign("study", "study.yaml", "--dry-run", cwd=here).stdout.splitlines()
    assert rows[1].endswith(" planned") and rows[2].endswith(f"complete as tiny/{run_id}")
    softalign("study", "study.yaml", cwd=here)
    (taken,) = here.glob(f"results/small/reverse-additive/{run_id}")
    with h5py.File(taken / "run.h5") as file:
        assert file["provenance/events/text"].asstr()[0].startswith("reusing the complete run in ")
    bits = json.loads(softalign("diff", here / made, taken, "--json", cwd=here).stdout)["bits"]
    assert not any(part["different"] for part in bits.values())
    assert "the same bits again" in softalign("verify", taken, cwd=here).stdout
    rows = softalign("study", "study.yaml", "--results", "other", "--dry-run", cwd=here).stdout.splitlines()
    assert rows[2].endswith(" planned")  # another results folder has no runs yet


def test_a_study_that_was_run_with_other_overrides_is_reported_with_both(here: Path) -> None:
    for overrides in ([], ["train.epochs=1"]):
        softalign("study", "study.yaml", *overrides, cwd=here, code=None)
    report = json.loads(softalign("export", "--what", "report", "--resamples", 0, "results/small", cwd=here).stdout)
    series = {run["series"] for run in report["runs"]}
    assert series == {"none", "none (2)", "additive", "additive (2)"} and report["panels"]
