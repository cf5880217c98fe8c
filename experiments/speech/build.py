#!/usr/bin/python3
"""Builds spoken letters and digits for the task `frames`: HDF5 files of log-mel frames, and the spoken symbols line by line.

build.py [--output FOLDER] [--train N] [--seed N]: espeak-ng (a Debian package) speaks strings such as "k 7 q" in several voices, speeds
and pitches; white noise is added. The speakers of test are not in train or dev, and test strings have up to four times as many symbols. The
same version of espeak-ng and the same seed give the same bytes. FOLDER gets train, dev and test: .h5, .txt (the symbols), .tsv (voice,
words per minute, pitch, signal-to-noise ratio in dB).
"""

from __future__ import annotations

import argparse
import random
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import h5py
import numpy as np

FOLDER = Path(__file__).resolve().parent / "data"
SYMBOLS = "abcdefghijklmnopqrstuvwxyz0123456789"
ACCENTS = ("en-gb", "en-us", "en-gb-x-rp", "en-gb-scotland", "en-029")
SEEN = [f"{accent}+{speaker}" for accent in ACCENTS for speaker in ("m1", "m2", "m3", "m5", "m6", "m8", "f1", "f2", "f5")]
HELD_OUT = [f"{accent}+{speaker}" for accent in ACCENTS for speaker in ("m4", "m7", "f3", "f4")]
SPEED, PITCH, NOISE = (120, 200), (30, 70), (10, 30)  # words per minute, espeak-ng's 0..99, dB

RATE = 22050  # samples per second, espeak-ng's
WINDOW, HOP = 512, 220  # samples: 23 ms, every 10 ms
MELS, LOWEST, HIGHEST = 40, 60.0, 8000.0  # filters, Hz
STACK = 3  # neighbouring frames become one


class Utterance(NamedTuple):
    symbols: str
    voice: str
    speed: int
    pitch: int
    noise: int
    seed: int

    def __str__(self) -> str:
        return f"{self.voice}\t{self.speed}\t{self.pitch}\t{self.noise}"


def draw(count: int, lengths: tuple[int, int], voices: list[str], stream: random.Random) -> list[Utterance]:
    return [
        Utterance(
            symbols=" ".join(stream.choice(SYMBOLS) for _ in range(stream.randint(*lengths))),
            voice=stream.choice(voices),
            speed=stream.randint(*SPEED),
            pitch=stream.randint(*PITCH),
            noise=stream.randint(*NOISE),
            seed=stream.getrandbits(32),
        )
        for _ in range(count)
    ]


def speak(one: Utterance) -> np.ndarray:
    """The samples, from -1 to 1."""
    # Capital letters with full stops are spelled; "a" alone might be the article.
    text = " ".join(f"{symbol.upper()}." if symbol.isalpha() else symbol for symbol in one.symbols.split())
    command = ["espeak-ng", "-v", one.voice, "-s", str(one.speed), "-p", str(one.pitch), "--stdout", text]
    wave = subprocess.run(command, check=True, capture_output=True).stdout
    at = wave.index(b"data") + 8  # the length that follows is not known to a pipe
    return np.frombuffer(wave[at : at + (len(wave) - at) // 2 * 2], "<i2").astype(np.float64) / 2**15


def with_noise(samples: np.ndarray, one: Utterance) -> np.ndarray:
    power = np.mean(samples**2) / 10 ** (one.noise / 10)
    return samples + np.sqrt(power) * np.random.default_rng(one.seed).standard_normal(len(samples))


def mel_filters() -> np.ndarray:
    """[MELS, WINDOW/2+1], triangles whose corners are equally far apart in mel = 2595 log10(1 + Hz/700)."""
    mels = np.linspace(*(2595 * np.log10(1 + hertz / 700) for hertz in (LOWEST, HIGHEST)), MELS + 2)
    corners = 700 * (10 ** (mels / 2595) - 1)
    hertz = np.arange(WINDOW // 2 + 1) * RATE / WINDOW
    low, middle, high = (corners[k : k + MELS, None] for k in range(3))
    return np.clip(np.minimum((hertz - low) / (middle - low), (high - hertz) / (high - middle)), 0, None)


FILTERS = mel_filters()


def log_mel(samples: np.ndarray) -> np.ndarray:
    """[T, MELS * STACK], natural logarithms."""
    frames = np.lib.stride_tricks.sliding_window_view(samples, WINDOW)[::HOP] * np.hanning(WINDOW)
    energies = np.log(np.abs(np.fft.rfft(frames)) ** 2 @ FILTERS.T + 1e-6)
    whole = len(energies) // STACK * STACK
    return energies[:whole].reshape(-1, MELS * STACK).astype(np.float32)


def write(folder: Path, split: str, utterances: list[Utterance]) -> None:
    with ThreadPoolExecutor() as pool:
        arrays = list(pool.map(lambda one: log_mel(with_noise(speak(one), one)), utterances))
    with h5py.File(folder / f"{split}.h5", "w") as file:
        file["frames"] = np.concatenate(arrays)
        file["lengths"] = [len(array) for array in arrays]
    (folder / f"{split}.txt").write_text("".join(one.symbols + "\n" for one in utterances))
    (folder / f"{split}.tsv").write_text("".join(f"{one}\n" for one in utterances))
    lengths = [len(array) for array in arrays]
    print(f"{split}: {len(arrays)} utterances, {min(lengths)} to {max(lengths)} frames of {MELS * STACK} numbers")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=FOLDER, help="folder for the files (default: %(default)s)")
    parser.add_argument("--train", type=int, default=6000, help="training utterances; dev has a twentieth, test a tenth of them (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    if shutil.which("espeak-ng") is None:
        print("build.py: espeak-ng is missing; on Debian: apt-get install espeak-ng", file=sys.stderr)
        return 1
    if arguments.train < 20:
        parser.error("--train: give at least 20")
    arguments.output.mkdir(parents=True, exist_ok=True)
    splits = {"train": (arguments.train, (2, 6), SEEN), "dev": (arguments.train // 20, (2, 6), SEEN), "test": (arguments.train // 10, (2, 24), HELD_OUT)}
    for split, (count, lengths, voices) in splits.items():
        write(arguments.output, split, draw(max(1, count), lengths, voices, random.Random(f"{split} {arguments.seed}")))
    return 0


if __name__ == "__main__":
    sys.exit(main())
