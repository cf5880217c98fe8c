"""Text that is tokenised once: a run with the cache, without it, and without a place for it."""

from __future__ import annotations

import os
import re
from pathlib import Path

from command_line import answer, files_below, softalign

def run(corpus: Path, cache: str, out: str) -> tuple[str, str]:
    """What the run prints, and its messages."""
    environment = os.environ | {"SOFTALIGN_CACHE": cache}
    done = softalign("run", "tiny.yaml", "--results", out, cwd=corpus, env=environment)
    return done.stdout.replace(out, "OUT"), done.stderr


def test_the_cache_changes_nothing_but_the_time(corpus: Path) -> None:
    without, _ = run(corpus, "", "out-1")
    assert not (corpus / "cache").exists()
    first, first_messages = run(corpus, "cache", "out-2")
    second, second_messages = run(corpus, "cache", "out-3")
    assert without == first == second
    assert len(files_below(corpus / "cache/datasets")) == 1
    assert "token" not in first_messages.split("epoch")[0] + second_messages.split("epoch")[0]


def test_no_place_for_it_is_told_once(corpus: Path) -> None:
    without, _ = run(corpus, "", "out-1")
    with_none, messages = run(corpus, "text.en/cache", "out-2")
    assert with_none == without
    assert messages.count("the tokenised text is held in memory: ") == 1


def test_doctor_names_the_folder(corpus: Path) -> None:
    run(corpus, "cache", "out-1")
    findings = {
        finding["what"]: finding["found"]
        for finding in answer("doctor", cwd=corpus, env=os.environ | {"SOFTALIGN_CACHE": "cache"})
    }
    assert re.fullmatch(rf"{re.escape(str(corpus / 'cache'))}, \d+ kB, may be removed at any time", findings["cache"])
