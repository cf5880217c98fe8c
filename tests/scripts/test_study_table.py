"""The values that a study's table takes from the diagnostics of a record."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import pytest

from softalign_tools.study_table import diagnosed


@pytest.fixture
def record(tmp_path: Path) -> h5py.File:
    with h5py.File(tmp_path / "run.h5", "w") as file:
        probe = file.create_group("diagnostics/probe/dev")
        probe["update"] = [0, 10]
        probe["position"] = [0.0, 1.0, 2.0]
        probe["accuracy"] = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
        probe["rank"] = [7.0, 8.0]
        probe["position"].make_scale("position")
        probe["accuracy"].dims[1].attach_scale(probe["position"])
        probe["update"].make_scale("update")
        for name in ("accuracy", "rank"):
            probe[name].dims[0].attach_scale(probe["update"])
        yield file


def test_an_array_is_that_of_the_last_update_or_the_first(record: h5py.File):
    for name, values in (("probe.accuracy", [4, 5, 6]), ("probe.start.accuracy", [1, 2, 3])):
        found, places = diagnosed(record, name)
        np.testing.assert_array_equal(found, values)
        np.testing.assert_array_equal(places, [0, 1, 2])
    found, places = diagnosed(record, "probe.rank")
    assert list(found) == [8] and places is None


def test_a_run_may_lack_an_array(record: h5py.File):
    assert diagnosed(record, "probe.context_accuracy") is None  # a model without attention
    assert diagnosed(record, "other.rank") is None
    record["diagnostics/probe/dev/update"][0] = 5
    assert diagnosed(record, "probe.start.rank") is None  # not measured before training
