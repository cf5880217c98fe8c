#!/usr/bin/python3
"""Computes output layers by their papers' formulas in NumPy, symbol by symbol.

output_layers.py: writes output_layers.json beside itself, which tests/conformance/copying_test.cpp compares with. Gradients are those of
the sum of all losses, by complex steps: the imaginary part of f(x + ih) / h, exact to the last digits.
"""

from __future__ import annotations

import json
import math
from itertools import pairwise
from pathlib import Path

import numpy as np

STEPS, LENGTHS, POSITIONS, SYMBOLS = 4, [4, 2], 4, 9
READOUT, OUTPUTS, EMBEDDING = 3, 5, 2
ROWS = len(LENGTHS)
# [B,S], the second sentence has two positions. From 9 on: words that the vocabulary lacks, by their first position.
COPIES = [[5, 10, 10, 2], [0, 10, 8, 1]]
TARGETS = [[5, 0], [8, 10], [10, 2], [2, -1]]  # [T,B]; 8 and the second 2 are not in their sources
FACTOR = 0.25
NOT_IN_SOURCE = 1e-8  # of pointer
VALUES = [2.0, -1.0, 0.5, 7.0, 3.0, 4.0]  # of the symbols from 3 on, for gaussian
IMPOSSIBLE = 1e-8  # of <unk> and <s>


def filled(phase: float, *shape: int) -> np.ndarray:
    """Returns the numbers of an array, the same as in the test."""
    return (0.9 * np.sin(1.7 * np.arange(np.prod(shape)) + phase)).reshape(shape)


def softmax(x: np.ndarray) -> np.ndarray:
    return np.exp(x) / np.exp(x).sum()


def weights() -> np.ndarray:
    """[T,B,S], 0 at padding."""
    energies, w = filled(4, STEPS, ROWS, POSITIONS), np.zeros((STEPS, ROWS, POSITIONS))
    for t in range(STEPS):
        for b, length in enumerate(LENGTHS):
            w[t, b, :length] = softmax(energies[t, b, :length])
    return w


Arrays = dict[str, np.ndarray]


def copied(a: Arrays, t: int, b: int, y: int) -> complex:
    return sum((a["weights"][t, b, s] for s in range(LENGTHS[b]) if COPIES[b][s] == y), 0)


def own(b: int) -> list[int]:
    """Returns the symbols of a sentence that the vocabulary lacks."""
    return sorted({y for y in COPIES[b][: LENGTHS[b]] if y >= SYMBOLS})


def pointer(a: Arrays, t: int, b: int) -> np.ndarray:
    """Vinyals et al. 2015, equation 3, with a small probability for every symbol; [V + S]."""
    symbols = [*range(SYMBOLS), *own(b)]
    p = [copied(a, t, b, y) + NOT_IN_SOURCE if y in symbols else 0 for y in range(SYMBOLS + POSITIONS)]
    return np.array(p) / (1 + len(symbols) * NOT_IN_SOURCE)


def pointer_generator(a: Arrays, t: int, b: int) -> np.ndarray:
    """See et al. 2017, equations 8 and 9, over the extended vocabulary; [V + S]."""
    written = softmax(a["readout"][t, b] @ a["projection.W"] + a["projection.b"])
    if "gate.step.W" in a:
        z = a["outputs"][t, b] @ a["gate.step.W"] + a["gate.step.b"] + a["embedded"][t, b] @ a["gate.symbol.W"]
    else:
        z = a["readout"][t, b] @ a["gate.readout.W"] + a["gate.readout.b"]
    p_gen = 1 / (1 + np.exp(-z[0]))
    written = np.append(written, np.zeros(POSITIONS))
    return np.array([p_gen * written[y] + (1 - p_gen) * copied(a, t, b, y) for y in range(SYMBOLS + POSITIONS)])


def phi(z: complex) -> complex:
    """The standard normal distribution function up to z, for a complex step in the imaginary part."""
    return math.erfc(-np.real(z) / math.sqrt(2)) / 2 + 1j * np.imag(z) * math.exp(-(np.real(z) ** 2) / 2) / math.sqrt(2 * math.pi)


