"""`sweep submit` without a scheduler, with a FAKE OpenPBS and with a site's own scheduler file; and `sweep work` started by other tools."""

from __future__ import annotations

import ctypes
import json
import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from checks import check_same_runs
from command_line import PROGRAM, error, interrupt, softalign, started, wait_until
from test_sweep import BASE, SWEEP, states

SMALL = SWEEP.replace("[additive, general]", "[additive]").replace("[8, 9]", "[8]")  # three rows
ROOT = Path(__file__).parents[2]


@pytest.fixture()
def here(tmp_path: Path) -> Path:
    (tmp_path / "base.yaml").write_text(BASE.replace("epochs: 4", "epochs: 1"))
    (tmp_path / "sweep.yaml").write_text(SMALL)
    return tmp_path


@pytest.fixture()
def pbs(here: Path) -> dict[str, str]:
    """Returns an environment with a fake OpenPBS."""
    bin = here / "bin"
    for folder in (bin, here / "pbs", here / "home"):
        folder.mkdir()
    for name in ("qsub", "qstat", "qdel"):
        (bin / name).symlink_to(Path(__file__).parent / "fake_pbs.py")
    return {**os.environ, "PATH": f"{bin}:{os.environ['PATH']}", "FAKE_PBS": str(here / "pbs"), "HOME": str(here / "home"), "SOFTALIGN_SCHEDULER": "pbs"}


def submit(here: Path, *words: object, **more: Any) -> dict[str, Any]:
    return json.loads(softalign("sweep", "submit", "sweep.yaml", "--json", *words, cwd=here, **more).stdout)


def planned(here: Path) -> Path:
    softalign("sweep", "plan", "sweep.yaml", cwd=here)
    return here / "results/small"


def wait_until_done(here: Path, rows: int = 3) -> None:
    wait_until(lambda: states(here) == {"complete": rows}, 60)


def is_as_if_run_here(here: Path) -> None:
    softalign("sweep", "run", "sweep.yaml", "--results", "local", cwd=here)
    check_same_runs(here / "local/small", here / "results/small")


def long_row(here: Path) -> None:
    """Writes a sweep of one row that trains for longer than any test."""
    (here / "base.yaml").write_text(BASE.replace("epochs: 4", "epochs: 100000"))
    (here / "sweep.yaml").write_text(SMALL.replace("count: 3", "count: 1"))


def is_training(here: Path) -> bool:
    return bool(list((here / "results/small").glob("*/ckpt/*.ckpt")))


def test_without_a_scheduler_rows_run_in_the_background(here: Path) -> None:
    (here / "profile.yaml").write_text("concurrent: 2\nsetup: [export OMP_NUM_THREADS=1]\n")
    (array,) = submit(here, "--scheduler", "local", "--profile", "profile.yaml")["submitted"]
    assert array["rows"] == [0, 1, 2]
    wait_until_done(here)
    assert "row 2: job " in (here / "results/small/jobs/logs/row-2.log").read_text()
    is_as_if_run_here(here)
    assert submit(here, "--scheduler", "local") == {"submitted": [], "queued": []}


def test_what_runs_in_the_background_is_not_submitted_twice_and_is_cancelled(here: Path) -> None:
    long_row(here)
    submit(here, "--scheduler", "local")
    assert submit(here, "--scheduler", "local")["submitted"] == []  # the job is queued or running
    wait_until(lambda: is_training(here))
    assert "cancelled: job " in softalign("sweep", "cancel", "results/small", cwd=here).stdout
    wait_until(lambda: states(here) == {"interrupted": 1})
    wait_until(lambda: "no submitted job is queued or running" in softalign("sweep", "cancel", "results/small", cwd=here).stdout)


