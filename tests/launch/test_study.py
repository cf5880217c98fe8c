"""`softalign study` as people and programs meet it: what it prints, writes and ends with."""

import json
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from conftest import PROGRAM


def test_it_prints_tables_and_claims_and_leaves_study_json(softalign, study: Path, tmp_path: Path):
    ran = softalign("study", study)
    assert ran.returncode == 0, ran.stderr
    assert "run 2 of 2: reverse-additive seed 1" in ran.stderr
    assert ran.stdout.startswith("Does it run?\n\nreverse: token_accuracy (percent) by source length\n")
    assert "1. holds: token_accuracy(reverse/additive) >= 0" in ran.stdout
    outcome = json.loads((tmp_path / "results/small/study.json").read_text())
    assert [(run["variant"], run["seed"], run["state"]) for run in outcome["runs"]] == [
        ("none", 1, "complete"),
        ("additive", 1, "complete"),
    ]
    for run in outcome["runs"]:
        assert (tmp_path / "results/small" / run["path"] / "run.h5").exists()
    assert outcome["claims"][0]["verdict"] == "holds"
    again = softalign("study", study, "--json")
    assert json.loads(again.stdout) == outcome


def test_notes_come_once_and_runs_may_be_forced(softalign, study: Path):
    study.write_text(study.read_text().replace("variants:", "seeds: [1, 2]\nvariants:", 1))
    first = softalign("study", study)
    assert first.stderr.count("replaces the whole block") == 1, first.stderr
    assert "epoch" not in softalign("study", study).stderr
    forced = softalign("study", study, "--force", "--only", "*/none")
    assert forced.stderr.count("epoch 2/2") == 2
    assert forced.stdout == first.stdout


def test_a_dry_run_lists_and_writes_nothing(softalign, study: Path, tmp_path: Path):
    ran = softalign("study", study, "--dry-run", "--only", "*/none")
    assert ran.returncode == 0, ran.stderr
    lines = ran.stdout.splitlines()
    assert lines[0].split() == ["run", "name", "seed", "id", "state"]
    assert len(lines) == 2 and "reverse-none" in lines[1] and "absent" in lines[1]
    assert list(tmp_path.iterdir()) == [study]


def test_some_runs_leave_the_claims_open(softalign, study: Path):
    ran = softalign("study", study, "--only", "*/none")
    assert ran.returncode == 0, ran.stderr
    assert "Claims\n1 claim is not judged yet: runs are missing\n" in ran.stdout


def test_a_broken_claim_is_status_4_after_everything_is_printed(softalign, study: Path):
    study.write_text(study.read_text().replace(">= 0", "> 100"))
    ran = softalign("study", study)
    assert ran.returncode == 4
    assert "1. FAILS: token_accuracy(reverse/additive) > 100" in ran.stdout
    assert "reverse: token_accuracy" in ran.stdout


def test_a_wrong_study_is_status_2_and_writes_nothing(softalign, study: Path, tmp_path: Path):
    study.write_text(study.read_text().replace("variants:", "varants:"))
    ran = softalign("study", study)
    assert ran.returncode == 2
    assert "study.yaml:4:1: unknown key 'varants' in the study; did you mean 'variants'?" in ran.stderr
    assert list(tmp_path.iterdir()) == [study]


def wait_until(condition: Callable[[], bool], process: subprocess.Popen) -> None:
    for _ in range(3000):
        if condition():
            return
        assert process.poll() is None, "it ended before it could be interrupted"
        time.sleep(0.02)
    raise AssertionError("nothing happened for a minute")


def test_an_interruption_is_status_75_and_the_same_command_goes_on(softalign, study: Path, tmp_path: Path):
    slow = ["study", study, "task.examples.train=4000", "train.epochs=40"]
    with subprocess.Popen([PROGRAM, *map(str, slow)], cwd=tmp_path, stderr=subprocess.PIPE, text=True) as running:
        wait_until(lambda: any(j.stat().st_size > 3000 for j in tmp_path.rglob("*.jrnl")), running)  # it trains
        running.send_signal(signal.SIGINT)
        running.communicate(timeout=60)
    assert running.returncode == 75
    states = [run["state"] for run in json.loads((tmp_path / "results/small/study.json").read_text())["runs"]]
    assert states == ["interrupted", "absent"]
    ran = softalign(*slow[:2], "--only", "*/none", *slow[2:])
    assert ran.returncode == 0, ran.stderr
    assert "resuming at update" in ran.stderr


def test_a_run_that_another_process_works_on_is_left_to_it(softalign, study: Path, tmp_path: Path):
    slow = ["study", study, "task.examples.train=1000", "train.epochs=40", "--out", "shared"]
    with subprocess.Popen([PROGRAM, *map(str, slow), "--only", "*/none"], cwd=tmp_path, stderr=subprocess.PIPE, text=True) as other:
        wait_until(lambda: any(j.stat().st_size > 3000 for j in tmp_path.rglob("*.jrnl")), other)
        other.send_signal(signal.SIGSTOP)
        try:
            ran = softalign(*slow)
        finally:
            other.send_signal(signal.SIGCONT)
        other.communicate(timeout=60)
    assert other.returncode == 0
    assert ran.returncode == 75, ran.stderr
    lines = ran.stderr.splitlines()
    assert any("works on this run" in line and line.endswith("; going on with the others") for line in lines), lines
    assert lines[-1].startswith("softalign: not complete: another process works on 1 of 2 runs")
    assert "Does it run?" in ran.stdout
    assert "1 claim is not judged" not in ran.stdout  # additive's is
    assert softalign(*slow).returncode == 0
