"""Specs and their overrides, in the form that the library takes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from softalign_lab import _core

Spec = str | PathLike | Mapping[str, Any]
Overrides = Mapping[str, Any] | Iterable[str] | None


def overrides(changes: Overrides) -> list[str]:
    """Returns {"train.epochs": 3} or ["train.epochs=3", "~train.clip_norm"] as overrides of the command line. None removes an option of the file."""
    if changes is None:
        return []
    if isinstance(changes, str):
        return [changes]
    if not isinstance(changes, Mapping):
        return list(changes)
    return [f"~{path}" if value is None else f"{path}={_text(value)}" for path, value in changes.items()]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def spec(given: Spec) -> tuple[str, str | None]:
    """Returns (path, None) for a file, ("spec", its text) for options in a mapping. Raises SpecError for a missing file if softalign ships one of that name."""
    if isinstance(given, Mapping):
        return "spec", json.dumps(given)
    file, shipped = fspath(given), Path(__file__).parent / "share/softalign" / given
    if not Path(file).exists() and shipped.is_file():
        raise _core.SpecError(f"{file}: no such file here; softalign has one of this name: {shipped}")
    return file, None
