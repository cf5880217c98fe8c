#!/usr/bin/python3
"""Computes scores and attentions by their papers' formulas in NumPy, position by position.

alignment.py: writes alignment.json beside itself, which tests/conformance/alignment_test.cpp compares with.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

LENGTHS, POSITIONS, UNITS, STEPS = [4, 2], 4, 5, 3
ROWS = len(LENGTHS)
Q, D = 3, 4
LINKS = {0: [(2, 0), (0, 1), (3, 1)], 1: [(0, 2)]}  # of each sentence: (source, target)


def filled(phase: float, *shape: int) -> np.ndarray:
    """Returns the numbers of an array, the same as in the test."""
    return (0.9 * np.sin(1.7 * np.arange(np.prod(shape)) + phase)).reshape(shape)


class Score:
    """Returns a score by name, with its parameters in the order in which the plugin declares them."""

    def __init__(self, name: str, query: int = Q, first: int = 10) -> None:
        self.name = name
        shapes = {
            "additive": [(query, UNITS), (D, UNITS), (UNITS,), (UNITS,)],
            "additive_concat": [(query, UNITS), (D, UNITS), (UNITS,), (UNITS,)],
            "concat": [(query, UNITS), (UNITS,), (D, UNITS)],
            "concat_identity": [(query, D), (D,)],
            "dot": [],
            "scaled_dot": [],
            "general": [(query, D)],
            "location": [(query, 3)],
            "cosine": [(1,)],
            "normed_additive": [(query, UNITS), (D, UNITS), (UNITS,), (UNITS,), (1,)],
            "coverage": [(query, UNITS), (D, UNITS), (UNITS,), (UNITS,), (UNITS,)],
            "stacked": [(query, UNITS), (D, UNITS), (UNITS, 1), (UNITS, 1)],
        }[name]
        self.p = [filled(first + k, *shape) for k, shape in enumerate(shapes)]

    def __call__(self, s: np.ndarray, h: np.ndarray, attended: float, position: int) -> float:
        p = self.p
        if self.name in ("additive", "additive_concat"):
            return p[3] @ np.tanh(np.concatenate([s, h]) @ np.vstack([p[0], p[1]]) + p[2])
        if self.name == "concat":
            return p[1] @ np.tanh(np.concatenate([s, h]) @ np.vstack([p[0], p[2]]))
        if self.name == "concat_identity":
            return p[1] @ np.tanh(np.concatenate([s, h]) @ np.vstack([p[0], np.eye(D)]))
        if self.name == "dot":
            return s @ h
        if self.name == "scaled_dot":
            return s @ h / np.sqrt(len(s))
        if self.name == "general":
            return s @ p[0] @ h
        if self.name == "location":
            return (s @ p[0])[position] if position < 3 else 0.0
        if self.name == "cosine":
            return p[0][0] * (s @ h) / np.linalg.norm(s) / np.linalg.norm(h)
        if self.name == "normed_additive":
            return p[4][0] * p[3] @ np.tanh(s @ p[0] + h @ p[1] + p[2]) / np.linalg.norm(p[3])
        if self.name == "stacked":
            return np.vstack([p[2], p[3]])[:, 0] @ np.tanh(np.concatenate([s @ p[0], h @ p[1]]))
        return p[4] @ np.tanh(s @ p[0] + h @ p[1] + p[3] * attended + p[2])


def softmax(e: np.ndarray) -> np.ndarray:
    w = np.exp(e - e.max())
    return w / w.sum()


def sparsemax(e: np.ndarray) -> np.ndarray:
    """Sparsemax by bisection for the threshold, not by sorting."""
    low, high = e.min() - 1, e.max()
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if np.maximum(e - middle, 0).sum() > 1 else (low, middle)
    return np.maximum(e - low, 0)


def entmax(e: np.ndarray, alpha: float) -> np.ndarray:
    """Entmax of Peters et al. 2019, equation 9, by bisection for the threshold."""
    z = (alpha - 1) * e
    low, high = z.max() - 1, z.max()
    for _ in range(200):
        middle = (low + high) / 2
        total = (np.maximum(z - middle, 0) ** (1 / (alpha - 1))).sum()
        low, high = (middle, high) if total > 1 else (low, middle)
    return np.maximum(z - low, 0) ** (1 / (alpha - 1))


def window(e: np.ndarray, center: float, size: int) -> np.ndarray:
    w = np.zeros_like(e)
    inside = [j for j in range(len(e)) if abs(j - center) <= size]
    w[inside] = softmax(e[inside])
    return w


def expected(stop: np.ndarray, before: np.ndarray) -> np.ndarray:
    """Raffel et al. 2017, equation 8: sums over all previous positions k and all positions between that were passed."""
    return np.array(
        [
            stop[j] * sum(before[k] * np.prod([1 - stop[between] for between in range(k, j)]) for k in range(j + 1))
            for j in range(len(stop))
        ]
    )


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def location_aware(name: str, own: list[np.ndarray], s: np.ndarray, h: np.ndarray, past: dict) -> np.ndarray:
    """Chorowski et al. 2015, equations 8 to 11; the first weights as in the authors' code."""
    w_query, w_key, bias, filters, w_features, v, energy_bias = own
    length, half = len(h), filters.shape[1] // 2
    before = past.get("weights", np.eye(length)[0])
    e = np.zeros(length)
    for j in range(length):
        f = np.zeros(len(filters))
        for r in range(filters.shape[1]):
            if 0 <= j + r - half < length:
                f += filters[:, r] * before[j + r - half]
        e[j] = v @ np.tanh(s @ w_query + h[j] @ w_key + f @ w_features + bias)
    if name.startswith("location_aware_smoothing"):
        e += energy_bias[0] if name.endswith("_bias") else 0
        past["weights"] = sigmoid(e) / sigmoid(e).sum()
    elif name == "location_aware_window":
        median = min(j for j in range(length) if before[: j + 1].sum() >= 0.5)
        inside = [j for j in range(length) if median - 2 <= j <= median + 1]
        past["weights"] = np.zeros(length)
        past["weights"][inside] = softmax(e[inside])
    else:
        past["weights"] = softmax((3 if name == "location_aware_sharpening" else 1) * e)
    return past["weights"]


