"""Plugins: what there is, and one's own."""

from __future__ import annotations

from os import PathLike, fspath

import pandas as pd

from softalign_lab import _core


def plugins(kind: str = "") -> pd.DataFrame:
    """kind, name and summary of each plugin, of all kinds or of one ("score")."""
    return pd.DataFrame(_core.plugins(kind), columns=["kind", "name", "summary"])


def load_plugin(file: str | PathLike) -> list[str]:
    """Loads a shared object for the rest of the process; returns what it adds: ["score angular"]. Raises SpecError."""
    return _core.load_plugin(fspath(file))
