"""kill -9 at random moments: the record ends in the same bits, and what is there in between can always be opened."""

from __future__ import annotations

import os
import random
import subprocess
import time
from pathlib import Path

import h5py
import numpy as np
import pytest

PROGRAM = Path(os.environ.get("SOFTALIGN_BINARY_DIR", "build/release")) / "bin" / "softalign"
VOLATILE = ("provenance", "wall_time", "tokens_per_s", "timing", "system")

SPEC = """
name: killed
task: {type: reverse, symbols: 12, length: {train: [2, 9], dev: [2, 9], test: [2, 12]},
       examples: {train: 3000, dev: 60, test: 120}}
model:
  embedding: 24
  encoder: {type: gru, units: 24}
  attention: {type: global, score: {type: additive, units: 24}}
  decoder: {type: attentional_gru, units: 24}
train: {batch: {sentences: 15}, shards: 2, epochs: 5, early_stopping: {metric: dev/loss, patience: 3}}
record: {checkpoint_every: 20, alignments: 20, snapshots: 2}
"""


def command(spec: Path, results: Path, threads: int) -> list[str]:
    return [str(PROGRAM), "run", str(spec), "--out", str(results), "--threads", str(threads)]


def numbers(record: Path) -> dict[str, np.ndarray]:
    """Everything in a record that is no clock and no machine, by path; attributes as path@name."""
    found: dict[str, np.ndarray] = {}

    def look(path: str, item: h5py.Group | h5py.Dataset) -> None:
        if any(word in path.split("/") for word in VOLATILE):
            return
        if isinstance(item, h5py.Dataset):
            found[path] = item[()]
        for name, value in item.attrs.items():
            if name.isupper():  # the library's own: DIMENSION_LIST, REFERENCE_LIST hold addresses
                continue
            found[f"{path}@{name}"] = value

    with h5py.File(record) as file:
        file.visititems(look)
    return found


def same(a: np.ndarray, b: np.ndarray) -> bool:
    a, b = np.asarray(a), np.asarray(b)
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    return bool(np.all(a == b)) if a.dtype == object else a.tobytes() == b.tobytes()


@pytest.fixture()
def spec(tmp_path: Path) -> Path:
    path = tmp_path / "killed.yaml"
    path.write_text(SPEC)
    return path


def test_25_kills_leave_the_record_of_an_undisturbed_run(spec: Path, tmp_path: Path) -> None:
    begin = time.monotonic()
    subprocess.run(command(spec, tmp_path / "whole", 1), check=True, capture_output=True)
    length = time.monotonic() - begin
    (whole,) = (tmp_path / "whole").glob("*/*/run.h5")

    chance = random.Random(20)
    killed, resumed, attempts = 0, 0, 0
    results = tmp_path / "killed"
    while killed < 25 and attempts < 200:
        attempts += 1
        process = subprocess.Popen(
            command(spec, results, 1 + attempts % 2), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        try:
            # Mostly early in an attempt, so that many kills fit into one run; sometimes anywhere.
            share = 0.2 if chance.random() < 0.8 else 1.0
            process.wait(timeout=chance.uniform(0, share * length))
        except subprocess.TimeoutExpired:
            process.kill()
            killed += process.wait() == -9
        assert process.stderr is not None
        resumed += "resuming at update" in process.stderr.read()
        for record in results.glob("*/*/run.h5"):
            with h5py.File(record) as file:  # complete and readable at any moment
                assert file.attrs["format"] in (b"softalign-run", "softalign-run")
        if process.returncode == 0:
            results = tmp_path / f"killed-{attempts}"  # it got through: begin another
    done = subprocess.run(command(spec, results, 2), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert killed == 25
    assert resumed >= 8  # the kills came in the middle of things

    expected = numbers(whole)
    assert "train/loss" in expected and any(path.startswith("parameters/") for path in expected)
    records = sorted(tmp_path.glob("killed*/*/*/run.h5"))
    finished = [r for r in records if h5py.File(r).attrs["complete"] == 1]
    assert finished
    for record in finished:
        found = numbers(record)
        assert sorted(found) == sorted(expected)
        assert [path for path in expected if not same(expected[path], found[path])] == []