def gaussian(a: Arrays, t: int, b: int) -> np.ndarray:
    """Salimans et al. 2017, section 2.1, with a normal distribution; a gate for </s>."""
    m, raw, stop = a["readout"][t, b] @ a["gaussian.W"] + a["gaussian.b"]
    order = np.argsort(VALUES)
    numbers = (np.sort(VALUES) - np.mean(VALUES)) / np.std(VALUES)
    deviation = np.diff(numbers).min() / 10 + np.log(1 + np.exp(raw))
    g = 1 / (1 + np.exp(-stop) * len(VALUES))
    z = [(edge - m) / deviation for edge in (numbers[1:] + numbers[:-1]) / 2]
    # From the side on which the probabilities are small.
    masses = [phi(z[0]), *(phi(high) - phi(low) if np.real(low + high) < 0 else phi(-low) - phi(-high) for low, high in pairwise(z)), phi(-z[-1])]
    p = np.zeros(SYMBOLS, dtype=complex)
    p[:3] = IMPOSSIBLE, IMPOSSIBLE, g
    p[3 + order] = (1 - g) * np.array(masses)
    return (p if np.iscomplexobj(m) else p.real) / (1 + 2 * IMPOSSIBLE)


PROJECTION = {"projection.W": (READOUT, SYMBOLS), "projection.b": (SYMBOLS,)}
LAYERS = {
    "pointer": (pointer, {}),
    "gaussian": (gaussian, {"gaussian.W": (READOUT, 3), "gaussian.b": (3,)}),
    "pointer_generator": (
        pointer_generator,
        PROJECTION | {"gate.step.W": (OUTPUTS, 1), "gate.step.b": (1,), "gate.symbol.W": (EMBEDDING, 1)},
    ),
    "{type: pointer_generator, gate: readout}": (
        pointer_generator,
        PROJECTION | {"gate.readout.W": (READOUT, 1), "gate.readout.b": (1,)},
    ),
}


def case(name: str, smoothing: float) -> dict:
    layer, shapes = LAYERS[name]
    most = SYMBOLS if name == "gaussian" else SYMBOLS + POSITIONS  # it copies nothing: words that only a copy can write are <unk>
    targets = [[y if y < most else 0 for y in step] for step in TARGETS]
    arrays = {
        "readout": filled(1, STEPS, ROWS, READOUT),
        "outputs": filled(2, STEPS, ROWS, OUTPUTS),
        "embedded": filled(3, STEPS, ROWS, EMBEDDING),
        "weights": weights(),
    } | {parameter: filled(10 + k, *shape) for k, (parameter, shape) in enumerate(shapes.items())}

    def loss(a: Arrays) -> complex:
        total = 0
        for t in range(STEPS):
            for b, y in enumerate(targets[t]):
                if y >= 0:
                    p = layer(a, t, b)
                    total -= FACTOR * ((1 - smoothing) * np.log(p[y]) + smoothing * np.log(p[:SYMBOLS]).mean())
        return total

    gradients = {}
    for key, array in arrays.items():
        slopes = np.zeros(array.size)
        for i in range(array.size):
            moved = array.astype(complex)
            moved.flat[i] += 1e-30j
            slopes[i] = np.imag(loss(arrays | {key: moved})) / 1e-30
        gradients[key] = slopes.tolist()
    p = np.array([[layer(arrays, t, b) for b in range(ROWS)] for t in range(STEPS)])
    kept = [(t, b) for t in range(STEPS) for b in range(ROWS) if targets[t][b] >= 0]
    return {
        "layer": name,
        "smoothing": smoothing,
        "loss": loss(arrays),
        "probabilities": p.flatten().tolist(),
        "nll": [-np.log(p[t, b, targets[t][b]]) for t, b in kept],
        "uniform": [-np.log(p[t, b, :SYMBOLS]).mean() for t, b in kept],
        "best": [int(p[t, b].argmax()) for t, b in kept],
        "gradients": gradients,
    }


if __name__ == "__main__":
    cases = [case(name, smoothing) for name in LAYERS for smoothing in (0.0, 0.1)]
    Path(__file__).with_suffix(".json").write_text(json.dumps(cases, indent=None, separators=(",", ":")) + "\n")
