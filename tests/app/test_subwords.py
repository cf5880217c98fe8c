"""Vocabularies of sub-words: a dry run trains none, and a note names a size that is not the one asked for."""

from __future__ import annotations

import os
from pathlib import Path

from command_line import answer, files_below, needs_subwords, softalign, write_corpus

PIECES = "task.vocabulary={type: sentencepiece, size: 20}"


def test_a_dry_run_trains_no_subwords(here: Path) -> None:
    needs_subwords()
    write_corpus(here)
    kept = {**os.environ, "SOFTALIGN_CACHE": str(here / "cache")}
    plan = answer("run", "text.yaml", PIECES, "--dry-run", cwd=here, env=kept)
    assert plan["trains_subwords"] and plan["symbols"] == {"source": 20, "target": 20}
    assert not any("datasets" in name for name in files_below(here))
    text = softalign("run", "text.yaml", PIECES, "--dry-run", cwd=here, env=kept).stdout
    assert "symbols     at most 20 source, 20 target\n" in text and "known when the run has trained its sub-words" in text
    made = softalign("run", "text.yaml", PIECES, cwd=here, env=kept)
    assert "source vocabulary: " in made.stderr and " symbols, and 20 were asked for\n" in made.stderr
    plan = answer("run", "text.yaml", PIECES, "--dry-run", cwd=here, env=kept)  # they are in the cache now
    assert not plan["trains_subwords"] and plan["sentences"]["train"] == 20 and plan["state"] == "complete"
