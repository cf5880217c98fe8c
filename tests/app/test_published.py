"""The records of results/published/ verify on this machine."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from command_line import error, needs_subwords, softalign

ROOT = Path(__file__).parents[2]
RECORDS = sorted((ROOT / "results" / "published").glob("*.h5"))


def test_there_are_some() -> None:
    assert {"gru", "hard", "images", "pruned", "subwords", "transformer"} <= {record.stem for record in RECORDS}


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.stem)
def test_each_gives_the_same_bits_again(record: Path, tmp_path: Path) -> None:
    if record.stem == "subwords":
        needs_subwords()
    assert "the same bits again" in softalign("verify", record, cwd=tmp_path).stdout


def test_products_can_be_computed_otherwise(tmp_path: Path) -> None:
    for name in ("portable", "sse2"):
        assert "the same bits again" in softalign("verify", RECORDS[0], cwd=tmp_path, env=os.environ | {"SOFTALIGN_ISA": name}).stdout
    said = error("ls", cwd=tmp_path, code=2, env=os.environ | {"SOFTALIGN_ISA": "sse9"})
    assert "SOFTALIGN_ISA=sse9: this machine can compute with" in said
