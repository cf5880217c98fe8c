"""The presets of configs/papers: each builds at its paper's size, with the number of parameters that follows from the paper's sizes."""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path

import pytest
import yaml

from command_line import needs_subwords, softalign

PAPERS = Path(__file__).resolve().parents[2] / "configs" / "papers"


# By hand, from the papers' equations. Weights and, where our layers have them, biases: they are named where they are added.
def gru(read: int, units: int) -> int:
    return 3 * (read * units + units * units + units)


def lstm(read: int, units: int) -> int:
    return 4 * (read * units + units * units + units)


def additive(query: int, annotation: int, units: int) -> int:
    return query * units + (annotation * units + units) + units  # W_a; U_a and bias; v_a


def bahdanau(encoder: int, annotation: int, start: int, score: int) -> int:
    """n = 1000, m = 620, l = 500, 30,000 symbols a side (Bahdanau et al. 2015, appendices A and B)."""
    symbols, m, n, maxout = 30000, 620, 1000, 500
    decoder = gru(m, n) + 3 * annotation * n + (start * n + n)  # C, C_z, C_r; W_s and bias
    readout = n * 2 * maxout + m * 2 * maxout + annotation * 2 * maxout + 2 * maxout  # U_o, V_o, C_o, bias
    return 2 * symbols * m + encoder + decoder + score + readout + (maxout * symbols + symbols)  # W_o and bias


ENCDEC = bahdanau(gru(620, 1000), 1000, 1000, 0)
SEARCH = bahdanau(2 * gru(620, 1000), 2000, 1000, additive(1000, 2000, 1000))


def luong(attention: int, feeding: bool, source: int = 50000, target: int = 50000) -> int:
    """Four layers of 1000 cells, embeddings of 1000 (Luong et al. 2015, section 4.1)."""
    n = 1000
    cells = 2 * 4 * lstm(n, n)
    vector = 2 * n * n if attention >= 0 else 0  # W_c of the attentional vector
    feed = 4 * n * n if feeding else 0  # the input of the first layer is twice as wide
    return (source + target) * n + cells + vector + feed + max(attention, 0) + (n * target + target)  # softmax and bias


NO_ATTENTION = -1


def transformer() -> int:
    """d = 512, d_ff = 2048, 6 + 6 layers, 37,000 symbols in one table (Vaswani et al. 2017, table 3: 65 million)."""
    d, ff, symbols = 512, 2048, 37000
    norm = 2 * d
    attention = 4 * d * d  # projections without biases, section 3.2.2
    forward = d * ff + ff + ff * d + d
    encoder = attention + forward + 2 * norm
    decoder = 2 * attention + forward + 3 * norm
    return symbols * d + 6 * (encoder + decoder) + symbols  # the last: the bias of the softmax


def attentional_lstm(embedding: int, units: int, annotation: int, readout: int, symbols: int) -> int:
    """An LSTM that also reads a context; h and c begin as projections of the annotations, each of its own."""
    cell = lstm(embedding, units) + 4 * annotation * units + 2 * (annotation * units + units)
    deep = (units + annotation) * readout + readout + embedding * readout
    return cell + deep + readout * symbols + symbols


