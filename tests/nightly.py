"""What takes long runs where SOFTALIGN_NIGHTLY is set, as `scripts/test.sh --nightly` does: tests marked `nightly`, and most cases of long tables."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

NIGHTLY = "SOFTALIGN_NIGHTLY" in os.environ


def sampled(cases: Iterable[Any], every: int) -> list[Any]:
    """Parameters of a test: one case of `every`, in the night all."""
    return list(cases) if NIGHTLY else list(cases)[::every]
