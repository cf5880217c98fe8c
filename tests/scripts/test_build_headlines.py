"""The reports and headlines of experiments/headlines: reproducible bytes, and names that no other split has."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "experiments/headlines/build.py"


def built(folder: Path, *more: str) -> dict[str, list[list[str]]]:
    subprocess.run([sys.executable, SCRIPT, "--output", folder, *more], check=True)
    return {file.name: [line.split() for line in file.read_text().splitlines()] for file in folder.iterdir()}


def test_a_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    first, again, other = (built(tmp_path / name, "--train", "200", "--seed", seed) for name, seed in (("a", "1"), ("b", "1"), ("c", "2")))
    assert first == again != other
    assert {name: len(lines) for name, lines in first.items()} == {
        f"{split}.{side}": count for split, count in (("train", 200), ("dev", 10), ("test", 20)) for side in ("report", "headline")
    }


def test_every_headline_has_a_word_that_only_its_report_has(tmp_path: Path) -> None:
    texts = built(tmp_path / "data")
    counts = Counter(word for line in texts["train.report"] for word in line)
    known = {word for word, count in counts.items() if count >= 50}  # as in headlines.yaml
    assert max(count for word, count in counts.items() if word not in known) < 25 and len(known) < 80
    for split in ("dev", "test"):
        for report, headline in zip(texts[f"{split}.report"], texts[f"{split}.headline"], strict=True):
            names = [word for word in headline if word not in known and word in report]
            assert names and not any(name in counts for name in names)
            assert len({word for word in report if word not in known}) >= 2
