"""`verify` compares all values of a record except those that SECURITY.md names."""

from __future__ import annotations

import os
import re
import shutil
import struct
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatch
from pathlib import Path

import pytest

from command_line import TINY, softalign, trained_run
from nightly import NIGHTLY, sampled

h5py = pytest.importorskip("h5py", reason="python3-h5py is not installed")
numpy = pytest.importorskip("numpy")  # comes with it

SECURITY = (Path(__file__).parents[2] / "SECURITY.md").read_text()
EXCEPTIONS = re.findall(r"`([^`\s]*[@/*][^`\s]*|system)`", SECURITY.partition("\n## What `verify` does not compare\n")[2].partition("\n\nMetrics, ")[0])
SCALES = {"CLASS", "NAME", "DIMENSION_LIST", "REFERENCE_LIST"}  # by which HDF5 keeps axes and arrays together


def seal(file: Path) -> None:
    """Returns the seal of framework/record/hdf5/hdf5.hpp."""
    content = file.read_bytes()
    file.write_bytes(content + b"SOFTSEAL" + struct.pack("<QI", len(content), zlib.crc32(content)))


def values(file: h5py.File) -> Iterator[str]:
    """Returns all datasets ("train/loss") and attributes ("train/loss@units") of a record."""
    names: list[str] = [""]
    file.visit(names.append)
    for name in names:
        yield from (f"{name}@{attribute}" for attribute in file[name or "/"].attrs if attribute not in SCALES)
        if name and isinstance(file[name], h5py.Dataset) and file[name].size:
            yield name


def other(value: object) -> object:
    """Returns another value of the same type; of an array the last element differs."""
    if isinstance(value, bytes):
        return {b"higher": b"lower", b"lower": b"higher"}.get(value, value + b"x")
    array = numpy.array(value)
    if array.dtype.kind in "SO":
        array = array.astype(object)
    last = array.reshape(-1)[-1]
    array.reshape(-1)[-1] = other(last) if isinstance(last, bytes) else 0.5 if last != last else 1 - last if array.dtype == numpy.uint8 else last + 1
    return array.astype("S") if isinstance(value, numpy.ndarray) and value.dtype.kind == "S" else array


def change(file: h5py.File, path: str) -> None:
    name, _, attribute = path.partition("@")
    if not attribute:
        file[name][...] = other(file[name][()])
        return
    attributes = file[name or "/"].attrs
    attributes[attribute] = numpy.bytes_(new) if isinstance(new := other(attributes[attribute]), bytes) else new


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns a small record with all kinds of values."""
    folder = tmp_path_factory.mktemp("record")
    (folder / "tiny.yaml").write_text(TINY)
    return trained_run(folder, "train.epochs=1", "record.alignments=2", "record.snapshots=1", "diagnostics={cost: {}}", "evaluate.lengths=[4]") / "run.h5"


def test_every_value_that_is_changed_is_found(record: Path, tmp_path: Path) -> None:
    with h5py.File(record) as file:
        paths = sampled(values(file), 6)

    def is_found(path: str) -> bool:
        copy = tmp_path / f"{zlib.crc32(path.encode())}.h5"
        copy.write_bytes(record.read_bytes())
        with h5py.File(copy, "a") as file:
            change(file, path)
        seal(copy)
        found = softalign("verify", copy, "--threads", 1, cwd=tmp_path, code=None)
        copy.unlink()
        assert found.returncode in (0, 1, 2, 3, 4), (path, found.stderr)
        return found.returncode != 0

    with ThreadPoolExecutor(os.cpu_count()) as workers:
        missed = [path for path, found in zip(paths, workers.map(is_found, paths)) if not found]
    assert [path for path in missed if not any(fnmatch(path, pattern) for pattern in EXCEPTIONS)] == []
    assert len(paths) - len(missed) > (300 if NIGHTLY else 50)


@pytest.mark.parametrize("is_now, found", [("notes: lies", False), ("tags: [lies]", False), ("seed: 2", True), ("embedding: 9", True), ("keep: none", False)])
def test_what_the_spec_says_is_found_but_for_words(record: Path, tmp_path: Path, is_now: str, found: bool) -> None:
    copy = Path(shutil.copy(record, tmp_path / "copy.h5"))
    with h5py.File(copy, "a") as file:
        text = file["provenance/spec_yaml"].asstr()[()]
        key = is_now.partition(":")[0]
        file["provenance/spec_yaml"][()] = re.sub(rf"^( *){key}: [^#\n]*", rf"\g<1>{is_now} ", text, count=1, flags=re.M)
    softalign("verify", copy, cwd=tmp_path, code=3 if found else 0)


def test_what_a_record_says_of_known_metrics_is_not_believed(record: Path, tmp_path: Path) -> None:
    copies = [Path(shutil.copy(record, tmp_path / name)) for name in ("one.h5", "two.h5")]
    commands = [["compare", *copies, "--metric", "loss,bleu"], ["show", copies[0]], ["export", *copies, "--what", "report"]]

    def shown() -> list[str]:
        return [softalign(*command, cwd=tmp_path).stdout for command in commands]

    before = shown()
    for copy in copies:
        with h5py.File(copy, "a") as file:
            for metric in ("loss", "bleu"):
                for fact in ("higher_is_better", "units", "long_name", "valid_min", "order", "searched"):
                    change(file, f"test/by_length/{metric}@{fact}")
    assert shown() == before
    softalign("verify", copies[0], cwd=tmp_path, code=4)


def test_a_record_that_is_older_than_a_metric_verifies_without_it(record: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copy(record, tmp_path / "copy.h5"))

    def remove(*paths: str) -> None:
        with h5py.File(copy, "a") as file:
            for path in paths:
                name, _, attribute = path.partition("@")
                if attribute:
                    del file[name].attrs[attribute]
                else:
                    del file[name]
        seal(copy)

    remove("test/word_errors", "test/word_error", "test/by_length/token_error_rate", "test@token_error_rate")
    assert "test/by_length/token_error_rate" in softalign("verify", copy, cwd=tmp_path, code=4).stderr  # dev has it
    remove("dev/token_error_rate")
    assert softalign("verify", copy, cwd=tmp_path).stdout.endswith("the same bits again; it has no token_error_rate\n")
    remove("test/chrf_stats")  # a count of a metric that the record has
    assert "test/chrf_stats" in softalign("verify", copy, cwd=tmp_path, code=4).stderr
