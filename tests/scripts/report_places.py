"""Runs, a study and a sweep for tests of reports, made by the program in seconds."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

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


IMAGES = (  # overrides that turn tiny.yaml into a run whose sources are images, with cells of 4 x 4 pixels
    f"task={{type: image_captions, digits: {ROOT}/experiments/digits/data/digits.txt.gz, examples: {{train: 200, dev: 8, test: 12}}}}",
    "model.encoder={type: image_grid, channels: [4, 6]}",
    "evaluate.lengths=[80, 160, 240]",
)

TRANSFORMER = (  # overrides that turn tiny.yaml into a Transformer whose decoder has two layers of three heads
    "model.encoder={type: self_attention, layers: 1, heads: 2, units: 12, feed_forward: 8}",
    "model.attention=built_in",
    "model.decoder={type: transformer, layers: 2, heads: 3, units: 12, feed_forward: 8}",
)


def softalign(*arguments: object, cwd: Path, codes: Sequence[int] = (0,)) -> str:
    done = subprocess.run([PROGRAM, *map(str, arguments)], cwd=cwd, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode in codes, f"exit status {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


def make_run(folder: Path, *overrides: str, spec: Path = TINY) -> Path:
    """Makes a complete run below folder/results; returns its folder."""
    before = set(folder.glob("results/*/*"))
    softalign("run", spec, *overrides, cwd=folder)
    (made,) = set(folder.glob("results/*/*")) - before
    return made


def make_study(folder: Path) -> Path:
    """Makes a study of two variants and two seeds, with one claim that holds and one that fails; returns its folder."""
    (folder / "study.yaml").write_text(STUDY)
    softalign("study", "study.yaml", cwd=folder, codes=(4,))
    return folder / "results/small"


def truncate(run: Path) -> None:
    content = (run / "run.h5").read_bytes()
    (run / "run.h5").write_bytes(content[: len(content) // 2])


SWEEP = f"""
name: demo
base: {TINY}
parameters:
  model.attention.score.type: {{values: [additive, dot]}}
  train.optimizer.learning_rate: {{values: [0.001, 0.01, 0.03]}}
  train.epochs: {{value: 3}}
seeds: [1, 2]
"""
STOPPING = "early_terminate: {type: asha, min_updates: 10, eta: 2}\n"


def make_sweep(folder: Path, text: str = SWEEP) -> Path:
    (folder / "sweep.yaml").write_text(text)
    softalign("sweep", "run", "sweep.yaml", "--workers", 1, cwd=folder)
    return folder / "results/demo"


def make_broken_sweep(folder: Path) -> Path:
    """Makes a sweep whose last row but one is corrupt and whose last row is planned; returns its folder."""
    sweep = make_sweep(folder)
    rows = json.loads(softalign("sweep", "status", sweep, "--json", cwd=folder))["rows"]
    truncate(Path(folder / rows[-2]["folder"]))
    shutil.rmtree(folder / rows[-1]["folder"])
    return sweep
