"""`softalign sweep submit` on a real Slurm: arrays, requeues, kills, time limits; the same bits as a local run."""

from __future__ import annotations

import json
import os
import shutil
import signal
from pathlib import Path
from typing import Any

import h5py
import pytest
from checks import check_same_runs, numbers
from cluster import Cluster, wait_until
from command_line import TINY, softalign

SWEEP = """\
name: scores
base: tiny.yaml
method: grid
parameters:
  model.attention.score: {values: [concat, general, additive]}
seeds: {first: 1, count: 4}
resources: {memory: 300M, concurrent: 4, array_size: 10}
"""

# One row of many updates, with frequent checkpoints.
LONG = """\
name: long
base: tiny.yaml
method: grid
parameters: {train.epochs: {value: EPOCHS}}
"""


class Sweep:
    """A sweep file in a folder of its own; a call runs `softalign sweep` with the cluster in its environment."""

    def __init__(self, cluster: Cluster, folder: Path, sweep: str) -> None:
        self.cluster, self.here = cluster, folder
        self.file = folder / "sweep.yaml"
        self.file.write_text(sweep)
        (folder / "tiny.yaml").write_text(TINY + "record: {checkpoint_every: 10}\n")
        self.name = sweep.split()[1]
        self.folder = folder / "results" / self.name

    def __call__(self, command: str, *arguments: object, code: int | None = 0) -> Any:
        return softalign("sweep", command, *arguments, cwd=self.here, code=code, env=self.cluster.environment)

    def submit(self, *arguments: object) -> dict[str, Any]:
        return json.loads(self("submit", self.file, "--json", *arguments).stdout)

    def queue(self) -> list[str]:
        """Returns its running and pending tasks, such as "12_3"."""
        lines = self.cluster("squeue", "--noheader", "--array", "--format=%i %Z").splitlines()
        return [line.split()[0] for line in lines if line.endswith(f" {self.folder}")]

    def wait_until_done(self, seconds: float) -> None:
        wait_until(lambda: not self.queue(), seconds, f"still in the queue: {self.queue()}")

    def rows(self) -> list[dict[str, Any]]:
        return json.loads(self("status", self.folder, "--json").stdout)["rows"]

    def states(self) -> list[str]:
        return [row["state"] for row in self.rows()]

    def updates(self) -> int:
        return self.rows()[0]["updates"]

    def log(self, row: int = 0) -> str:
        file = self.folder / f"jobs/logs/row-{row}.log"
        return file.read_text() if file.exists() else ""

    def is_as_if_run_here(self) -> None:
        """Asserts that its records have the same bits as those of an undisturbed local run of the sweep."""
        self("run", self.file, "--results", "local")
        local = self.here / "local" / self.name
        check_same_runs(local, self.folder)
        records = list(local.glob("*/run.h5"))
        assert len(records) == len(self.rows())
        assert all(any(path.startswith("parameters/") for path in numbers(record)) for record in records)


@pytest.fixture()
def scores(cluster: Cluster, tmp_path: Path) -> Sweep:
    return Sweep(cluster, tmp_path, SWEEP)


def long_row(cluster: Cluster, folder: Path, epochs: int) -> Sweep:
    return Sweep(cluster, folder, LONG.replace("EPOCHS", str(epochs)))


