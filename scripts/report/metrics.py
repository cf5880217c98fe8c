"""What a metric is called and what it can be, as the program says it; and of other numbers what their names say."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

SIGNS = {"percent": "%", "1": ""}  # units as figures have them
NOT_NEGATIVE = ("gradient_norm", "learning_rate", "tokens")


@dataclass(frozen=True)
class Metric:
    name: str
    title: str
    units: str = ""
    least: float = -math.inf
    most: float = math.inf
    main: bool = False
    baseline: bool = False
    judged: bool = False  # an end of it is good


def metric_of(name: str, facts: Mapping[str, Any]) -> Metric:
    least, most = (end if value is None else value for value, end in ((facts["least"], -math.inf), (facts["most"], math.inf)))
    units = SIGNS.get(facts["units"], facts["units"])
    return Metric(name, facts["title"], units, least, most, facts["main"], bool(facts["baseline_of"]), facts["higher_is_better"] is not None)


def unknown(name: str) -> Metric:
    """A number of a series that is no metric: "gradient_norm"."""
    return Metric(name, name.replace("_", " "), least=0.0 if name in NOT_NEGATIVE else -math.inf)
