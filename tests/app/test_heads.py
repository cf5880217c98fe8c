"""A Transformer as a person runs it: its record has every head."""

from __future__ import annotations

from pathlib import Path

import pytest

from command_line import TINY, answer, error, softalign, trained_run

h5py = pytest.importorskip("h5py", reason="python3-h5py is not installed")

SIZE = "layers: 2, heads: 2, units: 8, feed_forward: 16, dropout: 0.1"
TRANSFORMER = (
    TINY.replace("{type: gru, units: 8}", f"{{type: self_attention, {SIZE}}}")
    .replace("{type: global, score: {type: additive, units: 8}}", "built_in")
    .replace("{type: attentional_gru, units: 8}", f"{{type: transformer, {SIZE}}}")
)


def test_every_head_of_every_layer_is_recorded_and_can_be_drawn(tmp_path: Path) -> None:
    (tmp_path / "tiny.yaml").write_text(TRANSFORMER)
    run = trained_run(tmp_path, "record.alignments=3")
    with h5py.File(run / "run.h5") as file:
        modules = file["alignments"]
        assert {"cross", "cross_layer1", "cross_layer2", "cross_search"} <= set(modules)
        top, mean = modules["cross_layer2"], modules["cross"]
        assert top["head"][:].tolist() == [0, 1] and top["sentence"][:].tolist() == [0, 1, 2]
        height, width = int(top["tgt_len"][0, 1]), int(top["src_len"][1])
        heads = top["weights"][0, 1, :, :height, :width]
        assert abs(heads.sum(axis=-1) - 1).max() < 1e-5
        assert abs(heads.mean(axis=0) - mean["weights"][-1, 1, 0, :height, :width]).max() < 1e-6
        assert abs(heads[0] - heads[1]).max() > 0
    shown = answer("show", run, "--sentence", 1, "--module", "cross_layer2", "--head", 1, cwd=tmp_path)
    assert shown["head"] == 1
    assert abs(heads[1].ravel() - shown["weights"]).max() < 1e-6
    drawn = softalign("show", run, "--sentence", 1, "--module", "cross_layer2", cwd=tmp_path).stdout
    assert "cross_layer2, head 0, sentence 1" in drawn
    assert "head" not in softalign("show", run, "--sentence", 1, cwd=tmp_path).stdout
    assert "--head 2: of which sentence? add --sentence N" in error("show", run, "--head", 2, cwd=tmp_path, code=2)
    assert "has no head 2, but 0 to 1" in error(
        "show", run, "--sentence", 1, "--module", "cross_layer2", "--head", 2, cwd=tmp_path, code=2
    )
