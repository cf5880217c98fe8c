from __future__ import annotations

import pytest
from nightly import NIGHTLY


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.get_closest_marker("nightly") and not NIGHTLY:
            item.add_marker(pytest.mark.skip(reason="nightly"))
