#!/usr/bin/env python3
"""The benchmark's RNNsearch in JAX: one jitted step with lax.scan, donated buffers, and attention recomputed in the backward pass."""

from __future__ import annotations

import os

from protocol import WORKLOADS, arguments_of, resident_mib, serve

arguments = arguments_of("Times JAX on the benchmark's model.", ("jit",))
if arguments.threads == 1:
    os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} --xla_cpu_multi_thread_eigen=false"
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
os.environ["JAX_PLATFORMS"] = "cpu"

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax import Array, lax  # noqa: E402

LOAD = WORKLOADS[arguments.configuration]
UNITS, ROWS = LOAD.units, LOAD.sentences
Weights = dict[str, Array]


def drawn(shapes: dict[str, tuple[int, ...]]) -> Weights:
    draw = np.random.default_rng(1)
    return {name: jnp.asarray(draw.uniform(-1, 1, shape).astype(np.float32) / UNITS**0.5) for name, shape in shapes.items()}


def cell(gates: Array, hidden: Array, state: Array) -> Array:
    reset = jax.nn.sigmoid(gates[:, :UNITS] + hidden[:, :UNITS])
    update = jax.nn.sigmoid(gates[:, UNITS : 2 * UNITS] + hidden[:, UNITS : 2 * UNITS])
    new = jnp.tanh(gates[:, 2 * UNITS :] + reset * hidden[:, 2 * UNITS :])
    return new + update * (state - new)


@jax.checkpoint
def attend(keys: Array, query: Array, v: Array) -> Array:
    return jax.nn.softmax(jnp.tanh(keys + query[:, None]) @ v, axis=1)


def loss_of(p: Weights, source: Array, target_in: Array, target_out: Array) -> Array:
    x = p["source"][source]
    inputs = x @ p["forward_in"] + p["forward_bias"], x[::-1] @ p["backward_in"] + p["backward_bias"]

    def encode(states: tuple[Array, Array], gates: tuple[Array, Array]) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
        forward = cell(gates[0], states[0] @ p["forward_state"] + p["forward_hidden"], states[0])
        backward = cell(gates[1], states[1] @ p["backward_state"] + p["backward_hidden"], states[1])
        return (forward, backward), (forward, backward)

    zero = jnp.zeros((ROWS, UNITS), jnp.float32)
    (_, last), (forward, backward) = lax.scan(encode, (zero, zero), inputs)
    values = jnp.concatenate([forward, backward[::-1]], -1).transpose(1, 0, 2)
    keys = values @ p["key"] + p["key_bias"]
    embedded = p["target"][target_in]

    def decode(state: Array, word: Array) -> tuple[Array, tuple[Array, Array]]:
        projected = state @ p["of_state"]
        context = jnp.einsum("bs,bsu->bu", attend(keys, projected[:, :UNITS], p["v"]), values)
        return cell(word + context @ p["of_context"], projected[:, UNITS:] + p["hidden"], state), (state, context)

    start = jnp.tanh(last @ p["start"] + p["start_bias"])
    _, outputs = lax.scan(decode, start, embedded @ p["word"] + p["word_bias"])
    wide = jnp.concatenate(outputs, -1) @ p["readout"] + p["readout_bias"] + embedded @ p["symbol"]
    features = wide.reshape(wide.shape[0] * ROWS, -1, 2).max(-1)
    logits = features @ p["projection"] + p["projection_bias"]
    right = jnp.take_along_axis(logits, target_out.reshape(-1, 1), 1)[:, 0]
    return (jax.nn.logsumexp(logits, -1) - right).mean()


def update(p: Weights, mean: Weights, variance: Weights, number: Array, *batch: Array) -> tuple[Weights, Weights, Weights, Array, Array]:
    loss, gradient = jax.value_and_grad(loss_of)(p, *batch)
    norm = jnp.sqrt(sum(jnp.vdot(x, x) for x in jax.tree.leaves(gradient)))
    gradient = jax.tree.map(lambda x: x * jnp.minimum(1.0, 1.0 / (norm + 1e-6)), gradient)
    number = number + 1
    mean = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, mean, gradient)
    variance = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, variance, gradient)
    rate, root = 1e-3 / (1 - 0.9**number), jnp.sqrt(1 - 0.999**number)
    p = jax.tree.map(lambda w, m, v: w - rate * m / (jnp.sqrt(v) / root + 1e-8), p, mean, variance)
    return p, mean, variance, number, loss


def main() -> None:
    jax.devices()
    before = resident_mib("VmRSS")
    size, vocabulary, wide, gates = LOAD.embedding, LOAD.vocabulary, 2 * (UNITS // 2), 3 * UNITS
    shapes: dict[str, tuple[int, ...]] = {
        "source": (vocabulary, size), "target": (vocabulary, size), "start": (UNITS, UNITS), "start_bias": (UNITS,),
        "key": (2 * UNITS, UNITS), "key_bias": (UNITS,), "v": (UNITS,), "of_state": (UNITS, 4 * UNITS), "hidden": (gates,),
        "word": (size, gates), "word_bias": (gates,), "of_context": (2 * UNITS, gates), "readout": (3 * UNITS, wide),
        "readout_bias": (wide,), "symbol": (size, wide), "projection": (wide // 2, vocabulary), "projection_bias": (vocabulary,),
    }  # fmt: skip
    for way in ("forward", "backward"):
        shapes |= {f"{way}_in": (size, gates), f"{way}_state": (UNITS, gates), f"{way}_bias": (gates,), f"{way}_hidden": (gates,)}
    weights = drawn(shapes)
    state = [weights, jax.tree.map(jnp.zeros_like, weights), jax.tree.map(jnp.zeros_like, weights), jnp.zeros(())]
    draw = np.random.default_rng(2)
    source = jnp.asarray(draw.integers(3, vocabulary, (LOAD.source, ROWS)))
    target_out = jnp.asarray(draw.integers(3, vocabulary, (LOAD.target, ROWS)))
    target_in = jnp.concatenate([jnp.ones((1, ROWS), target_out.dtype), target_out[:-1]])
    step = jax.jit(update, donate_argnums=(0, 1, 2, 3))
    parameters = int(sum(x.size for x in weights.values()))

    def run() -> float:
        *state[:], loss = step(*state, source, target_in, target_out)
        return float(loss)

    serve(run, before, arguments, implementation=f"JAX {jax.__version__}", parameters=parameters)


if __name__ == "__main__":
    main()
