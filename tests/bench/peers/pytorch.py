#!/usr/bin/env python3
"""The benchmark's models in PyTorch, as fast as we can write them: peers of softalign_bench.

pytorch.py train --mode eager|script|compile|by_hand. Decoding has the modes eager and compile (a frozen step and a faster search).
`by_hand` uses by_hand.py. compare.py tunes the environment further.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import torch
import torch.nn.functional as F
from protocol import BEGIN, END, WORKLOADS, Workload, arguments_of, resident_mib, serve
from torch import Tensor, nn


class Step(NamedTuple):
    state: Tensor
    output: Tensor  # [B, U + 2U]: what the readout needs


class Decoder(nn.Module):
    """A step of Bahdanau's decoder, written so that it runs as few kernels as possible."""

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
    """Beam search over all hypotheses of all sentences in one batch. A mask holds finished hypotheses, as usual for speed."""
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
        # First the best symbols of each hypothesis: sorting width² candidates costs less than width times the vocabulary.
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


class Luong(nn.Module):
    """Luong et al. 2015: two LSTM layers on both sides, dot score, input feeding; initial states tanh(W h)."""

    LAYERS = 2

    def __init__(self, load: Workload, mode: str) -> None:
        super().__init__()
        units, size = load.units, load.embedding
        self.source, self.target = nn.Embedding(load.vocabulary, size), nn.Embedding(load.vocabulary, size)
        self.encoder = nn.LSTM(size, units, self.LAYERS)
        self.start = nn.ModuleList(nn.Linear(units, units) for _ in range(2 * self.LAYERS))
        self.word = nn.Linear(size, 4 * units)
        self.lower = nn.Linear(2 * units, 4 * units, bias=False)  # weights of the fed input and the state
        self.upper = nn.Linear(2 * units, 4 * units)
        self.combine = nn.Linear(2 * units, units, bias=False)
        self.projection = nn.Linear(units, load.vocabulary)
        self.loop: Callable[..., Tensor] = self.unrolled
        if mode == "script":
            self.loop = torch.jit.script(self.unrolled)
        elif mode == "compile":
            self.loop = torch.compile(self.unrolled, dynamic=False)

    @staticmethod
    def unrolled(
        words: Tensor, states: list[Tensor], annotations: Tensor, lower: Tensor, upper: Tensor, bias: Tensor, combine: Tensor
    ) -> Tensor:
        h0, c0, h1, c1 = states[0], states[1], states[2], states[3]
        fed = torch.zeros_like(h0)
        outputs: list[Tensor] = []
        for word in words.unbind(0):
            i, f, o, g = torch.addmm(word, torch.cat((fed, h0), 1), lower.t()).chunk(4, 1)
            c0 = torch.sigmoid(f) * c0 + torch.sigmoid(i) * torch.tanh(g)
            h0 = torch.sigmoid(o) * torch.tanh(c0)
            i, f, o, g = torch.addmm(bias, torch.cat((h0, h1), 1), upper.t()).chunk(4, 1)
            c1 = torch.sigmoid(f) * c1 + torch.sigmoid(i) * torch.tanh(g)
            h1 = torch.sigmoid(o) * torch.tanh(c1)
            weights = torch.softmax(torch.bmm(annotations, h1.unsqueeze(2)).squeeze(2), 1)
            context = torch.bmm(weights.unsqueeze(1), annotations).squeeze(1)
            fed = torch.tanh(torch.cat((h1, context), 1) @ combine.t())
            outputs.append(fed)
        return torch.stack(outputs)

    def loss(self, source: Tensor, target_in: Tensor, target_out: Tensor) -> Tensor:
        annotations, (last, _) = self.encoder(self.source(source.t()))
        states = [torch.tanh(start(last[i // 2])) for i, start in enumerate(self.start)]
        words = self.word(self.target(target_in.t()))
        outputs = self.loop(
            words, states, annotations.transpose(0, 1).contiguous(),
            self.lower.weight, self.upper.weight, self.upper.bias, self.combine.weight,
        )  # fmt: skip
        return F.cross_entropy(self.projection(outputs).flatten(0, 1), target_out.t().flatten())


class TransformerLayer(nn.Module):
    """A layer of the encoder, or with `cross` of the decoder."""

    def __init__(self, size: int, heads: int, feed_forward: int, cross: bool) -> None:
        super().__init__()
        self.heads, self.cross = heads, cross
        self.own, self.out = nn.Linear(size, 3 * size, bias=False), nn.Linear(size, size, bias=False)
        self.wide, self.narrow = nn.Linear(size, feed_forward), nn.Linear(feed_forward, size)
        self.norms = nn.ModuleList(nn.LayerNorm(size) for _ in range(3 if cross else 2))
        if cross:
            self.query, self.memory = nn.Linear(size, size, bias=False), nn.Linear(size, 2 * size, bias=False)
            self.cross_out = nn.Linear(size, size, bias=False)

    def attend(self, query: Tensor, key: Tensor, value: Tensor, causal: bool) -> Tensor:
        heads = [x.unflatten(-1, (self.heads, -1)).transpose(1, 2) for x in (query, key, value)]
        return F.scaled_dot_product_attention(*heads, is_causal=causal).transpose(1, 2).flatten(2)

    def forward(self, x: Tensor, memory: Tensor | None = None) -> Tensor:
        x = self.norms[0](x + self.out(self.attend(*self.own(x).chunk(3, -1), self.cross)))
        if memory is not None:
            context = self.attend(self.query(x), *self.memory(memory).chunk(2, -1), False)
            x = self.norms[2](x + self.cross_out(context))
        return self.norms[1](x + self.narrow(F.relu(self.wide(x))))


class Transformer(nn.Module):
    """Vaswani et al. 2017, post-norm; 3 layers, 4 heads."""

    def __init__(self, load: Workload, mode: str, layers: int = 3, heads: int = 4, feed_forward: int = 1024) -> None:
        super().__init__()
        size = load.units
        self.source, self.target = nn.Embedding(load.vocabulary, size), nn.Embedding(load.vocabulary, size)
        self.encoder = nn.ModuleList(TransformerLayer(size, heads, feed_forward, False) for _ in range(layers))
        self.decoder = nn.ModuleList(TransformerLayer(size, heads, feed_forward, True) for _ in range(layers))
        self.projection = nn.Linear(size, load.vocabulary)
        even = torch.arange(size) // 2 * 2
        angles = torch.arange(max(load.source, load.target)).unsqueeze(1) * 10000.0 ** (-even / size)
        self.register_buffer("positions", torch.where(even == torch.arange(size), angles.sin(), angles.cos()))
        self.scale = math.sqrt(size)
        self.loss = torch.compile(self.losses, dynamic=False) if mode == "compile" else self.losses

    def losses(self, source: Tensor, target_in: Tensor, target_out: Tensor) -> Tensor:
        memory = self.source(source) * self.scale + self.positions[: source.shape[1]]
        for layer in self.encoder:
            memory = layer(memory)
        x = self.target(target_in) * self.scale + self.positions[: target_in.shape[1]]
        for layer in self.decoder:
            x = layer(x, memory)
        return F.cross_entropy(self.projection(x).flatten(0, 1), target_out.flatten())


class FrozenStep(nn.Module):
    """A decoding step, for compilation: symbols [B,K], states [B,K,U]; keys and values belong to the sentences."""

    def __init__(self, model: Model, load: Workload) -> None:
        super().__init__()
        decoder, cell, self.units = model.decoder, model.decoder.cell, load.units
        self.embedding, self.projection = model.target, model.projection

        def linear(weight: Tensor, bias: Tensor) -> nn.Linear:
            one = nn.Linear(weight.shape[1], weight.shape[0])
            one.weight.data.copy_(weight)
            one.bias.data.copy_(bias)
            return one

        with torch.no_grad():
            self.of_state = linear(torch.cat((decoder.query.weight, cell.weight_hh)), F.pad(cell.bias_hh, (self.units, 0)))
            self.of_input = linear(cell.weight_ih, cell.bias_ih)
            wide = torch.cat((model.readout.weight, model.symbol.weight), 1)
            bias = model.readout.bias
            self.readout = linear(torch.cat((wide[0::2], wide[1::2])), torch.cat((bias[0::2], bias[1::2])))  # ordered for maxout over halves
        self.v = nn.Parameter(decoder.v.detach().clone())

    def forward(self, symbols: Tensor, state: Tensor, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        units = self.units
        embedded, of_state = self.embedding(symbols), self.of_state(state)
        energies = (torch.tanh(keys.unsqueeze(1) + of_state[..., :units].unsqueeze(2)) * self.v).sum(-1)
        context = torch.bmm(torch.softmax(energies, -1), values)
        gates, hidden = self.of_input(torch.cat((embedded, context), -1)), of_state[..., units:]
        reset, update = torch.sigmoid(gates[..., : 2 * units] + hidden[..., : 2 * units]).chunk(2, -1)
        new = torch.tanh(gates[..., 2 * units :] + reset * hidden[..., 2 * units :])
        left, right = self.readout(torch.cat((state, context, embedded), -1)).chunk(2, -1)
        return self.projection(torch.maximum(left, right).flatten(0, 1)), new + update * (state - new)


class FrozenGreedy(FrozenStep):
    def forward(self, symbols: Tensor, state: Tensor, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        logits, state = super().forward(symbols, state, keys, values)
        return logits.argmax(-1, keepdim=True), state


class FrozenBeam(FrozenStep):
    """Finds the k best symbols faster: they lie in the k blocks with the largest maxima, so only those are sorted."""

    BLOCK = 64

    def forward(self, symbols: Tensor, state: Tensor, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        logits, state = super().forward(symbols, state, keys, values)
        blocks = F.pad(logits, (0, -logits.shape[1] % self.BLOCK), value=-torch.inf).unflatten(1, (-1, self.BLOCK))
        return blocks, blocks.amax(-1), torch.logsumexp(logits, -1, keepdim=True), state


@torch.no_grad()
def frozen_greedy(step: nn.Module, model: Model, source: Tensor, steps: int) -> Tensor:
    state, keys, values = model.encode(source)
    symbols, state, written = torch.full((len(source), 1), BEGIN), state.unsqueeze(1), []
    for _ in range(steps):
        symbols, state = step(symbols, state, keys, values)
        written.append(symbols)
    return torch.cat(written, 1)


@torch.no_grad()
def frozen_beam(step: nn.Module, model: Model, source: Tensor, steps: int, width: int) -> Tensor:
    sentences, block = len(source), FrozenBeam.BLOCK
    state, keys, values = model.encode(source)
    state = state.unsqueeze(1).expand(-1, width, -1).contiguous()
    symbols = torch.full((sentences, width), BEGIN)
    totals = torch.full((sentences, width), -torch.inf)
    totals[:, 0] = 0
    finished = torch.zeros(sentences, width, dtype=torch.bool)
    rows = torch.arange(sentences).unsqueeze(1)
    only_end = torch.full((width,), -torch.inf)
    only_end[0] = 0
    parents, written = [], []
    for _ in range(steps):
        blocks, tops, sums, state = step(symbols, state, keys, values)
        where = tops.topk(width, -1).indices
        few = blocks.gather(1, where.unsqueeze(2).expand(-1, -1, block)).flatten(1)
        best, at = few.topk(width, -1)
        which = (where.gather(1, at // block) * block + at % block).view(sentences, width, width)
        best = (best - sums).view(sentences, width, width)
        if bool(finished.any()):
            best = torch.where(finished.unsqueeze(2), only_end, best)
            which = torch.where(finished.unsqueeze(2), END, which)
        totals, chosen = (totals.unsqueeze(2) + best).flatten(1).topk(width, -1)
        parent = chosen // width
        symbols = which.flatten(1).gather(1, chosen)
        state, finished = state[rows, parent], finished[rows, parent] | (symbols == END)
        parents.append(parent)
        written.append(symbols)
    return torch.stack(written, 2)


def training_step(model: nn.Module, load: Workload, mode: str, autocast: bool) -> Callable[[], None]:
    source = torch.randint(3, load.vocabulary, (load.sentences, load.source))
    target_out = torch.randint(3, load.vocabulary, (load.sentences, load.target))
    target_in = F.pad(target_out[:, :-1], (1, 0), value=BEGIN)
    parameters = list(model.parameters())
    try:
        optimizer = torch.optim.Adam(parameters, lr=1e-3, fused=True)
    except (RuntimeError, TypeError):  # PyTorch before 2.4 has no fused Adam on CPUs
        optimizer = torch.optim.Adam(parameters, lr=1e-3, foreach=True)

    def run() -> None:
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cpu", torch.bfloat16, enabled=autocast):
            loss = model.loss(source, target_in, target_out)
        loss.backward()
        if mode == "by_hand":  # the fused optimiser scales the gradients itself
            norm = nn.utils.get_total_norm([one.grad for one in parameters], foreach=True)
            optimizer.grad_scale, optimizer.found_inf = torch.clamp(norm, min=1.0), torch.zeros(())
        else:
            nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()

    return run


def decoding(load: Workload, mode: str, beam_width: int) -> tuple[nn.Module, Callable[[], Tensor]]:
    model = Model(load, "eager").eval()
    source = torch.randint(3, load.vocabulary, (load.sentences, load.source))
    if mode == "eager":
        search = greedy if beam_width == 1 else lambda *given: beam(*given, beam_width)
        return model, lambda: search(model, source, load.target)
    step = (FrozenGreedy if beam_width == 1 else FrozenBeam)(model, load).eval()
    step = torch.compile(step, dynamic=False, options={"freezing": True})
    if beam_width == 1:
        return model, lambda: frozen_greedy(step, model, source, load.target)
    return model, lambda: frozen_beam(step, model, source, load.target, beam_width)


def main() -> None:
    arguments = arguments_of("Times PyTorch on a benchmark's model.", ("eager", "script", "compile", "by_hand"), ("train", "decode"))
    load = WORKLOADS[arguments.configuration]
    torch.set_num_threads(arguments.threads)
    torch.manual_seed(1)
    before = resident_mib("VmRSS")
    if arguments.what == "decode":
        model, run = decoding(load, arguments.mode, arguments.beam)
    else:
        if arguments.mode == "by_hand":
            from by_hand import ByHand as Kind
        else:
            Kind = {"luong": Luong, "transformer": Transformer}.get(arguments.configuration, Model)
        model = Kind(load, arguments.mode)
        run = training_step(model, load, arguments.mode, arguments.bfloat16)
    parameters = sum(p.numel() for p in model.parameters())
    serve(run, before, arguments, implementation=f"PyTorch {torch.__version__}", parameters=parameters)


if __name__ == "__main__":
    main()
