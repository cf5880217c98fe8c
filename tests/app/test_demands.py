"""Options of translations: replacement of <unk>, prefixes, required phrases; lines that are too long; progress."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from command_line import (
    address_space,
    answer,
    can_be_limited,
    error,
    json_lines,
    on_terminal,
    softalign,
    text_spec,
    trained_run,
)

h5py = pytest.importorskip("h5py", reason="python3-h5py is not installed")

LINES = ["a b c", "", "h g f e d", "c d"]
TEXT = "\n".join(LINES) + "\n"
NAMES = ["Ann", "Bob", "Eve", "Joe", "Kim", "Leo", "Max", "Mia", "Ned", "Sue"]  # each is rare
WORDS = ("task.vocabulary.size=6", "train.epochs=30")  # three of them and the marks: names are <unk>


def write_names(folder: Path) -> None:
    """Writes a parallel text with a rare name in each line, and its spec, text.yaml."""
    for split, lines in {"train": 40, "dev": 4, "test": 6}.items():
        texts = [" ".join(["a b c", "b c a", "c a b"][i % 3].split() + [NAMES[i % 10]]) for i in range(lines)]
        (folder / f"{split}.en").write_text("".join(f"{text}\n" for text in texts))
        (folder / f"{split}.es").write_text("".join(f"{text.upper()}\n" for text in texts))
    (folder / "text.yaml").write_text(text_spec())


@pytest.fixture(scope="module")
def named(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns a finished run that writes <unk> for names."""
    folder = tmp_path_factory.mktemp("named")
    write_names(folder)
    return trained_run(folder, *WORDS, spec="text.yaml")


def pointed(weights: Any, line: str) -> list[str]:
    """Returns the source word with the largest weight of each row, without </s>."""
    words = line.split()
    return [words[row[: len(words)].argmax()] for row in weights]


def test_an_unknown_word_becomes_the_source_word_that_it_points_at(named: Path, tmp_path: Path) -> None:
    lines = ["a b c Zoe", "Tim c a b", "c a b"]
    text = "".join(f"{line}\n" for line in lines)
    plain = json_lines("translate", named, cwd=tmp_path, text=text)
    assert "<unk>" in plain[0]["hypotheses"][0]["text"] and "replaced" not in plain[0]["hypotheses"][0]
    ask = ("translate", named, "unknown_words.by=attention")
    named_lines = json_lines(*ask, "--alignments", "x.h5", cwd=tmp_path, text=text)
    (tmp_path / "lexicon").write_text("Zoe\tZOE Z\na\tAY\nb\tBEE\nc\tCEE\n")
    listed = json_lines("translate", named, "unknown_words={by: lexicon, lexicon: lexicon}", cwd=tmp_path, text=text)
    entries = {"Zoe": "ZOE Z", "a": "AY", "b": "BEE", "c": "CEE"}
    with h5py.File(tmp_path / "x.h5") as file:
        weights = file["alignments/cross/weights"][0, :, 0]
    for i, line in enumerate(lines):
        before, after, translated = (one[i]["hypotheses"][0] for one in (plain, named_lines, listed))
        assert before["tokens"] == after["tokens"] and before["score"] == after["score"]
        words = pointed(weights[i], line)
        unknown = [k for k, token in enumerate(before["tokens"]) if token == "<unk>"]
        assert [one["symbol"] for one in after.get("replaced", [])] == unknown
        assert [one["word"] for one in after.get("replaced", [])] == [words[k] for k in unknown]
        assert all(line.split()[one["source"]] == one["word"] for one in after.get("replaced", []))
        symbols = [token for token in before["tokens"] if token != "</s>"]
        assert after["text"] == " ".join(words[k] if k in unknown else word for k, word in enumerate(symbols))
        assert [one["word"] for one in translated.get("replaced", [])] == [entries.get(words[k], words[k]) for k in unknown]
    assert softalign(*ask, cwd=tmp_path, text=text).stdout == "".join(one["hypotheses"][0]["text"] + "\n" for one in named_lines)
    best = softalign(*ask, "--n-best", 2, cwd=tmp_path, text=text).stdout.splitlines()
    assert best[0].split("\t")[4] == named_lines[0]["hypotheses"][0]["text"]


