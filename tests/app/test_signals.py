"""SIGTERM, SIGHUP and Ctrl-C stop the program within ten seconds in any step."""

from __future__ import annotations

import random
import signal
import subprocess
import time
from pathlib import Path

import pytest
from command_line import PROGRAM, answer, kill, needs_subwords, started, text_spec, wait_until

SOON = 10  # seconds

# One update takes minutes with one thread.
LONG_UPDATE = [
    "task.examples.train=20000",
    "task.length.train=[50, 60]",
    "train.batch.sentences=40",
    "train.accumulate=500",
    "model.embedding=256",
    "model.encoder.units=256",
    "model.decoder.units=256",
]
# Decoding the one batch of the test set takes minutes.
LONG_BEAM = [
    "model.attention=none",
    "task.symbols=20000",
    "task.length.test=[600, 600]",
    "task.examples.test=32",
    "evaluate.search.type=beam",
    "evaluate.search.width=50",
    "evaluate.search.min_ratio=2",
]


def stop(process: subprocess.Popen[str], name: str = "SIGTERM") -> tuple[str, float]:
    """Stops the process. Returns its standard error and the seconds until its end."""
    process.send_signal(getattr(signal, name))
    begin = time.monotonic()
    try:
        _, message = process.communicate(timeout=3 * SOON)
    finally:
        process.kill()
    return message, time.monotonic() - begin


def is_training(here: Path) -> bool:
    """Returns whether a run has published its number of updates, which it does just before the first."""
    return any('"updates": 0' not in status.read_text() for status in here.glob("results/tiny/*/status.json"))


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_a_long_update_is_left_and_comes_again(here: Path, name: str) -> None:
    process = started("run", "tiny.yaml", *LONG_UPDATE, "--threads", 1, cwd=here)
    wait_until(lambda: is_training(here))
    time.sleep(0.5)
    message, seconds = stop(process, name)
    assert process.returncode == 75 and seconds < SOON, message
    assert "interrupted in the middle of a step; the state is saved" in message
    (run,) = answer("ls", cwd=here)
    assert run["state"] == "interrupted"
    assert list(here.glob("results/tiny/*/ckpt/*.ckpt"))


def test_a_long_beam_is_left(here: Path) -> None:
    process = started("run", "tiny.yaml", *LONG_BEAM, cwd=here)
    assert process.stderr is not None
    while "epoch 2/2" not in process.stderr.readline():
        pass
    time.sleep(0.5)
    message, seconds = stop(process)
    assert process.returncode == 75 and seconds < SOON, message
    assert answer("ls", cwd=here)[0]["state"] == "interrupted"


def test_a_second_ctrl_c_ends_at_once_and_loses_no_claim(here: Path) -> None:
    process = started("run", "tiny.yaml", *LONG_UPDATE, "--threads", 1, cwd=here)
    wait_until(lambda: is_training(here))
    process.send_signal(signal.SIGINT)
    assert process.stderr is not None
    assert "stopping: " in process.stderr.readline()
    message, seconds = stop(process, "SIGINT")
    assert process.returncode == 75 and seconds < 2, message
    assert message.endswith("stopped at once; run the same command again to resume from the last saved state\n")
    (run,) = answer("ls", cwd=here)
    assert run["state"] == "interrupted"
    again = started("run", "tiny.yaml", *LONG_UPDATE, "--threads", 1, cwd=here)
    wait_until(lambda: len(list(here.glob("results/tiny/*/attempt-*/CLAIM"))) == 2)
    kill(again)
    assert answer("ls", cwd=here)[0]["state"] == "lost"  # a word of the first attempt says nothing of the second


def test_a_librarys_call_is_not_waited_for(here: Path) -> None:
    needs_subwords()
    letters = "".join(random.Random(1).choices("abcdefghijklmnopqrstuvwxyz", k=3_600_000))
    words = [letters[i : i + 9] for i in range(0, len(letters), 9)]
    (here / "s.txt").write_text("".join(" ".join(words[i : i + 8]) + "\n" for i in range(0, len(words), 8)))
    (here / "text.yaml").write_text(text_spec("s.txt", "s.txt", model="  vocabulary: {type: sentencepiece, size: 30000}\n"))
    process = started("run", "text.yaml", cwd=here)
    time.sleep(4)  # the text is read by then
    message, seconds = stop(process)
    assert process.returncode == 75 and seconds < SOON, message
    assert not (here / "results").exists()


def test_nohup_is_respected(here: Path) -> None:
    process = subprocess.Popen(
        [PROGRAM, "run", "tiny.yaml", "train.epochs=100000"],
        cwd=here,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),
    )
    wait_until(lambda: is_training(here))
    process.send_signal(signal.SIGHUP)
    time.sleep(0.5)
    assert process.poll() is None
    message, _ = stop(process)
    assert process.returncode == 75 and message.count("stopping: ") == 1 and "still saving" not in message
