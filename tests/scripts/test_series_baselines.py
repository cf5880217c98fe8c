"""The forecasts of experiments/series/baselines.py, on a series whose best forecast is known."""

from __future__ import annotations

import importlib.util
import math
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

SCRIPT = Path(__file__).parents[2] / "experiments/series/baselines.py"
PHI, DEVIATION, DAY = 0.8, 20.0, 24


@pytest.fixture(scope="module")
def baselines() -> ModuleType:
    spec = importlib.util.spec_from_file_location("series_baselines", SCRIPT)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["series_baselines"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def series() -> np.ndarray:
    """Returns a series whose values are those of the day before plus an autoregressive error."""
    stream, values, error = np.random.default_rng(1), list(1000 + 300 * np.sin(np.arange(DAY) * math.pi / 12)), 0.0
    while len(values) < 200 * DAY:
        error = PHI * error + DEVIATION * stream.standard_normal()
        values.append(values[-DAY] + error)
    return np.array(values)


def test_masses_are_those_of_the_normal_distribution(baselines: ModuleType) -> None:
    edges = [-math.inf, *np.arange(-30, 30.5, 0.5), math.inf]
    assert sum(math.exp(baselines.log_mass(a, b)) for a, b in zip(edges, edges[1:])) == pytest.approx(1, abs=1e-14)
    assert baselines.log_mass(20, 20.5) == pytest.approx(baselines.log_mass(-20.5, -20), rel=1e-12)


def test_an_autoregressive_error_is_found(baselines: ModuleType, series: np.ndarray) -> None:
    bins = np.linspace(series.min() - 500, series.max() + 500, 400)
    begins = np.arange(len(series) - 20 * DAY, len(series) - DAY + 1, DAY)
    windows = baselines.Windows(bins, begins, 7 * DAY, DAY, len(series) - 30 * DAY)
    plain, errors_too = (baselines.Naive.fitted(windows, series, DAY, phi) for phi in (False, True))
    assert errors_too.phi == pytest.approx(PHI, abs=0.03)
    assert errors_too.deviation == pytest.approx(DEVIATION, rel=0.05)
    assert plain.deviation == pytest.approx(DEVIATION / math.sqrt(1 - PHI**2), rel=0.1)
    likelihood, mae, rmse = errors_too.measured(windows, series)
    best = math.log(DEVIATION * math.sqrt(2 * math.pi * math.e)) - math.log(bins[1] - bins[0])  # entropy of the error, discretised into bins
    assert likelihood == pytest.approx(best, abs=0.08)
    worse, worse_mae, _ = plain.measured(windows, series)
    assert worse > likelihood + 0.3 and worse_mae > mae and rmse > mae


def test_the_first_value_is_forecast_from_the_history_alone(baselines: ModuleType, series: np.ndarray) -> None:
    naive, begin = baselines.Naive(DAY, PHI, DEVIATION), 50 * DAY
    whole = naive.whole(series, begin, DAY)
    assert whole[0] == pytest.approx(naive.one_step(series, begin, DAY)[0])
    changed = series.copy()
    changed[begin:] = 0
    assert np.array_equal(naive.whole(changed, begin, DAY), whole)