@pytest.mark.parametrize("search", ["beam", "greedy", "sample"])
def test_no_search_writes_unk_where_it_is_forbidden(named: Path, tmp_path: Path, search: str) -> None:
    text = "a b c Zoe\nb c a Tim\n" * 4
    ask = ("translate", named, "--search", search)
    assert "<unk>" in softalign(*ask, cwd=tmp_path, text=text).stdout
    assert "<unk>" not in softalign(*ask, "unknown_words.by=forbid", cwd=tmp_path, text=text).stdout


def test_metrics_see_the_words_and_the_record_says_which(here: Path) -> None:
    write_names(here)
    plain = trained_run(here, *WORDS, spec="text.yaml")
    assert "unknown_words" not in (plain / "identity.json").read_text()
    run = trained_run(here, *WORDS, "evaluate.unknown_words.by=attention", spec="text.yaml")
    assert run != plain
    with h5py.File(run / "run.h5") as file, h5py.File(plain / "run.h5") as other:
        texts, before = (one["test/hypothesis"].asstr()[:].tolist() for one in (file, other))
        replaced = file["test/replaced_words"].asstr()[:].tolist()
        assert "replaced_words" not in other["test"]
        sources = file["test/source"].asstr()[:].tolist()
    assert any("<unk>" in text for text in before) and not any("<unk>" in text for text in texts)
    for old, new, links, source in zip(before, texts, replaced, sources, strict=True):
        words = old.split()
        pairs = [tuple(map(int, link.split("-"))) for link in links.split()]
        assert [target for _, target in pairs] == [k for k, word in enumerate(words) if word == "<unk>"]
        for at, target in pairs:
            words[target] = source.split()[at]
        assert new == " ".join(words)
    text = (here / "test.en").read_text()
    assert softalign("translate", run, cwd=here, text=text).stdout.splitlines() == texts  # a run's option holds here, too
    again = answer("evaluate", plain, "unknown_words.by=attention", cwd=here)
    assert again["unknown_words"] == "attention"
    shown, before = (answer("show", one, cwd=here)["test"]["all"] for one in (run, plain))
    assert again["metrics"]["all"] == shown and shown["chrf"] != before["chrf"]
    softalign("verify", run, cwd=here)


def test_a_lexicon_is_part_of_the_run(here: Path) -> None:
    write_names(here)
    (here / "lexicon").write_text("Ann\tANN\n")
    asked = "evaluate.unknown_words={by: lexicon, lexicon: lexicon}"
    run = trained_run(here, "task.vocabulary.size=6", "train.epochs=1", asked, spec="text.yaml")
    (here / "lexicon").write_text("Ann\tANNA\n")
    other = trained_run(here, "task.vocabulary.size=6", "train.epochs=1", asked, spec="text.yaml")
    assert run != other
    for command in ("evaluate", "translate"):
        assert "unknown_words.lexicon" in softalign(command, run, cwd=here, text="a\n").stderr
    for own in (["unknown_words.lexicon=lexicon"], ["unknown_words={by: attention, lexicon: null}"]):
        assert "lexicon" not in softalign("translate", run, *own, cwd=here, text="a\n").stderr
    assert "lexicon" not in softalign("translate", other, cwd=here, text="a\n").stderr
    (here / "lexicon").write_text("Ann ANN\n")
    assert "lexicon:1: " in error("translate", run, cwd=here, code=3, text="a\n")


