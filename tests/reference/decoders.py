#!/usr/bin/python3
"""Two steps of each decoder except the Transformer in NumPy, sentence by sentence, from the papers' equations: makes decoders.json, which
tests/gradient/decoders_test.cpp compares with. To make it again: tests/reference/decoders.py > tests/reference/decoders.json

Parameters and inputs are functions of their names, so that neither side needs the other's random numbers.
"""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np

EMBEDDING, ANNOTATION, START, UNITS, ALIGNMENT = 3, 4, 2, 4, 3
LENGTHS, POSITIONS, STEPS = [3, 2], 3, 2

State = list[np.ndarray]


def array(name: str, *shape: int) -> np.ndarray:
    """Returns 0.5 sin(sum of the name's characters + 0.7 index)."""
    count = int(np.prod(shape))
    return (0.5 * np.sin(sum(map(ord, name)) + 0.7 * np.arange(count))).reshape(shape)


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def maxout(x: np.ndarray) -> np.ndarray:
    return x.reshape(-1, 2).max(axis=1)


def softmax(x: np.ndarray) -> np.ndarray:
    return np.exp(x) / np.exp(x).sum()


def linear(name: str, x: np.ndarray, size: int, bias: bool = True) -> np.ndarray:
    y = x @ array(f"{name}.W", x.shape[-1], size)
    return y + array(f"{name}.b", size) if bias else y


FUNCTIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "tanh": np.tanh,
    "relu": lambda x: np.maximum(x, 0),
    "linear": lambda x: x,
    "maxout": maxout,
}


class Sentence:
    """The encoder's output for one sentence."""

    def __init__(self, row: int, finals: int, annotation: int = ANNOTATION, values: bool = False) -> None:
        rows = len(LENGTHS)
        self.annotations = array("annotations", rows, POSITIONS, annotation)[row, : LENGTHS[row]]
        self.values = array("values", rows, POSITIONS, annotation)[row, : LENGTHS[row]] if values else self.annotations
        self.last = array("last", rows, annotation)[row]
        self.start = array("start", rows, START)[row]
        self.finals = [array(f"final {k}", rows, UNITS)[row] for k in range(finals)]
        self.symbols = array("symbols", STEPS, rows, EMBEDDING)[:, row]


def gru(name: str, x: np.ndarray, state: State) -> State:
    """Cho et al. 2014, gates z, r, c side by side; x: the projected input."""
    (h,) = state
    products = h @ array(f"{name}U", UNITS, 2 * UNITS)
    z, r = sigmoid(x[:UNITS] + products[:UNITS]), sigmoid(x[UNITS : 2 * UNITS] + products[UNITS:])
    c = np.tanh(x[2 * UNITS :] + (r * h) @ array(f"{name}U_candidate", UNITS, UNITS))
    return [(1 - z) * h + z * c]


def lstm(name: str, x: np.ndarray, state: State) -> State:
    h, c = state
    i, f, g, o = np.split(x + h @ array(f"{name}U", UNITS, 4 * UNITS), 4)
    c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    return [sigmoid(o) * np.tanh(c), c]


CELLS = {"gru": (gru, 3, 1), "lstm": (lstm, 4, 2)}


def gru_reset_after(x: np.ndarray, q: np.ndarray, h: np.ndarray) -> np.ndarray:
    """Sennrich et al. 2017: q = U h (+ b), the reset gate multiplies it. Their z is our 1 - z."""
    z, r = sigmoid(x[:UNITS] + q[:UNITS]), sigmoid(x[UNITS : 2 * UNITS] + q[UNITS : 2 * UNITS])
    c = np.tanh(x[2 * UNITS :] + r * q[2 * UNITS :])
    return (1 - z) * h + z * c


