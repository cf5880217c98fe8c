"""The benchmark's RNNsearch in PyTorch with a backward pass written by hand.

Both encoder directions share one batched product, inputs are projected for all steps at once, the query and the gates of the state share one
product, weight gradients are collected over the steps, the loss is computed in blocks of rows, and everything except the products is compiled.
Run as a script, it compares its gradients with finite differences of the loss.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from protocol import Workload
from torch import Tensor, nn


def cell_forward(gates: Tensor, hidden: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
    units = state.shape[-1]
    reset = torch.sigmoid(gates[..., :units] + hidden[..., :units])
    update = torch.sigmoid(gates[..., units : 2 * units] + hidden[..., units : 2 * units])
    new = torch.tanh(gates[..., 2 * units :] + reset * hidden[..., 2 * units :])
    return new + update * (state - new), torch.cat((reset, update, new, hidden[..., 2 * units :]), -1)


def cell_backward(dstate: Tensor, kept: Tensor, state: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    reset, update, new, hidden = kept.split(state.shape[-1], -1)
    dnew = dstate * (1 - update) * (1 - new * new)
    dupdate = dstate * (state - new) * update * (1 - update)
    dreset = dnew * hidden * reset * (1 - reset)
    return torch.cat((dreset, dupdate, dnew), -1), torch.cat((dreset, dupdate, dnew * reset), -1), dstate * update


def attend_forward(keys: Tensor, query: Tensor, v: Tensor) -> Tensor:
    return torch.softmax((torch.tanh(keys + query.unsqueeze(1)) * v).sum(-1), -1)


def attend_backward(
    keys: Tensor, query: Tensor, v: Tensor, weights: Tensor, dweights: Tensor, dkeys: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    denergies = weights * (dweights - (weights * dweights).sum(-1, keepdim=True))
    matched = torch.tanh(keys + query.unsqueeze(1))
    dmatched = (denergies.unsqueeze(-1) * v) * (1 - matched * matched)
    dkeys.add_(dmatched)
    return dmatched.sum(1), matched, denergies


def loss_forward(logits: Tensor, target: Tensor, scale: float) -> tuple[Tensor, Tensor]:
    largest = logits.amax(-1, keepdim=True)
    total = torch.exp(logits - largest).sum(-1, keepdim=True)
    nll = (largest + torch.log(total)).squeeze(-1) - logits.gather(1, target.unsqueeze(1)).squeeze(1)
    right = torch.arange(logits.shape[1]).unsqueeze(0) == target.unsqueeze(1)
    return nll.sum(), torch.exp(logits - largest) * (scale / total) - right * scale


class Pointwise:
    """The computations between the products, each compiled once and called repeatedly."""

    def __init__(self) -> None:
        for function in (cell_forward, cell_backward, attend_forward, attend_backward, loss_forward):
            setattr(self, function.__name__, torch.compile(function, dynamic=False))


class Encoder(torch.autograd.Function):
    """x [S,B,E] -> annotations [S,B,2U] and the last state of the backward direction; weights and biases [2,...], one per direction."""

    @staticmethod
    def forward(ctx: Any, run: Pointwise, x: Tensor, wi: Tensor, wh: Tensor, bi: Tensor, bh: Tensor) -> tuple[Tensor, Tensor]:
        steps, rows, size = x.shape
        units = wh.shape[2]
        flat = x.reshape(1, steps * rows, size).expand(2, -1, -1)
        gates = torch.baddbmm(bi.unsqueeze(1), flat, wi.transpose(1, 2)).view(2, steps, rows, 3 * units)
        gates = torch.stack((gates[0], gates[1].flip(0)), 1)
        states, kept = x.new_zeros(steps + 1, 2, rows, units), []
        for t in range(steps):
            hidden = torch.baddbmm(bh.unsqueeze(1), states[t], wh.transpose(1, 2))
            states[t + 1], keep = run.cell_forward(gates[t], hidden, states[t])
            kept.append(keep)
        ctx.run = run
        ctx.save_for_backward(x, wi, wh, states, *kept)
        return torch.cat((states[1:, 0], states[1:, 1].flip(0)), -1), states[steps, 1]

    @staticmethod
    def backward(ctx: Any, dannotations: Tensor, dlast: Tensor) -> tuple[Tensor | None, ...]:
        x, wi, wh, states, *kept = ctx.saved_tensors
        steps, rows, size = x.shape
        units = wh.shape[2]
        given = torch.stack((dannotations[..., :units], dannotations[..., units:].flip(0)), 1)
        dgates, dhidden = x.new_empty(steps, 2, rows, 3 * units), x.new_empty(steps, 2, rows, 3 * units)
        dstate = torch.zeros_like(states[0])
        dstate[1] += dlast
        for t in range(steps - 1, -1, -1):
            dgates[t], dhidden[t], through = ctx.run.cell_backward(dstate + given[t], kept[t], states[t])
            dstate = torch.baddbmm(through, dhidden[t], wh)
        hidden = dhidden.transpose(0, 1).reshape(2, steps * rows, 3 * units)
        inputs = torch.stack((dgates[:, 0], dgates[:, 1].flip(0)), 0).view(2, steps * rows, 3 * units)
        flat = x.reshape(1, steps * rows, size).expand(2, -1, -1)
        dwh = torch.bmm(hidden.transpose(1, 2), states[:-1].transpose(0, 1).reshape(2, steps * rows, units))
        dx = torch.addmm(inputs[0] @ wi[0], inputs[1], wi[1]).view(steps, rows, size)
        return None, dx, torch.bmm(inputs.transpose(1, 2), flat), dwh, inputs.sum(1), hidden.sum(1)


class Decoder(torch.autograd.Function):
    """words [T,B,3U] (projected), state [B,U], keys [B,S,U], values [B,S,2U] -> states before each step [T,B,U], contexts [T,B,2U].
    of_state [4U,U]: weights of the query and the gates; of_context [3U,2U]: of the gates."""

    @staticmethod
    def forward(
        ctx: Any, run: Pointwise, words: Tensor, state: Tensor, keys: Tensor, values: Tensor,
        v: Tensor, of_state: Tensor, bias: Tensor, of_context: Tensor,
    ) -> tuple[Tensor, Tensor]:  # fmt: skip
        steps, rows, units = words.shape[0], *state.shape
        states, contexts = words.new_empty(steps, rows, units), words.new_empty(steps, rows, 2 * units)
        kept, weights, queries = [], [], []
        for t in range(steps):
            states[t] = state
            projected = torch.addmm(bias, state, of_state.t())
            queries.append(projected[:, :units])
            weights.append(run.attend_forward(keys, queries[t], v))
            torch.bmm(weights[t].unsqueeze(1), values, out=contexts[t].unsqueeze(1))
            gates = torch.addmm(words[t], contexts[t], of_context.t())
            state, keep = run.cell_forward(gates, projected[:, units:], state)
            kept.append(keep)
        ctx.run = run
        ctx.save_for_backward(keys, values, v, of_state, of_context, states, contexts, *kept, *weights, *queries)
        return states, contexts

    @staticmethod
    def backward(ctx: Any, dstates: Tensor, dcontexts: Tensor) -> tuple[Tensor | None, ...]:
        keys, values, v, of_state, of_context, states, contexts, *rest = ctx.saved_tensors
        steps, rows, units = states.shape
        kept, weights, queries = rest[:steps], rest[steps : 2 * steps], rest[2 * steps :]
        dwords, dprojected = states.new_empty(steps, rows, 3 * units), states.new_empty(steps, rows, 4 * units)
        dattended, dkeys, dv = torch.empty_like(contexts), torch.zeros_like(keys), torch.zeros_like(v)
        dstate = torch.zeros_like(states[0])
        for t in range(steps - 1, -1, -1):
            dwords[t], dprojected[t, :, units:], through = ctx.run.cell_backward(dstate, kept[t], states[t])
            torch.addmm(dcontexts[t], dwords[t], of_context, out=dattended[t])
            dweights = torch.bmm(values, dattended[t].unsqueeze(2)).squeeze(2)
            dprojected[t, :, :units], matched, denergies = ctx.run.attend_backward(keys, queries[t], v, weights[t], dweights, dkeys)
            dv.addmv_(matched.view(-1, units).t(), denergies.view(-1))
            dstate = torch.addmm(through + dstates[t], dprojected[t], of_state)
        dvalues = torch.bmm(torch.stack(weights, 2), dattended.transpose(0, 1))
        flat = dprojected.view(steps * rows, 4 * units)
        dof_state = flat.t() @ states.view(steps * rows, units)
        dof_context = dwords.view(steps * rows, 3 * units).t() @ contexts.view(steps * rows, 2 * units)
        return None, dwords, dstate, dkeys, dvalues, dv, dof_state, flat.sum(0), dof_context


class Loss(torch.autograd.Function):
    """The projection and its cross-entropy, in blocks of rows. The forward pass computes the gradients, too."""

    ROWS = 256

    @staticmethod
    def forward(ctx: Any, run: Pointwise, x: Tensor, weight: Tensor, bias: Tensor, targets: Tensor) -> Tensor:
        count = len(targets)
        dx, dweight, dbias, total = torch.empty_like(x), torch.zeros_like(weight), torch.zeros_like(bias), x.new_zeros(())
        for i in range(0, count, Loss.ROWS):
            rows = x[i : i + Loss.ROWS]
            nll, dlogits = run.loss_forward(torch.addmm(bias, rows, weight.t()), targets[i : i + Loss.ROWS], 1.0 / count)
            total += nll
            torch.mm(dlogits, weight, out=dx[i : i + Loss.ROWS])
            dweight.addmm_(dlogits.t(), rows)
            dbias += dlogits.sum(0)
        ctx.save_for_backward(dx, dweight, dbias)
        return total / count

    @staticmethod
    def backward(ctx: Any, _: Tensor) -> tuple[Tensor | None, ...]:
        return None, *ctx.saved_tensors, None


class ByHand(nn.Module):
    def __init__(self, load: Workload, _: str) -> None:
        super().__init__()
        units, size = load.units, load.embedding
        wide = 2 * (units // 2)
        self.units = units
        self.run = Pointwise()
        self.source, self.target = nn.Embedding(load.vocabulary, size), nn.Embedding(load.vocabulary, size)

        def drawn(*shape: int) -> nn.Parameter:
            return nn.Parameter((torch.rand(*shape) * 2 - 1) / units**0.5)

        self.encoder = nn.ParameterList(
            [drawn(2, 3 * units, size), drawn(2, 3 * units, units), drawn(2, 3 * units), drawn(2, 3 * units)]
        )
        self.start, self.key = nn.Linear(units, units), nn.Linear(2 * units, units)
        self.v, self.of_state, self.bias = drawn(units), drawn(4 * units, units), drawn(3 * units)
        self.word, self.of_context = nn.Linear(size, 3 * units), drawn(3 * units, 2 * units)
        self.readout, self.symbol = nn.Linear(3 * units, wide), nn.Linear(size, wide, bias=False)
        self.projection = nn.Linear(wide // 2, load.vocabulary)

    def loss(self, source: Tensor, target_in: Tensor, target_out: Tensor) -> Tensor:
        annotations, last = Encoder.apply(self.run, self.source(source.t()), *self.encoder)
        values = annotations.transpose(0, 1).contiguous()
        embedded = self.target(target_in.t())
        states, contexts = Decoder.apply(
            self.run, self.word(embedded), torch.tanh(self.start(last)), self.key(values), values,
            self.v, self.of_state, F.pad(self.bias, (self.units, 0)), self.of_context,
        )  # fmt: skip
        of_states, of_contexts = self.readout.weight[:, : self.units], self.readout.weight[:, self.units :]
        wide = F.linear(states, of_states, self.readout.bias) + F.linear(contexts, of_contexts) + self.symbol(embedded)
        features = wide.unflatten(-1, (-1, 2)).amax(-1).flatten(0, 1)
        return Loss.apply(self.run, features, self.projection.weight, self.projection.bias, target_out.t().flatten())


def main() -> None:
    torch.manual_seed(1)
    torch.set_default_dtype(torch.float64)
    load = Workload(12, 16, 300, 6, 5, 7)
    model = ByHand(load, "")
    source, target = (torch.randint(3, load.vocabulary, (load.sentences, steps)) for steps in (load.source, load.target))

    def loss() -> Tensor:
        return model.loss(source, target, target.flip(1))

    loss().backward()
    for name, parameter in model.named_parameters():
        direction, around = torch.randn_like(parameter), []
        for step in (1e-5, -2e-5, 1e-5):  # the last step restores the parameter
            parameter.data += step * direction
            around.append(loss().item())
        difference, gradient = (around[0] - around[1]) / 2e-5, (parameter.grad * direction).sum().item()
        print(f"{name:20} {gradient:12.9f} {difference:12.9f}")
        torch.testing.assert_close(gradient, difference, rtol=1e-5, atol=1e-9)


if __name__ == "__main__":
    main()