def gaussian_mixture(name: str, own: list[np.ndarray], s: np.ndarray, length: int, past: dict) -> np.ndarray:
    """Graves 2013, section 5.1; normalised as variant V1 of Battenberg et al. 2020."""
    raw = np.split(s @ own[0] + own[1], 3)
    beta = np.exp(raw[1])
    past["kappa"] = past.get("kappa", 0) + np.exp(raw[2])
    alpha = np.exp(raw[0])
    if name == "gaussian_mixture_normalised":
        deviation = 1 / np.sqrt(2 * beta)
        alpha = softmax(raw[0]) / np.sqrt(2 * np.pi * deviation**2)
    return np.array([(alpha * np.exp(-beta * (past["kappa"] - u) ** 2)).sum() for u in range(1, length + 1)])


def chunkwise(stops: list[np.ndarray], u: np.ndarray, size: int) -> np.ndarray:
    """Chiu and Raffel 2018: the mean, over all paths of the pointer (a stop for every step), of the softmax at the last stop."""
    total = np.zeros_like(u)

    def walk(step: int, at: int, probability: float) -> None:
        if step == len(stops):
            first = max(at - size + 1, 0)
            total[first : at + 1] += probability * softmax(u[first : at + 1])
            return
        for stop in range(at, len(u)):
            walk(step + 1, stop, probability * stops[step][stop])
            probability *= 1 - stops[step][stop]

    walk(0, 0, 1.0)
    return total