def attend(kind: str, sentence: Sentence, query: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns the context and the weights; both may be empty."""
    nobody = np.zeros(0)
    if kind == "last":
        return sentence.last, nobody
    if kind == "mean":
        return sentence.annotations.mean(axis=0), nobody
    if kind == "nothing":
        return nobody, nobody
    score = "attention.score."
    keys = sentence.annotations @ array(score + "key.W", sentence.annotations.shape[1], ALIGNMENT) + array(score + "key.b", ALIGNMENT)
    energies = np.tanh(keys + query @ array(score + "query.W", len(query), ALIGNMENT)) @ array(score + "v", ALIGNMENT)
    weights = np.exp(energies) / np.exp(energies).sum()
    return weights @ sentence.annotations, weights


def of_layer(layer: int) -> str:
    return "" if layer == 1 else f"layer_{layer}."


def initial_state(how: str, sentence: Sentence, layers: int, arrays: int) -> State:
    if how == "last":
        return sentence.finals
    state = []
    for layer in range(1, layers + 1):
        for name in [of_layer(layer) + "start", of_layer(layer) + "start_cell"][:arrays]:
            if how == "zero":
                state.append(np.zeros(UNITS))
                continue
            x = sentence.annotations.mean(axis=0) if how == "mean" else sentence.start
            state.append(np.tanh(x @ array(f"{name}.W", len(x), UNITS) + array(f"{name}.b", UNITS)))
    return state


def readout(function: str, size: int, outputs: np.ndarray, symbol: np.ndarray) -> np.ndarray:
    wide = 2 * size if function == "maxout" else size
    total = outputs @ array("readout.output.W", len(outputs), wide) + array("readout.output.b", wide)
    return FUNCTIONS[function](total + symbol @ array("readout.symbol.W", EMBEDDING, wide))


Step = tuple[State, np.ndarray, np.ndarray]  # state, weights, what the projection reads


def attentional(o: dict, sentence: Sentence) -> list[Step]:
    cell, gates, arrays = CELLS[o["cell"]]
    state, steps = initial_state(o["initial_state"], sentence, 1, arrays), []
    for symbol in sentence.symbols:
        query = state[0]
        if o.get("query") == "with_symbol":  # Gehring et al. 2016: d_i = W_d h_i + b_d + g_i
            query = query @ array("query.W", UNITS, EMBEDDING) + array("query.b", EMBEDDING) + symbol
        context, weights = attend(o["attention"], sentence, query)
        if o.get("context_gate"):
            context = sigmoid(state[0] @ array("context_gate.W", UNITS, 1) + array("context_gate.b", 1)) * context
        x = symbol @ array("input.W", EMBEDDING, gates * UNITS) + array("input.b", gates * UNITS)
        if len(context):
            x = x + context @ array("context.W", ANNOTATION, gates * UNITS)
        before, state = state, cell("", x, state)
        read = (state if o["readout_state"] == "after" else before)[0]
        features = readout(o["readout"], o["readout_size"], np.concatenate([read, context]), symbol)
        steps.append((state, weights, features))
    return steps


def luong(o: dict, sentence: Sentence) -> list[Step]:
    cell, gates, arrays = CELLS[o["cell"]]
    state, steps = initial_state(o["initial_state"], sentence, o["layers"], arrays), []
    vector = np.zeros(UNITS)
    for symbol in sentence.symbols:
        below, after = symbol, []
        for layer in range(o["layers"]):
            name = of_layer(layer + 1)
            x = below @ array(name + "input.W", len(below), gates * UNITS) + array(name + "input.b", gates * UNITS)
            if layer == 0 and o["input_feeding"]:
                x = x + vector @ array("feeding.W", UNITS, gates * UNITS)
            after += cell(name, x, state[layer * arrays : (layer + 1) * arrays])
            below = after[-arrays]
        context, weights = attend(o["attention"], sentence, below)
        features = below
        if len(context):
            product = np.concatenate([below, context]) @ array("attentional.W", UNITS + ANNOTATION, UNITS)
            features = FUNCTIONS[o["activation"]](product)
        vector, state = features, after
        steps.append((state + [vector] * o["input_feeding"], weights, features))
    return steps


def conditional_gru(o: dict, sentence: Sentence) -> list[Step]:
    (state,), steps = initial_state(o["initial_state"], sentence, 1, 1), []
    for symbol in sentence.symbols:
        x = symbol @ array("first.symbol.W", EMBEDDING, 3 * UNITS) + array("first.symbol.b", 3 * UNITS)
        between = gru_reset_after(x, state @ array("first.state.W", UNITS, 3 * UNITS), state)
        context, weights = attend(o["attention"], sentence, between)
        q = between @ array("second.state.W", UNITS, 3 * UNITS) + array("second.state.b", 3 * UNITS)
        state = gru_reset_after(context @ array("second.context.W", ANNOTATION, 3 * UNITS), q, between)
        features = readout(o["readout"], o["readout_size"], np.concatenate([state, context]), symbol)
        steps.append(([state], weights, features))
    return steps


def convolutional(o: dict, sentence: Sentence) -> list[Step]:
    """Gehring et al. 2017, sections 3.1 to 3.4, position by position. The state: the inputs that each layer still needs."""
    width, m = o["width"], len(sentence.annotations)
    z, averaged = sentence.annotations, sentence.values
    if z.shape[1] != EMBEDDING:
        z, averaged = linear("memory", z, EMBEDDING), linear("memory", averaged, EMBEDDING)
    inputs = [[np.zeros(UNITS)] * (width - 1) for _ in range(o["layers"])]  # of each layer, those before the position
    positions = array("positions.P", o["max_positions"], EMBEDDING)
    steps = []
    for i, symbol in enumerate(sentence.symbols):
        g = symbol + positions[min(i, o["max_positions"] - 1)]
        x, of_layers = linear("in", g, UNITS), []
        for number, past in enumerate(inputs, start=1):
            past.append(x)
            a, b = np.split(linear(f"layer_{number}.convolution", np.concatenate(past[-width:]), 2 * UNITS), 2)
            h = np.sqrt(0.5) * (a * sigmoid(b) + x)
            d = linear(f"layer_{number}.query", h, EMBEDDING) + g
            weights = softmax(z @ d)
            context = m * np.sqrt(1 / m) * (weights @ averaged)
            x = h + (linear(f"layer_{number}.context", context, UNITS) if EMBEDDING != UNITS else context)
            of_layers.append(weights)
        state = [np.concatenate(past[len(past) - width + 1 :]) for past in inputs]
        steps.append((state, np.mean(of_layers, axis=0), linear("out", x, o["readout_units"] or EMBEDDING)))
    return steps


def lstmn(o: dict, sentence: Sentence) -> list[Step]:
    """Cheng et al. 2016, section 4. The state: h, h~, the tapes of [h ; c] and of W_h h, with deep fusion gamma~."""
    deep = o["fusion"] == "deep"
    h, c = initial_state(o["initial_state"], sentence, 1, 2)
    h_tape, c_tape, h_summary = [h], [c], np.zeros(UNITS)
    annotation = sentence.annotations.shape[1]
    gamma, steps = np.zeros(annotation), []
    w_state, w_summary = array("intra.W_state", UNITS, UNITS), array("intra.W_summary", UNITS, UNITS)
    for symbol in sentence.symbols:
        x, source = symbol, np.zeros(UNITS)
        gates = linear("input", symbol, 4 * UNITS)
        query = linear("intra.input", symbol, UNITS, bias=False) + h_summary @ w_summary
        if deep:
            _, weights = attend(o["attention"], sentence, np.concatenate([symbol, gamma]))
            gamma, alpha = weights @ sentence.annotations, weights @ sentence.values
            r = sigmoid(linear("deep.gate.symbol", symbol, UNITS) + linear("deep.gate.source", gamma, UNITS, bias=False))
            source = r * (alpha if annotation == UNITS else linear("deep.memory", alpha, UNITS, bias=False))
            context = np.zeros(0)
        else:
            context, weights = attend(o["attention"], sentence, h)
            if len(context):
                gates = gates + linear("context", context, 4 * UNITS, bias=False)
                query = query + linear("intra.context", context, UNITS, bias=False)
        s = softmax(np.array([array("intra.v", UNITS) @ np.tanh(before @ w_state + query) for before in h_tape]))
        h_summary, c_summary = s @ np.array(h_tape), s @ np.array(c_tape)
        i, f, new, out = np.split(gates + h_summary @ array("U", UNITS, 4 * UNITS), 4)
        c = source + sigmoid(f) * c_summary + sigmoid(i) * np.tanh(new)
        h = sigmoid(out) * np.tanh(c)
        h_tape, c_tape = [*h_tape, h], [*c_tape, c]
        tape = np.concatenate([np.array(h_tape), np.array(c_tape)], axis=1).ravel()
        state = [h, h_summary, tape, (np.array(h_tape) @ w_state).ravel()] + [gamma] * deep
        features = readout(o["readout"], o["readout_size"], np.concatenate([h, context]), symbol)
        steps.append((state, weights, features))
    return steps


def run_of(decoder: str) -> Callable[[dict, Sentence], list[Step]]:
    runs = {"conditional_gru": conditional_gru, "convolutional": convolutional, "lstmn": lstmn}
    return runs.get(decoder, luong if decoder.startswith("luong") else attentional)


def case(decoder: str, attention: str = "global", options: dict | None = None, **of_reference: object) -> dict:
    """Returns the steps of a decoder with the options of its spec; of_reference: values that follow from its defaults."""
    given = options or {}
    o = {"attention": attention, "initial_state": "tanh", "layers": 1, "cell": decoder.rsplit("_")[-1],
         "annotation": ANNOTATION, "values": False, **of_reference, **given}
    finals = o["finals"] if "finals" in o else o["layers"] * CELLS[o["cell"]][2]
    run, annotation = run_of(decoder), o["annotation"]
    of_sentence = [run(o, Sentence(row, finals, annotation, o["values"])) for row in range(len(LENGTHS))]
    spec = {"type": decoder, "units": UNITS, **given}
    of_attention = (
        {"type": "built_in"}
        if attention == "built_in"
        else {"type": "global", "score": {"type": "additive", "units": ALIGNMENT}}
        if attention == "global"
        else {"type": "none", "context": attention}
    )
    return {
        "spec": {"decoder": spec, "attention": of_attention},
        "finals": finals,
        "annotation": annotation,
        "values": o["values"],
        "steps": [
            {
                "state": [[list(array) for array in sentence[step][0]] for sentence in of_sentence],
                "weights": [list(sentence[step][1]) for sentence in of_sentence],
                "features": [list(sentence[step][2]) for sentence in of_sentence],
            }
            for step in range(STEPS)
        ],
    }


def cases() -> list[dict]:
    bahdanau = {"readout": "maxout", "readout_size": 2, "readout_state": "before"}
    of_luong = {"activation": "tanh", "input_feeding": True}
    of_gehring = {"finals": 0, "readout_units": 0, "max_positions": 1024}
    of_cheng = {"fusion": "shallow", "readout": "maxout", "readout_size": 2}
    return [
        case("attentional_gru", **bahdanau),
        case("attentional_gru", "mean", {"initial_state": "mean", "readout": "relu", "readout_state": "after"}, readout_size=2),
        case("attentional_gru", "nothing", {"initial_state": "last", "readout": "linear"}, **{**bahdanau, "readout_size": 2}),
        case(
            "attentional_lstm",
            "global",
            {"initial_state": "mean", "readout": "tanh", "readout_state": "after", "context_gate": True},
            readout_size=2,
        ),
        case("attentional_lstm", "last", {"initial_state": "zero"}, **bahdanau),
        case("attentional_lstm", "global", {"query": "with_symbol"}, **bahdanau),
        case("luong_gru", **of_luong),
        case("luong_gru", "global", {"layers": 2, "input_feeding": False}, **of_luong),
        case("luong_lstm", "global", {"layers": 2, "initial_state": "last", "activation": "relu"}, **of_luong),
        case("luong_lstm", "nothing", {"layers": 2, "initial_state": "last", "input_feeding": False}, **of_luong),
        case("conditional_gru", readout="tanh", readout_size=EMBEDDING, initial_state="mean"),
        case("convolutional", "built_in", {"layers": 2, "width": 2}, values=True, annotation=EMBEDDING, **of_gehring),
        case("convolutional", "built_in", {"layers": 1, "width": 3, "readout_units": 5, "max_positions": 1}, **of_gehring),
        case("lstmn", finals=0, **of_cheng),
        case("lstmn", "nothing", {"initial_state": "last", "readout": "tanh"}, finals=2, **of_cheng),
        case("lstmn", "global", {"fusion": "deep", "initial_state": "zero"}, values=True, finals=0, **of_cheng),
        case("lstmn", "global", {"fusion": "deep"}, annotation=EMBEDDING, finals=0, **of_cheng),
    ]


if __name__ == "__main__":
    print(json.dumps(cases()))
