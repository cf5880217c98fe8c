#!/usr/bin/python3
"""Builds spoken letters and digits for the task `frames`: HDF5 files of log-mel frames, the spoken symbols, and their frames.

build.py [--output FOLDER] [--train N] [--seed N]: espeak-ng (a Debian package) speaks strings such as "k 7 q" in several voices, speeds
and pitches; white noise is added. The speakers of test are not in train or dev, and test strings have up to four times as many symbols. The
same version of espeak-ng and the same seed give the same bytes. Writes train, dev and test to FOLDER: .h5, .txt (the symbols), .align (the
frames of each symbol, which end where the next one begins: links i-j of frame i and symbol j), .tsv (voice, words per minute, pitch,
signal-to-noise ratio in dB).
"""

from __future__ import annotations

import argparse
import ctypes
import multiprocessing
import random
import sys
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

LIBRARY = "libespeak-ng.so.1"
RATE = 22050  # espeak-ng's samples per second
WINDOW, HOP = 512, 220  # samples: 23 ms, every 10 ms
MELS, LOWEST, HIGHEST = 40, 60.0, 8000.0  # filters, Hz
STACK = 3  # neighbouring frames that are joined into one


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


class Event(ctypes.Structure):
    """The struct espeak_EVENT of espeak-ng/speak_lib.h."""

    _fields_ = [
        ("type", ctypes.c_int),
        ("unique_identifier", ctypes.c_uint),
        ("text_position", ctypes.c_int),  # characters, from 1
        ("length", ctypes.c_int),
        ("audio_position", ctypes.c_int),  # ms
        ("sample", ctypes.c_int),
        ("user_data", ctypes.c_void_p),
        ("id", ctypes.c_char * 8),
    ]


class Voice(ctypes.Structure):
    """The struct espeak_VOICE of espeak-ng/speak_lib.h."""

    _fields_ = [
        ("name", ctypes.c_char_p),
        ("languages", ctypes.c_char_p),
        ("identifier", ctypes.c_char_p),
        ("gender", ctypes.c_ubyte),
        ("age", ctypes.c_ubyte),
        ("variant", ctypes.c_ubyte),
        ("unused", ctypes.c_ubyte),
        ("score", ctypes.c_int),
        ("spare", ctypes.c_void_p),
    ]


LIST_END, WORD = 0, 1  # types of events
SYNCHRONOUS, CHARACTERS = 2, 1  # output goes to the callback; the unit of positions
UTF8, END_PAUSE = 1, 0x1000  # flags of the text
SPEED_OF, PITCH_OF = 1, 3  # parameters
Callback = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.POINTER(Event))


def speak(one: Utterance) -> tuple[np.ndarray, list[int]]:
    """Returns the samples, from -1 to 1, and the first sample of each symbol. Call it once per process: espeak-ng's state would change the next call."""
    symbols = one.symbols.split()
    # Capital letters with full stops are spelled; "a" alone might be the article.
    words = [f"{symbol.upper()}." if symbol.isalpha() else symbol for symbol in symbols]
    symbol_at = [k for k, word in enumerate(words) for _ in f"{word} "]  # for each character of the text
    waves, starts = [], {}

    def take(wave, count: int, events) -> int:
        if wave and count > 0:
            waves.append(np.ctypeslib.as_array(wave, (count,)).copy())
        for event in events:
            if event.type == LIST_END:
                return 0
            if event.type == WORD:
                starts.setdefault(symbol_at[event.text_position - 1], event.sample)
        return 0

    espeak, callback, text = ctypes.CDLL(LIBRARY), Callback(take), " ".join(words).encode()
    if espeak.espeak_Initialize(SYNCHRONOUS, 0, None, 0) != RATE:
        raise RuntimeError(f"espeak-ng does not speak at {RATE} samples per second")
    espeak.espeak_SetSynthCallback(callback)
    voice = Voice(languages=one.voice.encode())
    for failed in (
        espeak.espeak_SetVoiceByName(voice.languages) and espeak.espeak_SetVoiceByProperties(ctypes.byref(voice)),
        espeak.espeak_SetParameter(SPEED_OF, one.speed, 0),
        espeak.espeak_SetParameter(PITCH_OF, one.pitch, 0),
        espeak.espeak_Synth(text, ctypes.c_size_t(len(text) + 1), 0, CHARACTERS, 0, UTF8 | END_PAUSE, None, None),
        espeak.espeak_Synchronize(),
    ):
        if failed:
            raise RuntimeError(f"espeak-ng failed on: {one}")
    if sorted(starts) != list(range(len(words))):
        raise RuntimeError(f"espeak-ng did not say where it spoke each of: {one.symbols}")
    return np.concatenate(waves) / 2**15, [starts[k] for k in range(len(words))]


