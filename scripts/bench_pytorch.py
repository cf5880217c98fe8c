#!/usr/bin/env python3
"""The benchmark's model in PyTorch, as fast as we can write it: the opponent of softalign_bench, with the same protocol.

bench_pytorch.py train|decode --configuration small --mode eager|script|compile --threads 2 [--beam 5]: prints {"ready": true}
once warm, then a line of measured seconds for every line read, and a summary at the end of the input.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import dataclass
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

END, BEGIN = 2, 1


@dataclass(frozen=True)
class Workload:
    embedding: int
    units: int
    vocabulary: int
    sentences: int
    source: int
    target: int


WORKLOADS = {
    "small": Workload(256, 256, 8000, 64, 20, 20),
    "medium": Workload(512, 512, 10000, 64, 25, 25),
    "long": Workload(256, 256, 8000, 64, 80, 80),
    "paper": Workload(620, 1000, 30000, 80, 30, 30),
    "tiny": Workload(32, 32, 100, 16, 6, 6),
}


class Step(NamedTuple):
    state: Tensor
    output: Tensor  # [B, U + 2U]: what the readout needs


class Decoder(nn.Module):
    """Bahdanau's decoder: what one step needs of the weights, written so that as few kernels as possible run for a step."""

    def __init__(self, load: Workload) -> None:
        super().__init__()
        units = load.units
        self.query = nn.Linear(units, units, bias=False)
        self.v = nn.Parameter(torch.randn(units) / units**0.5)
        self.cell = nn.GRUCell(load.embedding + 2 * units, units)

    def forward(self, embedded: Tensor, state: Tensor, keys: Tensor, values: Tensor) -> Step:
        energies = torch.tanh(keys + self.query(state).unsqueeze(1)) @ self.v
        weights = torch.softmax(energies, dim=1)
        context = torch.bmm(weights.unsqueeze(1), values).squeeze(1)
        output = torch.cat((state, context), dim=1)
        return Step(self.cell(torch.cat((embedded, context), dim=1), state), output)


