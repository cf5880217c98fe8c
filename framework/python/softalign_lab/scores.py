"""A score function alone, without a model around it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from softalign_lab import _core


class Score:
    """e_bs = score(q_b, h_bs): the energies before the softmax, of a registered score function with its options.

    sa.Score("additive", query=8, annotation=16) has the initial parameters that training begins with (seed 1); sa.Score({"type": "angular", "gain": 4},
    ...) has options. Raises SpecError for sizes or options that the score refuses.
    """

    def __init__(self, score: str | Mapping[str, Any], query: int, annotation: int, seed: int = 1) -> None:
        self._function = _core.ScoreFunction(json.dumps({"score": score}), query, annotation, seed)

    @property
    def parameters(self) -> dict[str, np.ndarray]:
        """Copies of the trainable arrays by name."""
        return self._function.parameters

    def set(self, **parameters: np.ndarray) -> None:
        """Other numbers for parameters: score.set(v=np.ones(8)); names with a dot as set(**{"query.W": ...})."""
        for name, numbers in parameters.items():
            self._function.set(name, numbers)

    def __call__(
        self, queries: np.ndarray, annotations: np.ndarray, lengths: Sequence[int] | None = None, attended: np.ndarray | None = None
    ) -> np.ndarray:
        """queries [B, Q], annotations [B, S, D] -> energies [B, S], float32. lengths [B]: annotations behind them are padding, and so are their
        energies. attended [B, S]: the sum of earlier weights, for scores that read it."""
        return self._function.energies(queries, annotations, lengths, attended)
