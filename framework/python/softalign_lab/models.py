"""Trained models applied to new sentences."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from softalign_lab import _core
from softalign_lab.options import overrides

if TYPE_CHECKING:
    import xarray


@dataclass(frozen=True)
class Hypothesis:
    """A translation by the model, or a given one that it scored. str() is its text.

    tokens: its symbols, with </s>; log_probabilities: [T], the natural logarithm of each token's probability given those before it; log_probability:
    their sum; score: the value by which the search ranks; finished: False if the search stopped at its length limit; source: the symbols that the
    model read; weights: [T, S], None without attention.
    """

    text: str
    score: float
    log_probability: float
    finished: bool
    tokens: list[str]
    log_probabilities: list[float]
    source: list[str]
    weights: np.ndarray | None = field(default=None, repr=False)
    drawn: int | None = None  # how often a sampling search drew it
    replaced: Sequence[Mapping[str, Any]] = ()  # words that replace an <unk>: "symbol", "word", and "source", the index of the source word

    def __str__(self) -> str:
        return self.text

    @property
    def alignment(self) -> xarray.DataArray:
        """The attention weights, target × source. Raises ValueError for a model without attention."""
        if self.weights is None:
            raise ValueError("a model without attention has no alignment")
        return alignment(self.weights, self.tokens, self.source)


def alignment(weights: np.ndarray, target: Sequence[str], source: Sequence[str], **attributes: Any) -> xarray.DataArray:
    """Returns [T, S] with the words of both sides as coordinates; source positions that are not symbols (images) are numbered."""
    import xarray

    columns = list(source) if len(source) == weights.shape[1] else range(weights.shape[1])
    return xarray.DataArray(
        weights, dims=("target", "source"), coords={"target": list(target), "source": list(columns)}, name="attention", attrs=attributes
    )


@lru_cache(maxsize=8)
def _trained(records: tuple[str, ...], changes: tuple[str, ...], state: str, threads: int, written: tuple[int, ...]) -> _core.Trained:
    """Loads a model, and caches it because loading takes longer than most requests. written: modification times, so that a resumed run is read again."""
    return _core.Trained(list(records), list(changes), [], state, threads)


class Model:
    """The trained model of a run, or an ensemble of the models of several runs."""

    def __init__(self, records: Sequence[str], search: Mapping[str, Any] | str | None = None, state: str = "", threads: int = 0, **changes: Any) -> None:
        """search: replaces the run's own, {"type": "beam", "width": 10}; unknown_words: replaces the run's own, {"by": "attention"}; state: "best",
        "last", an update that has a checkpoint, or "average:5", the mean of the 5 newest checkpoints."""
        if search is not None:
            changes["search"] = search
        files = [os.path.join(record, "run.h5") if os.path.isdir(record) else record for record in records]
        written = tuple(os.stat(file).st_mtime_ns if os.path.exists(file) else 0 for file in files)
        self._trained = _trained(tuple(records), tuple(overrides(changes)), str(state), threads, written)

    def translate(self, lines: Sequence[str] | Sequence[np.ndarray], n_best: int = 1) -> list[list[Hypothesis]]:
        """Returns the hypotheses of each line, best first; none for a line without words. lines: texts, or arrays [frames, F] for a model that reads frames."""
        sources = _lines(lines)
        arrays = any(isinstance(source, np.ndarray) for source in sources)
        found = self._trained.translate_frames(sources, n_best) if arrays else self._trained.translate(sources, n_best)
        return [[Hypothesis(**one) for one in hypotheses] for hypotheses in found]

    def score(self, sources: Sequence[str], targets: Sequence[str]) -> list[Hypothesis]:
        """Returns the targets with their scores by forced decoding."""
        return [Hypothesis(**one) for one in self._trained.score(_lines(sources), _lines(targets))]

    def evaluate(self, split: str = "test") -> dict[str, Any]:
        """Measures the metrics again, as `softalign evaluate --json` prints them. split: "dev" or "test"."""
        return self._trained.evaluate(split)


def _lines(lines: Sequence[Any]) -> list[Any]:
    if isinstance(lines, str):
        raise TypeError("give a list of sentences, not one text")
    if isinstance(lines, np.ndarray):
        raise TypeError("give a list of arrays, not one array")
    return list(lines)
