"""The records of results/published/ verify on this machine."""

from __future__ import annotations

import os
import platform
import re
from pathlib import Path

import h5py
import pytest

from command_line import answer, error, needs_subwords, softalign

ROOT = Path(__file__).parents[2]
RECORDS = sorted((ROOT / "results" / "published").glob("*.h5"))


def test_there_are_some() -> None:
    assert {"gru", "hard", "images", "pruned", "subwords", "transformer"} <= {record.stem for record in RECORDS}


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.stem)
def test_each_gives_the_same_bits_again(record: Path, tmp_path: Path) -> None:
    if record.stem == "subwords":  # its vocabulary is a function of sentencepiece's version
        needs_subwords()
        with h5py.File(record) as file:
            made_with = re.search(r"sentencepiece ([\d.]+)", file["provenance"].attrs["libs"].decode())[1]
        here = next(finding["found"] for finding in answer("doctor", cwd=tmp_path, code=None) if finding["what"] == "sentencepiece")
        if here != made_with:
            pytest.skip(f"made with sentencepiece {made_with}, and this is {here}")
    assert "the same bits again" in softalign("verify", record, cwd=tmp_path).stdout


def test_products_can_be_computed_otherwise(tmp_path: Path) -> None:
    for name in ("portable", "sse2")[: 1 + (platform.machine() == "x86_64")]:
        assert "the same bits again" in softalign("verify", RECORDS[0], cwd=tmp_path, env=os.environ | {"SOFTALIGN_ISA": name}).stdout
    refusal = error("ls", cwd=tmp_path, code=2, env=os.environ | {"SOFTALIGN_ISA": "sse9"})
    assert "SOFTALIGN_ISA=sse9: this machine can compute with" in refusal
