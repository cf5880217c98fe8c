"""The quick set, a seeded sample of every campaign; and tests that the harness itself detects faults."""

from __future__ import annotations

import errno
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import h5py
import pytest

import campaigns
import checks
import power_cut
import torture
from campaigns import CAMPAIGNS, Try
from nightly import NIGHTLY
from shim import SHIM, Fault, read_trace

pytestmark = pytest.mark.skipif(not SHIM.exists(), reason=f"no {SHIM}: it is not built with sanitizers, whose runtime wants to be first")

# Campaign: number of tries, and the number of tries that they are sampled from.
QUICK = {
    "kills": (45, 3000),
    "faults": (70, 20_000),
    "cuts": (90, 350),  # one trace of each work
    "signals": (10, 1000),
    "races": (9, 1000),
    "full_disks": (5, 1000),
    "claims": (12, 1000),
    "decisions": (60, 20_000),
}
SHARE = 1 if NIGHTLY else 5  # one of so many of these tries is made
SEED = int(os.environ.get("SOFTALIGN_TORTURE_SEED", "1"))


def test_a_sample_of_every_campaign(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert QUICK.keys() == CAMPAIGNS.keys()
    arguments = torture.parsed(["--seed", str(SEED), "--workers", "2", "--only", *QUICK, "--results", str(tmp_path / "results")])
    chance = random.Random(SEED)
    arguments.numbers = {name: chance.sample(range(among), -(-tries // SHARE)) for name, (tries, among) in QUICK.items()}
    tallies = torture.torture(arguments)
    with capsys.disabled():
        print("\n" + torture.table(arguments.results))
    log = arguments.results / "log"
    assert not log.exists(), log.read_text()
    assert all(tally.tries > 0 or tally.skipped for tally in tallies.values())


# ---- The shim


def python(folder: Path, code: str, fault: Fault | None = None) -> int:
    """Runs a few lines of Python in a folder with the shim preloaded; returns the exit status, which is errno if a call fails."""
    (folder / "place").mkdir()
    lines = ["import os", "try:", *("  " + line for line in code.splitlines()), "except OSError as error:", "  os._exit(error.errno)"]
    own = {
        "LD_PRELOAD": str(SHIM),
        "TORTURE_BELOW": str(folder / "place"),
        "TORTURE_TRACE": str(folder / "trace"),
        "TORTURE_STRAYS": str(folder / "strays"),
        **(fault.environment() if fault else {}),
    }
    return subprocess.run([sys.executable, "-Sc", "\n".join(lines)], cwd=folder / "place", env={**os.environ, **own}).returncode


WRITE = "f = os.open('a', os.O_CREAT | os.O_WRONLY)\nos.write(f, b'12345678')\nos.write(f, b'abcdefgh')\n"


@pytest.mark.parametrize(
    ("fault", "status", "left"),
    [
        (None, 0, b"12345678abcdefgh"),
        (Fault("fail", 2, ("write",), number=errno.ENOSPC), errno.ENOSPC, b"12345678"),
        (Fault("fail", 1, ("create",), number=errno.EMFILE), errno.EMFILE, None),
        (Fault("short", 1, ("write",)), 0, b"1234abcdefgh"),
        (Fault("short", 1, ("write",), times=0), 0, b"1234abcd"),
        (Fault("kill-before", 3), -9, b"12345678"),
        (Fault("kill-inside", 2, ("write",)), -9, b"12345678abcd"),
        (Fault("kill-after", 1), -9, b""),
    ],
)
def test_the_shim_strikes_where_it_shall(tmp_path: Path, fault: Fault | None, status: int, left: bytes | None) -> None:
    file = tmp_path / "place" / "a"
    assert python(tmp_path, WRITE, fault) == status
    assert (file.read_bytes() if file.exists() else None) == left


def test_the_trace_holds_all_changes_and_strays_are_told(tmp_path: Path) -> None:
    code = WRITE + "os.mkdir('d'); os.rename('a', 'd/b'); os.link('d/b', 'c'); os.ftruncate(f, 3); os.fsync(f); os.unlink('d/b')"
    assert python(tmp_path, code + f"\nopen('{tmp_path}/elsewhere', 'w')") == 0
    changes = list(read_trace(tmp_path / "trace"))
    assert [change.what for change in changes] == [
        "create", "write", "write", "mkdir", "rename", "link", "truncate", "sync", "unlink",
    ]  # fmt: skip
    disk = power_cut.Disk(tmp_path / "place", {})
    for change in changes:
        disk.apply(change)
    assert disk.as_seen() == {"c": b"123", "d": None}
    assert (tmp_path / "strays").read_text() == f"create {tmp_path}/elsewhere\n"


# ---- Power cuts


def cut_states(folder: Path, code: str) -> set[bytes | None]:
    """Returns the possible contents of the file b after these lines and a power cut; None: there is no b."""
    assert python(folder, code) == 0
    disk = power_cut.Disk(folder / "place", {})
    for change in read_trace(folder / "trace"):
        disk.apply(change)
    return {power_cut.after_cut(disk, random.Random(seed)).get("b") for seed in range(300)}


def test_without_a_sync_a_renamed_file_may_be_anything(tmp_path: Path) -> None:
    states = cut_states(tmp_path, WRITE + "os.rename('a', 'b')")
    assert {None, b"", b"12345678", b"12345678abcdefgh", b"12345678abc", bytes(16)} <= states


def test_a_synced_file_is_there_whole_or_not_at_all(tmp_path: Path) -> None:
    states = cut_states(tmp_path, WRITE + "os.fsync(f); os.rename('a', 'b')")
    assert states == {None, b"12345678abcdefgh"}


def test_a_synced_folder_keeps_its_names(tmp_path: Path) -> None:
    states = cut_states(tmp_path, WRITE + "os.fsync(f); os.rename('a', 'b'); os.fsync(os.open('.', os.O_RDONLY))")
    assert states == {b"12345678abcdefgh"}


def test_a_program_that_does_not_sync_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every sync is removed from the trace, and the same cuts are made."""
    syncless = lambda trace: (change for change in read_trace(trace) if change.what != "sync")  # noqa: E731
    monkeypatch.setattr(campaigns, "read_trace", syncless)
    monkeypatch.setattr(campaigns, "turn_of", lambda number: (campaigns.PLAIN, number))
    faults = [torture.attempt("cuts", number, 1, campaigns.cuts, tmp_path / "tries", tmp_path)[1] for number in range(20)]
    assert any("CLAIM: damaged" in fault for fault in faults), faults


# ---- The checks


def test_a_sweep_says_of_its_rows_why() -> None:
    row = "row 3: score=dot: lost, 0 s: exit status 1, see out/logs/3.log\n"
    assert checks.wrong_words(1, row, many_lines=True) == ""
    assert checks.wrong_words(1, "row 3: score=dot: complete, 0 s\n", many_lines=True) != ""
    assert checks.wrong_words(0, "row 0: its worker was killed (signal 9); restarted\n", many_lines=True) == ""


def test_other_bits_are_seen(tmp_path: Path) -> None:
    this = Try(tmp_path, 0, random.Random(1))
    known = campaigns.reference(tmp_path, campaigns.PLAIN)
    shutil.copytree(known.out, this.out, dirs_exist_ok=True)
    this.compare(this.out, campaigns.PLAIN)
    (record,) = this.out.glob("*/*/run.h5")
    with h5py.File(record, "r+") as file:
        file["train/loss"][0] += 1e-6
    with pytest.raises(campaigns.Failure, match="train/loss"):
        this.compare(this.out, campaigns.PLAIN)
    record.write_bytes(record.read_bytes()[:-1000])
    with pytest.raises(campaigns.Failure, match="cannot be read"):
        this.check_readable()


@pytest.mark.parametrize(
    ("status", "errors", "wrong"),
    [
        (0, "epoch 1/3\n", ""),
        (1, "epoch 1/3\nsoftalign: out/run.h5: cannot write to it: No space left on device\n", ""),
        (1, "", "no message"),
        (1, "softalign: one\nsoftalign: two\n", "2 messages"),
        (0, "softalign: one\n", "an error message"),
        (1, "softalign: [json.exception.type_error.302] type must be string\n", "raw text"),
        (3, "softalign: host \x1b[31mevil\n", "raw text"),
        (1, "row 3: score=dot: lost, 0 s: exit status 1, see out/logs/3.log\n", "no message"),
    ],
)
def test_unclear_messages_are_found(status: int, errors: str, wrong: str) -> None:
    found = checks.wrong_words(status, errors)
    assert wrong in found and bool(found) == bool(wrong)


def stand_in_fuzzer(folder: Path, status: int) -> Path:
    program = folder / "fuzz_any"
    program.write_text(f"#!/bin/sh\necho stat::number_of_executed_units: 12 >&2\nexit {status}\n")
    program.chmod(0o755)
    return program


def test_a_fuzzer_that_is_interrupted_has_found_nothing(tmp_path: Path) -> None:
    this = Try(tmp_path, 0, random.Random(1), 1)
    for status, found in ((0, False), (72, False), (77, True)):  # libFuzzer's statuses: done, a signal, a crash
        program = stand_in_fuzzer(tmp_path, status)
        if found:
            with pytest.raises(campaigns.Failure):
                torture.fuzzer(program, tmp_path)(this)
        else:
            assert torture.fuzzer(program, tmp_path)(this) == 12


def test_a_fuzzer_rests_while_what_it_found_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torture, "FUZZERS", tmp_path)
    stand_in_fuzzer(tmp_path, 77)
    arguments = torture.parsed(["--only", "fuzz_any", "--workers", "1", "--results", str(tmp_path / "results")])
    for _ in range(2):
        assert torture.torture(arguments)["fuzz_any"].failures == 1
    stand_in_fuzzer(tmp_path, 0)
    shutil.rmtree(tmp_path / "results/failures/fuzz_any-0")
    monkeypatch.setattr(arguments, "hours", 0.0003)
    tally = torture.torture(arguments)["fuzz_any"]
    assert tally.tries > 12 and tally.failures == 1