def gehring() -> int:
    """512 everywhere, convolutions of width 3: 8 layers for the keys, 4 for the values; 512 positions; W_d and b_d of the query."""
    d, source, target = 512, 200000, 30000
    convolution = 3 * d * d + d
    return (source + target + 512) * d + 12 * convolution + (d * d + d) + attentional_lstm(d, d, d, d // 2, target)


def gehring_gated() -> int:
    """512 everywhere, 20 convolutions of width 3 on either side (Gehring et al. 2017, section 3), 40,000 symbols, 1024 positions a side."""
    d, layers, symbols = 512, 20, 40000
    mapping = d * d + d
    convolution = 3 * d * 2 * d + 2 * d
    side = (symbols + 1024) * d + 2 * mapping + layers * convolution  # the mappings: W_in and W_out
    return 2 * side + layers * mapping + (d * symbols + symbols)  # W_d and b_d; the softmax


def cheng() -> int:
    """The LSTMN (Cheng et al. 2016, equations 2 to 6): an LSTM and W_h, W_x, W_~h, v of its intra-attention."""
    m, n, symbols = 300, 450, 30000
    lstmn = lstm(m, n) + n * n + m * n + n * n + n
    return 2 * symbols * m + lstmn + additive(n, n, n) + attentional_lstm(m, n, n, n // 2, symbols)


def cheng_deep() -> int:
    """The LSTMN as a decoder, too (Cheng et al. 2016, section 4): its intra-attention, the gate r, and a query [x ; gamma~]."""
    m, n, symbols, readout = 300, 450, 30000, 225
    lstmn = lstm(m, n) + n * n + m * n + n * n + n
    gate = m * n + n * n + n
    first = 2 * (n * n + n)
    deep = (n + m) * readout + readout + readout * symbols + symbols
    return 2 * symbols * m + 2 * lstmn + gate + additive(m + n, n, n) + first + deep


def xu() -> int:
    """A network of four 3 x 3 convolutions, then m = 512, n = 1800, D = 512; beta of the gate (Xu et al. 2015, section 4.2.1)."""
    m, n, d, words = 512, 1800, 512, 18

    def convolution(read: int, made: int) -> int:
        return 3 * 3 * read * made + made

    network = convolution(1, 128) + convolution(128, 128) + convolution(128, d) + convolution(d, d)
    return network + words * m + additive(n, d, d) + attentional_lstm(m, n, d, m, words) + n + 1


def see() -> int:
    """256 units, embeddings of 128, an attention of 512 with coverage, p_gen (See et al. 2017, equations 1 to 11)."""
    m, n, symbols = 128, 256, 50000
    cells = 3 * lstm(m, n) + 2 * (n * n + n)  # h and c begin as projections of the backward encoder's state
    vector = (n + 2 * n) * n  # V
    p_gen = (n + 2 * n) + m + 1
    return 2 * symbols * m + cells + additive(n, 2 * n, 512) + 512 + vector + n * symbols + symbols + p_gen


def chorowski() -> int:
    """Three layers of 256 units, 60 phones, an attention of 512 with 10 filters of width 201, maxout of 256 in pairs (Chorowski et al. 2015; their code)."""
    frame, n, symbols, units, filters, width, maxout = 123, 256, 63, 512, 10, 201, 256
    encoder = 2 * gru(n, n) + 2 * 2 * gru(2 * n, n)
    location = filters * width + filters * units  # F and U
    decoder = gru(n, n) + 3 * 2 * n * n
    readout = (n + 2 * n + n) * maxout + maxout
    return (frame * n + n) + symbols * n + encoder + additive(n, 2 * n, units) + location + decoder + readout + maxout // 2 * symbols + symbols


def chan() -> int:
    """Four layers of 256 units in each direction, the upper ones read two outputs (Chan et al. 2016, section 3.1); two of 512 that spell."""
    frame, m, n, symbols = 40, 256, 512, 43
    listener = 2 * lstm(m, 256) + 3 * 2 * lstm(2 * 512, 256)
    speller = lstm(m, n) + 4 * n * n + lstm(n, n) + 2 * n * n  # with input feeding; W_c
    return (frame * m + m) + symbols * m + listener + 512 * n + speller + n * symbols + symbols


COUNTS = {
    "bahdanau2015-encdec-30": ENCDEC,
    "bahdanau2015-encdec-50": ENCDEC,
    "bahdanau2015-search-30": SEARCH,
    "bahdanau2015-search-50": SEARCH,
    "chan2016": chan(),
    "cheng2016": cheng(),
    "cheng2016-deep": cheng_deep(),
    "cho2014": ENCDEC,
    "chorowski2015": chorowski(),
    "gehring2016": gehring(),
    "gehring2017": gehring_gated(),
    "see2017": see(),
    "sutskever2014": luong(NO_ATTENTION, False, 160000, 80000),
    "luong2015-base": luong(NO_ATTENTION, False),
    "luong2015-reverse": luong(NO_ATTENTION, False),
    "luong2015-dropout": luong(NO_ATTENTION, False),
    "luong2015-location": luong(1000 * 51, False),
    "luong2015-feed": luong(1000 * 51, True),
    "luong2015-global-dot": luong(0, True),
    "luong2015-global-general": luong(1000 * 1000, True),
    "luong2015-global-concat": luong(1000 * 1000 + 1000, True),
    "luong2015-local-m": luong(1000 * 1000, True),
    "luong2015-local-p": luong(1000 * 1000 + 1000 * 1000 + 1000, True),  # W_a; W_p and v_p
    "vaswani2017-base": transformer(),
    "xu2015-hard": xu(),
    "xu2015-soft": xu(),
}


def test_every_preset_is_counted() -> None:
    assert {path.stem for path in PAPERS.glob("*.yaml")} == set(COUNTS)


@pytest.mark.parametrize("name", COUNTS)
def test_a_preset_has_the_parameters_of_its_paper(name: str, tmp_path: Path) -> None:
    if "type: sentencepiece" in (PAPERS / f"{name}.yaml").read_text():
        needs_subwords()
    answer = json.loads(softalign("parameters", PAPERS / f"{name}.yaml", "--json", cwd=tmp_path).stdout)
    assert answer["count"] == COUNTS[name]


def test_what_the_papers_say_of_their_size() -> None:
    assert 384e6 < COUNTS["sutskever2014"] < 385e6  # "384M parameters"
    assert round(2 * 4 * lstm(1000, 1000) / 1e6) == 64  # "of which 64M are pure recurrent connections"
    shapes_of_see = [
        (50000, 128), (512, 512), (512, 512), (512, 256), (512, 256), (128 + 512, 128), (512 + 256, 256), (256, 50000)
    ]  # embeddings, W_h, W_s, first h and c, input with context, V, V'
    biases_of_see = 512 + 512 + 2 * 256 + 128 + 256 + 50000  # v and b_attn, then as above
    assert 3 * lstm(128, 256) + sum(a * b for a, b in shapes_of_see) + biases_of_see == 21499600  # "21,499,600"
    assert 60e6 < COUNTS["vaswani2017-base"] < 66e6  # "65"


SOURCES = ("paper", "authors' code", "assumed")  # how a comment begins, behind a value or just above it
# Of the defaults that presets leave out, these have no effect beside the others.
WITHOUT_EFFECT = {
    "task.vocabulary.model", "task.length.train", "task.length.dev", "task.length.test", "task.gap", "model.encoder.columns", "model.attention.narrowed",
    "model.encoder.max_positions", "model.decoder.max_positions", "train.average.decay", "train.average.metric",
    "model.output.type", "evaluate.search.length_normalization",
}  # fmt: skip


def says_where_from(lines: list[str], line: int) -> bool:
    """Returns whether the value on a line, from 1, has a source in the comment behind it or in the comment lines above it."""
    if any(comment.strip().startswith(SOURCES) for comment in lines[line - 1].split(" #")[1:]):
        return True
    above = itertools.takewhile(lambda text: text.startswith("#"), (text.strip() for text in reversed(lines[: line - 1])))
    return any(comment[1:].strip().startswith(SOURCES) for comment in above)


def values_without_source(spec: Path, *changes: str) -> list[str]:
    """Returns the paths of task, model, training and search, and of the given options of `init` and `evaluate`."""
    found, path = [], []
    for text in softalign("resolve", spec, *changes, cwd=spec.parent).stdout.splitlines():
        line = re.fullmatch(r"(?P<indent> *)(?P<key>[\w.]+):(?: (?P<value>.*?))?(?: +# (?P<origin>.*))?", text)
        assert line, text
        path[len(line["indent"]) // 2 :] = [line["key"]]
        name = ".".join(path)
        if line["origin"] is None or path[0] not in ("task", "model", "init", "train", "evaluate"):
            continue
        if line["origin"].startswith("default"):
            asked = path[0] != "init" and (path[0] != "evaluate" or name.startswith("evaluate.search."))
            known = not asked or line["value"] == "null" or name in WITHOUT_EFFECT
        else:
            file, _, number = line["origin"].rpartition(":")
            known = number.isdigit() and says_where_from((spec.parent / file).read_text().splitlines(), int(number))
        if not known:
            found.append(name)
    return found


@pytest.mark.parametrize("path", sorted(PAPERS.glob("*.yaml")), ids=lambda path: path.stem)
def test_every_value_says_where_it_is_from(path: Path) -> None:
    if "type: sentencepiece" in path.read_text():
        needs_subwords()
    assert values_without_source(path) == []


def test_a_value_without_a_source_is_found(tmp_path: Path) -> None:
    text = (PAPERS / "bahdanau2015-search-50.yaml").read_text()
    for line, instead in {
        "    type: beam                  # paper, section 4.2\n": "    type: beam                  # section 4.2 of the paper\n",
        "    residual: false             # paper\n": "",  # so that a default holds
        "  # paper, section 4.1\n  dev:": "  # section 4.1\n  dev:",
        "  clip_norm: 1                  # paper, appendix B.2\n": "  # paper: above it, and\n  # of two lines\n  clip_norm: 1\n",
    }.items():
        assert text.count(line) == 1, line
        text = text.replace(line, instead)
    (tmp_path / "spec.yaml").write_text(text)
    (tmp_path / "longer.yaml").write_text("extends: spec.yaml\ntrain:\n  epochs: 9\n")
    found = values_without_source(tmp_path / "longer.yaml", "train.label_smoothing=0.1")
    assert found == ["task.dev.source", "task.dev.target", "model.encoder.residual", "train.label_smoothing", "train.epochs", "evaluate.search.type"]


@pytest.mark.parametrize("path", sorted(PAPERS.glob("*.yaml")), ids=lambda path: path.stem)
def test_every_preset_has_a_laptop_sibling(path: Path, tmp_path: Path) -> None:
    softalign("validate", PAPERS / "laptop" / path.name, cwd=tmp_path)


def test_an_image_is_read_with_its_own_height_and_levels(tmp_path: Path) -> None:
    for key, value in (("levels", 2), ("height", 7)):
        preset = PAPERS / "laptop/xu2015-soft.yaml"
        refused = softalign("resolve", preset, f"model.encoder.{key}={value}", cwd=tmp_path, code=2).stderr
        assert f"override 1 ('model.encoder.{key}={value}'): model.encoder.{key}: " in refused


def test_a_named_weight_that_no_model_has_is_refused_at_its_place(tmp_path: Path) -> None:
    spec = f"extends: {PAPERS / 'laptop/bahdanau2015-search-50.yaml'}\nmodel:\n  initialise:\n    weights: [decoder.attention.v = zeros]\n"
    (tmp_path / "spec.yaml").write_text(spec)
    assert "spec.yaml:4:14: " in softalign("validate", "spec.yaml", cwd=tmp_path, code=2).stderr


def test_a_resolved_spec_has_floats_for_every_reader_of_yaml(tmp_path: Path) -> None:
    for name in ("bahdanau2015-search-50", "xu2015-soft"):
        resolved = yaml.safe_load(softalign("resolve", PAPERS / f"{name}.yaml", cwd=tmp_path).stdout)
        assert isinstance(resolved["train"]["optimizer"]["epsilon"], float)
