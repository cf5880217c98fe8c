"""A real Slurm for the tests of this folder: started by scripts/slurm.sh, used through its own programs."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SLURM = ROOT / "scripts/slurm.sh"
PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "srun", "scontrol", "scancel")


def needs_slurm() -> None:
    path = os.environ["PATH"] + ":/usr/sbin:/sbin"
    if missing := [name for name in PROGRAMS if shutil.which(name, path=path) is None]:
        pytest.skip(f"no Slurm here ({', '.join(missing)}): scripts/setup.sh slurm installs it")
    slurmd = str(shutil.which("slurmd", path=path))
    version = subprocess.run([slurmd, "-V"], capture_output=True, text=True, check=True).stdout.split()[-1]
    if int(version.split(".")[0]) < 23 and not any(Path("/sys/fs/cgroup").glob("*")):  # missing in a minimal container
        pytest.skip(f"slurmd {version} wants /sys/fs/cgroup, which is not mounted here")


def slurm_sh(command: str, folder: Path, *lines: str, code: int | None = 0) -> str:
    done = subprocess.run([SLURM, command, folder, *lines], capture_output=True, text=True, timeout=90, check=False)
    assert code is None or done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def wait_until(true: Callable[[], bool], seconds: float, what: str) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, f"waited {seconds} s: {what}"
        time.sleep(0.2)


class Cluster:
    """A running Slurm; a call runs one of its programs and returns the output."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = {**os.environ, "SLURM_CONF": str(folder / "slurm.conf")}

    def __call__(self, *command: object, code: int | None = 0) -> str:
        words = [str(word) for word in command]
        done = subprocess.run(words, env=self.environment, capture_output=True, text=True, timeout=60, check=False)
        assert code is None or done.returncode == code, f"{words}\n{done.stdout}{done.stderr}"
        return done.stdout + done.stderr
