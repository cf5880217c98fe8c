"""Sweeps with method optuna: the search depends on nothing but the sweep file, even if it is killed and resumed."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest
from command_line import ANGULAR, PROGRAM, answer, error, interrupt, softalign, started, wait_until
from test_sweep import BASE, catches, kill_all, states, status

pytest.importorskip("optuna", reason="no python3-optuna here")

SWEEP = """\
name: small
base: base.yaml
method: optuna
run_cap: 8
parameters:
  model.attention.score.type: {types: all, exclude: [cosine, dot, general, scaled_dot]}
  train.optimizer.learning_rate: {distribution: log_uniform_values, min: 0.00005, max: 0.05}
  model.embedding: {min: 8, max: 12, q: 2}
early_terminate: {type: median, min_updates: 8, startup: 3}
"""


@pytest.fixture()
def here(tmp_path: Path) -> Path:
    (tmp_path / "base.yaml").write_text(BASE)
    (tmp_path / "sweep.yaml").write_text(SWEEP)
    return tmp_path


def test_trials_are_rows_of_the_plan_and_ordinary_runs(here: Path):
    ran = softalign("sweep", "run", "sweep.yaml", cwd=here)
    assert ran.stderr.count(": begins") >= 8 and "best dev/loss" in ran.stdout
    found = states(here)
    assert sum(found.values()) == 8 and set(found) <= {"complete", "pruned"}, found
    for row in status(here)["rows"]:
        assert (here / row["folder"] / "run.h5").exists()
        assert row["set"]["model.embedding"] in (8, 10, 12)
        assert row["set"]["model.attention.score.type"] != "general"
    first = status(here)["rows"][0]
    assert "the same bits again" in softalign("verify", here / first["folder"], cwd=here).stdout
    again = softalign("sweep", "run", "sweep.yaml", cwd=here)
    assert "begins" not in again.stderr


def test_its_workers_may_use_the_plugins_that_its_file_names(here: Path):
    shutil.copy(ANGULAR, here)
    (here / "base.yaml").write_text(BASE.replace("additive, units: 8", "angular") + "plugins: [angular.so]\n")
    (here / "sweep.yaml").write_text(
        "name: small\nbase: base.yaml\nmethod: optuna\nrun_cap: 1\nparameters: {model.embedding: {min: 8, max: 9}}\n"
    )
    softalign("sweep", "run", "sweep.yaml", cwd=here)
    assert states(here) == {"complete": 1}


def test_killed_and_stopped_it_proposes_the_same(here: Path):
    softalign("sweep", "run", "sweep.yaml", "--results", "undisturbed", cwd=here)
    rng = random.Random(3)
    for stop in (signal.SIGINT, signal.SIGKILL, signal.SIGKILL):
        process = started("sweep", "run", "sweep.yaml", cwd=here)
        wait_until(lambda: (here / "results/small/optuna.journal").exists())
        time.sleep(rng.uniform(0, 2))
        if stop == signal.SIGINT:
            process.send_signal(stop)
            process.communicate(timeout=60)
            assert process.returncode in (0, 75)
        else:
            kill_all(process)
    softalign("sweep", "run", "sweep.yaml", cwd=here)
    for name in ("plan.jsonl", "sweep.h5"):
        assert (here / "undisturbed/small" / name).read_bytes() == (here / "results/small" / name).read_bytes()


def test_killed_while_it_asks_it_draws_the_same(here: Path):
    """Optuna's journal stores a trial's parameters one by one, so a kill can leave a trial with only some of them."""

    def searched(cap: int) -> None:
        (here / "sweep.yaml").write_text(SWEEP.replace("run_cap: 8", f"run_cap: {cap}"))
        softalign("sweep", "run", "sweep.yaml", cwd=here)

    searched(5)  # the random trials before the sampler has results to learn from
    shutil.copytree(here / "results", here / "five")
    five = (here / "five/small/optuna.journal").read_bytes()
    searched(6)
    plan = (here / "results/small/plan.jsonl").read_bytes()
    sixth = (here / "results/small/optuna.journal").read_bytes().removeprefix(five).splitlines(keepends=True)
    parameters = [n for n, line in enumerate(sixth) if b"param_value_internal" in line]
    assert len(parameters) == 3
    for last in parameters:
        shutil.rmtree(here / "results")
        shutil.copytree(here / "five", here / "results")
        (here / "results/small/optuna.journal").write_bytes(five + b"".join(sixth[: last + 1]))
        searched(6)
        assert (here / "results/small/plan.jsonl").read_bytes() == plan, f"{parameters.index(last) + 1} of 3 parameters"


def test_stopped_before_the_first_trial_it_says_so(here: Path):
    (here / "argparse.py").write_text("import time\ntime.sleep(600)\n")  # simulates a module that is slow to import on a busy machine
    process = started("sweep", "run", "sweep.yaml", cwd=here, env={**os.environ, "PYTHONPATH": str(here)})
    executable = Path(f"/proc/{process.pid}/exe")
    wait_until(lambda: "python" in executable.resolve().name)
    wait_until(lambda: catches(process, signal.SIGTERM))
    message = interrupt(process)
    assert "run the same command again" in message and "Traceback" not in message, message


def test_a_distribution_that_optuna_lacks_is_refused(here: Path):
    (here / "sweep.yaml").write_text(SWEEP.replace("{min: 8, max: 12, q: 2}", "{distribution: normal, mu: 1, sigma: 1}"))
    assert "sweep.yaml:8:3: " in softalign("sweep", "run", "sweep.yaml", cwd=here, code=2).stderr


def test_a_second_search_of_the_same_sweep_is_refused(here: Path):
    first = started("sweep", "run", "sweep.yaml", cwd=here)
    wait_until(lambda: (here / "results/small/optuna.journal").exists())
    softalign("sweep", "run", "sweep.yaml", cwd=here, code=1)
    _, message = first.communicate(timeout=120)
    assert first.returncode == 0, message
    assert sum(states(here).values()) == 8


def test_the_journal_is_made_again_from_the_runs(here: Path):
    softalign("sweep", "run", "sweep.yaml", cwd=here)
    plan = (here / "results/small/plan.jsonl").read_text()
    journal = here / "results/small/optuna.journal"
    journal.unlink()
    again = softalign("sweep", "run", "sweep.yaml", cwd=here)
    assert (here / "results/small/plan.jsonl").read_text() == plan, again.stderr
    (here / "sweep.yaml").write_text(SWEEP.replace("run_cap: 8", "run_cap: 10"))
    softalign("sweep", "run", "sweep.yaml", cwd=here)
    assert sum(states(here).values()) == 10


def test_a_journal_with_a_torn_end_goes_on_and_a_damaged_one_is_named(here: Path):
    softalign("sweep", "run", "sweep.yaml", cwd=here)
    journal = here / "results/small/optuna.journal"
    whole = journal.read_bytes()
    journal.write_bytes(whole[:-20])
    (here / "results/small/optuna.journal.lock").symlink_to("of-a-dead-process")
    softalign("sweep", "run", "sweep.yaml", cwd=here)
    assert sum(states(here).values()) == 8
    journal.write_bytes(b"garbage\n" * 5 + whole)
    assert "optuna.journal: " in (refused := softalign("sweep", "run", "sweep.yaml", cwd=here, code=3).stderr) and "Traceback" not in refused


def test_ctrl_c_in_the_last_moment_is_no_interruption(here: Path):
    softalign("sweep", "run", "sweep.yaml", cwd=here)
    process = started("sweep", "run", "sweep.yaml", cwd=here)
    assert process.stdout is not None
    process.stdout.readline()  # the first line of the table that is printed at the end
    while process.poll() is None:
        process.send_signal(signal.SIGINT)
        time.sleep(0.001)
    assert process.returncode == 0, process.stderr.read()


@pytest.mark.parametrize("name", ["optuna.journal", "logs", "logs/ID.log"])
def test_nothing_is_written_through_a_link_in_its_folder(here: Path, name: str):
    softalign("sweep", "run", "sweep.yaml", cwd=here)
    sweep, outside = here / "results/small", here / "outside"
    place = sweep / name.replace("ID", status(here)["rows"][0]["run_id"])
    place.rename(outside)
    place.symlink_to(outside)
    # Removes the history of Optuna and the first run, so that both must be written again.
    if name != "optuna.journal":
        (sweep / "optuna.journal").unlink()
    shutil.rmtree(here / status(here)["rows"][0]["folder"])

    def outer() -> list[bytes]:
        return [file.read_bytes() for file in (sorted(outside.iterdir()) if outside.is_dir() else [outside])]

    before = outer()
    lines = [line for line in softalign("sweep", "run", "sweep.yaml", cwd=here, code=3).stderr.splitlines() if ": is a link" in line]
    assert len(lines) == 1 and str(place.relative_to(here)) in lines[0]
    assert outer() == before


# Several workers -------------------------------------------------------------------------------------------------


def worker(here: Path, number: int) -> subprocess.Popen[str]:
    script = Path(__file__).parents[2] / "scripts/optuna_sweep.py"
    words = ["/usr/bin/python3", script, "--program", PROGRAM, "--run-cap", "8", "--worker", str(number), here / "sweep.yaml"]
    return subprocess.Popen(list(map(str, words)), cwd=here, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def test_a_submitted_search_asks_and_tells_through_the_folder(here: Path):
    (here / "sweep.yaml").write_text(SWEEP + "resources: {concurrent: 2}\n")
    shown = softalign("sweep", "submit", "sweep.yaml", "--workers", 3, "--dry-run", cwd=here, env={"PATH": "/usr/bin/nowhere"}).stdout
    assert "#SBATCH --array=0-2%2\n" in shown and "\nworkers  job\n" in shown
    submit = ("sweep", "submit", "sweep.yaml", "--workers", 2, "--scheduler", "local", "--json")
    assert [array["rows"] for array in answer(*submit, cwd=here)["submitted"]] == [[0, 1]]
    assert answer(*submit, cwd=here)["queued"] == [0, 1]
    wait_until(lambda: sum(states(here).get(state, 0) for state in ("complete", "pruned")) == 8, 120)
    logs = [(here / f"results/small/jobs/logs/worker-{k}.log").read_text() for k in (0, 1)]
    assert [log.count(": begins") > 0 for log in logs] == [True, True]
    assert sum(log.count(": begins") for log in logs) == 8
    assert len(status(here)["rows"]) == 8


def test_a_workers_trials_are_asked_for_again_when_it_is_killed(here: Path):
    (here / "base.yaml").write_text(BASE.replace("epochs: 4", "epochs: 40"))
    first = worker(here, 1)
    assert first.stderr is not None and "begins" in first.stderr.readline()
    second = worker(here, 0)
    assert second.stderr is not None and "begins" in second.stderr.readline()
    assert "worker 1 of this search runs already" in worker(here, 1).communicate(timeout=60)[1]
    softalign("sweep", "run", "sweep.yaml", cwd=here, code=1)  # refused, because `sweep run` is a search without other workers
    first.kill()
    first.communicate()
    _, errors = second.communicate(timeout=300)
    assert second.returncode == 0, errors
    found = states(here)
    assert sum(found.values()) == 8 and set(found) <= {"complete", "pruned"}, found


def test_workers_are_for_searches(here: Path):
    (here / "sweep.yaml").write_text(SWEEP.replace("optuna", "random"))
    assert "--workers: small has rows" in softalign("sweep", "submit", "sweep.yaml", "--workers", 2, "--dry-run", cwd=here, code=2).stderr
    assert not (here / "results").exists()
    (here / "sweep.yaml").write_text(SWEEP + "resources: {tasks: 2}\n")
    assert "sweep.yaml:10:12: " in error("sweep", "submit", "sweep.yaml", "--dry-run", cwd=here, code=2)
