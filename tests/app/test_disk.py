"""Folders that are not writable and full disks: an error in one line, without losses."""

from __future__ import annotations

import resource
import shutil
import subprocess
from pathlib import Path

import pytest

from command_line import PROGRAM, TINY, error, softalign


def test_a_folder_that_cannot_be_made_is_named(here: Path) -> None:
    (here / "file").write_text("no folder")
    line = error("run", "tiny.yaml", "--results", "file", cwd=here, code=1)
    assert line.startswith("softalign: file/tiny/"), line


def with_mount(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs a shell script that may mount below the folder, invisible to other processes."""
    if shutil.which("unshare") is None or subprocess.run(["unshare", "-rm", "true"], capture_output=True).returncode != 0:
        pytest.skip("no mount namespaces here")
    done = subprocess.run(["unshare", "-rm", "sh", "-c", script], cwd=folder, capture_output=True, text=True)
    if done.returncode == 99:
        pytest.skip("no tmpfs may be mounted here")
    return done


def test_an_unwritable_folder_is_named(here: Path) -> None:
    (here / "disk").mkdir()
    run = f"{PROGRAM} run tiny.yaml --results disk/results"
    done = with_mount(f"mount -t tmpfs -o ro none disk || exit 99; {run}; echo $?; {PROGRAM} doctor --results disk", here)
    assert done.stdout.splitlines()[0] == "1"
    assert done.stderr.splitlines() == [done.stderr.strip()]
    assert done.stderr.startswith("softalign: disk/results/tiny") and "Read-only file system" in done.stderr
    assert "disk cannot be written; choose another folder with --results" in done.stdout


def test_a_file_that_may_not_grow_ends_the_run_and_loses_nothing(here: Path) -> None:
    """Sets RLIMIT_FSIZE: a write beyond it fails as on a full disk."""
    first = softalign("run", "tiny.yaml", cwd=here)
    (record,) = here.glob("results/tiny/*/run.h5")
    before = record.read_bytes()

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, 30_000))  # less than a first record

    for more in (["--force"], ["seed=2", "train.epochs=300"]):
        done = softalign("run", "tiny.yaml", *more, cwd=here, code=1, preexec_fn=limit)
        last = done.stderr.splitlines()[-1]
        assert last.startswith("softalign: ") and "File too large" in last, last
    assert record.read_bytes() == before
    assert first.stdout.splitlines()[1] in softalign("run", "tiny.yaml", "--force", cwd=here).stdout


def test_a_full_disk_ends_the_run_and_the_run_goes_on_when_there_is_room(tmp_path: Path) -> None:
    """A file system of its own, 1 MB, in a mount namespace."""
    (tmp_path / "tiny.yaml").write_text(TINY)
    disk = tmp_path / "disk"
    disk.mkdir()
    run = f"{PROGRAM} run tiny.yaml train.epochs=60 --results {disk}"
    script = f"""
        mount -t tmpfs -o size=1m none {disk} || exit 99
        head -c 700000 /dev/zero > {disk}/ballast
        {run}; echo "first $?" >&2
        rm {disk}/ballast; mount -o remount,size=50m {disk}
        {run}; echo "second $?" >&2
    """
    done = with_mount(script, tmp_path)
    lines = done.stderr.splitlines()
    stopped = lines.index("first 1")
    assert lines[stopped - 1].startswith("softalign: ") and "No space left" in lines[stopped - 1], lines[stopped - 1]
    assert "second 0" in lines and any(line.startswith("resuming at update") for line in lines[stopped:]), lines
    assert done.stdout.splitlines()[-1].endswith("run.h5")


@pytest.mark.parametrize("more", [[], ["--force"]])
def test_a_record_that_found_no_room_is_published_when_there_is_some(here: Path, more: list[str]) -> None:
    """The journal has the end; the record, of 960 kB, is still of a checkpoint or of an earlier attempt."""
    spec = ["run", "tiny.yaml", "task.examples.test=400", "record.alignments=400"]
    if more:
        softalign(*spec, cwd=here)

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (500_000, 500_000))

    message = softalign(*spec, *more, cwd=here, code=1, preexec_fn=limit).stderr.splitlines()[-1]
    assert "run.h5" in message and "File too large" in message
    (record,) = here.glob("results/tiny/*/run.h5")
    stale = record.read_bytes()
    done = softalign(*spec, cwd=here)
    assert "the run was complete; its record is now published" in done.stderr
    assert "complete already: " in done.stdout and " 400 " in done.stdout
    assert record.read_bytes() != stale
    softalign("verify", record, cwd=here)
    assert "now published" not in softalign(*spec, cwd=here).stderr
