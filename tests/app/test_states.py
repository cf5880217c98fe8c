"""All states of a run can be used: the record's, the best so far, the last, that of an update; a message names it."""

from __future__ import annotations

import json
import shutil
import struct
from pathlib import Path

import h5py
import numpy
import pytest

from command_line import answer, error, interrupt, softalign, started_run, trained_run, wait_until

EARLY = "train.early_stopping={metric: dev/loss, patience: 50}"
SENTENCES = "s1 s2 s3\ns4 s5\n"


def test_states_of_an_interrupted_run(here: Path) -> None:
    process, run = started_run(here, "train.epochs=2000", "train.optimizer.learning_rate=0.2", EARLY, "record.keep=all")
    wait_until(lambda: len(list(run.glob("ckpt/*.ckpt"))) > 3)
    running = softalign("translate", run, cwd=here, text=SENTENCES)
    assert "the state chosen so far, of update " in running.stderr and "(the run is running)" in running.stderr
    assert len(running.stdout.splitlines()) == 2
    interrupt(process)
    updates = sorted(int(path.name.split("-")[1]) for path in run.glob("ckpt/*.ckpt"))
    last = answer("evaluate", run, "--state", "last", cwd=here)
    assert last["state"] == f"the last state, of update {updates[-1]} (the run is interrupted)"
    assert answer("evaluate", run, "--state", updates[-1], cwd=here)["metrics"] == last["metrics"]
    metrics = {update: answer("evaluate", run, "--split", "dev", "--state", update, cwd=here)["metrics"]["all"]["loss"] for update in updates}
    with h5py.File(run / "run.h5") as file:
        recorded = dict(zip(file["dev/update"][:].tolist(), file["dev/loss"][:].tolist()))
    assert len(recorded) >= 3 and all(metrics[update] == loss for update, loss in recorded.items() if update in metrics)
    best = answer("evaluate", run, "--split", "dev", cwd=here)
    assert best["metrics"]["all"]["loss"] == min(recorded.values())  # an interruption may leave a state that was not evaluated
    error("score", run, "--source", "tiny.yaml", "--target", "tiny.yaml", "--state", 1, cwd=here, code=3)
    error("evaluate", run, "init.freeze=[encoder.*]", cwd=here, code=2)
    error("translate", run, "--state", "worst", cwd=here, code=2)


def test_states_of_a_complete_run(here: Path) -> None:
    run = trained_run(here, "train.epochs=6", "record.keep=all")
    whole = answer("evaluate", run, cwd=here)
    assert "state" not in whole and answer("evaluate", run, "--state", "best", cwd=here) == whole
    assert answer("evaluate", run, "--state", 24, cwd=here)["metrics"] == whole["metrics"]
    first = answer("evaluate", run, "--state", 4, cwd=here)
    assert first["metrics"] != whole["metrics"] and first["state"] == "the state of update 4 (the run is complete)"
    shutil.rmtree(run / "ckpt")
    error("evaluate", run, "--state", "last", cwd=here, code=3)


def parameters_in(checkpoint: Path) -> numpy.ndarray:
    """Returns the blob "parameters" of a checkpoint file."""
    content, at = checkpoint.read_bytes(), len("SOFTCKPT") + 4

    def take() -> bytes:
        nonlocal at
        (size,) = struct.unpack_from("<Q", content, at)
        at += 8 + size
        return content[at - size : at]

    (count,) = struct.unpack_from("<Q", content, at)
    at += 8
    blobs = {take().decode(): take() for _ in range(count)}
    return numpy.frombuffer(blobs["parameters"], numpy.float32)


def test_the_mean_of_checkpoints(here: Path) -> None:
    """The result is the mean of train.average: of the parameters, in double, in the order of the checkpoints."""
    run = trained_run(here, "train.epochs=6", "record.keep=all")
    averaged = trained_run(here, "train.epochs=6", "train.average={type: last, epochs: 3}", "record.keep=all")
    wanted = answer("evaluate", averaged, cwd=here)["metrics"]
    found = answer("evaluate", run, "--state", "average:3", cwd=here)
    assert found["metrics"] == wanted != answer("evaluate", run, cwd=here)["metrics"]
    assert found["state"] == "the mean of the states of updates 16, 20, 24 (the run is complete)"
    assert answer("evaluate", run, "--state", "average:24,16,20", cwd=here)["metrics"] == wanted
    assert answer("evaluate", run, "--state", "average:1", cwd=here)["metrics"] == answer("evaluate", run, "--state", "last", cwd=here)["metrics"]
    states = [parameters_in(path) for update in (16, 20, 24) for path in run.glob(f"ckpt/upd-{update:08}-*")][-3:]
    mean = (sum(state.astype(numpy.float64) for state in states) / 3).astype(numpy.float32)
    with h5py.File(averaged / "run.h5") as file:
        recorded = numpy.concatenate([file[f"parameters/{name}"][()].ravel() for name in file["parameters"] if not name.startswith("axis")])
    assert numpy.array_equal(numpy.sort(mean[mean != 0]), numpy.sort(recorded[recorded != 0]))
    mean_of = ["--state", "average:16,24"]
    assert softalign("translate", run, *mean_of, cwd=here, text=SENTENCES).stderr.startswith("note: run ")
    (here / "lines").write_text("s1 s2\n")
    scores = [softalign("score", run, "--source", "lines", "--target", "lines", *state, cwd=here).stdout for state in ([], mean_of)]
    assert scores[0] != scores[1]
    exported = [json.loads(softalign("export", run, "--what", "states", *state, cwd=here).stdout) for state in ([], mean_of)]
    assert "state" not in exported[0] and exported[1]["state"].startswith("the mean of the states of updates 16, 24")
    assert "4, 8, 12" in error("evaluate", run, "--state", "average:4,5", cwd=here, code=3)
    assert "6 checkpoints" in error("evaluate", run, "--state", "average:7", cwd=here, code=3)
    for name in ("average:", "average:0", "average:4,", "average:4,4", "average:x", "average", "average:-1"):
        error("evaluate", run, "--state", name, cwd=here, code=2)
    error("export", run, "--state", "last", cwd=here, code=2)


def test_principal_components_of_a_model(here: Path) -> None:
    run = trained_run(here, "train.epochs=6")
    found = json.loads(softalign("export", run, "--what", "states", cwd=here).stdout)
    with h5py.File(run / "run.h5") as file:
        lengths = file["test/source_length"][:100] + 1  # with </s>
    for name in ("annotations", "readouts"):
        part = found[name]
        points = numpy.array(part["components"])
        assert points.shape == (3, len(part["symbol"])) and set(part["sentence"]) == set(range(len(lengths)))
        products = points @ points.T  # components are orthogonal, the first explains the most
        assert abs(products - numpy.diag(numpy.diag(products))).max() < 1e-9 * products[0, 0]
        assert numpy.diag(products) / products[0, 0] == pytest.approx(numpy.array(part["explained"]) / part["explained"][0])
        assert abs(points.mean(1)).max() < 1e-9 and 0 < sum(part["explained"]) <= 1 + 1e-9
    assert numpy.bincount(found["annotations"]["sentence"]).tolist() == lengths.tolist()
    assert [symbol for symbol, place in zip(found["annotations"]["symbol"], found["annotations"]["position"]) if place == lengths[0] - 1][0] == "</s>"
