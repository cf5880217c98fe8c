"""Sizes that are valid but together exceed the memory are refused at once; and estimates equal the memory that runs use."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from multiprocessing.pool import ThreadPool
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from command_line import PATIENCE, PROGRAM, SANITIZED, address_space, answer, can_be_limited, error, needs_subwords, softalign, write_corpus
from nightly import sampled

MB = 1 << 20
uses_memory_as_built = pytest.mark.skipif(SANITIZED, reason="a sanitizer takes memory of its own")


# A child begins with its parent's largest resident memory, and pytest's is large: a small process starts it.
LAUNCHER = """
import resource, subprocess, sys
code = subprocess.call(sys.argv[1:], stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(code)
"""


def measured(*arguments: object, cwd: Path, text: str = "") -> tuple[int, str, float, float]:
    """Returns exit status, standard error, largest resident memory in MB, and seconds of a new child."""
    start = time.monotonic()
    words = [sys.executable, "-c", LAUNCHER, str(PROGRAM), *map(str, arguments)]
    done = subprocess.run(words, cwd=cwd, input=text, capture_output=True, text=True)
    return done.returncode, done.stderr, int(done.stdout) / 1024, time.monotonic() - start


LONG_TEST = ["task.length.test=[4,10000]", "evaluate.search={type: beam, width: 1000}"]
MANY = ["task.examples.train=10000000", "task.length.train=[4,10000]"]
WIDE = ["model.encoder.units=20000", "model.decoder.units=20000"]
WIDEST = ["model.encoder.units=65536", "model.decoder.units=65536"]  # 5e10 parameters and more


@pytest.mark.parametrize(
    "changes, key, part",
    [
        (LONG_TEST, "evaluate.batch", "evaluation of test"),
        (MANY, "task", "data"),
        (WIDE, "model", "a checkpoint while it is written"),
        (WIDEST, "model", "a checkpoint while it is written"),
    ],
)
@pytest.mark.parametrize("command", [["run"], ["run", "--dry-run"]])
def test_attacks_are_refused_before_anything_is_made(
    here: Path, command: list[str], changes: list[str], key: str, part: str
) -> None:
    code, message, megabytes, seconds = measured(*command, "tiny.yaml", *changes, cwd=here)
    assert code == 2, message
    assert f": {key}: " in message and part in message and len(message.splitlines()) == 1, message
    assert SANITIZED or megabytes < 400
    assert seconds < 20 * PATIENCE  # 2 s on a machine that has nothing else to do
    assert not (here / "results").exists()


def test_validate_tells_of_a_refusal(here: Path) -> None:
    fits = [answer("validate", "tiny.yaml", *changes, cwd=here)[0]["memory"]["fits"] for changes in ([], LONG_TEST)]
    assert fits == [True, False]


LIMITED = ["model.encoder.units=64", "model.decoder.units=64", "model.embedding=64"]


@can_be_limited
def test_what_the_data_may_hold_is_refused_only_once_they_are_read(here: Path) -> None:
    write_corpus(here)  # lines of four words
    long = ["text.yaml", "task.max_length=10000", *LIMITED]
    limit = address_space(1000 * MB)
    for command in ("validate", "run"):
        assert "note: if sentences" in softalign(command, *long, cwd=here, **limit).stderr
    for name in ("train.en", "train.es"):
        (here / name).write_text("".join("a " * 10000 + "\n" for _ in range(64)))
    message = softalign("run", *long, "train.batch.sentences=64", "name=other", cwd=here, code=2, **limit).stderr
    assert "train.batch.sentences: " in message and "activations" in message, message


@can_be_limited
def test_sentences_that_lose_merges_are_counted_as_long_as_they_become(here: Path) -> None:
    needs_subwords()
    write_corpus(here)
    for name in ("train.en", "train.es"):
        (here / name).write_text(("reading singing painting counting " * 100 + "\n") * 16)
    pieces = "task.vocabulary={type: sentencepiece, model: bpe, size: 100}"
    run = ["run", "text.yaml", pieces, "task.max_length=1000", "train.batch.sentences=16", "train.max_updates=1", *LIMITED]
    limit = address_space(1000 * MB)
    assert softalign(*run, cwd=here, **limit).stdout
    assert "activations" in softalign(*run, "task.vocabulary.dropout=0.99", cwd=here, code=2, **limit).stderr


def test_lengths_are_those_that_are_drawn(here: Path) -> None:
    few = ["task.examples={train: 4, dev: 4, test: 4}", "task.length={train: [1, 10000], dev: [1, 10000], test: [1, 10000]}"]
    loads = answer("validate", "tiny.yaml", *few, "train.batch.sentences=1", "--threads", 1, cwd=here)
    of = {part["what"]: part["bytes"] for part in loads[0]["memory"]["parts"]}
    equal = [change.replace("[1, ", "[10000, ") for change in few]
    longest = answer("validate", "tiny.yaml", *equal, "train.batch.sentences=1", "--threads", 1, cwd=here)
    bound = {part["what"]: part["bytes"] for part in longest[0]["memory"]["parts"]}
    assert of["activations"] < 0.98 * bound["activations"]


def test_long_sentences_are_not_tried(here: Path) -> None:
    length = "task.length={train: [4, 10000], dev: [4, 10000], test: [4, 10000]}"
    code, message, megabytes, seconds = measured("validate", "tiny.yaml", length, cwd=here)
    assert code == 0, message
    assert SANITIZED or megabytes < 400
    assert seconds < 20 * PATIENCE  # 1 s on a machine that has nothing else to do


def test_specs_beside_each_other_change_nothing(here: Path) -> None:
    alone = answer("validate", "tiny.yaml", "task.length.test=[4, 500]", cwd=here)
    twice = answer("validate", "tiny.yaml", "tiny.yaml", "task.length.test=[4, 500]", cwd=here)
    programs = [found["memory"]["parts"][0]["bytes"] for found in alone + twice]
    assert max(programs) - min(programs) < MB  # pages of the first process and of the second differ


def test_validate_prints_the_parts_and_their_sum(here: Path) -> None:
    (found,) = answer("validate", "tiny.yaml", "--threads", "2", cwd=here)
    parts = found["memory"]["parts"]
    held = sum(part["bytes"] for part in parts if not part["in_turn"])
    assert held + max(part["bytes"] for part in parts if part["in_turn"]) == pytest.approx(found["memory"]["bytes"])


@can_be_limited
def test_doctor_tells_of_a_limit_of_the_process(here: Path) -> None:
    limited = answer("doctor", cwd=here, **address_space(2000 * MB))
    assert "(ulimit -v)" in next(entry for entry in limited if entry["what"] == "memory")["found"]


# Large enough for the program itself to be a small part.
MODELS = {
    "gru": "embedding=64 model.encoder.units=96 model.decoder.units=96 model.attention.score.units=96",
    "transformer": "embedding=96 model.encoder=self_attention model.attention=built_in model.decoder=transformer",
}


@uses_memory_as_built
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("model", MODELS)
def test_the_estimate_is_what_a_run_takes(here: Path, model: str, threads: int) -> None:
    changes: list[Any] = ["task.symbols=3000", "task.length={train: [59, 59], dev: [59, 59], test: [59, 59]}"]
    changes += ["task.examples={train: 128, dev: 32, test: 32}", "train.batch.sentences=64", "train.epochs=1"]
    changes += ["model." + MODELS[model].split()[0], *MODELS[model].split()[1:], "evaluate.search=greedy"]
    (found,) = answer("validate", "tiny.yaml", *changes, "--threads", threads, cwd=here)
    code, message, megabytes, _ = measured("run", "tiny.yaml", *changes, "--threads", threads, cwd=here)
    assert code == 0, message
    assert found["memory"]["bytes"] / MB == pytest.approx(megabytes, rel=0.2)


@uses_memory_as_built
def test_memory_grows_by_the_order_of_an_epoch_alone(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory is 8 bytes per pair, and 4 while the order of a small corpus is computed; neither sentences nor rows of a table of them."""
    monkeypatch.setenv("SOFTALIGN_CACHE", str(here / "cache"))
    write_corpus(here)
    taken: dict[str, list[float]] = {"first": [], "second": [], "estimate": []}
    few, many = 1000, 1_000_000
    for lines in (few, many):
        for side in ("en", "es"):
            (here / f"train.{side}").write_text("".join(f"a{i % 50} b\n" for i in range(lines)))
        for reading in ("first", "second"):
            run = ["text.yaml", f"name={reading}{lines}", "train.max_updates=1", "--threads", 1]
            code, message, megabytes, _ = measured("run", *run, cwd=here)
            assert code == 0, message
            taken[reading].append(megabytes)
        (found,) = answer("validate", "text.yaml", "train.max_updates=1", "--threads", 1, cwd=here)
        planned = answer("run", "text.yaml", "name=other", "train.max_updates=1", "--threads", 1, "--dry-run", cwd=here)["memory"]
        assert found["memory"]["bytes"] == pytest.approx(planned, rel=0.2)
        taken["estimate"].append(planned / MB)
    grown = {name: after - before for name, (before, after) in taken.items()}
    assert all(growth < 14 * many / MB for growth in grown.values()) and grown["estimate"] > 8 * many / MB, taken


def with_plugin(kind: str, name: str, size: int) -> dict[str, Any]:
    """Returns a spec in which this plugin needs memory; size: 1 or 2."""
    units = 32 * size
    score = {"type": "additive", "units": units}
    model: dict[str, Any] = {
        "embedding": units,
        "encoder": {"type": "gru", "units": units},
        "attention": {"type": "global", "score": score},
        "decoder": {"type": "attentional_gru", "units": 2 * units},
    }
    length, examples = 20 * size, {"train": 48, "dev": 2, "test": 4}
    task: dict[str, Any] = {"type": "reverse", "symbols": 400, "data_seed": 3}
    train: dict[str, Any] = {"batch": {"sentences": 48}, "epochs": 1, "max_updates": 1}
    spec: dict[str, Any] = {"name": f"{kind}-{name}-{size}", "task": task, "model": model, "train": train, "evaluate": {"search": "greedy"}}
    if kind == "encoder":
        with_units = ("gru", "lstm", "rnn", "lstmn", "convolutional", "gated_convolutional")
        model["encoder"] = {"type": name, "units": units} if name in with_units else name
    elif kind == "score":
        model["attention"]["score"] = name
    elif kind == "attention":
        unscored = ("built_in", "gaussian_mixture", "location_aware", "memory_hops", "multi_head", "none", "true_alignment", "uniform")
        scored = name not in unscored
        model["attention"] = {"type": name, "score": score} if scored else name
    elif kind == "decoder":
        model["decoder"]["type"] = name
        if name == "convolutional":
            model["attention"] = "built_in"
    elif kind == "optimizer":
        train["optimizer"], task["symbols"] = name, 10000 * size
    elif kind == "schedule":
        train["schedule"] = name
    elif kind == "search":
        spec["evaluate"]["search"] = {"type": name, **{"beam": {"width": 8}, "sample": {"samples": 8}}.get(name, {})}
        examples["test"] = 48
    elif kind == "metric":  # every run has all of them
        task["symbols"], length = 1500 * size, 14
        spec["evaluate"]["baselines"], examples["train"] = ["ibm_model1"], 40000
    elif kind == "diagnostic":
        task["symbols"], length = 8000 * size, 8
        spec["diagnostics"] = {name: {"permutations": 2} if name == "faithfulness" else {}}
        task["length"] = {"dev": [1, 1]}
        if name == "bottleneck":
            task["symbols"], task["length"]["test"], examples["test"] = 400, [100 * size] * 2, 400
            spec |= {"diagnostics": {name: {"longest": 2}}, "record": {"alignments": 0}}
            spec["evaluate"]["batch"] = 4
    if name in ("built_in", "transformer", "self_attention"):
        layers = {"layers": 1, "feed_forward": units}
        model |= {"encoder": {"type": "self_attention"} | layers, "attention": "built_in", "decoder": {"type": "transformer"} | layers}
    task["length"] = {"train": [length] * 2, "dev": [length] * 2, "test": [length] * 2} | task.get("length", {})
    task["examples"] = examples
    if kind == "task":
        return with_task(name, spec, size)
    if name == "image_grid":
        return with_task("image_captions", spec, size)
    if kind == "output_layer" and name == "gaussian":
        model["output"] = name
        return with_task("series", spec, size)
    return spec


def with_task(name: str, spec: dict[str, Any], size: int) -> dict[str, Any]:
    task = spec["task"]
    task["type"] = name
    if name == "associative_recall":
        del task["length"], task["symbols"]
        task["keys"], task["pairs"] = 100, {split: [10 * size] * 2 for split in ("train", "dev", "test")}
    elif name == "date_format":
        del task["length"], task["symbols"]
        spec["train"]["batch"]["sentences"] = task["examples"]["train"] = 96 * size
    elif name == "parallel_text":
        spec["task"] = {"type": name} | {split: {"source": f"{split}-{size}", "target": f"{split}-{size}"} for split in ("train", "dev", "test")}
        spec["task"] |= {"max_length": 20 * size, "vocabulary": {"size": 403}}  # no more than there is, as below
        spec["evaluate"]["batch"] = 4
        spec["record"] = {"alignments": 4, "snapshots": 2}
    elif name == "frames":
        spec["task"] = {"type": name} | {split: {"source": f"{split}-{size}.h5", "target": f"{split}-{size}"} for split in ("train", "dev", "test")}
        spec["task"] |= {"frame_size": 40, "max_length": 60 * size, "max_target_length": 20 * size, "vocabulary": {"size": 403}}
        spec["evaluate"]["batch"] = 4
        spec["record"] = {"alignments": 4, "snapshots": 2}
    elif name == "series":  # as many windows as the other tasks have pairs
        spec["task"] = {"type": name, "file": f"series-{size}", "history": 20 * size, "horizon": 20 * size, "dev": 40 * size, "test": 80 * size, "bins": 400}
        spec["evaluate"]["batch"] = 4
        spec["record"] = {"alignments": 4, "snapshots": 2}
    elif name == "image_captions":
        del task["symbols"]
        task |= {"digits": "digits", "length": {split: [2 * size] * 2 for split in ("train", "dev", "test")}}
        spec["model"]["encoder"] = "image_grid"
    return spec


@uses_memory_as_built
def test_the_estimate_is_what_a_run_takes_with_any_plugin(tmp_path: Path) -> None:
    for size in (1, 2):
        for split, lines in {"train": 64, "dev": 2, "test": 4}.items():
            text = "".join(" ".join(f"w{(i * j) % 400}" for j in range(20 * size)) + "\n" for i in range(1, lines + 1))
            (tmp_path / f"{split}-{size}").write_text(text)
            with h5py.File(tmp_path / f"{split}-{size}.h5", "w") as file:
                file["frames"] = np.random.default_rng(size).standard_normal((lines * 60 * size, 40)).astype("float32")
                file["lengths"] = [60 * size] * lines
        (tmp_path / f"series-{size}").write_text("".join(f"{k * k % 1009}\n" for k in range(160 * size + 47)))
    digits = [f"{split} {k} {k} " + "5 " * 63 for k, split in enumerate(("train", "dev", "test"))]
    (tmp_path / "digits").write_text("\n".join(digits) + "\n")
    plugins = {(entry["kind"], entry["name"]) for entry in answer("list", cwd=tmp_path)}
    runs = [(kind, name, size) for kind, name in sampled(sorted(plugins), 4) for size in (1, 2) if kind != "metric" or name == "loss"]
    files = []
    for run in runs:
        files.append("-".join(map(str, run)) + ".yaml")
        (tmp_path / files[-1]).write_text(json.dumps(with_plugin(*run)))
    estimates = [found["memory"]["bytes"] / MB for found in answer("validate", *files, "--threads", 1, cwd=tmp_path)]
    with ThreadPool(2) as pool:
        # In a folder of its own no run is another one's beginning.
        done = pool.map(lambda file: measured("run", file, "--threads", 1, "--results", Path(file).stem, cwd=tmp_path), files)
    assert not [run for run, (code, *_) in zip(runs, done, strict=True) if code != 0], done[0]
    wrong = {
        run: f"{estimate:.0f} of {megabytes:.0f}"
        for run, estimate, (_, _, megabytes, _) in zip(runs, estimates, done, strict=True)
        if abs(estimate / megabytes - 1) > 0.25
    }
    assert not wrong


@can_be_limited
def test_a_limit_of_the_process_counts_and_the_option_goes_on(here: Path) -> None:
    large = ["tiny.yaml", "task.symbols=1000000", "model.embedding=256"]
    limit = address_space(1500 * MB)
    assert "model: " in error("run", *large, cwd=here, code=2, **limit)
    assert not (here / "results").exists()
    assert softalign("run", *large, "--no-size-check", cwd=here, code=None, **limit).returncode != 2


@can_be_limited
def test_rows_side_by_side_share_the_machine(here: Path) -> None:
    (here / "sweep.yaml").write_text(
        "name: many\nbase: tiny.yaml\nmetric: {name: dev/loss, goal: minimize}\n"
        "parameters: {train.optimizer.learning_rate: {values: [0.1, 0.01]}}\n"
    )
    softalign("sweep", "plan", "sweep.yaml", cwd=here)
    work = ["sweep", "work", "sweep.yaml", "--row", "0"]
    assert "--workers: " in softalign(*work, "--side-by-side", "1024", cwd=here, code=2, **address_space(2000 * MB)).stderr


def test_a_trained_run_is_not_asked_for_more_than_there_is(trained: Path, tmp_path: Path) -> None:
    code, message, megabytes, _ = measured(
        "evaluate", trained, "search.width=1000", "task.length.test=[4,10000]", "--search", "beam", cwd=tmp_path
    )
    assert code == 2 and (SANITIZED or megabytes < 400) and "batch: about " in message
    line = " ".join(["a"] * 10000) + "\n"
    code, message, megabytes, _ = measured("translate", trained, "search.width=1000", "--search", "beam", cwd=tmp_path, text=line)
    assert code == 2 and (SANITIZED or megabytes < 400) and message.startswith("softalign: search.width: about "), message