def test_a_job_in_the_background_has_ended_though_nobody_waits_for_it(here: Path) -> None:
    """The job stays a zombie, as in a container whose first process does not reap its children."""
    PR_SET_CHILD_SUBREAPER = 36
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    try:
        (array,) = submit(here, "--scheduler", "local")["submitted"]
        wait_until_done(here)
        wait_until(lambda: softalign("sweep", "cancel", "results/small", cwd=here).stdout == "no submitted job is queued or running\n", 5)
        os.waitpid(int(array["job"]), 0)
    finally:
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)


@pytest.mark.skipif(subprocess.run(["unshare", "--pid", "--fork", "--mount-proc", "true"], capture_output=True).returncode != 0, reason="containers cannot be made here")
def test_a_job_of_another_container_is_not_taken_for_ended(here: Path) -> None:
    long_row(here)
    submit(here, "--scheduler", "local")
    wait_until(lambda: is_training(here))
    other = subprocess.run(["unshare", "--pid", "--fork", "--mount-proc", PROGRAM, "sweep", "status", "results/small"], cwd=here, capture_output=True, text=True)
    softalign("sweep", "cancel", "results/small", cwd=here)
    assert "small: 1 running" in other.stdout, other.stdout
    wait_until(lambda: states(here) == {"interrupted": 1})


def test_status_shows_what_is_queued(here: Path) -> None:
    long_row(here)
    (here / "sweep.yaml").write_text(SMALL)
    (array,) = submit(here, "--scheduler", "local")["submitted"]
    wait_until(lambda: is_training(here))
    assert f"\nqueued: 1-2, job {array['job']} of local\n" in softalign("sweep", "status", "results/small", cwd=here).stdout
    shown = json.loads(softalign("sweep", "status", "results/small", "--json", cwd=here).stdout)
    assert shown["queued"] == [{"job": array["job"], "scheduler": "local", "rows": [1, 2]}]
    softalign("sweep", "cancel", "results/small", cwd=here)
    wait_until(lambda: "queued" not in softalign("sweep", "status", "results/small", cwd=here).stdout)


def test_a_fake_openpbs_runs_a_sweep(here: Path, pbs: dict[str, str]) -> None:
    (array,) = submit(here, env=pbs)["submitted"]
    assert array == {"rows": [0, 1, 2], "job": "1[].fake"}
    wait_until_done(here)
    log = (here / "results/small/jobs/logs/row-1.log").read_text()
    assert log.startswith("row 1: job 1[].fake, task 1 on ")
    (claim, *_) = (here / "results/small").glob("*/attempt-001/CLAIM")
    assert json.loads(claim.read_text())["job"].startswith("array-001/1[].fake/")
    is_as_if_run_here(here)


def test_a_fake_openpbs_starts_an_interrupted_row_again(here: Path, pbs: dict[str, str]) -> None:
    """A row resubmits itself, because users may not call qrerun. Its array has a second task that does nothing."""
    long_row(here)
    (here / "profile.yaml").write_text("max_restarts: 1\n")
    submit(here, "--profile", "profile.yaml", env=pbs)
    assert submit(here, "--profile", "profile.yaml", env=pbs)["submitted"] == []
    log = here / "results/small/jobs/logs/row-0.log"
    for restart in (0, 1):
        wait_until(lambda: is_training(here) and f"restart {restart}" in log.read_text() and states(here) == {"running": 1})
        assert submit(here, "--profile", "profile.yaml", env=pbs)["submitted"] == []
        claim = max((here / "results/small").glob("*/attempt-*/CLAIM"))
        os.kill(json.loads(claim.read_text())["pid"], signal.SIGUSR1)
        wait_until(lambda: states(here) == {"interrupted": 1})
    wait_until(lambda: "interrupted after 1 restarts" in log.read_text())
    assert "resuming at update" in log.read_text()
    assert (here / "pbs/2.fake").is_dir() and not (here / "pbs/3.fake").exists()
    wait_until(lambda: softalign("sweep", "cancel", "results/small", cwd=here, env=pbs).stdout == "no submitted job is queued or running\n")


