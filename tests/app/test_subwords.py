"""Vocabularies of sub-words: output consists of words, and a model may read another segmentation in every epoch."""

from __future__ import annotations

import base64
import json
import os
import re
from pathlib import Path

import h5py
import numpy as np
import pytest

from command_line import answer, files_below, interrupt, needs_subwords, softalign, started, text_spec, trained_run, wait_until, write_corpus

PIECES = "task.vocabulary={type: sentencepiece, size: 20}"


def test_a_dry_run_trains_no_subwords(here: Path) -> None:
    needs_subwords()
    write_corpus(here)
    kept = {**os.environ, "SOFTALIGN_CACHE": str(here / "cache")}
    plan = answer("run", "text.yaml", PIECES, "--dry-run", cwd=here, env=kept)
    assert plan["trains_subwords"] and plan["symbols"] == {"source": 20, "target": 20}
    assert not any("datasets" in name for name in files_below(here))
    softalign("run", "text.yaml", PIECES, cwd=here, env=kept)
    plan = answer("run", "text.yaml", PIECES, "--dry-run", cwd=here, env=kept)  # they are in the cache now
    assert not plan["trains_subwords"] and plan["sentences"]["train"] == 20 and plan["state"] == "complete"


BPE = "task.vocabulary={type: sentencepiece, size: 18, model: bpe}"  # parts of words


@pytest.fixture
def linked(here: Path) -> Path:
    """Writes a corpus of words with several pieces, each linked to the word at its position."""
    needs_subwords()
    words = ("reading", "singing", "reads", "sings", "reader", "singer")
    for split, lines in {"train": 40, "dev": 6, "test": 6}.items():
        texts = [" ".join(words[(i * k) % 6] for k in range(1, 2 + i % 3)) for i in range(lines)]
        (here / f"{split}.en").write_text("".join(text + "\n" for text in texts))
        (here / f"{split}.es").write_text("".join(text.upper() + "\n" for text in texts))
        (here / f"{split}.links").write_text("".join(" ".join(f"{i}-{i}" for i in range(len(text.split()))) + "\n" for text in texts))
    (here / "text.yaml").write_text(text_spec(more=", alignment: {}.links"))
    return here


def words_of(file: h5py.File, module: str, side: str) -> set[str]:
    return set(file[f"alignments/{module}/{side}_tokens"].asstr()[:].ravel()) - {"", "</s>"}


def test_what_people_see_is_words(linked: Path) -> None:
    run = trained_run(linked, BPE, "evaluate.length_unit=words", "evaluate.lengths=[1, 2]", spec="text.yaml")
    with h5py.File(run / "run.h5") as file:
        assert words_of(file, "words_cross", "src") <= {"reading", "singing", "reads", "sings", "reader", "singer"}
        assert any("\u2581" in piece for piece in words_of(file, "cross", "src"))
        sums = np.nansum(file["alignments/words_cross/weights"][0, :, 0], axis=-1)
        for sums_of, length in zip(sums, file["alignments/words_cross/tgt_len"][0]):
            assert sums_of[:length] == pytest.approx(1, abs=1e-5)
        lengths = [len(line.split()) for line in (linked / "test.en").read_text().splitlines()]
        assert file["test/source_length"][:].tolist() == lengths
        assert file["test/pointing_tokens"][:].tolist() == lengths  # each target word has one link
        assert (file["alignments/words_cross/gold"][0].sum(), file["test"].attrs["length_unit"]) == (2 * lengths[0], b"words")
    assert "\u2581" not in softalign("show", run, "--sentence", "2", cwd=linked).stdout
    assert "\u2581" in softalign("show", run, "--sentence", "2", "--module", "cross", cwd=linked).stdout
    assert re.search(r"^words +n ", softalign("show", run, cwd=linked).stdout, re.MULTILINE)
    assert re.search(r"^pieces +n ", softalign("show", trained_run(linked, BPE, spec="text.yaml"), cwd=linked).stdout, re.MULTILINE)
    assert "the same bits again" in softalign("verify", run, cwd=linked).stdout
    softalign("translate", run, "--alignments", "a.h5", text="reads sings\n", cwd=linked)
    with h5py.File(linked / "a.h5") as file:
        assert words_of(file, "words_cross", "src") == {"reads", "sings"}


def test_pieces_are_dropped_out_to_the_same_bits(linked: Path) -> None:
    (linked / "text.yaml").write_text((linked / "text.yaml").read_text().replace("train: {source: train.en, target: train.es, alignment: train.links}", "train: {source: train.en, target: train.es}"))  # fmt: skip
    words = ["run", "text.yaml", BPE, "task.vocabulary.dropout=0.2", "record.checkpoint_every=2", "train.epochs=200"]
    process = started(*words, cwd=linked)
    wait_until(lambda: any(linked.glob("results/text/*/ckpt/*.ckpt")))
    interrupt(process)
    resumed = softalign(*words, cwd=linked)
    assert "resuming at update" in resumed.stderr
    run = (linked / resumed.stdout.split()[-1]).parent
    assert "the same bits again" in softalign("verify", run, "--threads", "1", cwd=linked).stdout
    with h5py.File(run / "run.h5") as file:
        tokens = file["train/tokens"][:]
    epochs = tokens.reshape(200, -1).sum(axis=1)
    assert len(set(epochs)) > 10