@pytest.fixture(scope="module", autouse=True)
def limited(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Sweep:
    """Submits a row that would take hours, with a time limit of a minute, which it reaches while the other tests run."""
    sweep = long_row(cluster, tmp_path_factory.mktemp("limited"), 1_000_000)
    (sweep.here / "profile.yaml").write_text("time: 1\nnotice: 60\nmax_restarts: 1\n")
    sweep.submit("--profile", "profile.yaml")
    return sweep


def test_twelve_rows_in_two_arrays_have_the_bits_of_a_local_run(scores: Sweep) -> None:
    message = scores.submit()
    assert [array["rows"] for array in message["submitted"]] == [list(range(10)), [10, 11]]
    assert scores.queue()  # submit does not wait
    again = scores.submit()  # nothing is queued twice
    assert again == {"submitted": [], "queued": list(range(12))}
    scores.wait_until_done(60)
    assert scores.states() == ["complete"] * 12
    for row in range(12):
        assert scores.log(row).startswith(f"row {row}: job ")
        assert f"row {row} of scores" in scores.log(row)
    assert scores.submit() == {"submitted": [], "queued": []}  # complete rows are not submitted again
    submitted = json.loads((scores.folder / "jobs/submitted.json").read_text())
    assert [entry["rows"] for entry in submitted] == [list(range(10)), [10, 11]]
    assert [entry["job"] for entry in submitted] == [array["job"] for array in message["submitted"]]
    scores.is_as_if_run_here()


def test_only_what_is_left_is_submitted(scores: Sweep) -> None:
    scores("run", scores.file, "--rows", "0,1,2,3,4,5,7,8,10,11")
    assert [array["rows"] for array in scores.submit("--dry-run")["submitted"]] == [[6, 9]]
    assert not scores.queue() and not (scores.folder / "jobs").exists()
    scores.submit()
    scores.wait_until_done(60)
    assert scores.states() == ["complete"] * 12


def test_a_killed_row_goes_on_from_its_checkpoint_when_submitted_again(cluster: Cluster, tmp_path: Path) -> None:
    sweep = long_row(cluster, tmp_path, 120)
    sweep.submit()
    wait_until(lambda: list(sweep.folder.glob("*/ckpt/*.ckpt")), 30, "no checkpoint")
    (claim,) = sweep.folder.glob("*/attempt-001/CLAIM")
    os.kill(json.loads(claim.read_text())["pid"], signal.SIGKILL)
    sweep.wait_until_done(30)
    assert sweep.states() == ["lost"]
    assert "to be started again" not in sweep.log()  # only exit status 75 restarts a row
    # The process cannot be seen from another node, but Slurm knows about its job.
    elsewhere = {**json.loads(claim.read_text()), "host": "elsewhere", "boot_id": "another", "machine_id": "another"}
    claim.write_text(json.dumps(elsewhere))
    assert sweep.states() == ["lost"]
    nobody_to_ask = {**cluster.environment, "PATH": "/nowhere"}
    message = softalign("sweep", "status", sweep.folder, cwd=sweep.here, env=nobody_to_ask).stdout
    assert "1 running" in message  # without an answer of Slurm it may be alive
    sweep.submit()
    sweep.wait_until_done(60)
    assert "is gone: slurm has ended its job" in sweep.log() and "resuming at update" in sweep.log()
    assert sweep.states() == ["complete"]
    sweep.is_as_if_run_here()


def test_a_requeued_row_goes_on_by_itself(cluster: Cluster, tmp_path: Path) -> None:
    """As after a preemption: Slurm ends the job, first with SIGTERM, and restarts it."""
    sweep = long_row(cluster, tmp_path, 120)
    (array,) = sweep.submit()["submitted"]
    wait_until(lambda: list(sweep.folder.glob("*/ckpt/*.ckpt")), 30, "no checkpoint")
    cluster("scontrol", "requeue", f"{array['job']}_0")
    sweep.wait_until_done(60)
    assert all(word in sweep.log() for word in ("restart 0", "restart 1", "resuming at update"))
    assert sweep.states() == ["complete"]
    sweep.is_as_if_run_here()


def test_two_ranks_of_a_row_have_the_bits_of_one_process(cluster: Cluster, tmp_path: Path) -> None:
    if shutil.which("mpirun") is None:
        pytest.skip("there is no MPI: scripts/setup.sh mpi")
    sweep = long_row(cluster, tmp_path, 3)
    sweep.file.write_text(sweep.file.read_text() + "overrides: [train.groups=2]\nresources: {tasks: 2, memory: 600M}\n")
    assert "--mpi" in sweep("submit", sweep.file, "--dry-run").stdout
    sweep.submit()
    sweep.wait_until_done(60)
    assert sweep.states() == ["complete"], sweep.log()
    assert sweep.log().count("row 0 of long") == 1  # the other rank is silent
    sweep.is_as_if_run_here()
    (record,) = sweep.folder.glob("*/run.h5")
    with h5py.File(record) as file:
        assert file["provenance"].attrs["slurm_ntasks"] in ("2", b"2")


def test_what_was_submitted_is_cancelled(cluster: Cluster, tmp_path: Path) -> None:
    sweep = long_row(cluster, tmp_path, 1_000_000)
    (array,) = sweep.submit()["submitted"]
    wait_until(lambda: list(sweep.folder.glob("*/ckpt/*.ckpt")), 30, "no checkpoint")
    assert f"cancelled: job {array['job']};" in sweep("cancel", sweep.folder).stdout
    sweep.wait_until_done(30)
    assert sweep.states() == ["interrupted"]
    assert "no submitted job is queued or running" in sweep("cancel", sweep.folder).stdout


def test_a_profile_that_slurm_refuses_is_told_with_its_words_and_nothing_is_submitted(scores: Sweep) -> None:
    profile = scores.here / "profile.yaml"
    for text, place, words in (
        ("cpus: 1\npartition: nowhere\n", "1:1", "partition"),
        ("memory: 4X\n", "1:1", "--mem"),
        ("options: [--no-such-option=1]\n", "1:1", "no-such-option"),
        ("cpus: 100\n", "1:1", "node configuration"),
        ("partitoin: main\n", "1:1", "partitoin"),
        ("time: 2h\n", "1:7", "time"),
    ):
        profile.write_text(text)
        message = scores("submit", scores.file, "--profile", "profile.yaml", code=2).stderr.splitlines()[-1]
        assert message.startswith(f"profile.yaml:{place}: ") and words in message
    assert not scores.queue() and not (scores.folder / "jobs").exists()


def test_without_an_answer_nothing_is_submitted(scores: Sweep) -> None:
    nowhere = scores.here / "slurm.conf"
    text = (scores.cluster.folder / "slurm.conf").read_text()
    nowhere.write_text("\n".join(line if "SlurmctldPort" not in line else "SlurmctldPort=1" for line in text.splitlines()))
    environment = {**scores.cluster.environment, "SLURM_CONF": str(nowhere)}
    message = softalign("sweep", "submit", scores.file, cwd=scores.here, code=1, env=environment).stderr
    assert "slurm does not answer" in message
    assert not (scores.folder / "jobs").exists()


def test_a_row_at_its_time_limit_stops_and_is_started_again(limited: Sweep) -> None:
    # Slurm checks time limits twice a minute, so the signal comes within 30 s of the start.
    wait_until(lambda: "interrupted, to be started again" in limited.log(), 60, "no signal before the time limit")
    assert "stopping: finishing this step" in limited.log()
    assert "Exited with exit code 75" in limited.log()
    wait_until(lambda: "resuming at update" in limited.log(), 90, "it is not started again")
    if limited.queue():
        limited.cluster("scancel", "--signal=USR1", *limited.queue(), code=None)  # the signal that Slurm would send later
    limited.wait_until_done(60)  # max_restarts: 1
    assert "restart 1" in limited.log() and "restart 2" not in limited.log()
    assert "interrupted after 1 restarts" in limited.log()
    assert limited.states() == ["interrupted"]
