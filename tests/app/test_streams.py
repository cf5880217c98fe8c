"""Standard streams that are closed or not writable; more threads and memory than the machine has."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from command_line import PROGRAM, can_be_limited


def shell(command: str, cwd: Path) -> subprocess.CompletedProcess:
    return subprocess.run(["bash", "-c", command.replace("softalign", str(PROGRAM), 1)], cwd=cwd, capture_output=True, text=True, timeout=120)


def test_closed_streams_do_not_reach_the_journal(here: Path):
    assert shell("softalign run tiny.yaml <&- >&- 2>&-", here).returncode == 0
    (journal,) = here.glob("results/tiny/*/journal-001.jrnl")
    assert b"epoch 1/" not in journal.read_bytes()
    recovered = shell("softalign verify results/tiny/*/run.h5", here)
    assert recovered.returncode == 0, recovered.stderr


def test_output_for_nobody_is_an_error_where_it_is_all_there_is(trained: Path):
    """...but a run leaves its record, and a verification its status."""
    for command in (f"translate {trained} < /dev/null", f"show {trained}", "list", "ls", f"evaluate {trained}", "--version"):
        ran = shell(f"softalign {command} >&-", trained.parents[2])
        assert ran.returncode == 1 and ran.stderr.startswith("softalign: standard output is closed"), command
    assert shell(f"softalign verify {trained} >&-", trained).returncode == 0
    assert shell("softalign shwo >&-", trained).returncode == 2


def test_progress_as_json_is_an_object_for_each_evaluation(here: Path):
    ran = shell("softalign run tiny.yaml train.epochs=3 --progress json", here)
    *evaluations, end = [json.loads(line) for line in ran.stdout.splitlines()]
    assert [line["event"] for line in evaluations] == ["dev"] * 3 and ran.stderr == ""
    assert [line["update"] for line in evaluations] == [line["updates"] * k // 3 for k, line in enumerate(evaluations, 1)]
    assert end["event"] == "end" and Path(here / end["record"]).exists() and "bleu" in end["test"]["all"]
    shown = json.loads(shell(f"softalign ls {Path(end['record']).parent} --json", here).stdout)
    assert evaluations[-1]["metrics"]["loss"] == shown[0]["last"]["dev/loss"]


def test_messages_that_cannot_be_written_stop_nothing(here: Path):
    assert shell("softalign run tiny.yaml 2>/dev/full >/dev/null", here).returncode == 0
    assert shell("softalign run absent.yaml 2>/dev/full", here).returncode == 2


def test_nobody_has_to_read_what_is_printed(here: Path, trained: Path):
    """If the reader of its output ends, a command ends without a message, but a run continues."""
    gone = "softalign run tiny.yaml 2>&1 | true; echo ${PIPESTATUS[0]}"
    assert shell(gone, here).stdout == "0\n"
    assert list(here.glob("results/tiny/*/attempt-001/RELEASED"))
    for command in ("list", f"ls {trained.parents[1]}", f"tail -n 100000 {trained}", f"translate {trained} < many"):
        (here / "many").write_text("a b c\n" * 20000)
        ran = shell(f"softalign {command} | head -n 1; echo ${{PIPESTATUS[0]}}", here)
        assert ran.stdout.endswith("\n0\n") and ran.stderr == ""


def test_sizes_beyond_all_memory_are_refused(here: Path):
    ran = shell("softalign run tiny.yaml model.encoder.units=6148914691236517205", here)
    assert ran.returncode in (1, 2) and ran.stderr.count("\n") == 1
    assert not (here / "results").exists()


@can_be_limited
def test_too_many_threads_end_with_a_message(here: Path):
    ran = shell("ulimit -v 3000000; softalign run tiny.yaml --threads 1024", here)
    assert ran.returncode in (0, 1)
