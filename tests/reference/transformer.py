#!/usr/bin/python3
"""The Transformer in NumPy, sentence by sentence, from the equations of Vaswani et al. 2017, with relative positions from
those of Shaw et al. 2018 and rotary positions from those of Su et al. 2021: what transformer.json holds and
tests/gradient/transformer_test.cpp compares with. To make it again: tests/reference/transformer.py > tests/reference/transformer.json

Parameters and inputs are functions of their names, so that neither side needs the other's random numbers.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np

EMBEDDING, ANNOTATION, UNITS, FEED_FORWARD, LAYERS, MAX_POSITIONS, QUERY = 4, 5, 6, 7, 2, 2, 3
SOURCE_LENGTHS, STEPS = [3, 2], 3


def array(name: str, *shape: int) -> np.ndarray:
    """0.5 sin(sum of the name's characters + 0.7 index)."""
    count = int(np.prod(shape))
    return (0.5 * np.sin(sum(map(ord, name)) + 0.7 * np.arange(count))).reshape(shape)


@dataclass
class Variant:
    norm: str
    positions: str
    heads: int = 2
    clip: int | None = None  # of relative positions
    values: bool = False  # also in values
    shared: bool = False  # shared by the heads of a layer

    @property
    def size(self) -> int:  # of a head
        return UNITS // self.heads


def layer_norm(x: np.ndarray, name: str) -> np.ndarray:
    centred = x - x.mean(axis=-1, keepdims=True)
    deviation = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-5)
    return array(f"{name}.gain", UNITS) * centred / deviation + array(f"{name}.bias", UNITS)


def embed(x: np.ndarray, v: Variant) -> np.ndarray:
    projected = x @ array("projection.W", EMBEDDING, UNITS)
    if v.positions == "learned":
        table = array("positions", MAX_POSITIONS, UNITS)
        places = np.array([table[min(p, MAX_POSITIONS - 1)] for p in range(len(x))])
    else:
        places = np.zeros((len(x), UNITS))
        for p in range(len(x) if v.positions == "sinusoidal" else 0):
            for i in range(0, UNITS, 2):
                places[p, i] = np.sin(p / 10000 ** (i / UNITS))
                places[p, i + 1] = np.cos(p / 10000 ** (i / UNITS))
    return np.sqrt(UNITS) * projected + places


def softmax(energies: np.ndarray) -> np.ndarray:
    exponentials = np.exp(energies - energies.max())
    return exponentials / exponentials.sum()


def attend(q: np.ndarray, k: np.ndarray, v: np.ndarray, heads: int) -> tuple[np.ndarray, np.ndarray]:
    """Attention to another sequence: contexts [T, UNITS] and weights [heads, T, S]."""
    contexts, weights = [], []
    for at in np.split(np.arange(UNITS), heads):
        w = np.array([softmax(query @ k[:, at].T / np.sqrt(len(at))) for query in q[:, at]])
        weights.append(w)
        contexts.append(w @ v[:, at])
    return np.concatenate(contexts, axis=-1), np.array(weights)