def test_a_fake_openpbs_cancels_a_restarted_row(here: Path, pbs: dict[str, str]) -> None:
    long_row(here)
    submit(here, env=pbs)
    wait_until(lambda: is_training(here) and states(here) == {"running": 1})
    os.kill(json.loads(claim_of(here).read_text())["pid"], signal.SIGUSR1)
    wait_until(lambda: (here / "pbs/2.fake").is_dir() and states(here) == {"running": 1})
    claim = claim_of(here)
    before = claim.read_text()
    assert json.loads(before)["job"] == "array-001/1[].fake/0"
    claim.write_text(json.dumps({**json.loads(before), "host": "elsewhere", "boot_id": "another", "machine_id": "another"}))
    for silent in ("", "2.fake"):  # a job has not ended because qstat does not answer
        shown = softalign("sweep", "status", "results/small", "--json", cwd=here, env={**pbs, "FAKE_PBS_SILENT": silent}).stdout
        assert [row["state"] for row in json.loads(shown)["rows"]] == ["running"]
    claim.write_text(before)
    assert "cancelled: job 1[].fake" in softalign("sweep", "cancel", "results/small", cwd=here, env=pbs).stdout
    wait_until(lambda: states(here) == {"interrupted": 1})
    wait_until(lambda: softalign("sweep", "cancel", "results/small", cwd=here, env=pbs).stdout == "no submitted job is queued or running\n")


def test_a_fake_openpbs_cancels(here: Path, pbs: dict[str, str]) -> None:
    long_row(here)
    submit(here, env=pbs)
    wait_until(lambda: is_training(here))
    assert "cancelled: job 1[].fake" in softalign("sweep", "cancel", "results/small", cwd=here, env=pbs).stdout
    wait_until(lambda: states(here) == {"interrupted": 1})


@pytest.mark.parametrize("scheduler, directive", [("slurm", "#SBATCH --array=0-2"), ("pbs", "#PBS -N small"), ("lsf", "#BSUB -J small[1-3]"), ("sge", "#$ -t 1-3")])
def test_scripts_are_shown_without_a_scheduler(here: Path, scheduler: str, directive: str) -> None:
    shown = softalign("sweep", "submit", "sweep.yaml", "--scheduler", scheduler, "--dry-run", cwd=here, env={"PATH": "/usr/bin/nowhere"})
    assert f"\n{directive}\n" in shown.stdout and "note: rows that are queued may be among these" in shown.stderr
    assert not (here / "results").exists()


def test_a_key_that_a_scheduler_does_not_know_is_noted(here: Path) -> None:
    (here / "profile.yaml").write_text("qos: high\nmemory: 4G\n")
    shown = softalign("sweep", "submit", "sweep.yaml", "--scheduler", "pbs", "--profile", "profile.yaml", "--dry-run", cwd=here)
    assert "pbs does not use qos" in shown.stderr and "memory\n" not in shown.stderr


def test_a_setup_that_fails_is_in_the_log_of_the_row(here: Path) -> None:
    (here / "profile.yaml").write_text("setup: ['false']\n")
    submit(here, "--scheduler", "local", "--profile", "profile.yaml")
    log = here / "results/small/jobs/logs/row-2.log"
    wait_until(lambda: log.exists() and "row 2: setup failed" in log.read_text())
    assert states(here) == {"planned": 3}


def test_rows_that_run_are_named(here: Path) -> None:
    long_row(here)
    process = started("sweep", "run", "sweep.yaml", cwd=here)
    wait_until(lambda: is_training(here))
    assert "running: 0; " in softalign("sweep", "submit", "sweep.yaml", "--scheduler", "local", cwd=here).stdout
    interrupt(process)


