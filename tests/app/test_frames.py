"""Sources of frames, written with h5py as users do: training, metrics, translation, errors."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from command_line import MODEL, address_space, answer, can_be_limited, softalign

SIZE = 3  # numbers of a frame
TONES = {"a": [1.0, 0.0, 5.0], "b": [0.0, 40.0, 5.0], "c": [-1.0, 80.0, 5.0]}
SPLITS = {"train": 256, "dev": 8, "test": 8}

Arrays = list[np.ndarray]


def write(path: Path, arrays: Arrays, dtype: str = "float32") -> None:
    with h5py.File(path, "w") as file:
        file["frames"] = np.concatenate(arrays).astype(dtype)
        file["lengths"] = [len(array) for array in arrays]


def recordings(count: int, seed: int) -> tuple[list[str], Arrays]:
    """Returns texts, and two noisy frames for each of their symbols."""
    stream = np.random.default_rng(seed)
    texts = [" ".join(stream.choice(list(TONES), stream.integers(2, 5))) for _ in range(count)]
    arrays = [np.repeat([TONES[symbol] for symbol in text.split()], 2, axis=0) for text in texts]
    return texts, [array + 0.1 * stream.standard_normal(array.shape) for array in arrays]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for seed, (split, count) in enumerate(SPLITS.items()):
        texts, arrays = recordings(count, seed)
        write(tmp_path / f"{split}.h5", arrays)
        (tmp_path / f"{split}.txt").write_text("".join(text + "\n" for text in texts))
    files = "".join(f"  {split}: {{source: {split}.h5, target: {split}.txt}}\n" for split in SPLITS)
    spec = f"name: tones\ntask:\n  type: frames\n  frame_size: {SIZE}\n{files}{MODEL}"
    (tmp_path / "tones.yaml").write_text(spec.replace("epochs: 2", "epochs: 1"))
    return tmp_path


def record_of(folder: Path, name: str = "tones") -> Path:
    [record] = (folder / "results" / name).glob("*/run.h5")
    return record


def read(path: Path) -> Arrays:
    with h5py.File(path) as file:
        return np.split(file["frames"][()], np.cumsum(file["lengths"][()])[:-1])


def test_the_memory_is_that_of_the_longest_array(folder: Path) -> None:
    def needed(*changes: str) -> float:
        [found] = answer("validate", "tones.yaml", "--threads", 1, *changes, cwd=folder)
        return sum(part["bytes"] for part in found["memory"]["parts"] if part["what"] != "the program")

    longest = max(len(array) for split in SPLITS for array in read(folder / f"{split}.h5"))
    assert needed() == needed(f"task.max_length={longest}")
    assert needed("task.max_length=4", "task.max_length_test=4") < needed()
    (folder / "train.h5").unlink()
    assert "train.h5" in softalign("validate", "tones.yaml", cwd=folder, code=3).stderr


def test_a_model_learns_measures_and_translates_arrays(folder: Path) -> None:
    softalign("run", "tones.yaml", "train.epochs=30", "train.optimizer.learning_rate=0.02", cwd=folder)
    record = record_of(folder)
    with h5py.File(record) as file:
        frames = np.concatenate(read(folder / "train.h5")).astype(np.float64)
        np.testing.assert_allclose(file["data/frame_mean"][()], frames.mean(axis=0), rtol=1e-12)
        np.testing.assert_allclose(file["data/frame_deviation"][()], frames.std(axis=0), rtol=1e-10)
        assert file["data"].attrs["frame_size"] == SIZE
        hypotheses = list(file["test/hypothesis"].asstr())
        references = list(file["test/reference"].asstr())
        assert all(source.split()[1] == "frames" for source in file["test/source"].asstr())
    assert sum(a == b for a, b in zip(hypotheses, references)) >= 6
    # Arrays of a file, lines of numbers, and the data of the spec go the same way.
    assert softalign("translate", record, "--frames", "test.h5", cwd=folder).stdout.splitlines() == hypotheses
    lines = "".join(" ".join(map(repr, array.ravel().astype(float).tolist())) + "\n" for array in read(folder / "test.h5"))
    assert softalign("translate", record, cwd=folder, text=lines).stdout.splitlines() == hypotheses
    with h5py.File(record) as file:
        loss = file["test/nll"][()].sum() / file["test/target_tokens"][()].sum()
    assert answer("evaluate", record, cwd=folder)["metrics"]["all"]["loss"] == pytest.approx(loss, rel=1e-12)
    changes = ["task.test.source=dev.h5", "task.test.target=dev.txt"]
    (folder / "train.h5").unlink()  # measuring needs the record's statistics alone
    dev = answer("evaluate", record, "--split", "dev", cwd=folder)
    assert answer("evaluate", record, *changes, cwd=folder)["metrics"]["all"] == dev["metrics"]["all"]
    for command in (["show", record], ["show", record, "--sentence", "0"], ["export", record, "--what", "sentences"], ["report", "results", "-o", "report.html"]):
        softalign(*command, cwd=folder)


def test_translate_refuses_arrays_by_their_index(folder: Path) -> None:
    softalign("run", "tones.yaml", cwd=folder)
    record, arrays = record_of(folder), read(folder / "test.h5")
    arrays[2][1, 0] = np.inf
    write(folder / "bad.h5", arrays)
    assert "bad.h5: array 2: number 0 of frame 1 (from 0) is inf" in softalign("translate", record, "--frames", "bad.h5", cwd=folder, code=3).stderr
    write(folder / "wide.h5", [np.ones((2, SIZE + 1))])
    assert f"frames of {SIZE + 1} numbers" in softalign("translate", record, "--frames", "wide.h5", cwd=folder, code=3).stderr
    assert "no.h5" in softalign("translate", record, "--frames", "no.h5", cwd=folder, code=3).stderr
    assert "not a number" in softalign("translate", record, cwd=folder, text="1 2 x\n", code=3).stderr


def test_lengths_may_be_whole_numbers_of_any_size(folder: Path) -> None:
    softalign("run", "tones.yaml", cwd=folder)
    expected = softalign("translate", record_of(folder), "--frames", "test.h5", cwd=folder).stdout
    for kind in ("int8", "uint8", "int16", "uint16", "uint32", "uint64", ">i2"):
        with h5py.File(folder / "test.h5", "a") as file:
            lengths = file["lengths"][()]
            del file["lengths"]
            file["lengths"] = lengths.astype(kind)
        assert softalign("translate", record_of(folder), "--frames", "test.h5", cwd=folder).stdout == expected, kind


def test_files_that_cannot_be_read_as_frames_say_why(folder: Path) -> None:
    softalign("run", "tones.yaml", cwd=folder)
    record, arrays = record_of(folder), read(folder / "test.h5")
    frames, lengths = np.concatenate(arrays), [len(array) for array in arrays]
    for name in ("lzf", "soft", "external", "outside", "flags", "texts"):
        with h5py.File(folder / f"{name}.h5", "w") as file:
            file["lengths"] = [True] if name == "flags" else ["a"] if name == "texts" else lengths
            if name == "lzf":
                file.create_dataset("frames", data=np.zeros_like(frames), compression="lzf")  # which shrinks
            elif name == "soft":
                file["others"], file["frames"] = frames, h5py.SoftLink("/others")
            elif name == "external":
                file["frames"] = h5py.ExternalLink("test.h5", "/frames")
            elif name == "outside":
                file.create_dataset("frames", data=frames, external=str(folder / "raw"))
            else:
                file["frames"] = frames
    write(folder / "large.h5", replaced([array.astype("float64") for array in arrays], 1, 1e300), "float64")
    for name, why in (
        ("lzf.h5", "filter 'lzf'"),
        ("soft.h5", "frames is a link to another object"),
        ("external.h5", "frames is a link to another object"),
        ("outside.h5", "the values of frames are in another file"),
        ("flags.h5", "'lengths' does not have whole numbers"),
        ("texts.h5", "'lengths' does not have whole numbers"),
        ("large.h5", "is inf as float32"),
        (".", "is a directory; name a file"),
    ):
        said = softalign("translate", record, "--frames", name, cwd=folder, code=3).stderr
        assert why in said and "damaged" not in said and "--force" not in said, said
    assert "'1e300' is out of the range of float32" in softalign("translate", record, cwd=folder, text="1e300 1 2\n", code=3).stderr
    pair = ("--source", "test.h5", "--target", "test.txt")
    assert "test.h5: is an HDF5 file, not text" in softalign("score", record, *pair, cwd=folder, code=3).stderr


@can_be_limited
def test_arrays_that_are_too_long_are_not_said_to_be_cropped(folder: Path) -> None:
    softalign("run", "tones.yaml", cwd=folder)
    write(folder / "long.h5", [np.zeros((9999, SIZE))] * 9)
    small: Any = address_space(400 << 20)
    said = softalign("translate", record_of(folder), "--frames", "long.h5", "--threads", 1, cwd=folder, code=2, **small).stderr
    assert "--too-long=skip, for the longest arrays" in said and "crop" not in said


def replaced(arrays: Arrays, index: int, value: float) -> Arrays:
    arrays = [array.copy() for array in arrays]
    arrays[index][-1, -1] = value
    return arrays


@pytest.mark.parametrize("what", ["nan", "infinite", "float64", "empty", "width", "arrays", "lines", "text", "integers", "missing", "cut"])
def test_what_cannot_be_trained_on_is_refused(folder: Path, what: str) -> None:
    file, arrays = folder / "train.h5", read(folder / "train.h5")
    text = folder / "train.txt"
    if what == "nan":
        write(file, replaced(arrays, 5, np.nan))
        expected = "array 5: number 2 of frame"
    elif what == "infinite":
        write(file, replaced(arrays, 200, -np.inf))
        expected = "array 200: number 2 of frame"
    elif what == "float64":  # as float32 it is infinite
        write(file, replaced([array.astype("float64") for array in arrays], 7, 1e300), "float64")
        expected = "array 7: number 2 of frame"
    elif what == "empty":
        write(file, [*arrays[:4], arrays[4][:0], *arrays[5:]])
        expected = "array 4 is empty"
    elif what == "width":
        write(file, [array[:, :2] for array in arrays])
        expected = "frames of 2 numbers, but task.frame_size is 3"
    elif what == "arrays":
        write(file, arrays[:-1])
        expected = f"{SPLITS['train'] - 1} arrays, but"
    elif what == "lines":
        text.write_text(text.read_text() + "a\na\n")
        expected = f"has {SPLITS['train'] + 2} lines"
    elif what == "text":
        file.write_text("a b c\n")
        expected = "not an HDF5 file"
    elif what == "integers":
        write(file, arrays, "int32")
        expected = "does not have floating-point numbers"
    elif what == "missing":
        with h5py.File(file, "a") as opened:
            del opened["lengths"]
        expected = "no dataset 'lengths'"
    else:
        os.truncate(file, file.stat().st_size - 100)
        expected = "truncated"
    for command in ("run", "validate"):
        error = softalign(command, "tones.yaml", cwd=folder, code=3).stderr
        assert expected in error and "train." in error, error


def test_specs_are_refused_where_they_are_wrong(folder: Path) -> None:
    for change, expected in (
        ("task.vocabulary.dropout=0.1", "dropout"),
        ("task.normalise=variance", "mean_variance"),
        ("task.frame_size=0", "frame_size"),
        ("model.encoder.type=embedding_symbols", "embedding"),
    ):
        assert expected in softalign("run", "tones.yaml", change, cwd=folder, code=2).stderr
    spec = (folder / "tones.yaml").read_text()
    (folder / "tones.yaml").write_text(spec.replace(f"  frame_size: {SIZE}\n", ""))
    assert "frame_size" in softalign("run", "tones.yaml", cwd=folder, code=2).stderr


def test_the_bytes_of_the_arrays_name_the_run(folder: Path) -> None:
    softalign("run", "tones.yaml", cwd=folder)
    arrays = read(folder / "test.h5")
    (folder / "test.h5").rename(folder / "moved.h5")
    softalign("run", "tones.yaml", "task.test.source=moved.h5", cwd=folder)
    record_of(folder)  # one run
    write(folder / "moved.h5", replaced(arrays, 0, 4.0))
    softalign("run", "tones.yaml", "task.test.source=moved.h5", cwd=folder)
    assert len(list((folder / "results/tones").glob("*/run.h5"))) == 2


def test_the_target_vocabulary_of_a_run_can_be_reused(folder: Path) -> None:
    softalign("run", "tones.yaml", cwd=folder)
    record = record_of(folder)
    softalign("run", "tones.yaml", "name=more", f"init.from={record}", f"task.vocabulary.from={record}", cwd=folder)
    (folder / "x").write_text("a b\n")
    task = "{type: parallel_text, " + ", ".join(f"{split}: {{source: x, target: x}}" for split in SPLITS) + f", vocabulary: {{from: {record}}}}}"
    assert "no source vocabulary" in softalign("run", "tones.yaml", f"task={task}", cwd=folder, code=3).stderr


def test_cached_arrays_give_the_same_bits(folder: Path) -> None:
    softalign("run", "tones.yaml", cwd=folder)
    environment = os.environ | {"SOFTALIGN_CACHE": str(folder / "cache")}
    for results in ("first", "second"):  # written, read
        softalign("run", "tones.yaml", "--results", results, cwd=folder, env=environment)
        [record] = (folder / results).glob("tones/*/run.h5")
        with h5py.File(record) as one, h5py.File(record_of(folder)) as other:
            np.testing.assert_array_equal(one["train/loss"][()], other["train/loss"][()])
            assert list(one["test/source"].asstr()) == list(other["test/source"].asstr())
    assert len(list((folder / "cache/datasets").iterdir())) == 1


def test_links_say_which_frames_belong_to_a_symbol(folder: Path) -> None:
    for seed, split in enumerate(SPLITS):  # two frames for each symbol
        texts, _ = recordings(SPLITS[split], seed)
        lines = [" ".join(f"{2 * j + k}-{j}" for j in range(len(text.split())) for k in (0, 1)) for text in texts]
        (folder / f"{split}.align").write_text("".join(line + "\n" for line in lines))
    softalign("run", "tones.yaml", cwd=folder)
    unlinked = record_of(folder)
    alignment = "task.test.alignment=test.align"
    given = [alignment, *(f"task.{split}.alignment={split}.align" for split in ("train", "dev")), "model.attention=true_alignment"]
    softalign("run", "tones.yaml", "name=linked", *given, cwd=folder)
    with h5py.File(record_of(folder, "linked")) as file:
        assert file["test"].attrs["pointing_accuracy"] == 100
        total = sum(len(text.split()) for text in file["test/reference"].asstr())
        assert file["test/pointing_hits"][()].sum() == file["test/pointing_tokens"][()].sum() == total
    with h5py.File(unlinked) as file:
        assert "pointing_accuracy" not in file["test"].attrs
    # Of another model, measured on links alone: where the largest weights are.
    measured = answer("evaluate", unlinked, alignment, cwd=folder)["metrics"]["all"]
    assert 0 <= measured["pointing_accuracy"] < 100
    # A pyramid has one annotation for two frames: links move to it, so each of them is one symbol's.
    pyramid = "model.encoder={type: pyramidal_lstm, units: 8, layers: 2}"
    softalign("run", "tones.yaml", "name=pyramid", pyramid, *given, cwd=folder)
    with h5py.File(record_of(folder, "pyramid")) as file:
        assert file["test"].attrs["pointing_accuracy"] == 100


def test_links_that_lead_nowhere_are_refused(folder: Path) -> None:
    texts, arrays = recordings(SPLITS["test"], 2)
    for lines, expected in (
        (["0-0"] * len(texts), None),
        (["0-0"] * (len(texts) - 1), f"has {len(texts) - 1} lines"),
        ([f"{len(arrays[0])}-0", *["0-0"] * (len(texts) - 1)], f"bad.align:1: link '{len(arrays[0])}-0' is out of range: {len(arrays[0])} frames"),
        (["0-0", "x", *["0-0"] * (len(texts) - 2)], "bad.align:2: 'x' is not a link"),
    ):
        (folder / "bad.align").write_text("".join(line + "\n" for line in lines))
        for command in ("run", "validate"):
            error = softalign(command, "tones.yaml", "task.test.alignment=bad.align", cwd=folder, code=3 if expected else 0).stderr
            assert expected is None or expected in error, error
    refused = softalign("run", "tones.yaml", "task.test.target=null", "task.test.alignment=bad.align", cwd=folder, code=2).stderr
    assert "task.test.alignment" in refused and "target is missing" in refused