def test_words_for_unk_are_refused_where_there_are_none(here: Path) -> None:
    write_names(here)
    by = "evaluate.unknown_words.by={}".format
    for more, way in (
        (["model.attention=none"], "attention"),
        (["task.vocabulary={type: characters}"], "attention"),
        ([], "lexicon"),
    ):
        refused = softalign("run", "text.yaml", *more, by(way), cwd=here, code=2).stderr
        assert f"override {len(more) + 1} ('{by(way)}'): " in refused
        assert not (here / "results").exists()
    for more in ([], [by("forbid")]):  # a lexicon that nothing reads
        assert "unknown_words.by=lexicon" in error("validate", "text.yaml", *more, "evaluate.unknown_words.lexicon=dev.en", cwd=here, code=2)
    (here / "by.yaml").write_text("extends: text.yaml\nmodel: {attention: none}\nevaluate:\n  unknown_words: {by: attention}\n")
    assert "by.yaml:4:" in softalign("run", "by.yaml", cwd=here, code=2).stderr
    run = trained_run(here, "model.attention=none", "train.epochs=1", by("forbid"), spec="text.yaml")
    assert "<unk>" not in softalign("translate", run, cwd=here, text="a b c Zoe\n").stdout
    error("translate", run, "unknown_words.by=attention", cwd=here, code=2)
    error("score", run, "--source", "dev.en", "--target", "dev.es", "unknown_words.by=forbid", cwd=here, code=2)


def test_translations_begin_with_their_prefixes(trained: Path, tmp_path: Path) -> None:
    prefixes = ["a b", "c", "", "d zz a"]
    (tmp_path / "prefixes").write_text("\n".join(prefixes) + "\n")
    plain = json_lines("translate", trained, cwd=tmp_path, text=TEXT)
    for search in ("beam", "greedy", "sample"):
        ask = ("translate", trained, "--search", search, "--prefixes", "prefixes")
        found = json_lines(*ask, cwd=tmp_path, text=TEXT)
        texts = [line["hypotheses"][0]["text"] if line["hypotheses"] else "" for line in found]
        assert texts[0].startswith("a b") and texts[1] == "" and texts[3].startswith("d zz a")
        if search == "beam":
            assert found[2] == plain[2]
            assert found == json_lines(*ask, "batch=1", "--threads", 1, cwd=tmp_path, text=TEXT)
        unknown = found[3]["hypotheses"][0]
        assert unknown["tokens"][1] == "<unk>" and unknown["replaced"] == [{"symbol": 1, "word": "zz"}]
    said = softalign(*ask, cwd=tmp_path, text=TEXT).stderr
    assert "1 of 5 prefix symbols" in said and "1 line without words" in said and "line 2\n" in said
    (tmp_path / "source").write_text("a b c\n")
    found = json_lines("translate", trained, "--search", "greedy", "--prefixes", "prefixes", cwd=tmp_path, text=TEXT)[0]["hypotheses"][0]
    (tmp_path / "target").write_text(found["text"] + "\n")
    (forced,) = json_lines("score", trained, "--source", "source", "--target", "target", cwd=tmp_path)
    assert forced["log_probability"] == found["log_probability"]
    (tmp_path / "prefixes").write_text("a\nb\n")
    assert "prefixes: ends after 2 lines" in softalign("translate", trained, "--prefixes", "prefixes", cwd=tmp_path, text=TEXT, code=3).stderr
    assert "more lines" in softalign("translate", trained, "--prefixes", "prefixes", cwd=tmp_path, text="a\n", code=3).stderr
    error("translate", trained, "--prefixes", "missing", cwd=tmp_path, text="a\n", code=3)


