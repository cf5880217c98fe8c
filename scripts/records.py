"""Reads the records (run.h5) that runs leave: what a figure or a table needs, as plain values; draws nothing."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import yaml


class RecordError(Exception):
    """A file that is no record of ours, or lacks what was asked of it."""


@dataclass(frozen=True)
class ByLength:
    """Test results by source length: every array has one value a bucket."""

    labels: list[str]  # "1-10", ..., "61+"
    n: np.ndarray  # sentences
    metrics: dict[str, np.ndarray]  # accuracies in percent; NaN where a bucket has no value


@dataclass(frozen=True)
class Alignment:
    """One sentence's attention: weights [target, source], summed to 1 over the source; gold 0 none, 1 possible, 2 sure."""

    sentence: int
    source: list[str]
    target: list[str]
    weights: np.ndarray
    gold: np.ndarray | None


@dataclass(frozen=True)
class Run:
    """One record. Small things are read at once, alignments when asked for."""

    path: Path
    spec: dict[str, Any]
    label: str  # the score function, or what stands in its place

    @property
    def task(self) -> dict[str, Any]:
        return self.spec["task"]

    @property
    def test_set(self) -> str:
        """A key that runs share when their test results may stand in one figure."""
        drawn = [(self.task.get(k) or {}).get("test") for k in ("length", "examples")]
        return json.dumps([self.task.get(k) for k in ("type", "test", "symbols")] + drawn, default=str)

    @property
    def trained_lengths(self) -> tuple[int, int] | None:
        """The shortest and the longest source that training saw, as the spec bounds them."""
        if lengths := (self.task.get("length") or {}).get("train"):
            return lengths[0], lengths[1]
        longest = self.task.get("max_length")
        return (1, longest) if longest else None

    @cached_property
    def by_length(self) -> ByLength | None:
        with h5py.File(self.path) as file:
            group = file.get("test/by_length")
            if group is None:
                return None
            metrics = {name: d[:] for name, d in group.items() if d.dtype == np.float64 and d.ndim == 1}
            return ByLength([str(label) for label in group["label"].asstr()[:]], group["n"][:], metrics)

    @cached_property
    def dev(self) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """Metric -> (updates, values)."""
        with h5py.File(self.path) as file:
            group = file.get("dev")
            if group is None:
                return {}
            updates = group["update"][:]
            return {name: (updates, d[:]) for name, d in group.items() if d.dtype == np.float64 and d.ndim == 1}

    @cached_property
    def sentences(self) -> dict[int, int]:
        """Sentence -> source length, of those whose alignment is in the record."""
        with h5py.File(self.path) as file:
            group = _attention(file)
            return {} if group is None else dict(zip(group["sentence"][:].tolist(), group["src_len"][:].tolist()))

    def alignment(self, sentence: int) -> Alignment:
        """The sentence's attention at the last update kept, the mean of its heads. Throws RecordError when it is not there."""
        with h5py.File(self.path) as file:
            group = _attention(file)
            if group is None or sentence not in self.sentences:
                raise RecordError(f"{self.path}: no alignment of sentence {sentence}")
            at = list(self.sentences).index(sentence)
            height, width = int(group["tgt_len"][-1, at]), int(group["src_len"][at])
            return Alignment(
                sentence,
                list(group["src_tokens"].asstr()[at, :width]),
                list(group["tgt_tokens"].asstr()[-1, at, :height]),
                group["weights"][-1, at, :, :height, :width].mean(axis=0),
                group["gold"][at, :height, :width] if "gold" in group else None,
            )


def _attention(file: h5py.File) -> h5py.Group | None:
    """The first alignment module, in name order."""
    modules = file.get("alignments")
    return modules[sorted(modules)[0]] if modules else None


def _label(spec: dict[str, Any]) -> str:
    attention = spec["model"]["attention"]
    if isinstance(attention, str):
        return attention
    score = attention.get("score")
    score = score["type"] if isinstance(score, dict) else score
    return " ".join(part for part in (attention["type"], score) if part and part != "global")


def read_run(path: Path) -> Run:
    if not path.is_file():
        raise RecordError(f"{path}: no such file")
    try:
        with h5py.File(path) as file:
            if file.attrs.get("format", b"") not in (b"softalign-run", "softalign-run"):
                raise RecordError(f"{path}: not a softalign record (its attribute 'format' says otherwise)")
            spec = yaml.safe_load(file["provenance/spec_yaml"].asstr()[()])
    except OSError as error:
        raise RecordError(f"{path}: damaged, or no HDF5 file; `softalign verify` says more") from error
    except KeyError as error:
        raise RecordError(f"{path}: a record without its spec (provenance/spec_yaml)") from error
    return Run(path, spec, _label(spec))


def _flat(spec: Any, prefix: str = "") -> dict[str, str]:
    """{"train.optimizer.type": "adam", ...}."""
    if not isinstance(spec, dict):
        return {prefix: json.dumps(spec, default=str)}
    return {key: value for name, part in spec.items() for key, value in _flat(part, f"{prefix}.{name}".lstrip(".")).items()}


def _told_apart(runs: list[Run]) -> list[Run]:
    """Runs of one label, each with what sets its spec apart from the others' added; more than three keys: its folder instead."""
    specs = [_flat(run.spec) for run in runs]
    keys = sorted({key for spec in specs for key in spec}, key=lambda key: (key != "seed", key))
    differing = [key for key in keys if len({spec.get(key) for spec in specs}) > 1 and key != "name"]
    details = [", ".join(f"{key.rpartition('.')[2]} {spec.get(key, '-')}" for key in differing) for spec in specs]
    if len(differing) > 3 or len(set(details)) < len(runs):
        details = [run.path.parent.name for run in runs]
    return [replace(run, label=f"{run.label}, {detail}") for run, detail in zip(runs, details)]


def find_runs(places: Iterable[Path]) -> list[Run]:
    """The records named, or below the folders named, in that order. Runs that share a label also say in what they differ."""
    files = [f for place in places for f in (sorted(place.rglob("run.h5")) if place.is_dir() else [place])]
    runs = [read_run(file) for file in dict.fromkeys(files)]
    groups: dict[tuple[str, str], list[Run]] = {}
    for run in runs:
        groups.setdefault((run.test_set, run.label), []).append(run)
    labelled = [run for group in groups.values() for run in (_told_apart(group) if len(group) > 1 else group)]
    return sorted(labelled, key=lambda run: [r.path for r in runs].index(run.path))
