"""Specs and their changes, as the library takes them."""

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
    """{"train.epochs": 3} and ["train.epochs=3", "~train.clip_norm"] as the command line has them; a value of None takes the file's away."""
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
    """(name of the file, its text where it is no file): a path, or the options themselves as a mapping."""
    if isinstance(given, Mapping):
        return "spec", json.dumps(given)
    file, shipped = fspath(given), Path(__file__).parent / "share/softalign" / given
    if not Path(file).exists() and shipped.is_file():
        raise _core.SpecError(f"{file}: no such file here; softalign has one of this name: {shipped}")
    return file, None
