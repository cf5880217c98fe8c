#!/usr/bin/python3
"""Probabilities of intervals under the standard normal distribution, in its centre and far in its tails.

gaussian.py: writes gaussian.json beside itself, which tests/kernels/gaussian_test.cpp compares with: scaled_erfc at points, and for
intervals [a, b] the logarithm of the mass and the densities at both ends divided by it. The mass is an integral by Gauss's rule of the
density divided by the largest one in the interval, so that nothing underflows.
"""

from __future__ import annotations

import json
import math
from itertools import pairwise
from pathlib import Path

import numpy as np

PANELS = 400
INFINITY = math.inf
INTERVALS = [
    *[(a, a + gap) for a in (0, 0.5, 2, 5, 9, 30, 200, 5000) for gap in (1e-3, 0.1, 1, 20)],
    *[(-gap / 3, gap) for gap in (1e-3, 0.1, 1, 8, 40)],
    *[(a, INFINITY) for a in (-40, -6, -1, 0, 1, 6, 40, 1e4)],
    (-3, -2.5),
    (-50, -49),
    (-0.5, 0.5),
    (-INFINITY, -7),
    (-INFINITY, 2),
    (-INFINITY, INFINITY),
]


def integral(a: float, b: float) -> tuple[float, float]:
    """Returns the logarithms of the largest density in [a, b] and of the probability divided by it."""
    top = min(max(a, 0.0), b)
    reach = 40 / max(1.0, abs(top))  # beyond, the density is below e^-40 of its largest
    low, high = max(a, top - reach), min(b, top + reach)
    nodes, weights = np.polynomial.legendre.leggauss(12)
    total = 0.0
    for left, right in pairwise(np.linspace(low - top, high - top, PANELS + 1)):
        u = (left + right) / 2 + (right - left) / 2 * nodes  # x = top + u: x² - top² = u (2 top + u)
        total += float(weights @ np.exp(-u * (2 * top + u) / 2)) * (right - left) / 2
    return -top * top / 2 - math.log(2 * math.pi) / 2, math.log(total)


def interval(a: float, b: float) -> list[float | None]:
    density, mass = integral(a, b)
    top = min(max(a, 0.0), b)

    def at(x: float) -> float:
        return 0.0 if math.isinf(x) else math.exp(-(x - top) * (x + top) / 2 - mass)

    ends = [None if math.isinf(x) else x for x in (a, b)]
    return [*ends, density + mass, at(a), at(b)]


def scaled_erfc(x: float) -> float:
    """Returns e^(x²) erfc(x) = 2 / sqrt(pi) times the integral of e^(-2xu - u²) over u >= 0."""
    return 2 * math.exp(integral(x * math.sqrt(2), INFINITY)[1]) / math.sqrt(2 * math.pi)


if __name__ == "__main__":
    points = [0, 1e-9, 0.2, 0.46875, 0.469, 1, 2.5, 4, 4.001, 10, 300, 1e6]
    expected = {"scaled_erfc": [[x, scaled_erfc(x)] for x in points], "intervals": [interval(a, b) for a, b in INTERVALS]}
    Path(__file__).with_suffix(".json").write_text(json.dumps(expected, separators=(",", ":")) + "\n")
