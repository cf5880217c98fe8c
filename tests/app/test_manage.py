"""Management of runs: tag, rm and gc."""

from __future__ import annotations

import os
import pty
import shutil
import subprocess
from pathlib import Path

import pytest
from command_line import PROGRAM, answer, error, only_run, softalign, started, wait_until


def tags(folder: Path) -> list[str]:
    (run,) = answer("ls", cwd=folder)
    return run["tags"]


def test_tags_of_a_complete_run_are_changed_beside_its_record(run: Path, tmp_path: Path) -> None:
    record = (run / "run.h5").read_bytes()
    assert tags(tmp_path) == []
    assert "paper, old" in softalign("tag", run.name[:5], "+paper", "+old", cwd=tmp_path).stdout
    assert tags(tmp_path) == ["paper", "old"] == answer("show", run, cwd=tmp_path)["tags"]
    softalign("tag", "-old", run, "+help", cwd=tmp_path)
    softalign("tag", run, "-help", "+paper", cwd=tmp_path)
    assert tags(tmp_path) == ["paper"] and (run / "run.h5").read_bytes() == record
    assert len(answer("ls", "--tag", "paper", cwd=tmp_path)) == 1 and answer("ls", "--tag", "old", cwd=tmp_path) == []
    assert "paper" in error("tag", run, "-papr", cwd=tmp_path, code=2)
    softalign("verify", run, cwd=tmp_path)


def test_tags_take_runs_and_tags(run: Path, tmp_path: Path) -> None:
    error("tag", run, cwd=tmp_path, code=2)
    error("tag", "+paper", cwd=tmp_path, code=2)
    error("tag", run, "--force", cwd=tmp_path, code=2)
    assert softalign("tag", "-h", cwd=tmp_path).stdout == softalign("tag", "--help", cwd=tmp_path).stdout
    error("tag", run / "run.h5", "+a", cwd=tmp_path, code=2)
    (run / "tags.json").write_text("[1")
    assert "tags.json" in softalign("ls", cwd=tmp_path).stderr


def test_tags_of_several_calls_at_once_are_all_kept(run: Path, tmp_path: Path) -> None:
    calls = [subprocess.Popen([PROGRAM, "tag", run, f"+t{i}"], cwd=tmp_path, stdout=subprocess.DEVNULL) for i in range(12)]
    assert [call.wait() for call in calls] == [0] * 12 and len(tags(tmp_path)) == 12
    error("tag", run, "+a,b", cwd=tmp_path, code=2)


def test_a_link_to_a_run_and_the_folder_one_is_in(run: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(run)
    error("rm", "link", "--yes", cwd=tmp_path, code=2)
    softalign("rm", ".", "--yes", cwd=run)
    assert not run.exists()


def asked(reply: str, *arguments: object, cwd: Path) -> int:
    """Returns the exit status of a command that reads a reply from a terminal."""
    try:
        controller, terminal = pty.openpty()
    except OSError as error:  # a chroot without /dev/pts
        pytest.skip(f"no pseudo-terminal: {error}")
    with subprocess.Popen([PROGRAM, *map(str, arguments)], cwd=cwd, stdin=terminal, stdout=subprocess.PIPE, stderr=terminal) as process:
        os.write(controller, reply.encode())
        assert process.stdout
        process.stdout.read()
    os.close(controller)
    os.close(terminal)
    return process.returncode


def test_runs_are_removed_once_that_is_confirmed(run: Path, tmp_path: Path) -> None:
    assert "--yes" in softalign("rm", run, cwd=tmp_path, code=1).stderr and run.exists()
    assert asked("n\n", "rm", run, cwd=tmp_path) == 1 and run.exists()
    assert asked("y\n", "rm", run.name[:6], cwd=tmp_path) == 0
    assert not run.parent.exists() and (tmp_path / "results").exists() and answer("ls", cwd=tmp_path) == []
    error("rm", run, "--yes", cwd=tmp_path, code=2)


def test_a_run_that_is_worked_on_stays(here: Path) -> None:
    process = started("run", "tiny.yaml", "train.epochs=100000", cwd=here)
    wait_until(lambda: (here / "results").exists() and any(run["state"] == "running" for run in answer("ls", cwd=here)))
    try:
        run = only_run(here)
        assert str(process.pid) in error("rm", run, "--yes", cwd=here, code=1) and run.exists()
    finally:
        process.terminate()
        process.communicate()
    softalign("rm", run, "--yes", cwd=here)
    assert not run.exists()


def test_gc_frees_what_complete_runs_do_not_need(run: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "SOFTALIGN_CACHE": str(tmp_path / "cache")}
    (tmp_path / "cache/datasets").mkdir(parents=True)
    (tmp_path / "cache/datasets/one").write_bytes(b"1234")
    (tmp_path / "cache/thesis.tex").write_text("not ours")
    shutil.copytree(run, tmp_path / "results/tiny/unfinished")
    (tmp_path / "results/tiny/unfinished/run.h5").unlink()
    found = {one["what"]: one for one in answer("gc", "--what", "checkpoints,journals,cache", cwd=tmp_path, env=environment)}
    assert found["cache"]["bytes"] == 4 and found["journals"]["bytes"] == (run / "journal-001.jrnl").stat().st_size
    assert (run / "ckpt").exists()  # nobody was there to confirm it
    softalign("gc", "--what", "journals", "--yes", cwd=tmp_path, env=environment)
    assert not list(run.glob("*.jrnl")) and (run / "ckpt").exists()
    softalign("gc", "--yes", cwd=tmp_path, env=environment)
    assert not (run / "ckpt").exists() and (tmp_path / "cache/datasets").exists()
    softalign("gc", "--yes", "--what", "cache", cwd=tmp_path, env=environment)
    assert [path.name for path in (tmp_path / "cache").iterdir()] == ["thesis.tex"]
    error("gc", "nowhere", "--yes", cwd=tmp_path, code=2)
    assert list((tmp_path / "results/tiny/unfinished").glob("*.jrnl"))
    softalign("verify", run, cwd=tmp_path)
    assert answer("gc", cwd=tmp_path, env=environment)[0]["files"] == 0
