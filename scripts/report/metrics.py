"""Metrics from the counts of single sentences that a record keeps in /test, and how sure they are.

Every metric is a function of sums over sentences, so a resample of the test set is a weighted sum: the bootstrap needs no
decoding. The formulas are those of framework/plugins/metrics; `Counts.value` is compared with what the record says wherever both
are there.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from stored import group_of, member, opened, values

RESAMPLES = 1000
SEED = 20141001  # of the resamples, for every metric and run: runs of one test set see the same draws
LEVEL = (2.5, 97.5)  # percentiles of a 95 % interval

WIDTHS = {"bleu_stats": 10, "chrf_stats": 18}  # numbers of a sentence; of all others one
Sums = np.ndarray  # [..., columns of one metric], summed over sentences


def _ratio(scale: float = 1.0) -> Callable[[Sums], np.ndarray]:
    return lambda sums: scale * sums[..., 0] / np.where(sums[..., 1] == 0, np.nan, sums[..., 1])


def _bleu(sums: Sums) -> np.ndarray:
    """sums: hypothesis length, reference length, 4 matches, 4 totals; tok:none, smooth:exp, eff:no."""
    correct, total = sums[..., 2:6], sums[..., 6:10]
    empty = (total[..., 3] == 0) | (correct[..., 0] == 0)
    unmatched = np.cumsum(correct == 0, axis=-1)  # smoothing doubles at each order without a match
    matches = np.where(correct > 0, correct, 0.5**unmatched)
    log_precision = np.log(matches / np.maximum(total, 1)).mean(axis=-1)
    log_brevity = np.minimum(0, 1 - sums[..., 1] / np.maximum(sums[..., 0], 1))
    return np.where(empty, 0, 100 * np.exp(log_brevity + log_precision))


def _chrf(sums: Sums) -> np.ndarray:
    """sums: for n = 1..6 the n-grams of the hypothesis, of the reference, of both; beta 2, effective order."""
    parts = sums.reshape(*sums.shape[:-1], 6, 3)
    used = (parts[..., 0] > 0) & (parts[..., 1] > 0)
    precision = np.where(used, parts[..., 2] / np.maximum(parts[..., 0], 1), 0).sum(axis=-1)
    recall = np.where(used, parts[..., 2] / np.maximum(parts[..., 1], 1), 0).sum(axis=-1)
    below = 4 * precision + recall
    return np.where(below > 0, 500 * precision * recall / np.where(below > 0, below, 1) / np.maximum(used.sum(axis=-1), 1), 0)


@dataclass(frozen=True)
class Metric:
    """columns: of /test; "" counts sentences."""

    title: str
    units: str
    higher_is_better: bool
    columns: tuple[str, ...]
    of_sums: Callable[[Sums], np.ndarray]


METRICS: dict[str, Metric] = {
    "token_accuracy": Metric("token accuracy", "%", True, ("correct_tokens", "target_tokens"), _ratio(100)),
    "bleu": Metric("BLEU", "%", True, ("bleu_stats",), _bleu),
    "chrf": Metric("chrF2", "%", True, ("chrf_stats",), _chrf),
    "perplexity": Metric("perplexity", "", False, ("nll", "target_tokens"), lambda sums: np.exp(_ratio()(sums))),
    "loss": Metric("loss", "nats per token", False, ("nll", "target_tokens"), _ratio()),
    "exact_match": Metric("exact match", "%", True, ("exact", ""), _ratio(100)),
    "free_running_accuracy": Metric(
        "free-running accuracy", "%", True, ("free_running_hits", "free_running_positions"), _ratio(100)
    ),
    "pointing_accuracy": Metric("pointing accuracy", "%", True, ("pointing_hits", "pointing_tokens"), _ratio(100)),
    "pointing_accuracy_ibm_model1": Metric(
        "pointing accuracy of IBM Model 1", "%", True, ("ibm_model1_hits", "ibm_model1_tokens"), _ratio(100)
    ),
    "attention_entropy": Metric("attention entropy", "nats", False, ("attention_entropy", "attention_steps"), _ratio()),
}


def title_of(name: str) -> str:
    """For any series: "train/gradient_norm" -> "gradient norm"."""
    name = name.rpartition("/")[2]
    return METRICS[name].title if name in METRICS else name.replace("_", " ")


def limits_of(name: str) -> tuple[float, float]:
    """What any series can be: a mean ± sd may lie beyond it, the values cannot. Nothing is known of metrics of plugins."""
    name = name.rpartition("/")[2]
    if name not in METRICS:
        return (0.0 if name in ("gradient_norm", "learning_rate", "tokens") else -math.inf, math.inf)
    return 1.0 if name == "perplexity" else 0.0, 100.0 if METRICS[name].units == "%" else math.inf


def units_of(name: str) -> str:
    return METRICS[name].units if name in METRICS else ""


@dataclass(frozen=True)
class Counts:
    """The test results of one run: what its metrics are made of, sentence by sentence."""

    path: Path

    @cached_property
    def _columns(self) -> dict[str, np.ndarray]:
        wanted = {name for metric in METRICS.values() for name in metric.columns if name}
        with opened(self.path) as file:
            group = group_of(file, "test")
            if group is None or member(group, "source_length") is None:
                return {}
            lengths = values(group, "source_length", "iu", (None,))
            if (lengths < 0).any():
                raise ValueError("test/source_length holds no lengths")
            shapes = {name: (len(lengths), WIDTHS[name]) if name in WIDTHS else (len(lengths),) for name in wanted}
            found = {name: values(group, name, "iuf", shapes[name]).astype(float) for name in sorted(wanted) if member(group, name) is not None}
            return {"source_length": lengths.astype(float), **found}

    @property
    def lengths(self) -> np.ndarray:
        """Source tokens of each sentence, without </s>."""
        return self._columns.get("source_length", np.zeros(0)).astype(int)

    @property
    def names(self) -> list[str]:
        return [name for name, metric in METRICS.items() if all(not c or c in self._columns for c in metric.columns)]

    def defines(self, name: str, chosen: np.ndarray) -> bool:
        """BLEU is undefined where no reference has four words (dates, say): there is no 4-gram to match. Old records say 0."""
        return len(chosen) > 0 and (name != "bleu" or bool((self.table(name)[chosen, 1] > 3).any()))

    def table(self, name: str) -> np.ndarray:
        """[sentences, columns of the metric]"""
        n = len(self.lengths)
        return np.column_stack([self._columns[c].reshape(n, -1) if c else np.ones(n) for c in METRICS[name].columns])

    def value(self, name: str, chosen: np.ndarray) -> float:
        """Over the sentences chosen; NaN when they do not define it."""
        if not self.defines(name, chosen):
            return float("nan")
        return float(METRICS[name].of_sums(self.table(name)[chosen].sum(axis=0)))


def draws(n: int) -> np.ndarray:
    """[RESAMPLES, n]: how often each of n sentences is drawn, with replacement; the same for equal n, on any machine."""
    chosen = np.random.RandomState(SEED).randint(0, n, size=(RESAMPLES, n))
    return np.stack([np.bincount(row, minlength=n) for row in chosen]).astype(float)


def interval(runs: list[Counts], name: str, chosen: np.ndarray, weights: np.ndarray | None = None) -> tuple[float, float]:
    """95 % percentile bootstrap over the sentences chosen, of the mean over the runs (seeds): it says nothing of the seeds."""
    if len(chosen) < 2:
        return float("nan"), float("nan")
    weights = draws(len(chosen)) if weights is None else weights
    values = np.mean([METRICS[name].of_sums(weights @ run.table(name)[chosen]) for run in runs], axis=0)
    known = values[np.isfinite(values)]
    if len(known) < RESAMPLES / 2:
        return float("nan"), float("nan")
    low, high = np.percentile(known, LEVEL)
    return float(low), float(high)
