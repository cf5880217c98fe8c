#!/usr/bin/python3
"""Writes a parallel text of any size and a spec that trains on it, as used to measure the sizes in framework/docs/howto.md.

corpus.py PAIRS FOLDER: writes pairs of 5 to 45 words (25 on average), drawn from 200,000 types by Zipf's law, and FOLDER/large.yaml.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

TYPES, AT_ONCE = 200_000, 50_000
SPEC = """\
name: large
task:
  type: parallel_text
  train: {source: train.src, target: train.tgt}
  dev: {source: dev.src, target: dev.tgt}
  test: {source: test.src, target: test.tgt}
  vocabulary: {size: 8000}
model:
  embedding: 16
  encoder: {type: gru, units: 16}
  attention: {type: global, score: {type: additive, units: 16}}
  decoder: {type: attentional_gru, units: 16}
train:
  batch: {sentences: 64}
  epochs: 1
  max_updates: 300
evaluate: {search_dev: false}
"""


def write(folder: Path, split: str, pairs: int, random: np.random.Generator) -> None:
    share = np.cumsum(1 / np.arange(1, TYPES + 1))
    sides = [np.array([f"{side}{k}" for k in range(TYPES)], dtype=object) for side in "st"]
    with open(folder / f"{split}.src", "w") as source, open(folder / f"{split}.tgt", "w") as target:
        for begin in range(0, pairs, AT_ONCE):
            lengths = random.integers(5, 46, min(AT_ONCE, pairs - begin))
            words = np.searchsorted(share, random.random(lengths.sum()) * share[-1])
            ends = np.cumsum(lengths)
            for file, names in zip((source, target), sides):
                named = names[words]
                file.writelines(" ".join(named[end - length : end]) + "\n" for end, length in zip(ends, lengths))


def main() -> None:
    if len(sys.argv) != 3 or not sys.argv[1].isdigit() or int(sys.argv[1]) < 1:
        sys.exit(f"usage: {sys.argv[0]} PAIRS FOLDER")
    folder, random = Path(sys.argv[2]), np.random.default_rng(1)
    folder.mkdir(parents=True, exist_ok=True)
    for split, pairs in (("train", int(sys.argv[1])), ("dev", 500), ("test", 500)):
        write(folder, split, pairs, random)
    (folder / "large.yaml").write_text(SPEC)


if __name__ == "__main__":
    main()
