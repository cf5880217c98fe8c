#!/usr/bin/python3
"""Compares the ridge probe of diagnostic `bottleneck` with logistic regression, on a run of probe.yaml.

logistic.py RUN..: prints, for each position from both ends, the percentage of test sentences in which each probe finds the symbol in the
decoder's first state. Both are trained on every second sentence and tested on the others. `shuffled`: the logistic probe is trained on the
symbols of other sentences, so that it can learn only their frequencies.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import h5py
import numpy as np

SYMBOLS, STEPS, DECAY = 32, 400, 1e-5


def learnt(x: Any, y: Any) -> Any:
    """Returns weights [units + 1, SYMBOLS] of multinomial logistic regression, by Nesterov's accelerated gradient; x is standardised."""
    weights = ahead = np.zeros((x.shape[1], SYMBOLS), np.float32)
    rate = 4 / np.linalg.eigvalsh(x.T @ x / len(x))[-1]  # the curvature of the loss is at most half the eigenvalue; the step is 1 / this bound
    truth = np.eye(SYMBOLS, dtype=np.float32)[y]
    for step in range(STEPS):
        energies = x @ ahead
        odds = np.exp(energies - energies.max(axis=1, keepdims=True))
        gradient = x.T @ (odds / odds.sum(axis=1, keepdims=True) - truth) / len(x) + DECAY * ahead
        before, weights = weights, ahead - rate / 2 * gradient
        ahead = weights + step / (step + 3) * (weights - before)
    return weights


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+", metavar="RUN", type=Path)
    for place in parser.parse_args().runs:
        record = place / "run.h5" if place.is_dir() else place
        with h5py.File(record) as file:
            found = file["diagnostics/bottleneck/test"]
            ridge, states = found["state_accuracy"][-1], found["states"][-1].astype(np.float32)
            words = np.array([line.split() for line in file["test/source"].asstr()[: len(states)]])
        symbols = np.unique(words, return_inverse=True)[1].reshape(words.shape)
        states = (states - states[::2].mean(axis=0)) / (states[::2].std(axis=0) + 1e-6)
        states = np.column_stack([states, np.ones(len(states), np.float32)])
        other = np.random.default_rng(1).permutation(len(states[::2]))
        print(f"{record}\n\n| position | from the end | ridge | logistic | shuffled |\n| ---: | ---: | ---: | ---: | ---: |")
        rows = []
        for at in range(words.shape[1]):
            taught, tested = symbols[::2, at], symbols[1::2, at]
            right = [100 * np.mean((states[1::2] @ learnt(states[::2], labels)).argmax(axis=1) == tested) for labels in (taught, taught[other])]
            rows.append([ridge[at], *right])
            print(f"| {at + 1} | {words.shape[1] - at} | " + " | ".join(f"{value:.1f}" for value in rows[-1]) + " |", flush=True)
        print("| mean | | " + " | ".join(f"{value:.1f}" for value in np.mean(rows, axis=0)) + " |\n")


if __name__ == "__main__":
    main()