def attend(
    name: str, own: list[np.ndarray], s: np.ndarray, h: np.ndarray, e: np.ndarray, t: int, b: int, past: dict
) -> np.ndarray:
    length = len(e)
    if name.startswith("location_aware"):
        return location_aware(name, own, s, h, past)
    if name.startswith("gaussian_mixture"):
        return gaussian_mixture(name, own, s, length, past)
    if name == "sparsemax":
        return sparsemax(e)
    if name == "local_m":
        return window(e, min(t, length - 1), 1)
    if name.startswith("local_p"):
        far = length - 1 if name == "local_p_code" else length
        p = far / (1 + np.exp(-(np.tanh(s @ own[0]) @ own[1][:, 0])))
        around = np.floor(p) if name == "local_p_code" else p
        return window(e, around, 1) * np.exp(-((np.arange(length) - p) ** 2) / (2 * 0.5**2))
    if name.startswith("monotonic"):
        stop = 1 / (1 + np.exp(-(e + own[0][0])))
        if name == "monotonic_hard":
            stop = (stop > 0.5).astype(float)
        past["at"] = expected(stop, past.get("at", np.eye(length)[0]))
        return past["at"]
    if name.startswith("mocha"):
        score = Score("general", first=12)
        u = np.array([score(s, h[j], 0.0, j) for j in range(length)])
        stop = 1 / (1 + np.exp(-(e + own[0][0])))
        past.setdefault("stops", []).append((stop > 0.5).astype(float) if name == "mocha_hard" else stop)
        return chunkwise(past["stops"], u, 3 if name == "mocha_hard" else 2)
    if name.startswith("entmax"):
        alpha = 1 + 1 / (1 + np.exp(-own[0][0])) if name == "entmax_learned" else float(name[6:])
        return entmax(e, alpha)
    if name == "uniform":
        return np.full(length, 1 / length)
    if name == "true_alignment":
        sources = [source for source, target in LINKS[b] if target == t] or [length - 1]
        return sum(np.eye(length)[source] for source in sources) / len(sources)
    if name == "hard":
        return np.eye(length)[np.argmax(e)]
    if name == "hard_expectation":
        return softmax(e / 2)
    return softmax(e)


def score_numbers(name: str, query: int) -> list[float]:
    score, h, s = Score(name, query), filled(1, ROWS, POSITIONS, D), filled(2, ROWS, query)
    attended = np.abs(filled(3, ROWS, POSITIONS))
    return [
        float(score(s[b], h[b, j], attended[b, j], j)) if j < LENGTHS[b] else 0.0 for b in range(ROWS) for j in range(POSITIONS)
    ]


def attention_numbers(name: str, score_name: str) -> list[float]:
    """Returns the weights, then the context, for each step and sentence."""
    score = Score(score_name) if score_name else None
    first = 10 + (len(score.p) if score else 0)
    own = {"local_p": [filled(first, Q, Q), filled(first + 1, Q, 1)], "monotonic_hard": [filled(first, 1)]}
    own["monotonic_soft"] = own["mocha_hard"] = own["mocha_soft"] = own["entmax_learned"] = own["monotonic_hard"]
    own["local_p_code"] = own["local_p"]
    aware = [(Q, UNITS), (D, UNITS), (UNITS,), (2, 3), (2, UNITS), (UNITS,), (1,)]  # two filters of three positions
    mixture = [(Q, 3 * 2), (3 * 2,)]  # of two components
    for kind, shapes in (("location_aware", aware), ("gaussian_mixture", mixture)):
        if name.startswith(kind):
            own[name] = [filled(first + k, *shape) for k, shape in enumerate(shapes)]
    h, numbers, total = filled(1, ROWS, POSITIONS, D), [], np.zeros((ROWS, POSITIONS))
    past = [{} for _ in range(ROWS)]
    for t in range(STEPS):
        s = filled(2 + t, ROWS, Q)
        for b, length in enumerate(LENGTHS):
            valid = min(length, 3) if score_name == "location" else length
            e = np.array([score(s[b], h[b, j], total[b, j], j) if score else 0.0 for j in range(valid)])
            w = np.zeros(POSITIONS)
            w[:valid] = attend(name, own.get(name, []), s[b], h[b, :length], e, t, b, past[b])
            numbers += [*w, *(w @ h[b])]
            total[b] += w
    return [float(x) for x in numbers]


def hops_numbers(hops: int, tying: str) -> list[float]:
    """Sukhbaatar et al. 2015, section 2.2, with UNITS numbers. Returns the last hop's weights, then the context, for each step and sentence."""
    blocks = {"layer_wise": 2, "adjacent": hops + 1, "none": 2 * hops}[tying]
    question, memory = filled(10, Q, UNITS), filled(11, D, blocks * UNITS).reshape(D, blocks, UNITS)
    between = [filled(12 + (0 if tying == "layer_wise" else k), UNITS, UNITS) for k in range(hops - 1)]
    h, numbers = filled(1, ROWS, POSITIONS, D), []
    for t in range(STEPS):
        s = filled(2 + t, ROWS, Q)
        for b, length in enumerate(LENGTHS):
            u, w = s[b] @ question, np.zeros(POSITIONS)
            for k in range(hops):
                key = {"layer_wise": 0, "adjacent": k, "none": 2 * k}[tying]
                w[:length] = softmax(np.array([u @ (h[b, j] @ memory[:, key]) for j in range(length)]))
                o = sum(w[j] * (h[b, j] @ memory[:, key + 1]) for j in range(length))
                u, context = (u if tying == "adjacent" or k == hops - 1 else u @ between[k]) + o, u + o
            numbers += [*w, *context]
    return [float(x) for x in numbers]


