"""A sweep folder from an untrusted source: links that lead out of it, pipes, files that softalign did not write, names that need quoting in a shell."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from command_line import PROGRAM, answer, error, interrupt, softalign, started, wait_until
from test_sweep import BASE, SWEEP, children

PRECIOUS = "precious\n"
SMALL = SWEEP.replace("[additive, general]", "[additive]").replace("[8, 9]", "[8]").replace("count: 3", "count: 2")  # two rows


@pytest.fixture()
def here(tmp_path: Path) -> Path:
    (tmp_path / "base.yaml").write_text(BASE.replace("epochs: 4", "epochs: 1"))
    (tmp_path / "sweep.yaml").write_text(SMALL)
    return tmp_path


@pytest.fixture()
def small(here: Path) -> Path:
    """Plans a sweep and returns its folder."""
    softalign("sweep", "plan", "sweep.yaml", cwd=here)
    return here / "results/small"


def run_ids(small: Path) -> list[str]:
    return [row["run_id"] for row in answer("sweep", "status", small, cwd=small)["rows"]]


def everything_in(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else b"" for path in folder.rglob("*")}


def refusal(*arguments: object, cwd: Path) -> str:
    """Returns the only line with which the program refuses a folder. A worker prints the row that it is about before it."""
    done = softalign(*arguments, cwd=cwd, code=None)
    assert done.returncode in (1, 3)  # 1: an entry that is not a file says nothing about the file that it replaced
    lines = [line for line in done.stderr.splitlines() if not line.startswith("row 0 of ")]
    assert len(lines) == 1, lines
    return lines[0]


def test_what_a_scheduler_would_get_is_shown_without_it(small: Path, here: Path) -> None:
    environment = {"PATH": "/nowhere"}
    shown = softalign("sweep", "submit", small, "--dry-run", cwd=here, env=environment)
    assert "#SBATCH" in shown.stdout and "rows  job\n0-1   -\n" in shown.stdout
    error("sweep", "submit", small, cwd=here, code=1, env=environment)
    assert not (small / "jobs").exists()
    (small / "failures").mkdir()
    (small / "failures" / run_ids(small)[0]).write_text("no data\n")
    for words, rows in (([], "1"), (["--failed"], "0-1")):
        assert f"\n{rows} " in softalign("sweep", "submit", small, "--dry-run", *words, cwd=here, env=environment).stdout


# Links and pipes -------------------------------------------------------------------------------------------------

FOLDERS = ["logs", "failures", ".corrupt", "jobs", "jobs/logs", "ID"]
FILES = ["logs/ID.log", "failures/ID", "optuna.journal", "optuna.lock", "optuna.workers", "jobs/submitted.json", "jobs/logs/row-0.log", "plan.jsonl"]


def put(place: Path, make: Callable[[Path], object]) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.unlink(missing_ok=True)
    make(place)


@pytest.mark.parametrize("name", FOLDERS)
def test_a_folder_that_leads_out_is_refused(here: Path, small: Path, name: str) -> None:
    run_id, outside = run_ids(small)[0], here / "outside"
    outside.mkdir()
    (outside / run_id).write_text(PRECIOUS)
    name = name.replace("ID", run_id)
    put(small / name, lambda place: place.symlink_to(outside))
    before = everything_in(outside)
    for command in (["run", small], ["work", small, "--row", 0]):
        assert refusal("sweep", *command, cwd=here).startswith(f"softalign: {small}/{name}: is a link, ")
    assert everything_in(outside) == before


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_a_link_or_a_pipe_is_refused(here: Path, small: Path, name: str) -> None:
    run_id, outside = run_ids(small)[0], here / "outside"
    name = name.replace("ID", run_id)
    outside.write_bytes((small / "plan.jsonl").read_bytes())
    before = outside.read_bytes()
    for make in (lambda place: place.symlink_to(outside), os.mkfifo):
        put(small / name, make)
        for command in (["run", small], ["work", small, "--row", 0]):
            assert refusal("sweep", *command, cwd=here).startswith(f"softalign: {small}/{name}: is a ")
    assert outside.read_bytes() == before


@pytest.mark.parametrize("make", [Path.touch, os.mkfifo, lambda place: place.symlink_to("nowhere")])
def test_a_row_whose_folder_is_none_is_named_once(here: Path, small: Path, make: Callable[[Path], object]) -> None:
    (run_id, _) = run_ids(small)
    put(small / run_id, make)
    assert f"results/small/{run_id}: is " in error("sweep", "run", "sweep.yaml", cwd=here, code=3)
    (small / run_id).unlink()
    softalign("sweep", "run", "sweep.yaml", cwd=here)


def test_a_corrupt_run_is_not_moved_out(here: Path, small: Path) -> None:
    softalign("sweep", "run", small, cwd=here)
    run_id, outside = run_ids(small)[0], here / "outside"
    (small / run_id / "run.h5").unlink()
    outside.mkdir()
    (small / ".corrupt").symlink_to(outside)
    assert "/.corrupt: is a link" in error("sweep", "retry", small, cwd=here, code=3)
    assert not list(outside.iterdir())


def test_a_sweeps_whole_folder_may_be_a_link(here: Path, small: Path) -> None:
    small.rename(here / "disk")
    small.symlink_to(here / "disk")
    assert "small: 2 complete" in softalign("sweep", "run", "sweep.yaml", cwd=here).stdout


@pytest.mark.parametrize("key, value", [("run_id", "../../../outside"), ("run_id", "a/b"), ("folder", "../../outside"), ("folder", "/tmp/x"), ("base", "../b"), ("name", "a\ntouch outside")])
def test_no_name_in_a_plan_leads_out(here: Path, small: Path, key: str, value: str) -> None:
    """The plan has correct checksums, because anyone can compute them."""
    *lines, end = (json.loads(line) for line in (small / "plan.jsonl").read_text().splitlines())
    lines[0 if key == "name" else 1][key] = value
    text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)
    end["sha256"] = hashlib.sha256(text.encode()).hexdigest()
    (small / "plan.jsonl").write_text(text + json.dumps(end) + "\n")
    before = everything_in(here)
    for command in ("run", "status", "submit"):
        error("sweep", command, small, cwd=here, code=2)
    assert everything_in(here) == before


@pytest.mark.parametrize("command", ["plan", "extend", "submit", "status"])
def test_a_pipe_is_not_waited_for(here: Path, small: Path, command: str) -> None:
    if command != "status":
        put(here / "sweep.yaml", os.mkfifo)
        assert "sweep.yaml: " in error("sweep", command, small, cwd=here, code=3)
    put(small / "plan.jsonl", os.mkfifo)
    assert f"{small}/plan.jsonl: " in error("sweep", command, small, cwd=here, code=1)


@pytest.mark.parametrize("change", ["base: pipe", "base: extending.yaml"])
def test_nor_is_one_that_a_sweeps_file_names(here: Path, change: str) -> None:
    (here / "sweep.yaml").write_text(SMALL.replace("base: base.yaml", change))
    (here / "extending.yaml").write_text("extends: pipe\n" + BASE)
    os.mkfifo(here / "pipe")
    assert "pipe: is no" in error("sweep", "plan", "sweep.yaml", cwd=here, code=3 if change == "base: pipe" else 2)


# Files that softalign did not write ------------------------------------------------------------------------------


def test_a_base_of_the_users_own_is_not_replaced(here: Path) -> None:
    softalign("sweep", "plan", "sweep.yaml", cwd=here)
    (frozen,) = (here / "results/small/bases").iterdir()
    own = here / "other/small/bases" / frozen.name
    own.parent.mkdir(parents=True)
    own.write_text("mine")
    error("sweep", "plan", "sweep.yaml", "--results", "other", cwd=here, code=2)
    assert own.read_text() == "mine"


def test_a_plan_that_is_removed_is_made_again(here: Path, small: Path) -> None:
    (small / "plan.jsonl").unlink()
    assert "written: " in softalign("sweep", "plan", "sweep.yaml", cwd=here).stdout


def of_the_user(file: Path) -> None:
    file.write_text("mine")


def record_in_its_place(file: Path) -> None:
    (run, *_) = file.parent.glob("*/run.h5")
    shutil.copy(run, file)


@pytest.mark.parametrize("make", [of_the_user, record_in_its_place, Path.mkdir, os.mkfifo])
def test_only_a_table_of_ours_is_replaced(here: Path, small: Path, make: Callable[[Path], object]) -> None:
    ran = softalign("sweep", "run", "sweep.yaml", cwd=here)
    assert "note" not in ran.stderr
    table = small / "sweep.h5"
    whole = table.read_bytes()
    table.unlink()
    make(table)
    before = table.read_bytes() if table.is_file() else b""
    message = softalign("sweep", "status", small, cwd=here)
    assert "2 complete" in message.stdout and f"note: {table}: " in message.stderr
    assert (table.read_bytes() if table.is_file() else b"") == before
    table.rename(here / "away")
    softalign("sweep", "status", small, cwd=here)
    assert table.read_bytes() == whole


@pytest.mark.parametrize("command", ["status", "run", "retry"])
def test_a_plan_nested_without_end_is_refused(small: Path, command: str) -> None:
    plan = small / "plan.jsonl"
    plan.write_text("".join(plan.read_text().splitlines(True)[:-1]) + '{"rows": ' + "[" * 200_000 + "]" * 200_000 + "}\n")
    assert error("sweep", command, small, cwd=small, code=2).startswith(f"softalign: {plan}: changed since it was written")


STUDY = """\
name: question
seeds: [1]
variants: {a: [], b: [model.embedding=9]}
parts: {p: {base: base.yaml}}
"""


@pytest.mark.parametrize("make", [of_the_user, Path.mkdir, os.mkfifo])
def test_only_the_outcome_of_a_study_is_replaced(here: Path, make: Callable[[Path], object]) -> None:
    (here / "study.yaml").write_text(STUDY)
    outcome = here / "results/question/study.json"
    outcome.parent.mkdir(parents=True)
    make(outcome)
    assert "results/question/study.json: " in error("study", "study.yaml", cwd=here, code=3)
    assert [path.name for path in outcome.parent.iterdir()] == ["study.json"]
    outcome.rename(here / "away")
    softalign("study", "study.yaml", cwd=here)
    softalign("study", "study.yaml", cwd=here)


# Names -----------------------------------------------------------------------------------------------------------


def test_a_name_that_no_plan_can_hold_is_refused_before_anything_is_written(here: Path) -> None:
    odd = here / os.fsdecode(b"d\xff")
    odd.mkdir()
    for name in ("base.yaml", "sweep.yaml"):
        (here / name).rename(odd / name)
    assert "d\\xff/sweep.yaml" in error("sweep", "run", odd.name + "/sweep.yaml", "--results", odd.name + "/o2", cwd=here, code=2)
    assert not (odd / "o2").exists()
    # The results folder may have any name.
    for name in ("base.yaml", "sweep.yaml"):
        (odd / name).rename(here / name)
    softalign("sweep", "run", "sweep.yaml", "--results", odd.name, cwd=here)


@pytest.mark.parametrize("name", ["s w.yaml", "-s.yaml", "it's $(id).yaml"])
def test_commands_that_are_printed_can_be_given_to_a_shell(here: Path, name: str) -> None:
    (here / "sweep.yaml").rename(here / name)
    line = error("sweep", "status", "--results", "-r r", "--", name, cwd=here, code=2)
    program = line.rpartition("; ")[2].replace("softalign", str(PROGRAM), 1)
    subprocess.run(program, shell=True, cwd=here, check=True, capture_output=True)
    assert (here / "-r r/small/plan.jsonl").is_file()
    text = (here / name).read_text()
    (here / name).write_text("run_cap: 1\n" + text)
    shutil.rmtree(here / "-r r")
    softalign("sweep", "plan", "--results", "-r r", "--", name, cwd=here)
    (here / name).write_text("run_cap: 2\n" + text)
    message = softalign("sweep", "run", "--results", "-r r", "--", name, cwd=here).stderr.splitlines()[0]
    program = message.rpartition("; ")[2].replace("softalign", str(PROGRAM), 1)
    done = subprocess.run(program, shell=True, cwd=here, check=True, capture_output=True, text=True)
    assert "1 row added, 2 now" in done.stdout


# Stopping --------------------------------------------------------------------------------------------------------


def test_a_worker_that_is_stopped_at_once_was_not_killed(here: Path) -> None:
    """A worker that has not installed its signal handlers yet dies of a signal."""
    (here / "base.yaml").write_text(BASE.replace("epochs: 4", "epochs: 4000"))
    for _ in range(5):
        process = started("sweep", "run", "sweep.yaml", "--workers", 2, cwd=here)
        wait_until(lambda: bool(children(process.pid)))
        assert "was killed" not in interrupt(process)
