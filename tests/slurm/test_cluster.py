"""scripts/slurm.sh: starts a Slurm that works and leaves no processes behind, even after a crash."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from cluster import Cluster, needs_slurm, slurm_sh, wait_until


def processes_of(folder: Path) -> list[str]:
    """Returns the live processes whose command line, environment or working directory contains the folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        if process.name == str(os.getpid()):
            continue
        try:
            text = (process / "cmdline").read_bytes() + (process / "environ").read_bytes()
            text += bytes((process / "cwd").readlink())
        except OSError:
            continue
        if str(folder).encode() in text:
            found.append(text[:200].decode(errors="replace"))
    return found


@pytest.mark.parametrize("crash", [False, True])
def test_a_cluster_works_and_stops_with_all_of_its_processes(short_folder: Path, crash: bool) -> None:
    needs_slurm()
    message = slurm_sh("start", short_folder, "MaxArraySize=7")
    assert f"export SLURM_CONF={short_folder}/slurm.conf" in message
    try:
        cluster = Cluster(short_folder)
        assert "MaxArraySize            = 7" in cluster("scontrol", "show", "config")
        assert slurm_sh("status", short_folder).count("runs, process") == 3
        assert "slurmd runs" in slurm_sh("start", short_folder, code=1)  # it is already running
        out = short_folder / "job"
        cluster("sbatch", f"--output={out}", f"--chdir={short_folder}", "--wrap=echo it works; setsid sleep 300 & srun sleep 300")
        wait_until(lambda: out.exists() and "it works" in out.read_text(), 30, "the job does not start")
        wait_until(lambda: any("srun" in text for text in processes_of(short_folder)), 30, "no job step")
        if crash:
            for daemon in ("slurmctld", "slurmd"):
                os.kill(int((short_folder / f"run/{daemon}.pid").read_text()), signal.SIGKILL)
    finally:
        slurm_sh("stop", short_folder)
    wait_until(lambda: not processes_of(short_folder), 5, f"still there: {processes_of(short_folder)}")
    assert slurm_sh("status", short_folder, code=1).count("does not run") == 3
    slurm_sh("stop", short_folder)  # already stopped: nothing to do


def test_wrong_calls_are_refused(short_folder: Path) -> None:
    assert "slurm.sh start|stop|status FOLDER" in slurm_sh("begin", short_folder, code=2)
    needs_slurm()
    assert "no KEY=VALUE" in slurm_sh("start", short_folder, "rubbish", code=1)
    assert "at most 80 characters" in slurm_sh("start", short_folder / ("x" * 80), code=1)
    assert not processes_of(short_folder)