def test_a_site_adds_a_scheduler_of_its_own(here: Path) -> None:
    """Uses the scheduler file in the documentation."""
    page = (ROOT / "framework/docs/schedulers.md").read_text()
    (text,) = re.findall(r"```yaml\n(# at\.yaml.*?)```", page, re.DOTALL)
    (here / "at.yaml").write_text(text)
    (here / "bin").mkdir()
    (here / "bin/at").write_text('#!/bin/sh\nscript=$(cat)\nsetsid sh -c "$script" >/dev/null 2>&1 & echo "job 7 at now" >&2\n')
    (here / "bin/atq").write_text("#!/bin/sh\n")
    for program in (here / "bin").iterdir():
        program.chmod(0o755)
    environment = {**os.environ, "PATH": f"{here / 'bin'}:{os.environ['PATH']}"}
    (array,) = submit(here, "--scheduler", "./at.yaml", env=environment)["submitted"]
    assert array["job"] == "7"
    wait_until_done(here)
    shutil.rmtree(next((here / "results/small").glob("*/run.h5")).parent)  # its job has ended, so the row is not queued any more
    (again,) = submit(here, "--scheduler", "./at.yaml", env=environment)["submitted"]
    assert len(again["rows"]) == 1
    wait_until_done(here)
    message = error("sweep", "submit", "sweep.yaml", "--scheduler", "torque", cwd=here, code=2)
    assert "torque: no such scheduler" in message and "./torque.yaml" in message
    done = softalign("sweep", "cancel", "results/small", cwd=here, code=1)  # the folder is untrusted, so its scheduler file is not used
    assert "at.yaml is unknown here" in done.stderr and "2 jobs may be queued or running" in done.stderr


SITE = """\
script: |
  #!/bin/bash
  job=x index=0
  launch() { "$@"; }
  restart() { exit 75; }
  {work}
submit: echo job 7
job: job ([0-9]+)
status: seq 0 2
task: ^([0-9]+)$
cancel: echo {job}
"""


@pytest.mark.parametrize("key", ["status: ", "cancel: "])
def test_a_placeholder_that_does_not_exist_is_refused_before_anything_is_submitted(here: Path, key: str) -> None:
    lines = [line for line in SITE.splitlines() if not line.startswith(key)]
    (here / "site.yaml").write_text("\n".join([*lines, key + "'echo {jib}'"]))
    assert "there is no {jib}" in error("sweep", "submit", "sweep.yaml", "--scheduler", "./site.yaml", cwd=here, code=2)
    assert not (here / "results/small/jobs").exists()


@pytest.mark.parametrize("status", ["exit 3", "echo 99999999999999999999"])
def test_status_notes_jobs_that_it_cannot_ask_about(here: Path, status: str) -> None:
    (here / "site.yaml").write_text(SITE.replace("seq 0 2", status))
    submit(here, "--scheduler", "./site.yaml")
    for own in ("", "./site.yaml"):
        done = softalign("sweep", "status", "sweep.yaml", cwd=here, env={**os.environ, "SOFTALIGN_SCHEDULER": own})
        assert "note: 1 job may be queued or running" in done.stderr and "\nqueued" not in done.stdout
    assert "does not answer about job 7" in error("sweep", "submit", "sweep.yaml", "--scheduler", "./site.yaml", cwd=here, code=1)


def test_the_script_of_a_submit_that_was_killed_is_not_overwritten(here: Path) -> None:
    """Its job may be running or may be restarted."""
    (here / "site.yaml").write_text(SITE)
    script = here / "results/small/jobs/array-001.sh"
    script.parent.mkdir(parents=True)
    script.write_text("exit")
    submit(here, "--scheduler", "./site.yaml")
    assert script.read_text() == "exit" and "array-002/" in script.with_stem("array-002").read_text()


def test_a_row_that_is_queued_twice_is_shown_once(here: Path) -> None:
    (here / "site.yaml").write_text(SITE.replace("seq 0 2", "cat tasks"))
    (here / "results/small").mkdir(parents=True)
    (here / "results/small/tasks").touch()
    for _ in range(2):
        submit(here, "--scheduler", "./site.yaml")
    (here / "results/small/tasks").write_text("0\n1\n")
    assert submit(here, "--scheduler", "./site.yaml", "--dry-run")["queued"] == [0, 1]


# Rows lost on another host --------------------------------------------------------------------------------------------