SCORES = {
    "additive": ("{type: additive, units: 5}", Q),
    "additive_concat": ("{type: additive_concat, units: 5}", Q),
    "concat": ("{type: concat, units: 5}", Q),
    "concat_identity": ("{type: concat, identity: true}", Q),
    "dot": ("dot", D),
    "scaled_dot": ("scaled_dot", D),
    "general": ("general", Q),
    "location": ("{type: location, positions: 3}", Q),
    "cosine": ("cosine", D),
    "normed_additive": ("{type: normed_additive, units: 5}", Q),
    "coverage": ("{type: coverage, units: 5}", Q),
    "stacked": ("{type: stacked, units: 5}", Q),
}
ATTENTIONS = {
    "global": ("{type: global, score: general}", "general"),
    "global coverage": ("{type: global, score: {type: coverage, units: 5}}", "coverage"),
    "global location": ("{type: global, score: {type: location, positions: 3}}", "location"),
    "sparsemax": ("{type: sparsemax, score: general}", "general"),
    "sparsemax coverage": ("{type: sparsemax, score: {type: coverage, units: 5}}", "coverage"),
    "local_m": ("{type: local_m, window: 1, score: general}", "general"),
    "local_p": ("{type: local_p, window: 1, score: general}", "general"),
    "local_p_code": ("{type: local_p, window: 1, centre: code, score: general}", "general"),
    "monotonic_hard": ("{type: monotonic, score: general}", "general"),
    "monotonic_soft": ("{type: monotonic, score: general, test: soft}", "general"),
    "location_aware": ("{type: location_aware, units: 5, filters: 2, width: 3}", ""),
    "location_aware_sharpening": ("{type: location_aware, units: 5, filters: 2, width: 3, sharpening: 3}", ""),
    "location_aware_smoothing": ("{type: location_aware, units: 5, filters: 2, width: 3, smoothing: true}", ""),
    "location_aware_smoothing_bias": (
        "{type: location_aware, units: 5, filters: 2, width: 3, smoothing: true, energy_bias: true}", ""
    ),
    "location_aware_window": ("{type: location_aware, units: 5, filters: 2, width: 3, window: 2}", ""),
    "gaussian_mixture": ("{type: gaussian_mixture, components: 2}", ""),
    "gaussian_mixture_normalised": ("{type: gaussian_mixture, components: 2, normalised: true}", ""),
    "mocha_hard": ("{type: mocha, chunk: 3, score: general, chunk_score: general}", "general"),
    "mocha_soft": ("{type: mocha, score: general, chunk_score: general, test: soft}", "general"),
    "entmax1.5": ("{type: entmax, score: general}", "general"),
    "entmax1.25": ("{type: entmax, alpha: 1.25, score: general}", "general"),
    "entmax1.9": ("{type: entmax, alpha: 1.9, score: general}", "general"),
    "entmax_learned": ("{type: entmax, learned: true, score: general}", "general"),
    "uniform": ("uniform", ""),
    "true_alignment": ("true_alignment", ""),
    "hard": ("{type: hard, score: general}", "general"),
    "hard_expectation": ("{type: hard, score: general, test: expectation, temperature: 2}", "general"),
}


HOPS = [(1, "layer_wise"), (3, "layer_wise"), (3, "adjacent"), (3, "none")]


def main() -> None:
    cases = {
        "scores": [(option, query, score_numbers(name, query)) for name, (option, query) in SCORES.items()],
        "attentions": [(option, Q, attention_numbers(name.split()[0], score)) for name, (option, score) in ATTENTIONS.items()],
        "hops": [(f"{{type: memory_hops, units: {UNITS}, hops: {hops}, tying: {tying}}}", Q, hops_numbers(hops, tying)) for hops, tying in HOPS],
    }
    kinds = (f'"{kind}": [\n' + ",\n".join(map(json.dumps, some)) + "\n]" for kind, some in cases.items())  # a line for each
    Path(__file__).with_suffix(".json").write_text("{" + ",\n".join(kinds) + "}\n")


if __name__ == "__main__":
    main()
