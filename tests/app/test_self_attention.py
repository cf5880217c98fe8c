"""Self-attention of encoders in a record equals that computed by NumPy from its parameters and sentences."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from command_line import TINY, answer, error, needs_subwords, softalign, text_spec, trained_run, write_corpus

h5py = pytest.importorskip("h5py", reason="python3-h5py is not installed")
np = pytest.importorskip("numpy", reason="python3-numpy is not installed")

GRU = "{type: gru, units: 8}"
TRANSFORMER = TINY.replace(GRU, "{type: self_attention, layers: 2, heads: 2, units: 8, feed_forward: 12}", 1)
LSTMN = TINY.replace(GRU, "{type: lstmn, units: 6}", 1)
ASKED = ("record.self_attention=true", "record.alignments=5")


def made(folder: Path, spec: str, *overrides: str) -> Path:
    (folder / "tiny.yaml").write_text(spec)
    return trained_run(folder, *overrides)


def modules(file: Any) -> set[str]:
    return {name for name in file["alignments"] if "encoder" in name}


def parameters(file: Any) -> dict[str, Any]:
    return {name: d[:].astype(float) for name, d in file["parameters"].items() if not name.startswith("axis")}


def matrices(file: Any, module: str) -> Iterator[tuple[list[str], Any]]:
    """Returns for each sentence its words and weights [head, attending, attended to]; checks that all others are NaN."""
    group = file[f"alignments/{module}"]
    for i, length in enumerate(group["src_len"][:]):
        words = group["src_tokens"].asstr()[i, :length].tolist()
        assert words == group["tgt_tokens"].asstr()[-1, i, : group["tgt_len"][-1, i]].tolist() and words[-1] == "</s>"
        weights = group["weights"][-1, i]
        assert np.isnan(weights[:, length:]).all() and np.isnan(weights[:, :, length:]).all()
        yield words, weights[:, :length, :length]


def embedded(file: Any, words: list[str]) -> Any:
    symbols = ["<unk>", "<s>", "</s>", *file["data/source_vocabulary"].asstr()[()].split("\n")[1:]]
    return parameters(file)["source.embedding.E"][[symbols.index(word) for word in words]]


def softmax(energies: Any) -> Any:
    powers = np.exp(energies - energies.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def layers(p: dict[str, Any], x: Any) -> Iterator[Any]:
    """Returns the weights [head, S, S] of each layer with two heads (Vaswani et al. 2017, section 3); x [S, 8]: embeddings."""
    rates = np.arange(len(x))[:, None] / 10000 ** (np.arange(0, 8, 2) / 8)
    x = np.sqrt(8) * x + np.stack([np.sin(rates), np.cos(rates)], axis=-1).reshape(-1, 8)
    for layer in ("encoder.layer1", "encoder.layer2"):

        def norm(y: Any, name: str, layer: str = layer) -> Any:
            y = y - y.mean(axis=-1, keepdims=True)
            return p[f"{layer}.{name}.norm.gain"] * y / np.sqrt((y**2).mean(axis=-1, keepdims=True) + 1e-5) + p[f"{layer}.{name}.norm.bias"]

        q, k, v = (x @ w for w in np.split(p[f"{layer}.attention.queries_keys_values.W"], 3, axis=1))
        heads = [softmax(q[:, h] @ k[:, h].T / 2) for h in (slice(0, 4), slice(4, 8))]
        yield np.array(heads)
        context = np.concatenate([heads[0] @ v[:, :4], heads[1] @ v[:, 4:]], axis=1)
        x = norm(x + context @ p[f"{layer}.attention.output.W"], "attention")
        inner = np.maximum(0, x @ p[f"{layer}.feed_forward.inner.W"] + p[f"{layer}.feed_forward.inner.b"])
        x = norm(x + inner @ p[f"{layer}.feed_forward.outer.W"] + p[f"{layer}.feed_forward.outer.b"], "feed_forward")


def test_every_head_of_a_transformer_s_encoder_is_its_equations(tmp_path: Path) -> None:
    run = made(tmp_path, TRANSFORMER, *ASKED)
    with h5py.File(run / "run.h5") as file:
        assert modules(file) == {"encoder_layer1", "encoder_layer2"}
        assert file["alignments/encoder_layer2/head"][:].tolist() == [0, 1]
        assert file["alignments/encoder_layer2/sentence"][:].tolist() == [0, 1, 2, 3, 4]
        assert "gold" not in file["alignments/encoder_layer1"]
        both = [list(matrices(file, f"encoder_layer{layer}")) for layer in (1, 2)]
        for at, (words, _) in enumerate(both[0]):
            for found, expected in zip(both, layers(parameters(file), embedded(file, words))):
                assert found[at][1] == pytest.approx(expected, abs=1e-5)
                assert found[at][1].sum(axis=-1) == pytest.approx(1, abs=1e-5)
        expected = both[1][3][1][1]
    shown = answer("show", run, "--sentence", 3, "--module", "encoder_layer2", "--head", 1, cwd=tmp_path)
    assert shown["source"] == shown["target"] and np.array_equal(shown["weights"], expected.ravel())
    assert "encoder_layer2, head 0, sentence 3" in softalign("show", run, "--sentence", 3, "--module", "encoder_layer2", cwd=tmp_path).stdout
    assert ": cross, sentence 3" in softalign("show", run, "--sentence", 3, cwd=tmp_path).stdout
    error("export", run, "--what", "links", "--module", "encoder_layer1", "-o", "x", cwd=tmp_path, code=2)
    assert "the same bits again" in softalign("verify", run, "--threads", 2, cwd=tmp_path).stdout


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def look_back(p: dict[str, Any], x: Any) -> Any:
    """Returns the weights [S, S] of an LSTMN of 6 units (Cheng et al. 2016, section 3.2); x [S, E]: embeddings."""
    weights, h, c, summary = np.zeros((len(x), len(x))), np.zeros((0, 6)), np.zeros((0, 6)), np.zeros((2, 6))
    for t, row in enumerate(x):
        if t > 0:
            query = row @ p["encoder.intra.input.W"] + summary[0] @ p["encoder.intra.W_summary"]
            weights[t, :t] = softmax(np.tanh(h @ p["encoder.intra.W_state"] + query) @ p["encoder.intra.v"])
            summary = np.array([weights[t, :t] @ h, weights[t, :t] @ c])
        gates = row @ p["encoder.forward.input.W"] + p["encoder.forward.input.b"] + summary[0] @ p["encoder.forward.U"]
        i, f, g, o = np.split(gates, 4)
        c = np.vstack([c, sigmoid(f) * summary[1] + sigmoid(i) * np.tanh(g)])
        h = np.vstack([h, sigmoid(o) * np.tanh(c[-1])])
    return weights


@pytest.mark.parametrize("attention", ["{type: global, score: {type: additive, units: 8}}", "none"])
def test_intra_attention_is_its_equations(attention: str, tmp_path: Path) -> None:
    run = made(tmp_path, LSTMN.replace("{type: global, score: {type: additive, units: 8}}", attention), *ASKED)
    with h5py.File(run / "run.h5") as file:
        assert modules(file) == {"encoder_layer1"}
        for words, (weights,) in matrices(file, "encoder_layer1"):
            assert weights == pytest.approx(look_back(parameters(file), embedded(file, words)), abs=1e-5)
            assert not np.triu(weights).any() and weights[1:].sum(axis=-1) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("spec", [TRANSFORMER, LSTMN])
def test_recording_it_changes_no_other_number(spec: str, tmp_path: Path) -> None:
    runs = [made(tmp_path, spec, *asked, "evaluate.batch=3") for asked in (ASKED[1:], ASKED)]
    assert runs[0].name != runs[1].name

    def numbers(file: Any) -> dict[str, bytes]:
        found: dict[str, bytes] = {}
        file.visititems(lambda name, d: found.update({name: d[()].tobytes()}) if isinstance(d, h5py.Dataset) and d.dtype.kind in "fiu" else None)
        return {name: data for name, data in found.items() if not name.startswith(("system", "provenance", "timing")) and "wall_time" not in name}

    with h5py.File(runs[0] / "run.h5") as plain, h5py.File(runs[1] / "run.h5") as asked:
        assert not modules(plain) and modules(asked)
        assert numbers(plain) == {name: data for name, data in numbers(asked).items() if not name.startswith("alignments/encoder")}


def test_pieces_of_words_are_joined_on_both_sides(tmp_path: Path) -> None:
    needs_subwords()
    words = ("reading", "singing", "reads", "sings", "reader", "singer")
    write_corpus(tmp_path)
    for split in ("train", "dev", "test"):
        for side in ("en", "es"):
            (tmp_path / f"{split}.{side}").write_text("".join(f"{words[i % 6]} {words[i * i % 6]}\n" for i in range(40)))
    (tmp_path / "text.yaml").write_text(text_spec(model=LSTMN[LSTMN.index("model:") :]))
    pieces = "task.vocabulary={type: sentencepiece, size: 18, model: bpe}"
    run = trained_run(tmp_path, pieces, *ASKED, spec="text.yaml")
    with h5py.File(run / "run.h5") as file:
        assert modules(file) == {"encoder_layer1", "words_encoder_layer1"}
        of_words = list(matrices(file, "words_encoder_layer1"))
        for (parts, (weights,)), (names, (joined,)) in zip(matrices(file, "encoder_layer1"), of_words):
            word_of = np.cumsum([part.startswith("\u2581") or part == "</s>" for part in parts]) - 1
            assert names == [*"".join(parts[:-1]).replace("\u2581", " ").split(), "</s>"] and len(parts) > len(names)
            sums = np.stack([weights[:, word_of == w].sum(axis=1) for w in range(len(names))], axis=1)
            assert joined == pytest.approx(np.array([sums[word_of == w].mean(axis=0) for w in range(len(names))]), abs=1e-6)


def test_it_needs_no_references(tmp_path: Path) -> None:
    write_corpus(tmp_path)
    spec = text_spec(model=LSTMN[LSTMN.index("model:") :]).replace("test.en, target: test.es", "test.en")
    (tmp_path / "text.yaml").write_text(spec)
    with h5py.File(trained_run(tmp_path, *ASKED, spec="text.yaml") / "run.h5") as file:
        assert file["alignments/encoder_layer1/sentence"].size == 4 and "cross" not in file["alignments"]


def test_an_encoder_without_is_refused_where_it_was_asked(tmp_path: Path) -> None:
    (tmp_path / "tiny.yaml").write_text(TINY + "record:\n  self_attention: true\n")
    assert f"tiny.yaml:{len(TINY.splitlines()) + 2}:" in error("validate", "tiny.yaml", cwd=tmp_path, code=2)
    softalign("validate", "tiny.yaml", "record.self_attention=false", cwd=tmp_path)
    (tmp_path / "tiny.yaml").write_text(LSTMN)
    assert "note: " in softalign("validate", "tiny.yaml", "record.self_attention=true", "record.alignments=0", cwd=tmp_path).stderr