def claim_of(here: Path) -> Path:
    return max((here / "results/small").glob("*/attempt-*/CLAIM"))


def seems_silent(claim: Path) -> None:
    long_ago = time.time() - 660
    os.utime(claim, (long_ago, long_ago))


def test_a_row_of_a_silent_host_is_taken_over(here: Path) -> None:
    (here / "base.yaml").write_text(BASE.replace("epochs: 4", "epochs: 60"))
    (here / "sweep.yaml").write_text(SMALL.replace("count: 3", "count: 1"))
    process = started("sweep", "work", planned(here), "--row", 0, cwd=here)
    wait_until(lambda: is_training(here))
    process.send_signal(signal.SIGSTOP)  # the claim is changed below, so that the worker seems to be on another host
    claim = claim_of(here)
    before = json.loads(claim.read_text())
    claim.write_text(json.dumps({**before, "host": "elsewhere", "boot_id": "another", "machine_id": "another"}))
    assert states(here) == {"running": 1}
    seems_silent(claim)
    assert states(here) == {"lost": 1}
    taken = softalign("sweep", "run", "sweep.yaml", cwd=here)
    assert "no sign of life for 10 minutes" in taken.stderr and states(here) == {"complete": 1}
    record = next((here / "results/small").glob("*/run.h5"))
    whole = record.read_bytes()
    process.send_signal(signal.SIGCONT)  # the worker notices the takeover and stops
    process.communicate()
    assert states(here) == {"complete": 1} and record.read_bytes() == whole
    is_as_if_run_here(here)


def test_a_row_that_ends_while_the_scheduler_answers_is_in_the_table_with_its_end(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "base.yaml").write_text(BASE.replace("epochs: 4", "epochs: 60"))
    (here / "sweep.yaml").write_text(SMALL.replace("count: 3", "count: 1"))
    (here / "site.yaml").write_text(SITE.replace("job=x", "job=7").replace("echo job 7", "(setsid bash {script} >log 2>&1 </dev/null &); echo job 7").replace("seq 0 2", "bash ../../answer.sh"))
    monkeypatch.setenv("SOFTALIGN_SCHEDULER", "./site.yaml")
    submit(here)
    wait_until(lambda: is_training(here))
    claim = claim_of(here)
    own = json.loads(claim.read_text())
    os.kill(own["pid"], signal.SIGSTOP)
    shutil.copy(claim, here / "own")
    ended = f"""grep -q '"state": "complete"' '{claim.parent.parent}/status.json'"""
    (here / "answer.sh").write_text(f"cp ../../own '{claim}'; kill -CONT {own['pid']}; until {ended}; do sleep 0.1; done")
    claim.write_text(json.dumps({**own, "host": "elsewhere", "boot_id": "another", "machine_id": "another"}))
    tables = []
    for _ in range(2):
        assert states(here) == {"complete": 1}
        tables.append((here / "results/small/sweep.h5").read_bytes())
    assert tables[0] == tables[1]


@pytest.mark.nightly
def test_a_live_run_gives_signs_of_life(here: Path) -> None:
    long_row(here)
    process = started("sweep", "work", planned(here), "--row", 0, cwd=here)
    wait_until(lambda: is_training(here))
    claim = claim_of(here)
    seems_silent(claim)
    wait_until(lambda: time.time() - claim.stat().st_mtime < 60, 40)
    assert "saved" in interrupt(process)


def test_xargs_is_a_scheduler(here: Path) -> None:
    """The command in the documentation works: `sweep work` ends at once on rows that are complete or claimed."""
    planned(here)
    command = f"seq 0 2 | xargs -P 2 -n 1 {PROGRAM} sweep work results/small --row"
    assert "xargs -P" in (ROOT / "framework/docs/schedulers.md").read_text()
    for _ in range(2):
        subprocess.run(["bash", "-c", command], cwd=here, check=True, capture_output=True)
    assert states(here) == {"complete": 3}
    is_as_if_run_here(here)