def with_noise(samples: np.ndarray, one: Utterance) -> np.ndarray:
    power = np.mean(samples**2) / 10 ** (one.noise / 10)
    return samples + np.sqrt(power) * np.random.default_rng(one.seed).standard_normal(len(samples))


def mel_filters() -> np.ndarray:
    """Returns [MELS, WINDOW/2+1], triangles whose corners are equally far apart in mel = 2595 log10(1 + Hz/700)."""
    mels = np.linspace(*(2595 * np.log10(1 + hertz / 700) for hertz in (LOWEST, HIGHEST)), MELS + 2)
    corners = 700 * (10 ** (mels / 2595) - 1)
    hertz = np.arange(WINDOW // 2 + 1) * RATE / WINDOW
    low, middle, high = (corners[k : k + MELS, None] for k in range(3))
    return np.clip(np.minimum((hertz - low) / (middle - low), (high - hertz) / (high - middle)), 0, None)


FILTERS = mel_filters()


def log_mel(samples: np.ndarray) -> np.ndarray:
    """Returns [T, MELS * STACK], natural logarithms."""
    frames = np.lib.stride_tricks.sliding_window_view(samples, WINDOW)[::HOP] * np.hanning(WINDOW)
    energies = np.log(np.abs(np.fft.rfft(frames)) ** 2 @ FILTERS.T + 1e-6)
    whole = len(energies) // STACK * STACK
    return energies[:whole].reshape(-1, MELS * STACK).astype(np.float32)


def links(frames: int, starts: list[int]) -> str:
    """Returns links i-j: the middle of frame i is in symbol j, which lasts until the next one begins; initial silence belongs to the first symbol."""
    middles = np.arange(frames) * STACK * HOP + ((STACK - 1) * HOP + WINDOW) // 2
    return " ".join(f"{i}-{j}" for i, j in enumerate(np.searchsorted(starts[1:], middles, side="right")))


def frames_of(one: Utterance) -> tuple[np.ndarray, str]:
    samples, starts = speak(one)
    frames = log_mel(with_noise(samples, one))
    return frames, links(len(frames), starts)


def write(folder: Path, split: str, utterances: list[Utterance]) -> None:
    with multiprocessing.get_context("fork").Pool(maxtasksperchild=1) as pool:
        arrays, aligned = zip(*pool.map(frames_of, utterances, chunksize=1))
    with h5py.File(folder / f"{split}.h5", "w") as file:
        file["frames"] = np.concatenate(arrays)
        file["lengths"] = [len(array) for array in arrays]
    (folder / f"{split}.txt").write_text("".join(one.symbols + "\n" for one in utterances))
    (folder / f"{split}.align").write_text("".join(line + "\n" for line in aligned))
    (folder / f"{split}.tsv").write_text("".join(f"{one}\n" for one in utterances))
    lengths = [len(array) for array in arrays]
    print(f"{split}: {len(arrays)} utterances, {min(lengths)} to {max(lengths)} frames of {MELS * STACK} numbers")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=FOLDER, help="folder for the files (default: %(default)s)")
    parser.add_argument("--train", type=int, default=6000, help="training utterances; dev has a twentieth, test a tenth of them (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    try:
        ctypes.CDLL(LIBRARY)
    except OSError:
        print(f"build.py: {LIBRARY} is missing; on Debian: apt-get install espeak-ng", file=sys.stderr)
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