def test_what_is_the_same_text_matches_whatever_its_pieces_are(linked: Path) -> None:
    (linked / "text.yaml").write_text(text_spec())
    run = trained_run(linked, BPE, "task.vocabulary.dropout=0.5", "train.epochs=60", spec="text.yaml")
    with h5py.File(run / "run.h5") as file:
        test = file["test"]
        same = test["hypothesis"].asstr()[:] == test["reference"].asstr()[:]
        assert test["exact"][:].tolist() == same.tolist()
        hits, positions = test["free_running_hits"][:], test["free_running_positions"][:]
        assert (hits == positions).tolist() == same.tolist()
        forced, searched = ([" ".join(row).split() for row in file[f"alignments/{module}/tgt_tokens"].asstr()[0]] for module in ("cross", "cross_search"))  # fmt: skip
        assert any(one and a != b for one, a, b in zip(same, forced, searched))  # equal as text, and not in pieces


@pytest.mark.parametrize("vocabulary", ["task.vocabulary.type=characters", BPE])
def test_text_with_marks_of_spaces_is_refused(linked: Path, vocabulary: str) -> None:
    run = trained_run(linked, vocabulary, spec="text.yaml")
    (linked / "cut.en").write_text((linked / "test.en").read_text().replace("reads", "\u2581read\u2581s"))
    lines = (linked / "cut.en").read_text().splitlines()
    first = next(i for i, line in enumerate(lines, 1) if "\u2581" in line)
    given = f"task.vocabulary={{from: {run}}}"
    for command, arguments in (("evaluate", [run]), ("run", ["text.yaml", vocabulary]), ("run", ["text.yaml", given]), ("validate", ["text.yaml", given])):  # fmt: skip
        assert f"cut.en:{first}: " in softalign(command, *arguments, "task.test.source=cut.en", cwd=linked, code=3).stderr
    for source, target in (("cut.en", "test.es"), ("test.en", "cut.en")):
        assert f"cut.en:{first}: " in softalign("score", run, "--source", source, "--target", target, cwd=linked, code=3).stderr
    refused = softalign("translate", run, text=(linked / "cut.en").read_text(), cwd=linked, code=3)
    assert f"standard input:{first}: " in refused.stderr and len(refused.stdout.splitlines()) == first - 1
    (linked / "train.es").write_text((linked / "train.es").read_text().replace("READS", "\u2581READ\u2581S"))
    assert "train.es:" in softalign("run", "text.yaml", vocabulary, cwd=linked, code=3).stderr
    softalign("run", "text.yaml", "task.vocabulary.type=words", "task.test.source=cut.en", cwd=linked)  # it is a character there


@pytest.mark.parametrize("change", [["task.vocabulary.dropout=0.1"], [BPE, "task.vocabulary.dropout=0.1"], [BPE, "task.vocabulary.dropout=1"]])
def test_what_cannot_be_dropped_out_is_refused(linked: Path, change: list[str]) -> None:
    softalign("validate", "text.yaml", *change, cwd=linked, code=2)


def test_lengths_of_different_units_are_not_mixed(linked: Path) -> None:
    for unit in ("words", "symbols"):
        softalign("run", "text.yaml", BPE, f"evaluate.length_unit={unit}", cwd=linked)
    compared = answer("compare", "results", "--length", "2-6", "--metric", "token_accuracy", cwd=linked)
    assert [bool(one["untested"]) for one in compared["against_baseline"]] == [True]
    report = json.loads(softalign("export", "results", "--what", "report", cwd=linked).stdout)
    assert len(report["panels"]) == 2
    images = Path(__file__).parents[2] / "results/published/images.yaml"
    softalign("validate", images, "evaluate.length_unit=words", cwd=linked, code=2)


def test_claims_of_lengths_do_not_mix_units(linked: Path) -> None:
    (linked / "study.yaml").write_text(
        "name: units\nquestion: Which?\nvariants:\n  words: {evaluate.length_unit: words}\n  pieces: {evaluate.length_unit: symbols}\n"
        "parts:\n  text: {base: text.yaml, report: {metrics: [token_accuracy]}}\nclaims:\n"
        "  - {claim: token_accuracy(text/words) >= token_accuracy(text/pieces)}\n"
        "  - {claim: 'token_accuracy[1-2](text/words) >= token_accuracy[1-2](text/pieces)'}\n"
    )
    shown = softalign("study", "study.yaml", BPE, cwd=linked, code=4).stdout
    assert "1. UNDECIDED: token_accuracy(text/words)" in shown and "2. NOT MEASURED: " in shown


