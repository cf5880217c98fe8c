"""Pharaoh files of any aligner: the alignment error rate on gold links, intersections, errors with file and line."""

from __future__ import annotations

import gzip
import math
import os
import subprocess
import sys
from pathlib import Path

import links
import pytest


def run(*arguments: object, cwd: Path, code: int = 0) -> str:
    done = subprocess.run([sys.executable, links.__file__, *map(str, arguments)], cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    return done.stderr if code else done.stdout


def test_a_reader_that_wants_no_more_ends_it_without_a_word(tmp_path: Path) -> None:
    (tmp_path / "long").write_text("0-0 1-1 2-2\n" * 20_000)  # more than the buffer of a pipe holds
    command = [sys.executable, links.__file__, "intersect", "long", "long"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as cut:
        assert cut.stdout.readline() == "0-0 1-1 2-2\n"
        cut.stdout.close()
        assert cut.stderr.read() == ""


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    (tmp_path / "gold").write_text("0-0 1p1\n2-2 2p2\n\n")
    return tmp_path


def test_the_error_rate_is_that_of_och_and_ney(gold: Path) -> None:
    # File a has 4 links in sentences with gold links; 1 is sure and 2 are possible. There are 2 sure gold links.
    (gold / "a").write_text("0-0 1-1 2-1\n0p0\n5-5\n")
    precision, recall, aer = links.quality(links.paired(gold / "gold", links.read(gold / "gold"), gold / "a"))
    assert (precision, recall, aer) == (100 * 2 / 4, 100 * 1 / 2, 100 * (1 - (1 + 2) / (4 + 2)))
    (gold / "none").write_text("\n\n\n")
    with gzip.open(gold / "b.gz", "wt") as file:
        file.write("0-0\n2-2\n\n")
    assert run("aer", "gold", "a", "none", "b.gz", cwd=gold).splitlines() == [
        "precision  recall    AER",
        "    50.00   50.00  50.00  a",
        "      nan    0.00  100.00  none",
        "   100.00  100.00   0.00  b.gz",
    ]
    assert math.isnan(links.quality([({}, {(0, 0): True})])[2])


def test_gold_links_may_come_from_a_pipe(gold: Path) -> None:
    command = [sys.executable, links.__file__, "aer", "/dev/stdin", "gold", "gold"]
    done = subprocess.run(command, cwd=gold, input=(gold / "gold").read_text(), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.count("100.00   0.00  gold")) == (0, 2), done.stderr


def test_an_intersection_is_what_both_directions_have(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("0-0 10-1 2-1\n\n3-4\n")
    (tmp_path / "b").write_text("1-2 0-0 1-10\n0-0\n3-4\n")
    assert run("intersect", "a", "b", cwd=tmp_path) == "0-0\n\n3-4\n"
    assert run("intersect", "a", "b", "--reversed", cwd=tmp_path) == "0-0 2-1 10-1\n\n\n"


def test_faults_are_told_by_file_and_line(gold: Path) -> None:
    for text in (b"0-0\n\n1:1\n", b"0-0\n", b"\xff", gzip.compress(b"0-0\n")[:-3], b"\x1f\x8b"):
        (gold / "a").write_bytes(text)
        fault = run("aer", "gold", "a", cwd=gold, code=3)
        assert fault.startswith("gold has 3 lines" if text == b"0-0\n" else "a:3: " if b":" in text else "a: ") and fault.count("\n") == 1
    for place in (".", "/dev/zero", "absent"):
        assert run("aer", "gold", place, cwd=gold, code=3).startswith(f"{place}: ")
    (gold / "none").write_text("1p1\n")
    assert run("aer", "none", "none", cwd=gold).split()[-4:] == ["100.00", "nan", "0.00", "none"]  # no link is sure
    for text in ("\n", "1" * 5000 + "-0\n"):
        (gold / "none").write_text(text)
        assert run("aer", "none", "none", cwd=gold, code=3).startswith("none:")


def test_a_file_of_another_system_is_read(gold: Path) -> None:
    (gold / "a").write_bytes(gzip.compress(b"\xef\xbb\xbf0-0\r\n2-2\r\n\r\n"))
    assert "100.00  100.00   0.00  a" in run("aer", "gold", "a", cwd=gold)


@pytest.mark.parametrize("command", ["aer", "intersect"])
def test_a_full_standard_output_costs_a_line(gold: Path, command: str) -> None:
    (gold / "gold").write_text("0-0 1-1 2-2\n" * 20_000)
    with open("/dev/full", "w") as full:
        done = subprocess.run([sys.executable, links.__file__, command, "gold", "gold"], cwd=gold, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "links: standard output: cannot be written: No space left on device\n")


def test_a_pipe_without_a_writer_is_refused_and_one_of_a_shell_read(gold: Path) -> None:
    os.mkfifo(gold / "fifo")
    assert "fifo: is a named pipe" in run("aer", "gold", "fifo", cwd=gold, code=3)
    command = ["bash", "-c", '"$0" "$1" aer gold <(sleep 0.3; gzip -c gold)', sys.executable, links.__file__]
    done = subprocess.run(command, cwd=gold, capture_output=True, text=True, timeout=20, check=False)
    assert done.returncode == 0 and "100.00   0.00  /dev/fd/" in done.stdout, done.stderr


def test_a_file_that_is_too_large_or_that_the_memory_cannot_hold_is_named(gold: Path) -> None:
    with gzip.open(gold / "bomb", "w", compresslevel=1) as file:
        for _ in range(40):
            file.write(b" " * (1 << 24))
    assert run("aer", "gold", "bomb", cwd=gold, code=3) == "bomb: is larger than 256 MB\n"
    command = ["sh", "-c", 'ulimit -v 200000; exec "$@"', "sh", sys.executable, links.__file__, "aer", "gold", "bomb"]
    done = subprocess.run(command, cwd=gold, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (3, "bomb: is larger than this computer's memory\n")
