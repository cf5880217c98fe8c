"""Reading records and drawing them, on records made here in the layout that results/README.md documents."""

import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import plot
import pytest
import records

BUCKETS = ["1-10", "11-20", "21-30", "31-40", "41-50", "51-60"]
TEXT = h5py.string_dtype()
SPEC = """
name: toy-{score}
seed: {seed}
task: {{type: reverse, symbols: 32, length: {{train: [4, 30], dev: [4, 30], test: [4, 60]}}}}
model: {{attention: {attention}}}
"""


def write_record(folder: Path, score: str, seed: int = 1, lengths: tuple[int, ...] = (12, 44)) -> Path:
    """A record of `reverse` whose attention, if any, is the true alignment with some haze; sentences are numbered 5, 12, ..."""
    attends = score != "none"
    attention = f"{{type: global, score: {{type: {score}}}}}" if attends else "{type: none}"
    rng = np.random.default_rng(sum(score.encode()))
    (folder / f"{score}-{seed}").mkdir(parents=True)
    path = folder / f"{score}-{seed}/run.h5"
    with h5py.File(path, "w") as file:
        file.attrs["format"] = np.bytes_("softalign-run")
        file["provenance/spec_yaml"] = SPEC.format(score=score, seed=seed, attention=attention)
        fall = np.array([1, 1, 0.99, 0.86, 0.54, 0.35]) if attends else np.array([0.9, 0.4, 0.19, 0.13, 0.1, 0.08])
        fall = fall ** rng.uniform(0.8, 1.6)
        test = file.create_group("test/by_length")
        test.create_dataset("label", data=BUCKETS, dtype=TEXT)
        test["bucket"], test["n"] = np.arange(6), np.array([121, 178, 180, 175, 174, 172])
        test["token_accuracy"] = 100 * fall
        test["bleu"], test["perplexity"] = 100 * fall**2, np.exp(4 * (1 - fall))
        dev = file.create_group("dev")
        dev["update"] = np.arange(0, 2000, 250)
        dev["token_accuracy"] = 100 * fall[2] * (1 - np.exp(-np.arange(8) / 2))
        dev["perplexity"] = 32 * np.exp(-fall[2] * np.arange(8) / 3) + 1
        if not attends:
            return path
        longest = max(lengths)
        weights = np.full((1, len(lengths), 1, longest, longest), np.nan, np.float32)
        gold = np.zeros((len(lengths), longest, longest), np.uint8)
        words = np.full((len(lengths), longest), "", dtype=object)
        for i, n in enumerate(lengths):
            haze = rng.random((n, n)) ** 6 + 4 * np.eye(n)[::-1]
            weights[0, i, 0, :n, :n] = haze / haze.sum(1, keepdims=True)
            gold[i, :n, :n] = 2 * np.eye(n)[::-1]
            words[i, :n] = [f"s{k}" for k in rng.integers(0, 32, n)]
        group = file.create_group("alignments/attention")
        group["update"], group["sentence"], group["head"] = [1750], 5 + 7 * np.arange(len(lengths)), [0]
        group["src_len"], group["tgt_len"] = np.array(lengths), np.array([lengths])
        group.create_dataset("src_tokens", data=words, dtype=TEXT)
        reversed_words = [[*row[:n][::-1], *row[n:]] for row, n in zip(words, lengths)]
        group.create_dataset("tgt_tokens", data=np.array([reversed_words], dtype=object), dtype=TEXT)
        group["weights"], group["gold"] = weights, gold
    return path


def test_a_run_reads_as_it_was_written(tmp_path):
    run = records.read_run(write_record(tmp_path, "additive"))
    assert (run.label, run.trained_lengths, run.sentences) == ("additive", (4, 30), {5: 12, 12: 44})
    assert run.by_length.labels == BUCKETS and run.by_length.n[0] == 121
    assert 95 < run.by_length.metrics["token_accuracy"][0] <= 100
    assert run.dev["perplexity"][0].tolist() == list(range(0, 2000, 250))
    short = run.alignment(5)
    assert short.weights.shape == (12, 12) and short.source == short.target[::-1]
    assert short.weights.sum(1) == pytest.approx(np.ones(12), abs=1e-5)
    for alignment in (short, run.alignment(12)):
        assert (alignment.gold[::-1] == 2 * np.eye(len(alignment.source))).all()
        assert (alignment.weights.argmax(1) == alignment.gold.argmax(1)).all()
    with pytest.raises(records.RecordError, match="no alignment of sentence 7"):
        run.alignment(7)


def test_runs_that_share_a_score_say_their_seed(tmp_path):
    for score, seed in (("none", 1), ("dot", 1), ("dot", 2)):
        write_record(tmp_path, score, seed)
    assert [run.label for run in records.find_runs([tmp_path])] == ["dot, seed 1", "dot, seed 2", "none"]


def test_runs_that_share_a_score_say_the_keys_in_which_they_differ(tmp_path):
    for seed, units in ((1, 64), (2, 128)):
        path = write_record(tmp_path / str(units), "dot", seed)
        with h5py.File(path, "a") as file:
            spec = file["provenance/spec_yaml"].asstr()[()]
            file["provenance/spec_yaml"][()] = spec.replace("model: {", f"model: {{encoder: {{units: {units}}}, ")
    assert [run.label for run in records.find_runs([tmp_path])] == ["dot, seed 2, units 128", "dot, seed 1, units 64"]
    (run, twin) = records.find_runs([tmp_path / "64", write_record(tmp_path / "twin", "dot", 1)])
    assert {run.label, twin.label} == {"dot, units 64", "dot, units -"}


def test_a_score_keeps_its_look_whatever_stands_beside_it(tmp_path):
    runs = {score: records.read_run(write_record(tmp_path, score)) for score in ("none", "dot", "additive", "cosine", "mine")}
    alone = plot.looks([runs["dot"]])["dot"]
    together = plot.looks(list(runs.values()))
    assert together["dot"] == alone
    assert len(set(together.values())) == 5


@pytest.mark.parametrize("length, x", [(0, -0.5), (10, 0.5), (15, 1.0), (30, 2.5), (60, 5.5), (99, 5.5)])
def test_a_length_lies_in_its_bucket(length, x):
    assert plot.place(length, BUCKETS) == pytest.approx(x)


def test_open_buckets_end_the_axis():
    assert plot.bounds("61+") == (61, float("inf"))
    assert plot.place(70, ["1-60", "61+"]) == 1.5


def test_every_figure_is_drawn(tmp_path):
    for score in ("none", "additive", "dot", "general"):
        write_record(tmp_path / "runs", score)
    out = tmp_path / "figures"
    script = Path(plot.__file__)
    ended = subprocess.run([sys.executable, script, tmp_path / "runs", "--out", out], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    names = ["reverse_by_length", "reverse_curves", "reverse_alignment_5", "reverse_alignment_12"]
    assert ended.stdout.split() == [str(out / f"{name}.png") for name in names]
    for name in names:
        pixels = 255 * plot.plt.imread(out / f"{name}.png")[:, :, :3].mean(axis=2)
        assert min(pixels.shape) > 400 and pixels.mean() > 200 and pixels.min() < 100  # light, with dark text


def test_what_is_no_record_is_said_in_one_line(tmp_path):
    (tmp_path / "run.h5").write_bytes(b"nothing")
    for place, text in ((tmp_path / "run.h5", "damaged, or no HDF5 file"), (tmp_path / "absent", "no such file")):
        ended = subprocess.run([sys.executable, plot.__file__, place], capture_output=True, text=True, check=False)
        assert ended.returncode == 1 and text in ended.stderr and len(ended.stderr.splitlines()) == 1
