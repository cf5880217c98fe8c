#!/usr/bin/python3
"""Builds the Japanese Vowels for the task `frames`: recordings of nine men who say /ae/, to be classified by speaker (Kudo et al. 1999).

vowels.py WHEEL [--output FOLDER]: WHEEL is that of the Python package aeon, which contains the recordings as two text files; it is opened, not
installed. A frame is 12 cepstral coefficients of linear prediction. Writes train, dev and test to FOLDER: .h5, and .txt (the speaker, s1 to
s9). Of the 30 training recordings of each speaker the last five become dev; the test recordings are the original ones.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import zipfile
from pathlib import Path

import h5py
import numpy as np

FOLDER = Path(__file__).resolve().parent / "data/vowels"
FILES = {  # SHA-256 of the files in the wheel
    "TRAIN": "68a430eabd919cc77f40b1f5f3bc0dcafacc1486bca9260785aeb7d262cc78cd",
    "TEST": "b3d41d6a0ca3bcad3afb9ca7d4365382aa51341e2e58bae2a574babdda5b9462",
}
SIZE, OF_DEV = 12, 5

Recordings = list[tuple[str, np.ndarray]]  # speaker, frames [T, SIZE]


def read(wheel: zipfile.ZipFile, part: str) -> Recordings:
    """Reads recordings from lines that contain the series of the coefficients, separated by colons, then the speaker."""
    name = f"aeon/datasets/data/JapaneseVowels/JapaneseVowels_{part}.ts"
    content = wheel.read(name)
    if hashlib.sha256(content).hexdigest() != FILES[part]:
        raise SystemExit(f"vowels.py: {name} is not the file that was measured; take aeon 1.6.0")
    _, _, data = content.decode().partition("@data\n")
    recordings = []
    for line in data.splitlines():
        *courses, speaker = line.split(":")
        recordings.append((f"s{speaker}", np.array([course.split(",") for course in courses], "float32").T))
    assert all(frames.shape[1] == SIZE for _, frames in recordings)
    return recordings


def write(folder: Path, split: str, recordings: Recordings) -> None:
    with h5py.File(folder / f"{split}.h5", "w") as file:
        file["frames"] = np.concatenate([frames for _, frames in recordings])
        file["lengths"] = [len(frames) for _, frames in recordings]
    (folder / f"{split}.txt").write_text("".join(f"{speaker}\n" for speaker, _ in recordings))
    lengths = [len(frames) for _, frames in recordings]
    print(f"{split}: {len(recordings)} recordings, {min(lengths)} to {max(lengths)} frames of {SIZE} numbers")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheel", type=Path, help="pip download --no-deps aeon==1.6.0")
    parser.add_argument("--output", type=Path, default=FOLDER, help="folder for the files (default: %(default)s)")
    arguments = parser.parse_args()
    with zipfile.ZipFile(arguments.wheel) as wheel:
        known, test = read(wheel, "TRAIN"), read(wheel, "TEST")
    train, dev = [], []
    for speaker in sorted({speaker for speaker, _ in known}):
        own = [recording for recording in known if recording[0] == speaker]
        train += own[:-OF_DEV]
        dev += own[-OF_DEV:]
    arguments.output.mkdir(parents=True, exist_ok=True)
    for split, recordings in {"train": train, "dev": dev, "test": test}.items():
        write(arguments.output, split, recordings)
    return 0


if __name__ == "__main__":
    sys.exit(main())
