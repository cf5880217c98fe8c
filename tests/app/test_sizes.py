"""Sizes that are legal one by one and together more than there is: refused at once, small, with what would fit."""

from __future__ import annotations

import re
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from command_line import PATIENCE, PROGRAM, SANITIZED, answer, can_be_limited, error, softalign

MB = 1 << 20
uses_memory_as_built = pytest.mark.skipif(SANITIZED, reason="a sanitizer takes memory of its own")


# A child begins with its parent's largest resident memory, and pytest's is large: a small process starts it.
LAUNCHER = """
import resource, subprocess, sys
code = subprocess.call(sys.argv[1:], stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(code)
"""


def measured(*arguments: object, cwd: Path, text: str = "") -> tuple[int, str, float, float]:
    """Exit status, standard error, largest resident memory in MB, and seconds of a child of its own."""
    start = time.monotonic()
    words = [sys.executable, "-c", LAUNCHER, str(PROGRAM), *map(str, arguments)]
    done = subprocess.run(words, cwd=cwd, input=text, capture_output=True, text=True)
    return done.returncode, done.stderr, int(done.stdout) / 1024, time.monotonic() - start


def address_space(size: int) -> dict[str, Callable[[], None]]:
    return {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_AS, (size, size))}


LONG_TEST = ["task.length.test=[4,10000]", "evaluate.search={type: beam, width: 1000}"]
MANY = ["task.examples.train=10000000", "task.length.train=[4,10000]"]
WIDE = ["model.encoder.units=20000", "model.decoder.units=20000"]
WIDEST = ["model.encoder.units=65536", "model.decoder.units=65536"]  # 5e10 parameters and more


@pytest.mark.parametrize(
    "changes, keys",
    [
        (LONG_TEST, [r"task\.length\.test: \[4, 10000\] -> \[4, \d+\]", r"evaluate\.search\.width: 1000 -> \d+"]),
        (MANY, [r"task\.examples\.train: 10000000 -> \d+"]),
        (WIDE, [r"model\.encoder\.units: 20000 -> \d+", r"model\.decoder\.units: 20000 -> \d+"]),
        (WIDEST, [r"model\.encoder\.units: 65536 -> \d+", r"model\.decoder\.units: 65536 -> \d+"]),
    ],
)
@pytest.mark.parametrize("command", [["run"], ["run", "--dry-run"]])
def test_attacks_are_refused_before_anything_is_made(
    here: Path, command: list[str], changes: list[str], keys: list[str]
) -> None:
    code, message, megabytes, seconds = measured(*command, "tiny.yaml", *changes, cwd=here)
    assert code == 2, message
    assert len(message.splitlines()) == 1 and " would fit" in message and "--no-size-check goes on" in message
    for key in keys:
        assert re.search(key, message), message
    assert SANITIZED or megabytes < 400
    assert seconds < 20 * PATIENCE  # 2 s on a machine that has nothing else to do
    assert not (here / "results").exists()


def test_what_the_refusal_proposes_is_accepted(here: Path) -> None:
    message = error("run", "tiny.yaml", *LONG_TEST, cwd=here, code=2)
    (length,) = re.findall(r"task\.length\.test: \[4, 10000\] -> (\[4, \d+\])", message)
    notes = softalign("validate", "tiny.yaml", *LONG_TEST[1:], f"task.length.test={length}", cwd=here).stderr
    assert "softalign run refuses" not in notes
    refused = softalign("validate", "tiny.yaml", *LONG_TEST, cwd=here)
    assert "note: softalign run refuses: " in refused.stderr and "memory, more than there is: " in refused.stdout
    fits = [answer("validate", "tiny.yaml", *changes, cwd=here)[0]["memory"]["fits"] for changes in ([], LONG_TEST)]
    assert fits == [True, False]


@can_be_limited
@pytest.mark.parametrize(
    "changes, keys",
    [
        (["record.alignments=10000000", "task.examples.test=20000", "task.length.test=[2,500]"], ["record.alignments", "task.length.test"]),
        (["evaluate.batch=64", "evaluate.search={type: beam, width: 200}", "task.length.test=[2,600]"], ["evaluate.batch"]),
    ],
)
def test_values_above_what_has_an_effect_are_found(here: Path, changes: list[str], keys: list[str]) -> None:
    message = softalign("run", "tiny.yaml", *changes, cwd=here, code=2, **address_space(8 << 30)).stderr
    for key in keys:
        assert re.search(rf"{re.escape(key)}: \S+ -> ", message.replace(", ", ",")), message


@can_be_limited
def test_images_are_made_no_smaller_than_their_encoder_reads(here: Path) -> None:
    spec = Path(__file__).parents[2] / "configs" / "papers" / "xu2015-hard.yaml"
    notes = softalign("validate", spec, cwd=here, **address_space(8 << 30)).stderr
    assert "softalign run refuses: " in notes and "evaluate.batch: 64 -> " in notes