def field(key: bytes, content: bytes) -> bytes:
    """Returns a length-delimited field of protobuf."""
    return key + bytes([len(content)]) + content


NORMALIZER, DENORMALIZER, SAMPLES = b"\x1a", b"\x2a", b"\x22"
MAP = field(b"\x12", b"\x04\0\0\0" + b"\xff\xff\xff\x7f" + b"astray")  # a trie whose first unit leads far beyond it


ASTRAY = [
    field(NORMALIZER, MAP),
    field(NORMALIZER, field(b"\x0a", b"identity") + MAP),
    field(NORMALIZER, MAP) + field(NORMALIZER, field(b"\x12", b"")),
    field(NORMALIZER, MAP) + field(SAMPLES, field(b"\x0a", field(b"\x0a", b"the house") + field(b"\x12", b"the"))),
    field(DENORMALIZER, MAP),
    field(b"\x9a\x80\x00", MAP),  # the number of the field written longer
    field(b"\x9a\x80\x80\x80\x10", MAP),  # with bits above the 32 that the library reads
    field(NORMALIZER, MAP)[:-1],
    b"\x0b" + field(NORMALIZER, MAP) + b"\x0c",  # in a group
]


def test_a_model_that_may_lead_the_library_astray_is_refused(linked: Path) -> None:
    run = trained_run(linked, BPE, spec="text.yaml")
    record = run / "run.h5"
    whole = record.read_bytes()
    with h5py.File(record) as file:
        header, model = file["data/source_vocabulary"].asstr()[()].split("\n")[:2]

    def add(more: bytes) -> None:
        record.write_bytes(whole)
        with h5py.File(record, "a") as file:
            file["data/source_vocabulary"][()] = f"{header}\n{base64.b64encode(base64.b64decode(model) + more).decode()}\n"

    add(field(NORMALIZER, field(b"\x0a", b"identity")))
    assert softalign("translate", run, cwd=linked, text="reads sings\n").stdout
    damaged = f"softalign: {record}: damaged: source_vocabulary: "
    for more in ASTRAY:
        add(more)
        assert damaged in softalign("translate", run, cwd=linked, text="reads sings\n", code=3).stderr, more
    for command in (["score", run, "--source", "test.en", "--target", "test.es"], ["evaluate", run]):
        assert damaged in softalign(*command, cwd=linked, code=3).stderr


def test_pieces_of_a_record_or_of_a_models_file_are_taken(here: Path) -> None:
    needs_subwords()
    write_corpus(here)
    first = trained_run(here, PIECES, spec="text.yaml")
    with h5py.File(first / "run.h5") as file:
        texts = [file[f"data/{side}_vocabulary"].asstr()[()] for side in ("source", "target")]
    model = base64.b64decode(texts[0].split("\n")[1])
    (here / "pieces.model").write_bytes(model)
    (here / "train.en").write_text("".join(f"b {i % 3} c c\n" for i in range(20)))
    for place, taken in ((first, texts), ("pieces.model", [texts[0]] * 2)):
        run = trained_run(here, f"task.vocabulary.from={place}", spec="text.yaml")
        with h5py.File(run / "run.h5") as file:
            assert [file[f"data/{side}_vocabulary"].asstr()[()] for side in ("source", "target")] == taken
    (here / "target.model").write_bytes(base64.b64decode(texts[1].split("\n")[1]))
    (here / "words.txt").write_text("a\nb\nc\n")
    words = "\na\nb\nc\n"
    for source, target, ends in (("pieces.model", "target.model", texts), ("words.txt", first, [words, texts[1]]), ("pieces.model", "words.txt", [texts[0], words])):  # fmt: skip
        run = trained_run(here, f"task.vocabulary={{from: {source}, target_from: {target}}}", spec="text.yaml")
        with h5py.File(run / "run.h5") as file:
            taken = [file[f"data/{side}_vocabulary"].asstr()[()] for side in ("source", "target")]
        assert all(one.endswith(end) for one, end in zip(taken, ends))
        assert softalign("translate", run, cwd=here, text="a b c 1\n").stdout and "the same bits again" in softalign("verify", run, cwd=here).stdout
    softalign("run", "text.yaml", "task.vocabulary={from: pieces.model, target_from: target.model, min_count: 3}", cwd=here)  # of no effect
    (here / "pieces.model").write_bytes(model + b"\x1a\x05\x12\x03abc")  # a table that normalises text
    assert "pieces.model: " in softalign("run", "text.yaml", "task.vocabulary.from=pieces.model", cwd=here, code=3).stderr
