#!/usr/bin/python3
"""The Transformer in NumPy, sentence by sentence, straight from the equations of Vaswani et al. 2017: what transformer.json holds
and tests/gradient/transformer_test.cpp compares with. To make it again: tests/reference/transformer.py > tests/reference/transformer.json

Parameters and inputs are functions of their names, so that neither side needs the other's random numbers.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np

EMBEDDING, ANNOTATION, UNITS, HEADS, FEED_FORWARD, LAYERS, MAX_POSITIONS, QUERY = 4, 5, 6, 2, 7, 2, 2, 3
SOURCE_LENGTHS, STEPS = [3, 2], 3


def array(name: str, *shape: int) -> np.ndarray:
    """0.5 sin(sum of the name's characters + 0.7 index)."""
    count = int(np.prod(shape))
    return (0.5 * np.sin(sum(map(ord, name)) + 0.7 * np.arange(count))).reshape(shape)


@dataclass
class Variant:
    norm: str
    positions: str


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
        for p in range(len(x)):
            for i in range(0, UNITS, 2):
                places[p, i] = np.sin(p / 10000 ** (i / UNITS))
                places[p, i + 1] = np.cos(p / 10000 ** (i / UNITS))
    return np.sqrt(UNITS) * projected + places


def attend(q: np.ndarray, k: np.ndarray, v: np.ndarray, causal: bool) -> tuple[np.ndarray, np.ndarray]:
    """Contexts [T, UNITS] and weights [HEADS, T, S]."""
    size = UNITS // HEADS
    contexts, weights = [], []
    for h in range(HEADS):
        at = slice(h * size, (h + 1) * size)
        energies = q[:, at] @ k[:, at].T / np.sqrt(size)
        if causal:
            energies = np.where(np.tril(np.ones_like(energies)) == 1, energies, -np.inf)
        exponentials = np.exp(energies - energies.max(axis=-1, keepdims=True))
        w = exponentials / exponentials.sum(axis=-1, keepdims=True)
        weights.append(w)
        contexts.append(w @ v[:, at])
    return np.concatenate(contexts, axis=-1), np.array(weights)


def self_attention(x: np.ndarray, name: str, causal: bool) -> np.ndarray:
    w = array(f"{name}.queries_keys_values.W", UNITS, 3 * UNITS)
    q, k, v = x @ w[:, :UNITS], x @ w[:, UNITS : 2 * UNITS], x @ w[:, 2 * UNITS :]
    return attend(q, k, v, causal)[0] @ array(f"{name}.output.W", UNITS, UNITS)


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
        x = residual(x, f"{layer}.attention", v, lambda y: self_attention(y, f"{layer}.attention", causal=False))
        x = residual(x, f"{layer}.feed_forward", v, lambda y: feed_forward(y, f"{layer}.feed_forward"))
    return layer_norm(x, "norm") if v.norm == "pre" else x


def decoder(embedded: np.ndarray, annotations: np.ndarray, v: Variant) -> tuple[np.ndarray, np.ndarray]:
    """Outputs [T, UNITS] and weights [LAYERS, HEADS, T, S]."""
    memory = annotations @ array("memory.W", ANNOTATION, 2 * LAYERS * UNITS)
    weights = []

    def cross(y: np.ndarray, i: int) -> np.ndarray:
        name, begin = f"layer{i + 1}.cross", 2 * i * UNITS
        context, w = attend(
            y @ array(f"{name}.queries.W", UNITS, UNITS),
            memory[:, begin : begin + UNITS],
            memory[:, begin + UNITS : begin + 2 * UNITS],
            causal=False,
        )
        weights.append(w)
        return context @ array(f"{name}.output.W", UNITS, UNITS)

    x = embed(embedded, v)
    for i in range(LAYERS):
        layer = f"layer{i + 1}"
        x = residual(x, f"{layer}.self", v, lambda y: self_attention(y, f"{layer}.self", causal=True))
        x = residual(x, f"{layer}.cross", v, lambda y: cross(y, i))
        x = residual(x, f"{layer}.feed_forward", v, lambda y: feed_forward(y, f"{layer}.feed_forward"))
    return (layer_norm(x, "norm") if v.norm == "pre" else x), np.array(weights)


def multi_head(state: np.ndarray, annotations: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The attention over recurrent states: context [ANNOTATION] and weights [HEADS, S]."""
    memory = annotations @ array("memory.W", ANNOTATION, 2 * UNITS)
    query = state[None] @ array("heads.queries.W", QUERY, UNITS)
    context, weights = attend(query, memory[:, :UNITS], memory[:, UNITS:], causal=False)
    return (context @ array("heads.output.W", UNITS, ANNOTATION))[0], weights[:, 0]


def main() -> None:
    longest, sentences = max(SOURCE_LENGTHS), len(SOURCE_LENGTHS)
    source = array("source", sentences, longest, EMBEDDING)
    annotations = array("annotations", sentences, longest, ANNOTATION)
    target = array("target", STEPS, sentences, EMBEDDING)
    state = array("state", sentences, QUERY)
    cases = []
    for v in (Variant("post", "sinusoidal"), Variant("pre", "learned")):
        for b, length in enumerate(SOURCE_LENGTHS):
            outputs, weights = decoder(target[:, b], annotations[b, :length], v)
            states = encoder(source[b, :length], v)
            cases.append(
                {"norm": v.norm, "positions": v.positions, "sentence": b, "states": states, "outputs": outputs, "weights": weights}
            )
    recurrent = []
    for b, length in enumerate(SOURCE_LENGTHS):
        context, weights = multi_head(state[b], annotations[b, :length])
        recurrent.append({"sentence": b, "context": context, "weights": weights})
    flat = {"transformer": cases, "multi_head": recurrent}
    print(json.dumps(flat, default=lambda x: [float(f"{number:.12g}") for number in x.ravel()]))


if __name__ == "__main__":
    main()
