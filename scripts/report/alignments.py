"""Attention matrices for the explorer, packed for the page: 256 steps of weight, runs of zeros counted, base64.

A weight is kept as round(255 w), so what the page shows is at most 0.002 off. Trained attention is mostly zero: 0 is followed by
a byte that says how many, 1..255. Texts stand once in a pool; two panes hold the same sentence when set, number and source text
are equal, or the pixels where sources are images.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import h5py
import numpy as np

from records import ENCODER, WORDS
from report.gather import Placed, Problem, Subject
from source_images import Image, read_image
from stored import RecordError, array, group_of, member, opened, values

BUDGET = 16_000_000  # characters of packed matrices and of texts on one page
KINDS = {"_search": "searched", "_dev": "dev"}


@dataclass
class Pool:
    """Texts by number: the tokens of a sentence, joined by line ends, which no token holds."""

    texts: dict[str, int] = field(default_factory=dict)
    characters: int = 0

    def add(self, tokens: Sequence[str]) -> int:
        text = "\n".join(token.replace("\n", " ") for token in tokens)
        self.characters += 0 if text in self.texts else len(text)
        return self.texts.setdefault(text, len(self.texts))


def packed(weights: np.ndarray) -> str:
    """[T, S] in [0, 1], row by row."""
    steps = np.rint(np.clip(weights, 0, 1) * 255).astype(np.uint8).ravel()
    zero = np.concatenate([[False], steps == 0, [False]])
    edges = np.flatnonzero(zero[1:] != zero[:-1])  # begins and ends of runs of zeros, in turns
    out, at = bytearray(), 0
    content = steps.tobytes()
    for begin, end in zip(edges[::2].tolist(), edges[1::2].tolist()):
        out += content[at:begin]
        full, rest = divmod(end - begin, 255)
        out += b"\x00\xff" * full + (bytes((0, rest)) if rest else b"")
        at = end
    out += content[at:]
    return base64.b64encode(bytes(out)).decode()


def unpacked(text: str, rows: int, columns: int) -> np.ndarray:
    """What the page's script does, for the tests: steps [T, S]."""
    out: list[int] = []
    values = iter(base64.b64decode(text))
    for value in values:
        out += [value] if value else [0] * next(values)
    return np.array(out, dtype=np.uint8).reshape(rows, columns)


def kind_of(module: str) -> str:
    if module.removeprefix(WORDS).startswith(ENCODER):
        return "encoder"
    return next((kind for end, kind in KINDS.items() if module.endswith(end)), "forced")


def _images(file: h5py.File, kind: str, sentences: Sequence[int], pool: Pool) -> dict[str, Any] | None:
    """The images that are the sources: ink in 36 steps, 0..z, column by column; `position` of the longest serves all."""
    found = [read_image(file, "dev" if kind == "dev" else "test", sentence) for sentence in sentences]
    if not found or None in found:
        return None
    longest = max(found, key=lambda image: image.ink.size)
    return {
        "height": longest.ink.shape[0],
        "position": longest.position.T.ravel().tolist(),
        "pixels": [pool.add([ink_text(image)]) for image in found],
    }


def ink_text(image: Image) -> str:
    steps = np.rint(image.ink.T.ravel() * 35).astype(int)
    return "".join("0123456789abcdefghijklmnopqrstuvwxyz"[step] for step in steps)


def _rounded(value: float, digits: int = 4) -> float | None:
    return round(float(value), digits) if math.isfinite(value) else None


def _links(gold: np.ndarray) -> list[int]:
    """place * 2 + (1 when sure), place = t * S + s."""
    flat = gold.ravel()
    return [int(at) * 2 + int(flat[at] == 2) for at in np.flatnonzero(flat)]


def _sentence_scores(placed: Placed, sentences: Sequence[int], kind: str) -> dict[str, list[float | None]]:
    """Of test sentences, by number: loss, and the accuracy that belongs to the way of decoding."""
    scores, accuracy = placed.data.get("sentences"), "free_running_accuracy" if kind == "searched" else "token_accuracy"
    if kind == "dev" or not scores:
        return {}
    found = {"loss": scores["loss"], "accuracy": scores[accuracy]}
    return {
        key: [_rounded(values[s]) if 0 <= s < len(values) and values[s] is not None else None for s in sentences]
        for key, values in found.items()
    }


