"""The recordings of experiments/speech/vowels.py, from a wheel that has two speakers."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
import zipfile
from pathlib import Path
from types import ModuleType

import h5py
import numpy as np
import pytest

SCRIPT = Path(__file__).parents[2] / "experiments/speech/vowels.py"


@pytest.fixture
def vowels() -> ModuleType:
    spec = importlib.util.spec_from_file_location("build_vowels", SCRIPT)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def wheel_of(path: Path, parts: dict[str, list[tuple[int, np.ndarray]]]) -> dict[str, str]:
    """Writes a wheel; returns the hashes of its files."""
    hashes = {}
    with zipfile.ZipFile(path, "w") as wheel:
        for part, recordings in parts.items():
            lines = [":".join([*(",".join(map(str, course)) for course in frames.T), str(speaker)]) for speaker, frames in recordings]
            text = "#of tests\n@dimensions 12\n@data\n" + "".join(line + "\n" for line in lines)
            wheel.writestr(f"aeon/datasets/data/JapaneseVowels/JapaneseVowels_{part}.ts", text)
            hashes[part] = hashlib.sha256(text.encode()).hexdigest()
    return hashes


def test_the_last_recordings_of_each_speaker_become_dev(vowels: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known = [(speaker, np.full((3 + take, 12), 10 * speaker + take) + np.arange(12) / 16) for speaker in (1, 2) for take in range(7)]
    test = [(2, np.ones((4, 12))), (1, np.zeros((9, 12)))]
    hashes = wheel_of(tmp_path / "aeon.whl", {"TRAIN": known, "TEST": test})
    monkeypatch.setattr(sys, "argv", ["vowels.py", str(tmp_path / "aeon.whl"), "--output", str(tmp_path / "made")])
    with pytest.raises(SystemExit, match="aeon 1.6.0"):
        vowels.main()
    monkeypatch.setattr(vowels, "FILES", hashes)
    assert vowels.main() == 0
    assert (tmp_path / "made/train.txt").read_text().split() == ["s1", "s1", "s2", "s2"]
    assert (tmp_path / "made/dev.txt").read_text().split() == ["s1"] * 5 + ["s2"] * 5
    assert (tmp_path / "made/test.txt").read_text().split() == ["s2", "s1"]
    with h5py.File(tmp_path / "made/train.h5") as file:
        assert file["lengths"][()].tolist() == [3, 4, 3, 4] and file["frames"].dtype == np.float32
        np.testing.assert_array_equal(file["frames"][()], np.concatenate([known[k][1] for k in (0, 1, 7, 8)]))