def test_long_sentences_are_not_tried(here: Path) -> None:
    length = "task.length={train: [4, 10000], dev: [4, 10000], test: [4, 10000]}"
    code, message, megabytes, seconds = measured("validate", "tiny.yaml", length, cwd=here)
    assert code == 0, message
    assert SANITIZED or megabytes < 400
    assert seconds < 20 * PATIENCE  # 1 s on a machine that has nothing else to do


def test_specs_beside_each_other_change_nothing(here: Path) -> None:
    alone = answer("validate", "tiny.yaml", "task.length.test=[4, 500]", cwd=here)
    twice = answer("validate", "tiny.yaml", "tiny.yaml", "task.length.test=[4, 500]", cwd=here)
    programs = [found["memory"]["parts"][0]["bytes"] for found in alone + twice]
    assert max(programs) - min(programs) < MB  # pages of the first process and of the second differ


def test_validate_prints_the_parts_and_their_sum(here: Path) -> None:
    text = softalign("validate", "tiny.yaml", "--threads", "2", cwd=here).stdout.splitlines()
    assert re.match(r"  memory: \d+ MB on 2 threads: the program \d+ MB; and in turn evaluation of test \d+ MB", text[1])
    (found,) = answer("validate", "tiny.yaml", "--threads", "2", cwd=here)
    parts = found["memory"]["parts"]
    held = sum(part["bytes"] for part in parts if not part["in_turn"])
    assert held + max(part["bytes"] for part in parts if part["in_turn"]) == pytest.approx(found["memory"]["bytes"])


def test_doctor_tells_what_there_is(here: Path) -> None:
    (memory,) = [entry for entry in answer("doctor", cwd=here) if entry["what"] == "memory"]
    assert re.fullmatch(r".* available; a run may have [\d.]+ [MG]B \(.*\)", memory["found"])


@can_be_limited
def test_doctor_tells_of_a_limit_of_the_process(here: Path) -> None:
    limited = answer("doctor", cwd=here, **address_space(2000 * MB))
    assert "(ulimit -v)" in next(entry for entry in limited if entry["what"] == "memory")["found"]


# Large enough for the program itself to be a small part.
MODELS = {
    "gru": "embedding=64 model.encoder.units=96 model.decoder.units=96 model.attention.score.units=96",
    "transformer": "embedding=96 model.encoder=self_attention model.attention=built_in model.decoder=transformer",
}


@uses_memory_as_built
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("model", MODELS)
def test_the_estimate_is_what_a_run_takes(here: Path, model: str, threads: int) -> None:
    changes: list[Any] = ["task.symbols=3000", "task.length={train: [59, 59], dev: [59, 59], test: [59, 59]}"]
    changes += ["task.examples={train: 128, dev: 32, test: 32}", "train.batch.sentences=64", "train.epochs=1"]
    changes += ["model." + MODELS[model].split()[0], *MODELS[model].split()[1:], "evaluate.search=greedy"]
    (found,) = answer("validate", "tiny.yaml", *changes, "--threads", threads, cwd=here)
    code, message, megabytes, _ = measured("run", "tiny.yaml", *changes, "--threads", threads, cwd=here)
    assert code == 0, message
    assert found["memory"]["bytes"] / MB == pytest.approx(megabytes, rel=0.2)


@can_be_limited
def test_a_limit_of_the_process_counts_and_the_option_goes_on(here: Path) -> None:
    large = ["tiny.yaml", "task.symbols=1000000", "model.embedding=256"]
    limit = address_space(1500 * MB)
    message = error("run", *large, cwd=here, code=2, **limit)
    assert "task.symbols: 1000000 -> " in message and "ulimit -v is " in message
    assert not (here / "results").exists()
    gone_on = softalign("run", *large, "--no-size-check", cwd=here, code=None, **limit)
    assert "note: about " in gone_on.stderr and gone_on.returncode != 2


@can_be_limited
def test_rows_side_by_side_share_the_machine(here: Path) -> None:
    (here / "sweep.yaml").write_text(
        "name: many\nbase: tiny.yaml\nmetric: {name: dev/loss, goal: minimize}\n"
        "parameters: {train.optimizer.learning_rate: {values: [0.1, 0.01]}}\n"
    )
    softalign("sweep", "plan", "sweep.yaml", cwd=here)
    work = ["sweep", "work", "sweep.yaml", "--row", "0"]
    message = softalign(*work, "--side-by-side", "1024", cwd=here, code=2, **address_space(2000 * MB)).stderr
    assert "by 1024 side by side" in message and "--workers: 1024 -> " in message


def test_a_trained_run_is_not_asked_for_more_than_there_is(trained: Path, tmp_path: Path) -> None:
    code, message, megabytes, _ = measured(
        "evaluate", trained, "search.width=1000", "task.length.test=[4,10000]", "--search", "beam", cwd=tmp_path
    )
    assert code == 2 and (SANITIZED or megabytes < 400) and "task.length.test: [4, 10000] -> [4, " in message
    line = " ".join(["a"] * 10000) + "\n"
    code, message, megabytes, _ = measured("translate", trained, "search.width=1000", "--search", "beam", cwd=tmp_path, text=line)
    assert code == 2 and (SANITIZED or megabytes < 400) and re.search(r"search\.width: 1000 -> \d+ would fit", message)
