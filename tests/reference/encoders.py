#!/usr/bin/python3
"""Annotations of two sentences by each encoder, from the papers' equations in NumPy, sentence by sentence.

encoders.py: writes encoders.json beside itself, which tests/conformance/encoders_test.cpp compares with.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np

EMBEDDING, UNITS, LENGTHS = 3, 2, [4, 2]


def numbers(name: str, *shape: int) -> np.ndarray:
    """Returns the numbers of a parameter or of the input, an arbitrary function of its name."""
    start = sum(name.encode()) % 101
    return 0.6 * np.sin(start + 1.7 * np.arange(np.prod(shape))).reshape(shape)


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def softmax(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max())
    return e / e.sum()


def projected(name: str, x: np.ndarray, size: int, bias: bool = True) -> np.ndarray:
    y = x @ numbers(f"{name}.W", x.shape[-1], size)
    return y + numbers(f"{name}.b", size) if bias else y


def rnn(name: str, x: np.ndarray, states: list[np.ndarray]) -> list[np.ndarray]:
    (h,) = states
    return [np.tanh(projected(f"{name}.input", x, UNITS) + h @ numbers(f"{name}.U", UNITS, UNITS))]


def gru(name: str, x: np.ndarray, states: list[np.ndarray]) -> list[np.ndarray]:
    """Cho et al. 2014, equations 5 to 8, with z as the share of the new state."""
    (h,) = states
    x_z, x_r, x_c = np.split(projected(f"{name}.input", x, 3 * UNITS), 3)
    h_z, h_r = np.split(h @ numbers(f"{name}.U", UNITS, 2 * UNITS), 2)
    z, r = sigmoid(x_z + h_z), sigmoid(x_r + h_r)
    c = np.tanh(x_c + (r * h) @ numbers(f"{name}.U_candidate", UNITS, UNITS))
    return [(1 - z) * h + z * c]


def lstm(name: str, x: np.ndarray, states: list[np.ndarray]) -> list[np.ndarray]:
    h, c = states
    gates = projected(f"{name}.input", x, 4 * UNITS) + h @ numbers(f"{name}.U", UNITS, 4 * UNITS)
    i, f, g, o = np.split(gates, 4)
    c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    return [sigmoid(o) * np.tanh(c), c]


CELLS = {"rnn": (rnn, 1), "gru": (gru, 1), "lstm": (lstm, 2)}


def recurrent(
    cell: str, x: np.ndarray, layers: int, direction: str, residual: bool, reduction: int = 1, prefix: str = ""
) -> dict[str, object]:
    """One sentence x [S, E]; from the second layer on, `reduction` positions are read as one. prefix: of the names of its
    parameters."""
    step, count = CELLS[cell]
    finals = []
    for layer in range(1, layers + 1):
        if layer > 1 and reduction > 1:
            whole = np.concatenate([x, np.zeros((-len(x) % reduction, x.shape[1]))])
            x = np.array([np.concatenate(whole[i : i + reduction]) for i in range(0, len(whole), reduction)])
        outputs, last_states = [], []
        for one in ("forward", "backward"):
            if direction not in (one, "both"):
                continue
            name = prefix + (one if layer == 1 else f"layer_{layer}.{one}")
            states = [np.zeros(UNITS) for _ in range(count)]
            order = range(len(x)) if one == "forward" else reversed(range(len(x)))
            h = np.zeros((len(x), UNITS))
            for position in order:
                states = step(name, x[position], states)
                h[position] = states[0]
            outputs.append(h)
            last_states.append(states)
        start = last_states[-1][0]
        final = [np.concatenate([states[k] for states in last_states]) for k in range(count)]
        finals += final
        y = np.concatenate(outputs, axis=1)
        x = y + x if residual and layer > 1 else y
    return {"states": x, "last": final[0], "start": start, "finals": finals}


def annotations_projected(cell: str, x: np.ndarray, size: int) -> dict[str, object]:
    """Both directions of two layers; the annotations and the last of them times one matrix."""
    parts = recurrent(cell, x, 2, "both", False)
    return parts | {name: projected("project", parts[name], size, bias=False) for name in ("states", "last")}


def lstmn(x: np.ndarray, cells: bool = False) -> dict[str, object]:
    """Cheng et al. 2016, section 3.2; cells: contexts average the memory tape."""
    w_state, w_summary = numbers("intra.W_state", UNITS, UNITS), numbers("intra.W_summary", UNITS, UNITS)
    v = numbers("intra.v", UNITS)
    h_tape: list[np.ndarray] = []
    c_tape: list[np.ndarray] = []
    h_summary = c_summary = np.zeros(UNITS)
    for now in x:
        if h_tape:
            query = projected("intra.input", now, UNITS, bias=False) + h_summary @ w_summary
            weights = softmax(np.array([v @ np.tanh(h @ w_state + query) for h in h_tape]))
            h_summary = sum(w * h for w, h in zip(weights, h_tape))
            c_summary = sum(w * c for w, c in zip(weights, c_tape))
        h, c = lstm("forward", now, [h_summary, c_summary])
        h_tape.append(h)
        c_tape.append(c)
    result = {"states": np.array(h_tape), "last": h, "start": h, "finals": [h, c]}
    return result | {"values": np.array(c_tape)} if cells else result


def with_positions(x: np.ndarray, maximum: int, name: str = "positions.P") -> np.ndarray:
    table = numbers(name, maximum, x.shape[1])
    return x + np.array([table[min(position, maximum - 1)] for position in range(len(x))])


def embedding_mean(x: np.ndarray, maximum: int | None = None) -> dict[str, object]:
    x = x if maximum is None else with_positions(x, maximum)
    return {"states": x, "last": x.mean(axis=0), "start": x.mean(axis=0), "finals": []}


def convolutional(x: np.ndarray, layers: int, value_layers: int, width: int, maximum: int) -> dict[str, object]:
    """Gehring et al. 2016, section 3."""
    x = projected("project", with_positions(x, maximum), UNITS)
    both = {}
    for stack, depth in (("keys", layers), ("values", value_layers)):
        y = x
        for layer in range(1, depth + 1):
            w = numbers(f"{stack}.layer_{layer}.W", width * UNITS, UNITS).reshape(width, UNITS, UNITS)
            padded = np.pad(y, ((width // 2, width // 2), (0, 0)))
            convolved = sum(padded[k : k + len(y)] @ w[k] for k in range(width))
            y = np.tanh(convolved + numbers(f"{stack}.layer_{layer}.b", UNITS) + y)
        both[stack] = y
    values = both["values"] if value_layers else both["keys"]
    mean = values.mean(axis=0)
    return {"states": both["keys"], "values": values, "last": mean, "start": mean, "finals": []}


def gated_convolutional(x: np.ndarray, layers: int, width: int, maximum: int, prefix: str = "") -> dict[str, object]:
    """Gehring et al. 2017, sections 3.1 to 3.4, position by position. prefix: of the names of its parameters."""
    size, half = x.shape[1], width // 2
    e = with_positions(x, maximum, prefix + "positions.P")
    z = projected(prefix + "in", e, UNITS)
    for layer in range(1, layers + 1):
        before = [np.zeros(UNITS)] * half + list(z) + [np.zeros(UNITS)] * half
        now = []
        for j in range(len(z)):
            a, b = np.split(projected(f"{prefix}layer_{layer}", np.concatenate(before[j : j + width]), 2 * UNITS), 2)
            now.append(np.sqrt(0.5) * (a * sigmoid(b) + z[j]))
        z = np.array(now)
    z = projected(prefix + "out", z, size)
    mean = (z + e).mean(axis=0)
    return {"states": z, "values": z + e, "last": mean, "start": mean, "finals": []}


def stack(x: np.ndarray) -> dict[str, object]:
    """A forward LSTM, convolutions over its states, a backward GRU over the convolutions; and the final states of all."""
    lowest = recurrent("lstm", x, 1, "forward", False, prefix="first.")
    middle = gated_convolutional(lowest["states"], 1, 3, 9, "second.")
    highest = recurrent("gru", middle["states"], 1, "backward", False, prefix="third.")
    return highest | {"finals": lowest["finals"] + highest["finals"]}


def case(name: str, options: str, encode: Callable[[np.ndarray], dict[str, object]]) -> dict[str, object]:
    sentences = []
    for row, length in enumerate(LENGTHS):
        result = encode(numbers(f"sentence {row}", length, EMBEDDING))
        result.setdefault("values", result["states"])
        result["finals"] = np.concatenate([np.zeros(0), *result["finals"]])
        sentences.append({key: np.asarray(value).flatten().tolist() for key, value in result.items()})
    return {"encoder": name, "options": options, "sentences": sentences}


def main() -> None:
    cases = []
    for cell in CELLS:
        for direction in ("forward", "backward", "both"):
            for layers, residual in ((1, False), (2, False), (3, True)):
                options = f"units: {UNITS}, layers: {layers}, direction: {direction}, residual: {str(residual).lower()}"
                cases.append(
                    case(cell, options, lambda x: recurrent(cell, x, layers, direction, residual))
                )
        options = f"units: {UNITS}, layers: 2, direction: both, project: 5"
        cases.append(case(cell, options, lambda x: annotations_projected(cell, x, 5)))
    for layers, reduction in ((2, 2), (3, 2), (2, 3)):
        options = f"units: {UNITS}, layers: {layers}, reduction: {reduction}"
        cases.append(
            case("pyramidal_lstm", options, lambda x: recurrent("lstm", x, layers, "both", False, reduction))
        )
    cases.append(case("lstmn", f"units: {UNITS}", lstmn))
    cases.append(case("lstmn", f"units: {UNITS}, values: cells", lambda x: lstmn(x, True)))
    cases.append(case("embedding_mean", "positions: none", embedding_mean))
    cases.append(
        case("embedding_mean", "positions: learned, max_positions: 3", lambda x: embedding_mean(x, 3))
    )
    for layers, value_layers, width in ((3, 2, 3), (2, 0, 5)):
        options = (
            f"units: {UNITS}, layers: {layers}, value_layers: {value_layers}, width: {width}, max_positions: 9"
        )
        cases.append(
            case("convolutional", options, lambda x: convolutional(x, layers, value_layers, width, 9))
        )
    for layers, width in ((1, 1), (2, 3), (2, 5)):
        options = f"units: {UNITS}, layers: {layers}, width: {width}, max_positions: 3, attentions: 2"
        cases.append(case("gated_convolutional", options, lambda x: gated_convolutional(x, layers, width, 3)))
    options = (
        f"first: {{type: lstm, units: {UNITS}, direction: forward}}, "
        f"second: {{type: gated_convolutional, units: {UNITS}, layers: 1, max_positions: 9}}, "
        f"third: {{type: gru, units: {UNITS}, direction: backward}}"
    )
    cases.append(case("stack", options, stack))
    lines = ",\n".join(json.dumps(one) for one in cases)  # a line for each
    Path(__file__).with_suffix(".json").write_text(f"[\n{lines}\n]\n")


if __name__ == "__main__":
    main()