def pane(placed: Placed, module: str, every: int, pool: Pool) -> dict[str, Any]:
    """One module of one run; of its sentences those whose number is a multiple of `every`."""
    kind = kind_of(module)
    with opened(placed.recorded.run.path) as file:
        group = group_of(file, f"alignments/{module}")
        numbers, updates, each = (values(group, name, "iu", (None,)).tolist() for name in ("sentence", "update", "head"))
        kept = [at for at, number in enumerate(numbers) if number % every == 0]
        heads, n, u = len(each), len(numbers), len(updates)
        matrices = array(group, "weights", "f", (u, n, heads, None, None))
        tgt, src = matrices.shape[3:]
        entropies = array(group, "entropy", "f", (u, n, heads, tgt))
        widths, heights = values(group, "src_len", "iu", (n,)), values(group, "tgt_len", "iu", (u, n))
        if not (((0 <= widths) & (widths <= src)).all() and ((0 <= heights) & (heights <= tgt)).all()):
            raise ValueError("sentences are longer than their weights")
        sources, targets = values(group, "src_tokens", "O", (n, src)), values(group, "tgt_tokens", "O", (u, n, tgt))
        gold = values(group, "gold", "iu", (n, tgt, src)) if member(group, "gold") is not None else None
        weights: list[list[list[str | None]]] = []
        entropy: list[list[float | None]] = []
        for u in range(len(updates)):
            slab, rows = matrices[u], entropies[u]
            packs: list[list[str | None]] = [[] for _ in range(heads)]
            mean: list[float | None] = []
            for at in kept:
                t, s = int(heights[u, at]), int(widths[at])
                for h in range(heads):
                    one = slab[at, h, :t, :s]
                    packs[h].append(packed(one) if one.size and np.isfinite(one).all() else None)
                known = rows[at, :, :t]
                mean.append(_rounded(np.nanmean(known)) if np.isfinite(known).any() else None)
            weights.append(packs)
            entropy.append(mean)
        chosen = [numbers[at] for at in kept]
        images = _images(file, kind, chosen, pool)
        return {
            "run": placed.name or placed.recorded.run.name,
            "module": module,
            "kind": kind,
            "set": f"{placed.panel}|{'dev' if kind == 'dev' else 'test'}",
            "updates": updates,
            "heads": each,
            "sentence": chosen,
            "source": [pool.add(sources[at, : widths[at]].tolist()) for at in kept],
            "target": [[pool.add(targets[u, at, : heights[u, at]].tolist()) for at in kept] for u in range(len(updates))],
            "weights": weights,
            "entropy": entropy,
            "images": images,
            "gold": [_links(gold[at, : heights[-1, at], : widths[at]]) for at in kept] if gold is not None and updates else None,
            **_sentence_scores(placed, chosen, kind),
        }


def size_of(made: dict[str, Any]) -> int:
    """Characters of a pane's packed matrices."""
    return sum(len(text or "") for update in made["weights"] for head in update for text in head)


def explorer(subject: Subject, runs: Sequence[Placed], budget: int = BUDGET) -> dict[str, Any]:
    """What the page's script reads. `every` > 1: only each such sentence, for there was no room for more."""
    every, wanted = 1, [(placed, module) for placed in runs for module in sorted(placed.recorded.modules, key=lambda m: not m.startswith(WORDS))]
    while True:
        pool, panes, matrices = Pool(), [], 0
        for done, (placed, module) in enumerate(list(wanted), 1):
            try:
                panes.append(pane(placed, module, every, pool))
            except RecordError as error:
                wanted.remove((placed, module))
                path = placed.recorded.run.path
                text = f"its alignments '{module}' are left out: {str(error).removeprefix(f'{path}: ')}"
                subject.problems.append(Problem(str(path.parent), text))
                continue
            matrices += size_of(panes[-1])
            if (size := matrices + pool.characters) > budget:
                every = max(every + 1, math.ceil(every * size / budget * len(wanted) / done))
                break
        else:
            panes = [p for p in panes if p["sentence"]]
            return {"texts": list(pool.texts), "panes": panes, "every": every, "runs": len(runs), "of": len(subject.runs)}
