"""A run of a Transformer, whose record has all heads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from command_line import TINY, answer, error, softalign, trained_run

h5py = pytest.importorskip("h5py", reason="python3-h5py is not installed")
np = pytest.importorskip("numpy", reason="python3-numpy is not installed")

SIZE = "layers: 2, heads: 2, units: 8, feed_forward: 16, dropout: 0.1"
TRANSFORMER = (
    TINY.replace("{type: gru, units: 8}", f"{{type: self_attention, {SIZE}}}")
    .replace("{type: global, score: {type: additive, units: 8}}", "built_in")
    .replace("{type: attentional_gru, units: 8}", f"{{type: transformer, {SIZE}}}")
)


def own_weights(p: dict[str, Any], x: Any) -> Any:
    """Masked self-attention [head, T, T] of two heads of 4 units in the first layer (Vaswani et al. 2017, section 3); x [T, 8] embeddings."""
    angles = np.arange(len(x))[:, None] / 10000 ** (np.arange(0, 8, 2) / 8)
    x = np.sqrt(8) * x + np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(-1, 8)
    queries, keys, _ = np.split(x @ p["decoder.layer1.self.queries_keys_values.W"], 3, axis=1)
    powers = np.stack([np.tril(np.exp(queries[:, h] @ keys[:, h].T / 2)) for h in (slice(0, 4), slice(4, 8))])
    return powers / powers.sum(axis=-1, keepdims=True)


def test_the_self_attention_of_a_decoder_is_its_equations(tmp_path: Path) -> None:
    (tmp_path / "tiny.yaml").write_text(TRANSFORMER)
    asked = ("record.decoder_self_attention=true", "record.alignments=4")
    runs = [trained_run(tmp_path, *options) for options in (asked[1:], asked)]
    assert runs[0].name != runs[1].name
    with h5py.File(runs[0] / "run.h5") as plain:
        assert not [name for name in plain["alignments"] if "decoder" in name]
        cross = plain["alignments/cross/weights"][:]
    with h5py.File(runs[1] / "run.h5") as file:
        assert np.array_equal(file["alignments/cross/weights"][:], cross, equal_nan=True)  # it changes nothing else
        assert {name for name in file["alignments"] if "decoder" in name} == {"decoder_layer1", "decoder_layer2"}
        group = file["alignments/decoder_layer1"]
        assert group["head"][:].tolist() == [0, 1] and group["sentence"][:].tolist() == [0, 1, 2, 3] and "gold" not in group
        p = {name: d[:].astype(float) for name, d in file["parameters"].items() if not name.startswith("axis")}
        symbols = ["<unk>", "<s>", "</s>", *file["data/target_vocabulary"].asstr()[()].split("\n")[1:]]
        for i, length in enumerate(group["src_len"][:]):
            read = group["src_tokens"].asstr()[i, :length].tolist()
            assert read[0] == "<s>" and [*read[1:], "</s>"] == group["tgt_tokens"].asstr()[-1, i, :length].tolist()
            weights = group["weights"][-1, i, :, :length, :length]
            expected = own_weights(p, p["target.embedding.E"][[symbols.index(word) for word in read]])
            assert weights == pytest.approx(expected, abs=1e-5)
    assert "decoder_layer2, head 1" in softalign("show", runs[1], "--sentence", 1, "--module", "decoder_layer2", "--head", 1, cwd=tmp_path).stdout
    assert "the target's attention to itself" in error(
        "export", runs[1], "--what", "links", "--module", "decoder_layer1", "-o", "x", cwd=tmp_path, code=2
    )
    assert "the same bits again" in softalign("verify", runs[1], cwd=tmp_path).stdout


def test_a_decoder_without_self_attention_is_refused_where_it_was_asked(tmp_path: Path) -> None:
    (tmp_path / "tiny.yaml").write_text(TINY + "record:\n  decoder_self_attention: true\n")
    refused = error("validate", "tiny.yaml", cwd=tmp_path, code=2)
    assert f"tiny.yaml:{len(TINY.splitlines()) + 2}:" in refused and "has no self-attention" in refused


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
    assert "--head 2: add --sentence N" in error("show", run, "--head", 2, cwd=tmp_path, code=2)
    assert "has no head 2, but 0 to 1" in error(
        "show", run, "--sentence", 1, "--module", "cross_layer2", "--head", 2, cwd=tmp_path, code=2
    )
