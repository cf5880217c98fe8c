"""Checks that the benchmark runs, reports what it should, and that a steady training step allocates no memory. Speed is not tested."""

import json
import os
import subprocess
from pathlib import Path

import pytest

BENCH = Path(os.environ["SOFTALIGN_BINARY_DIR"]) / "bin/softalign_bench"


def measure(*arguments: str) -> list[dict]:
    command = [BENCH, *arguments, "--configuration", "tiny", "--seconds", "0.01"]
    ended = subprocess.run(command, input="go\n", capture_output=True, text=True, check=True)
    return [json.loads(line) for line in ended.stdout.splitlines()]


@pytest.mark.parametrize("threads", ["1", "2"])
def test_a_training_step_is_timed_beside_its_products(threads):
    ready, measured, summary = measure("train", "--threads", threads)
    assert ready == {"ready": True}
    assert len(measured["seconds"]) == len(measured["floor_seconds"]) > 0
    assert min(measured["seconds"]) > 0
    # The peak exceeds the speed of tiny products; 3 because other load may slow its measurement. Two cores reach less than 4 TFLOP/s.
    assert summary["gflop_per_step"] / min(measured["seconds"]) < 3 * measured["peak_gflops"] < 12000
    assert summary["mallocs_per_step"] == 0
    assert summary["energies_per_sentence"] == 6 * 6
    assert summary["target_tokens"] == 16 * 6 and summary["products"] > 50
    # The projection alone takes three products of 2 * rows * columns * depth: forward, gradient of the features, gradient of the weights.
    assert summary["gflop_per_step"] > 3 * 2e-9 * 96 * 16 * 100


@pytest.mark.parametrize("beam", ["1", "5"])
def test_decoding_is_timed(beam):
    _, measured, summary = measure("decode", "--beam", beam)
    assert min(measured["seconds"]) > 0
    assert summary["sentences"] == 2 * 16 and summary["symbols"] >= summary["sentences"]


def test_vanilla_computes_no_energies():
    assert measure("train", "--no-attention")[-1]["energies_per_sentence"] == 0


def test_a_step_is_rehearsed_for_more_threads_than_there_are():
    facts, *steps = measure("scale", "--threads", "4")
    assert facts["dense_numbers"] < facts["trained_numbers"]
    assert [step["threads"] for step in steps] == [1, 2, 4]
    for step in steps:
        assert step["serial_seconds"] < step["seconds"]
        assert step["rounds"] > 5
    # With two threads each does half of the work, apart from the cost of the rounds; one thread does all of it.
    assert abs(steps[0]["seconds"] / steps[0]["one_thread_seconds"] - 1) < 0.01
    assert steps[1]["seconds"] - steps[1]["rounds"] * facts["round_seconds"] > 0.49 * steps[1]["one_thread_seconds"]