def test_translations_contain_their_phrases(trained: Path, tmp_path: Path) -> None:
    phrases = ["e f\ta", "b", "", "h h h"]
    (tmp_path / "phrases").write_text("\n".join(phrases) + "\n")
    ask = ("translate", trained, "search=beam", "search.width=12", "--constraints", "phrases")
    found = json_lines(*ask, "--n-best", 12, cwd=tmp_path, text=TEXT)
    for line, wanted in zip(found, phrases, strict=True):
        for hypothesis in line["hypotheses"]:
            for phrase in wanted.split("\t"):
                assert f" {phrase} " in f" {hypothesis['text']} " or not phrase
    assert found[1]["hypotheses"] == []
    plain = json_lines("translate", trained, "search=beam", "search.width=12", "--n-best", 12, cwd=tmp_path, text=TEXT)
    assert found[2] == plain[2] and found[0] != plain[0]
    assert "1 line without words" in softalign(*ask, cwd=tmp_path, text=TEXT).stderr
    assert found == json_lines(*ask, "--n-best", 12, "batch=1", "--threads", 1, cwd=tmp_path, text=TEXT)
    (tmp_path / "prefixes").write_text("d d\n\n\n\n")
    both = softalign(*ask, "--prefixes", "prefixes", cwd=tmp_path, text=TEXT).stdout.splitlines()
    assert both[0].startswith("d d") and "e f" in both[0] and "a" in both[0]
    for search in ("greedy", "sample"):
        assert "--constraints: " in error("translate", trained, "--search", search, "--constraints", "phrases", cwd=tmp_path, code=2)
    (tmp_path / "phrases").write_text("a\n\nb zz\n\n")
    refused = softalign("translate", trained, "--constraints", "phrases", cwd=tmp_path, text=TEXT, code=3).stderr
    assert "phrases:3: " in refused and "'zz'" in refused


@can_be_limited
def test_lines_that_are_too_long_are_cropped_or_skipped(trained: Path, tmp_path: Path) -> None:
    text = "a b c\n" + "a " * 9999 + "b\nc d\n" + "a " * 10050 + "\n\n"
    ask = ("translate", trained, "search.max_ratio=0.1", "--threads", 1)
    small: Any = address_space(400 << 20)
    plain = softalign(*ask, cwd=tmp_path, text="a b c\nx\nc d\n").stdout.splitlines()
    refused = softalign(*ask, cwd=tmp_path, text=text.replace("a " * 10050, "a"), code=2, **small).stderr
    assert "--too-long" in refused
    said = softalign(*ask, cwd=tmp_path, text=text, code=None).stderr  # more words than a line may have
    assert "standard input:4: " in said and "or use --too-long=crop or skip" in said
    skipped = softalign(*ask, "--too-long", "skip", cwd=tmp_path, text=text, **small)
    assert skipped.stdout.splitlines() == [plain[0], "", plain[2], "", ""]
    assert "note: 2 lines of more than " in skipped.stderr and "skipped, the first in line 2" in skipped.stderr
    cropped = json_lines(*ask, "--too-long", "crop", "--alignments", "x.h5", cwd=tmp_path, text=text, **small)
    assert [one["hypotheses"][0]["text"] for one in (cropped[0], cropped[2])] == [plain[0], plain[2]]
    assert cropped[1]["cropped"] == cropped[3]["cropped"] and 0 < cropped[1]["cropped"] < 10000 and cropped[4]["hypotheses"] == []
    assert "skipped" in json_lines(*ask, "--too-long", "skip", cwd=tmp_path, text=text, **small)[1]
    alone = json_lines(*ask, "--too-long", "crop", cwd=tmp_path, text=text.splitlines()[1] + "\n", **small)
    assert alone[0]["cropped"] == cropped[1]["cropped"]
    assert json_lines(*ask, "--too-long", "refuse", cwd=tmp_path, text="a b c\n")[0]["hypotheses"][0]["text"] == plain[0]


def test_long_texts_show_how_fast_they_are(trained: Path, tmp_path: Path) -> None:
    (tmp_path / "short").write_text("a b c\n")
    (tmp_path / "long").write_text("a b c d e f g h a b c d e f g h\n" * 40000)
    written = on_terminal(tmp_path, 100, "score", trained, "--source", "long", "--target", "long", "--threads", 1)
    assert re.search(r"scoring  \d+ lines  [\d.k]+ lines/s", written)
    written = on_terminal(tmp_path, 100, "score", trained, "--source", "short", "--target", "short")
    assert "lines/s" not in written


def test_json_of_translations_is_unchanged_without_demands(trained: Path, tmp_path: Path) -> None:
    (line,) = softalign("translate", trained, "--json", cwd=tmp_path, text="a b c\n").stdout.splitlines()
    assert list(json.loads(line)) == ["line", "hypotheses"]
    assert set(json.loads(line)["hypotheses"][0]) == {"text", "score", "log_probability", "finished", "tokens", "log_probabilities"}
