"""The frames of experiments/speech: the mel filters, and, if espeak-ng is installed, the files."""

from __future__ import annotations

import importlib.util
import random
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import h5py
import numpy as np
import pytest

SCRIPT = Path(__file__).parents[2] / "experiments/speech/build.py"


@pytest.fixture(scope="module")
def build() -> ModuleType:
    spec = importlib.util.spec_from_file_location("build_speech", SCRIPT)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["build_speech"] = module
    spec.loader.exec_module(module)
    return module


def test_a_tone_is_in_the_filter_around_its_frequency(build: ModuleType) -> None:
    mel = np.linspace(*(2595 * np.log10(1 + hertz / 700) for hertz in (build.LOWEST, build.HIGHEST)), build.MELS + 2)
    for number in (10, 20, 35):
        hertz = 700 * (10 ** (mel[number + 1] / 2595) - 1)
        frames = build.log_mel(np.sin(2 * np.pi * hertz * np.arange(build.RATE) / build.RATE))
        assert frames.dtype == np.float32 and frames.shape == (32, build.MELS * build.STACK)  # a second has 98 windows
        assert set(frames.reshape(-1, build.MELS).argmax(axis=1)) == {number}


def test_the_noise_is_as_loud_as_it_says(build: ModuleType) -> None:
    samples = np.sin(np.arange(100000))
    one = build.Utterance("a", "en-us+m1", 150, 50, noise=20, seed=3)
    noise = build.with_noise(samples, one) - samples
    assert 10 * np.log10(np.mean(samples**2) / np.mean(noise**2)) == pytest.approx(20, abs=0.1)


def test_the_test_voices_are_not_heard_in_training(build: ModuleType) -> None:
    assert not {voice.split("+")[1] for voice in build.SEEN} & {voice.split("+")[1] for voice in build.HELD_OUT}
    drawn = build.draw(50, (2, 6), build.SEEN, random.Random("x"))
    assert drawn == build.draw(50, (2, 6), build.SEEN, random.Random("x"))
    assert {len(one.symbols.split()) for one in drawn} == {2, 3, 4, 5, 6}


def test_frames_belong_to_the_symbol_that_is_spoken_in_their_middle(build: ModuleType) -> None:
    step, half = build.STACK * build.HOP, (build.STACK - 1) * build.HOP + build.WINDOW  # in samples: the hop between frames, the length of a frame
    assert build.links(4, [100, 2 * step + half // 2, 3 * step]) == "0-0 1-0 2-1 3-2"
    assert build.links(4, [100, 2 * step + half // 2 + 1, 3 * step + half]) == "0-0 1-0 2-0 3-1"


def test_without_espeak_it_says_what_to_install(
    build: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(build, "LIBRARY", "libespeak-ng-that-is-missing.so")
    monkeypatch.setattr(sys, "argv", ["build.py", "--output", str(tmp_path / "x")])
    assert build.main() == 1 and "apt-get install espeak-ng" in capsys.readouterr().err and not (tmp_path / "x").exists()


@pytest.mark.skipif(shutil.which("espeak-ng") is None, reason="espeak-ng is not installed")
def test_the_same_bytes_each_time(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        subprocess.run([sys.executable, SCRIPT, "--output", tmp_path / folder, "--train", "20"], check=True, capture_output=True)
    files = sorted(path.name for path in (tmp_path / "one").iterdir())
    assert files == [f"{split}.{kind}" for split in ("dev", "test", "train") for kind in ("align", "h5", "tsv", "txt")]
    for name in files:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes(), name
    with h5py.File(tmp_path / "one/train.h5") as file:
        lengths = file["lengths"][()]
        assert len(lengths) == 20 and lengths.min() > 0 and file["frames"].shape == (lengths.sum(), 120)
        assert np.isfinite(file["frames"][()]).all()
    texts, links = ((tmp_path / f"one/train.{kind}").read_text().splitlines() for kind in ("txt", "align"))
    for text, line, length in zip(texts, links, lengths, strict=True):
        frames, symbols = zip(*(map(int, link.split("-")) for link in line.split()))
        assert frames == tuple(range(length)) and sorted(set(symbols)) == list(range(len(text.split()))) and list(symbols) == sorted(symbols)
