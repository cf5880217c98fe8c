"""Runs, a study and a sweep to report on, made by the program in seconds; the sweep's plan is written here."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import h5py
import numpy as np

ROOT = Path(__file__).parents[2]
PROGRAM = Path(os.environ.get("SOFTALIGN_BINARY_DIR", ROOT / "build/release")).absolute() / "bin/softalign"
TINY = ROOT / "configs/tiny.yaml"

STUDY = f"""
name: small
question: Does an alignment help?
seeds: [1, 2]
variants:
  none: {{model.attention: none}}
  additive: [model.attention.score.units=5]
parts:
  reverse:
    base: {TINY}
    overrides: {{train.epochs: 6}}
    report: {{metrics: [token_accuracy]}}
claims:
  - claim: token_accuracy(reverse/additive) >= 0
    because: it cannot be less
  - claim: token_accuracy(reverse/none) > 100
  - claim: bleu[1-3](reverse/none) > 0
    expect: open
"""


IMAGES = (  # overrides that make of tiny.yaml a run whose sources are images, of cells of 4 x 4 pixels
    f"task={{type: image_captions, digits: {ROOT}/experiments/digits/data/digits.txt.gz, examples: {{train: 200, dev: 8, test: 12}}}}",
    "model.encoder={type: image_grid, channels: [4, 6]}",
    "evaluate.lengths=[80, 160, 240]",
)

TRANSFORMER = (  # overrides that make of tiny.yaml a Transformer whose decoder has two layers of three heads
    "model.encoder={type: self_attention, layers: 1, heads: 2, units: 12, feed_forward: 8}",
    "model.attention=built_in",
    "model.decoder={type: transformer, layers: 2, heads: 3, units: 12, feed_forward: 8}",
)


def softalign(*arguments: object, cwd: Path, codes: Sequence[int] = (0,)) -> str:
    done = subprocess.run([PROGRAM, *map(str, arguments)], cwd=cwd, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode in codes, f"exit status {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


def make_run(folder: Path, *overrides: str, spec: Path = TINY) -> Path:
    """A finished run below folder/results; returns its folder."""
    before = set(folder.glob("results/*/*"))
    softalign("run", spec, *overrides, cwd=folder)
    (made,) = set(folder.glob("results/*/*")) - before
    return made


def make_study(folder: Path) -> Path:
    """Two variants, two seeds, one claim that holds and one that fails."""
    (folder / "study.yaml").write_text(STUDY)
    softalign("study", "study.yaml", cwd=folder, codes=(4,))
    return folder / "results/small"


def prune(run: Path, update: int) -> None:
    """Makes the record one of a row that was stopped at `update`."""
    looked = {
        "update": update,
        "rule": "asha rung 0 (10 updates)",
        "value": 2.5,
        "cut": 2.125,
        "stop": True,
        "compared": {"other": 2.125},
    }
    decision = {"metric": "dev/loss", "values": [{"update": update, "value": 2.5}], "decisions": [looked]}
    with h5py.File(run / "run.h5", "a") as file:
        file.attrs["state"] = np.bytes_("pruned")
        file.attrs["complete"] = 0
        file.attrs["last_update"] = update
        del file["test"]
        file["provenance"].create_dataset("early_termination", data=json.dumps(decision), dtype=h5py.string_dtype())


def truncate(run: Path) -> None:
    content = (run / "run.h5").read_bytes()
    (run / "run.h5").write_bytes(content[: len(content) // 2])


def write_plan(folder: Path, rows: list[dict[str, Any]], parameters: Sequence[str]) -> None:
    lines = [
        "plan_version: 1",
        f"name: {folder.name}",
        f"hash: {'0' * 64}",
        f"file: configs/sweeps/{folder.name}.yaml",
        "method: grid",
    ]
    lines += ["metric: {name: dev/loss, goal: minimize}", "early_terminate: {type: asha, min_updates: 10}"]
    lines += [f"parameters: [{', '.join(parameters)}]"]
    header = "\n".join(lines) + "\n"
    check = hashlib.sha256(f"\n{header}".encode()).hexdigest()[:16]
    text = header + f"rows:  # {check}\n"
    for line in [*(f"- {json.dumps(row)}" for row in rows), f"# {len(rows)} rows"]:
        check = hashlib.sha256(f"{check}\n{line}".encode()).hexdigest()[:16]
        text += f"{line}  # {check}\n"
    (folder / "plan.yaml").write_text(text)


SCORES, RATES, SEEDS = ["additive", "dot", "general"], [0.001, 0.003, 0.01, 0.03], [1, 2]
PARAMETERS = ["model.attention.score.type", "train.optimizer.learning_rate"]


def make_sweep(folder: Path, scores: Sequence[str] = SCORES, rates: Sequence[float] = RATES, epochs: int = 4) -> Path:
    """A grid; the last three rows are pruned, corrupt and planned."""
    rows = []
    for score in scores:
        for rate in rates:
            for seed in SEEDS:
                block = f"model.attention.score={{type: {score}}}"
                run = make_run(
                    folder, "name=demo", block, f"train.optimizer.learning_rate={rate}", f"seed={seed}", f"train.epochs={epochs}"
                )
                rows.append({"k": len(rows), "run_id": run.name, "seed": seed, "set": dict(zip(PARAMETERS, (score, rate)))})
    sweep = folder / "results/demo"
    write_plan(sweep, rows, PARAMETERS)
    pruned, corrupt, planned = (sweep / row["run_id"] for row in rows[-3:])
    prune(pruned, 20)
    truncate(corrupt)
    shutil.rmtree(planned)
    return sweep