def rotation(position: int, size: int) -> np.ndarray:
    """The matrix R of Su et al. 2021, equation 15, for one head."""
    matrix = np.zeros((size, size))
    for i in range(1, size // 2 + 1):
        angle = position * 10000 ** (-2 * (i - 1) / size)
        pair = slice(2 * i - 2, 2 * i)
        matrix[pair, pair] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    return matrix


def self_attention(x: np.ndarray, name: str, v: Variant, causal: bool) -> tuple[np.ndarray, np.ndarray]:
    """Returns outputs [S, UNITS] and weights [heads, S, S], one query and key at a time."""
    count, size = len(x), v.size
    matrix = array(f"{name}.queries_keys_values.W", UNITS, 3 * UNITS)
    queries, keys, values = x @ matrix[:, :UNITS], x @ matrix[:, UNITS : 2 * UNITS], x @ matrix[:, 2 * UNITS :]
    shape = ((v.clip or 0) * (1 if causal else 2) + 1, size if v.shared else UNITS)
    a_k, a_v = array(f"{name}.distance_keys", *shape), array(f"{name}.distance_values", *shape)

    def of_distance(table: np.ndarray, h: int, distance: int) -> np.ndarray:
        """w of clip(j - i, k), Shaw et al. 2018, section 3.2: row 0 is that of distance -k."""
        row = table[max(-v.clip, min(v.clip, distance)) + v.clip]
        return row if v.shared else row[h * size : (h + 1) * size]

    contexts, weights = np.zeros((count, UNITS)), np.zeros((v.heads, count, count))
    for h in range(v.heads):
        at = slice(h * size, (h + 1) * size)
        for i in range(count):
            seen = i + 1 if causal else count
            energies = np.zeros(seen)
            for j in range(seen):
                query, key = queries[i, at], keys[j, at]
                if v.positions == "relative":  # equation 4
                    key = key + of_distance(a_k, h, j - i)
                if v.positions == "rotary":  # equation 16
                    query, key = rotation(i, size) @ query, rotation(j, size) @ key
                energies[j] = query @ key / np.sqrt(size)
            weights[h, i, :seen] = softmax(energies)
            for j in range(seen):
                value = values[j, at]
                if v.values:  # equation 3
                    value = value + of_distance(a_v, h, j - i)
                contexts[i, at] += weights[h, i, j] * value
    return contexts @ array(f"{name}.output.W", UNITS, UNITS), weights


def feed_forward(x: np.ndarray, name: str) -> np.ndarray:
    inner = x @ array(f"{name}.inner.W", UNITS, FEED_FORWARD) + array(f"{name}.inner.b", FEED_FORWARD)
    return np.maximum(0, inner) @ array(f"{name}.outer.W", FEED_FORWARD, UNITS) + array(f"{name}.outer.b", UNITS)


def residual(x: np.ndarray, name: str, v: Variant, f) -> np.ndarray:
    if v.norm == "pre":
        return x + f(layer_norm(x, f"{name}.norm"))
    return layer_norm(x + f(x), f"{name}.norm")


def encoder(embedded: np.ndarray, v: Variant) -> np.ndarray:
    x = embed(embedded, v)
    for layer in (f"layer{i}" for i in range(1, LAYERS + 1)):
        x = residual(x, f"{layer}.attention", v, lambda y: self_attention(y, f"{layer}.attention", v, causal=False)[0])
        x = residual(x, f"{layer}.feed_forward", v, lambda y: feed_forward(y, f"{layer}.feed_forward"))
    return layer_norm(x, "norm") if v.norm == "pre" else x


def decoder(embedded: np.ndarray, annotations: np.ndarray, v: Variant) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns outputs [T, UNITS], weights [LAYERS, heads, T, S], and those of self-attention [LAYERS, heads, T, T]."""
    memory = annotations @ array("memory.W", ANNOTATION, 2 * LAYERS * UNITS)
    weights, own_weights = [], []

    def own(y: np.ndarray, i: int) -> np.ndarray:
        output, w = self_attention(y, f"layer{i + 1}.self", v, causal=True)
        own_weights.append(w)
        return output

    def cross(y: np.ndarray, i: int) -> np.ndarray:
        name, begin = f"layer{i + 1}.cross", 2 * i * UNITS
        context, w = attend(
            y @ array(f"{name}.queries.W", UNITS, UNITS),
            memory[:, begin : begin + UNITS],
            memory[:, begin + UNITS : begin + 2 * UNITS],
            v.heads,
        )
        weights.append(w)
        return context @ array(f"{name}.output.W", UNITS, UNITS)

    x = embed(embedded, v)
    for i in range(LAYERS):
        layer = f"layer{i + 1}"
        x = residual(x, f"{layer}.self", v, lambda y: own(y, i))
        x = residual(x, f"{layer}.cross", v, lambda y: cross(y, i))
        x = residual(x, f"{layer}.feed_forward", v, lambda y: feed_forward(y, f"{layer}.feed_forward"))
    return (layer_norm(x, "norm") if v.norm == "pre" else x), np.array(weights), np.array(own_weights)


def multi_head(state: np.ndarray, annotations: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Attention over recurrent states with two heads. Returns context [ANNOTATION] and weights [2, S]."""
    memory = annotations @ array("memory.W", ANNOTATION, 2 * UNITS)
    query = state[None] @ array("heads.queries.W", QUERY, UNITS)
    context, weights = attend(query, memory[:, :UNITS], memory[:, UNITS:], 2)
    return (context @ array("heads.output.W", UNITS, ANNOTATION))[0], weights[:, 0]


def main() -> None:
    longest, sentences = max(SOURCE_LENGTHS), len(SOURCE_LENGTHS)
    source = array("source", sentences, longest, EMBEDDING)
    annotations = array("annotations", sentences, longest, ANNOTATION)
    target = array("target", STEPS, sentences, EMBEDDING)
    state = array("state", sentences, QUERY)
    cases = []
    for v in (
        Variant("post", "sinusoidal"),
        Variant("pre", "learned"),
        Variant("post", "none"),
        Variant("post", "relative", clip=1),
        Variant("pre", "relative", clip=2, values=True),
        Variant("post", "relative", clip=1, values=True, shared=True),
        Variant("post", "relative", clip=5),
        Variant("post", "rotary", heads=3),
        Variant("pre", "rotary", heads=1),
    ):
        for b, length in enumerate(SOURCE_LENGTHS):
            outputs, weights, own = decoder(target[:, b], annotations[b, :length], v)
            states = encoder(source[b, :length], v)
            how = {"norm": v.norm, "positions": v.positions, "heads": v.heads, "clip": v.clip, "values": v.values, "shared": v.shared}
            cases.append(how | {"sentence": b, "states": states, "outputs": outputs, "weights": weights, "own": own})
    recurrent = []
    for b, length in enumerate(SOURCE_LENGTHS):
        context, weights = multi_head(state[b], annotations[b, :length])
        recurrent.append({"sentence": b, "context": context, "weights": weights})
    flat = {"transformer": cases, "multi_head": recurrent}
    print(json.dumps(flat, default=lambda x: [float(f"{number:.12g}") for number in x.ravel()]))


if __name__ == "__main__":
    main()
