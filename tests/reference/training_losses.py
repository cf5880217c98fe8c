#!/usr/bin/python3
"""Losses of training by the papers' formulas in NumPy, for tests/gradient/losses_test.cpp.

Inputs are sines, so that C++ has the same ones: array number k has sin(k + i) as its i-th number.
"""

from __future__ import annotations

import numpy as np


def sines(k: int, *shape: int) -> np.ndarray:
    return np.sin(k + np.arange(np.prod(shape))).reshape(shape)


def label_smoothing(epsilon: float) -> tuple[float, np.ndarray, np.ndarray]:
    """Cross-entropy with q' = (1 - epsilon) onehot + epsilon / V (Szegedy et al. 2016, section 7): loss, d/dfeatures, d/dbias."""
    x, w, b = sines(1, 5, 3), sines(2, 3, 4), sines(3, 4)
    targets = [2, -1, 0, 3, 3]
    loss, dx, db = 0.0, np.zeros_like(x), np.zeros_like(b)
    for i, y in enumerate(targets):
        if y < 0:
            continue
        logits = x[i] @ w + b
        p = np.exp(logits) / np.exp(logits).sum()
        q = np.full(4, epsilon / 4)
        q[y] += 1 - epsilon
        loss -= q @ np.log(p)
        dx[i] = w @ (p - q)
        db += p - q
    return loss, dx, db


def weights() -> np.ndarray:  # [T, B, S], rows sum to 1 over the positions of their sentence
    w = np.exp(sines(4, 3, 2, 4))
    w[:, 1, 3] = 0  # the second sentence has three positions
    return w / w.sum(2, keepdims=True)


def doubly_stochastic() -> float:
    """sum_b sum_s (1 - sum_t w)^2 over each sentence's own steps, 3 and 2 (Xu et al. 2015, equation 14)."""
    w = weights()
    return sum(((1 - w[:steps, b, :positions].sum(0)) ** 2).sum() for b, (steps, positions) in enumerate([(3, 4), (2, 3)]))


def coverage() -> float:
    """sum over t and s of min(w_ts, c_ts), c_t the sum of the weights before t (See et al. 2017, equations 10 and 12)."""
    w, total = weights(), 0.0
    for b, (steps, positions) in enumerate([(3, 4), (2, 3)]):
        for t in range(steps):
            for s in range(positions):
                total += min(w[t, b, s], w[:t, b, s].sum())
    return total


def guided() -> float:
    """Links 0-0, 3-0, 1-2 of the first sentence, 2-1 of the second (Chen et al. 2016): the weights of a target symbol's links sum to 1."""
    w = np.log(weights() + 1e-6)
    return -(0.5 * w[0, 0, 0] + 0.5 * w[0, 0, 3] + w[2, 0, 1] + w[1, 1, 2])


if __name__ == "__main__":
    np.set_printoptions(precision=12, floatmode="fixed")
    print("label smoothing 0.1", *label_smoothing(0.1), sep="\n")
    print("label smoothing 0", label_smoothing(0.0)[0])
    print("doubly stochastic", doubly_stochastic())
    print("coverage", coverage())
    print("guided alignment", guided())
