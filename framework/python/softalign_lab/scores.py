"""A score function on its own, without a model."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from softalign_lab import _core


class Score:
    """A registered score function with its options. It computes the energies before the softmax: e_bs = score(q_b, h_bs).

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
        """Sets parameters: score.set(v=np.ones(8)). Names with a dot: set(**{"query.W": ...})."""
        for name, numbers in parameters.items():
            self._function.set(name, numbers)

    def __call__(
        self, queries: np.ndarray, annotations: np.ndarray, lengths: Sequence[int] | None = None, attended: np.ndarray | None = None
    ) -> np.ndarray:
        """Returns the energies [B, S], float32, of queries [B, Q] and annotations [B, S, D]. lengths [B]: annotations after these are padding, and so
        are their energies. attended [B, S]: the sum of earlier weights, for scores that read it."""
        return self._function.energies(queries, annotations, lengths, attended)
