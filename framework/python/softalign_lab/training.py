"""Specs and training."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from os import PathLike, fspath
from typing import Any

from softalign_lab import _core
from softalign_lab.options import Overrides, Spec, overrides, spec
from softalign_lab.runs import Run

Evaluation = dict[str, Any]  # epoch, epochs, update, updates, loss, tokens, best, metrics


def resolve(given: Spec, changes: Overrides = None, plugins: Sequence[str] = ()) -> str:
    """Returns the spec as YAML with every default filled in and the origin of every value. Raises SpecError with the file and line of an error."""
    return _core.resolve(*spec(given), overrides(changes), list(plugins))["yaml"]


def run(
    given: Spec,
    changes: Overrides = None,
    *,
    results: str | PathLike = "results",
    threads: int = 0,
    force: bool = False,
    plugins: Sequence[str] = (),
    progress: bool = True,
    on_evaluation: Callable[[Evaluation], Any] | None = None,
    on_update: Callable[[dict[str, Any]], Any] | None = None,
) -> Run:
    """Trains an experiment, or resumes it, and returns the run with its record; a complete run is returned at once.

    given: a YAML file, or the options as a mapping. changes: {"train.epochs": 3}. threads: 0 means all cores; no result depends on
    it. on_evaluation: called after each evaluation of the dev set; on_update: after each update. An exception that they raise, or Ctrl-C, stops the run,
    which saves its state: the same call resumes it. Raises SpecError, DataError, MachineError.
    """
    shown = _Progress() if progress else None

    def watch(kind: str, values: dict[str, Any]) -> None:
        if shown is not None:
            shown.show(kind, values)
        if kind == "dev" and on_evaluation is not None:
            on_evaluation(values)
        if kind == "update" and on_update is not None:
            on_update(values)

    wants_updates = on_update is not None or shown is not None and shown.draws
    try:
        folder = _core.train(*spec(given), overrides(changes), list(plugins), fspath(results), threads, force, watch, wants_updates)
    finally:
        if shown is not None:
            shown.clear()
    return Run(folder)


class _Progress:
    """Prints a line to standard error for each evaluation and, on a terminal, a line that follows the updates. In a notebook, which shows standard
    error in red, it prints to standard output."""

    def __init__(self) -> None:
        self.out = sys.stdout if "ipykernel" in sys.modules else sys.stderr
        self.draws = self.out.isatty()
        self._drawn_at = 0.0

    def show(self, kind: str, values: dict[str, Any]) -> None:
        if kind == "message":
            self._line(values["text"])
        elif kind == "dev":
            metrics = "  ".join(f"{name} {values['metrics'][name]:.4g}" for name in ("loss", "token_accuracy", "bleu") if name in values["metrics"])
            self._line(f"epoch {values['epoch']}/{values['epochs']}  update {values['update']}  dev: {metrics}{'  best so far' if values['best'] else ''}")
        elif kind == "update" and self.draws and time.monotonic() - self._drawn_at > 0.1:
            self._drawn_at = time.monotonic()
            print(f"\r\033[Kupdate {values['update']}/{values['updates']}  loss {values['loss']:.3f}", end="", file=self.out, flush=True)

    def _line(self, text: str) -> None:
        self.clear()
        print(text, file=self.out)

    def clear(self) -> None:
        if self.draws:
            print("\r\033[K", end="", file=self.out, flush=True)