class Loop(nn.Module):
    """Teacher forcing over all target steps."""

    def __init__(self, decoder: Decoder) -> None:
        super().__init__()
        self.decoder = decoder

    def forward(self, embedded: Tensor, state: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        outputs: list[Tensor] = []
        for step in embedded.unbind(1):
            state, output = self.decoder(step, state, keys, values)
            outputs.append(output)
        return torch.stack(outputs, dim=1)


class Model(nn.Module):
    def __init__(self, load: Workload, mode: str) -> None:
        super().__init__()
        units = load.units
        wide = 2 * (units // 2)
        self.source = nn.Embedding(load.vocabulary, load.embedding)
        self.target = nn.Embedding(load.vocabulary, load.embedding)
        self.encoder = nn.GRU(load.embedding, units, batch_first=True, bidirectional=True)
        self.start = nn.Linear(units, units)
        self.key = nn.Linear(2 * units, units)
        self.decoder = Decoder(load)
        self.readout = nn.Linear(3 * units, wide)
        self.symbol = nn.Linear(load.embedding, wide, bias=False)
        self.projection = nn.Linear(wide // 2, load.vocabulary)
        self.loop: nn.Module = Loop(self.decoder)
        if mode == "script":
            self.loop = torch.jit.script(self.loop)
        elif mode == "compile":
            self.loop = torch.compile(self.loop, dynamic=False)

    def encode(self, source: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        values, last = self.encoder(self.source(source))
        return torch.tanh(self.start(last[1])), self.key(values), values

    def features(self, outputs: Tensor, embedded: Tensor) -> Tensor:
        wide = self.readout(outputs) + self.symbol(embedded)
        return wide.unflatten(-1, (-1, 2)).amax(-1)

    def loss(self, source: Tensor, target_in: Tensor, target_out: Tensor) -> Tensor:
        state, keys, values = self.encode(source)
        embedded = self.target(target_in)
        logits = self.projection(self.features(self.loop(embedded, state, keys, values), embedded))
        return F.cross_entropy(logits.flatten(0, 1), target_out.flatten())

    def predict(self, symbols: Tensor, state: Tensor, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        embedded = self.target(symbols)
        state, output = self.decoder(embedded, state, keys, values)
        return torch.log_softmax(self.projection(self.features(output, embedded)), dim=-1), state


@torch.inference_mode()
def greedy(model: Model, source: Tensor, steps: int) -> Tensor:
    state, keys, values = model.encode(source)
    symbols = torch.full((len(source),), BEGIN)
    written = []
    for _ in range(steps):
        scores, state = model.predict(symbols, state, keys, values)
        symbols = scores.argmax(dim=-1)
        written.append(symbols)
    return torch.stack(written, dim=1)


@torch.inference_mode()
def beam(model: Model, source: Tensor, steps: int, width: int) -> Tensor:
    """All hypotheses of all sentences in one batch. Finished ones are held by a mask, as is usual for speed on a batch."""
    sentences = len(source)
    state, keys, values = model.encode(source)
    state, keys, values = (x.repeat_interleave(width, dim=0) for x in (state, keys, values))
    symbols = torch.full((sentences * width,), BEGIN)
    totals = torch.full((sentences, width), -torch.inf)
    totals[:, 0] = 0
    first = torch.arange(sentences).unsqueeze(1) * width
    finished = torch.zeros(sentences * width, dtype=torch.bool)
    parents, written = [], []
    for _ in range(steps):
        scores, state = model.predict(symbols, state, keys, values)
        vocabulary = scores.shape[1]
        scores[finished] = -torch.inf
        scores[finished, END] = 0
        # The best of each hypothesis first: sorting width² candidates costs less than width times the vocabulary.
        best, which = scores.topk(width, dim=-1)
        candidates = totals.unsqueeze(2) + best.view(sentences, width, width)
        totals, chosen = candidates.flatten(1).topk(width, dim=-1)
        rows = (first + chosen // width).flatten()
        symbols = which[rows, (chosen % width).flatten()]
        state, finished = state[rows], finished[rows] | (symbols == END)
        parents.append(rows)
        written.append(symbols)
        assert vocabulary > width
    return torch.stack(written, dim=1)


def resident_mib(line: str) -> float:
    with open("/proc/self/status", encoding="ascii") as status:
        return next(int(text.split()[1]) / 1024 for text in status if text.startswith(f"{line}:"))


def main() -> None:
    parser = argparse.ArgumentParser(description="Times PyTorch on the benchmark's model.")
    parser.add_argument("what", choices=("train", "decode"))
    parser.add_argument("--configuration", choices=WORKLOADS, default="small")
    parser.add_argument("--mode", choices=("eager", "script", "compile"), default="eager")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--beam", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=1, help="of a measurement")
    arguments = parser.parse_args()
    load = WORKLOADS[arguments.configuration]
    torch.set_num_threads(arguments.threads)
    torch.manual_seed(1)
    before = resident_mib("VmRSS")
    model = Model(load, arguments.mode)
    source = torch.randint(3, load.vocabulary, (load.sentences, load.source))
    target_out = torch.randint(3, load.vocabulary, (load.sentences, load.target))
    target_in = F.pad(target_out[:, :-1], (1, 0), value=BEGIN)

    if arguments.what == "train":
        try:
            optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, fused=True)
        except (RuntimeError, TypeError):  # before PyTorch 2.4 there is no fused Adam for processors
            optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, foreach=True)

        def run() -> None:
            optimizer.zero_grad(set_to_none=True)
            model.loss(source, target_in, target_out).backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
    else:
        model.eval()

        def run() -> None:
            if arguments.beam == 1:
                greedy(model, source, load.target)
            else:
                beam(model, source, load.target, arguments.beam)

    for _ in range(3):
        run()
    with open("/proc/self/clear_refs", "w", encoding="ascii") as reset:
        reset.write("5")
    run()
    memory = resident_mib("VmHWM") - before
    print(json.dumps({"ready": True}), flush=True)
    for _ in sys.stdin:
        seconds: list[float] = []
        while sum(seconds) < arguments.seconds:
            start = time.perf_counter()
            run()
            seconds.append(time.perf_counter() - start)
        print(json.dumps({"seconds": seconds}), flush=True)
    print(
        json.dumps(
            {
                "configuration": arguments.configuration,
                "implementation": f"PyTorch {torch.__version__}",
                "mode": arguments.mode,
                "beam": arguments.beam,
                "threads": arguments.threads,
                "sentences": load.sentences,
                "target_tokens": load.sentences * load.target,
                "parameters": sum(p.numel() for p in model.parameters()),
                "peak_memory_mib": memory,
            }
        )
    )


if __name__ == "__main__":
    main()
