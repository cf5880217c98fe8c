"""The cache of tokenised text: runs with it, without it, and with a folder that is not writable."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from command_line import PROGRAM, answer, files_below, softalign


def run(corpus: Path, cache: str, out: str) -> tuple[str, str]:
    """Returns the output of the run, and its messages."""
    environment = os.environ | {"SOFTALIGN_CACHE": cache}
    done = softalign("run", "tiny.yaml", "--results", out, cwd=corpus, env=environment)
    return done.stdout.replace(out, "OUT"), done.stderr


def test_the_cache_changes_nothing_but_the_time(corpus: Path) -> None:
    without, _ = run(corpus, "", "out-1")
    assert not (corpus / "cache").exists()
    first, first_messages = run(corpus, "cache", "out-2")
    second, second_messages = run(corpus, "cache", "out-3")
    assert without == first == second
    assert len(files_below(corpus / "cache/datasets")) == 1
    assert "token" not in first_messages.split("epoch")[0] + second_messages.split("epoch")[0]


def test_no_place_for_it_is_told_once(corpus: Path) -> None:
    without, _ = run(corpus, "", "out-1")
    with_none, messages = run(corpus, "text.en/cache", "out-2")
    assert with_none == without
    assert messages.count("the tokenised text is held in memory: ") == 1


def test_doctor_names_the_folder(corpus: Path) -> None:
    run(corpus, "cache", "out-1")
    findings = {
        finding["what"]: finding["found"]
        for finding in answer("doctor", cwd=corpus, env=os.environ | {"SOFTALIGN_CACHE": "cache"})
    }
    assert re.fullmatch(rf"{re.escape(str(corpus / 'cache'))}, \d+ kB, may be removed at any time", findings["cache"])


# The bytes that a child read.
READ_BY = """
import subprocess, sys
subprocess.run(sys.argv[1:], check=True, capture_output=True)
print(next(line.split()[1] for line in open("/proc/self/io") if line.startswith("rchar:")))
"""


@pytest.mark.nightly
def test_a_cache_file_that_did_not_change_is_read_once(corpus: Path) -> None:
    """Waits until a change of the file would be detected (FileStamp)."""

    train = "task.train={source: train.en, target: train.es}"

    def read_by(seed: int) -> int:
        words = [sys.executable, "-c", READ_BY, str(PROGRAM), "run", "tiny.yaml", train, f"seed={seed}", "train.max_updates=1"]
        return int(subprocess.run(words, cwd=corpus, env=os.environ | {"SOFTALIGN_CACHE": "cache"}, check=True, capture_output=True, text=True).stdout)

    for side in ("en", "es"):
        (corpus / f"train.{side}").write_text("a b c d\n" * 100_000)
    read_by(1)
    (file,) = (corpus / "cache/datasets").iterdir()
    time.sleep(12)
    checked, believed = read_by(2), read_by(3)
    assert checked - believed > 0.8 * file.stat().st_size
