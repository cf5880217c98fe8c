"""The records of results/published/ verify on this machine."""

from __future__ import annotations

import gzip
import json
import os
import platform
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import h5py
import numpy
import pytest

from command_line import ANGULAR, answer, error, needs_subwords, softalign, trained_run, write_corpus

ROOT = Path(__file__).parents[2]
RECORDS = sorted((ROOT / "results" / "published").glob("*.h5"))


def test_there_are_some() -> None:
    assert {"gru", "hard", "images", "pruned", "subwords", "transformer"} <= {record.stem for record in RECORDS}


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.stem)
def test_each_gives_the_same_bits_again(record: Path, tmp_path: Path) -> None:
    if record.stem == "subwords":  # its vocabulary is a function of sentencepiece's version
        needs_subwords()
        with h5py.File(record) as file:
            made_with = re.search(r"sentencepiece ([\d.]+)", file["provenance"].attrs["libs"].decode())[1]
        here = next(finding["found"] for finding in answer("doctor", cwd=tmp_path, code=None) if finding["what"] == "sentencepiece")
        if here != made_with:
            pytest.skip(f"made with sentencepiece {made_with}, and this is {here}")
    assert "the same bits again" in softalign("verify", record, cwd=tmp_path).stdout


# A home or a folder for temporary files, as they are called on one machine; in records, any absolute path.
MACHINE = re.compile(rb"(?<![\w.~-])/(?:home|root|Users)/[\w.-]+|(?<![\w.~-])(?:/private|/var)?/tmp/(?:tmp|pytest)[\w./-]*")
ABSOLUTE = re.compile(rb"(?:^|[^\w.-])(/\w[\w.-]*/[\w./-]*)", re.MULTILINE)


def attributes(item: h5py.Group | h5py.Dataset) -> dict[str, object]:
    """Returns the attributes, without those for dimension scales."""
    return {name: item.attrs[name] for name in item.attrs if name not in ("DIMENSION_LIST", "REFERENCE_LIST")}


def texts(item: h5py.Group | h5py.Dataset) -> Iterator[bytes]:
    """Yields every text in a record."""
    for value in [*attributes(item).values(), *([item[()]] if isinstance(item, h5py.Dataset) and item.dtype.kind in "SO" else [])]:
        yield from (text for text in numpy.asarray(value).ravel().tolist() if isinstance(text, bytes))
    if isinstance(item, h5py.Group):
        for child in item.values():
            yield from texts(child)


def test_no_tracked_file_names_the_machine_that_made_it() -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if listed.returncode != 0:
        pytest.skip("not a clone")
    files = [ROOT / name for name in listed.stdout.decode().split("\0") if name and name != str(Path(__file__).relative_to(ROOT))]
    found = {}
    for file in filter(Path.is_file, files):
        content = file.read_bytes()
        content = gzip.decompress(content) if file.suffix == ".gz" else content
        names = set()
        if file.suffix == ".h5" and "corpora" not in file.parts:  # a record, where texts may be compressed
            with h5py.File(file) as record:
                content = b"\n".join(texts(record))
                if "provenance" in record:  # of a run; a study's table has none
                    names = set(ABSOLUTE.findall(b"\n".join(texts(record["provenance"]))))
        names |= {*MACHINE.findall(content)}
        if len(ROOT.parts) > 2:  # else a word that says nothing: /project
            names |= {*re.findall(re.escape(str(ROOT).encode()), content)}
        if names:
            found[str(file.relative_to(ROOT))] = sorted(names)
    assert not found, f"{found}; scripts/publish.sh makes records without"


def items(file: h5py.File) -> dict[str, object]:
    """Returns all values except the provenance, as stored."""
    found: dict[str, object] = {}

    def add(name: str, item: h5py.Group | h5py.Dataset) -> None:
        if name.startswith("provenance"):
            return
        found[name] = {key: (numpy.asarray(value).dtype, repr(value)) for key, value in attributes(item).items()}
        if isinstance(item, h5py.Dataset):
            found[f"{name}="] = (item.dtype, item.chunks, repr(item.fillvalue) if item.dtype.kind == "f" else "", repr(numpy.asarray(item[()]).tolist()), [axis.keys() for axis in item.dims])

    add("", file)
    file.visititems(add)
    return found


def test_a_public_copy_tells_the_numbers_and_not_the_machine(here: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    write_corpus(here)
    run = here / Path(answer("run", "text.yaml", cwd=here, env=os.environ | {"SOFTALIGN_SECRET": "of ada"})["record"]).parent
    with h5py.File(run / "run.h5", "a") as file:
        host = file["provenance"].attrs["host"].decode()
        events = file.create_group("provenance/events")
        events["attempt"] = numpy.array([1, 1, 1], numpy.int32)
        events["time"] = ["2026-03-01T12:00:00Z"] * 3
        events["text"] = [f"taken from {host}:12 by force", f"reusing the complete run in {here}/x", "drift after resumption: train/loss at update 3"]
        file["provenance"].attrs["flags"] = numpy.bytes_("-O3 -I/home/ada/include")
        assert b"of ada" in (run / "run.h5").read_bytes()
        before = items(file)
    said = softalign("publish", run, "-o", "copy.h5", cwd=here).stdout
    assert said.startswith(f"copy.h5: run {run.name}, the same numbers\nleft out: ") and "environment, 2 events\n" in said and "flags" in said
    assert "data: dev.en, dev.es, test.en, test.es, train.en, train.es\n" in said
    content = (here / "copy.h5").read_bytes()
    with h5py.File(here / "copy.h5") as file:
        assert items(file) == before
        assert file["provenance/events/text"].asstr()[:].tolist() == ["drift after resumption: train/loss at update 3"]
        assert not [text for text in texts(file["provenance"]) if re.search(rf"\b{re.escape(host)}\b|of ada|/home|{here}".encode(), text)]
    assert b"of ada" not in content and str(here).encode() not in content
    given = softalign("show", "copy.h5", cwd=here).stdout.partition("with the paths of the record:\n")[2].partition("\n\n")[0].splitlines()
    assert {"      source: train.en", "    epochs: 2"} <= {*given} and not [line for line in given if "data_seed" in line or "residual" in line]
    softalign("publish", "copy.h5", "-o", "copy.h5", cwd=here)  # what the command made it replaces
    assert (here / "copy.h5").read_bytes() == content
    (here / "mine").write_text("not a record")
    assert "--force replaces it" in error("publish", run, "-o", "mine", cwd=here, code=2)
    place = tmp_path_factory.mktemp("elsewhere")
    for name in ("copy.h5", *(f"{split}.{side}" for split in ("train", "dev", "test") for side in ("en", "es"))):
        (here / name).rename(place / name)
    assert softalign("verify", "copy.h5", cwd=place).stdout == "copy.h5: the same bits again\n"
    assert softalign("translate", "copy.h5", cwd=place, text="a b\n").stdout
    for command in (["compare"], ["export", "--what", "sentences"]):
        softalign(command[0], "copy.h5", *command[1:], cwd=place)


def test_a_public_copy_names_data_by_its_place_in_a_folder(here: Path) -> None:
    write_corpus(here)
    (here / "other").mkdir()
    for side in ("en", "es"):
        (here / f"test.{side}").rename(here / f"other/train.{side}")
    run = trained_run(here, "task.test.source=other/train.en", "task.test.target=other/train.es", spec="text.yaml")
    (here / "deep/er").mkdir(parents=True)
    said = [softalign("publish", run, "-o", "deep/er/copy.h5", *more, cwd=here).stdout for more in ([], ["--below", "."])]
    apart = sorted([f"{here.name}/{split}.{side}" for split in ("dev", "train") for side in ("en", "es")] + ["other/train.en", "other/train.es"])
    assert f"data: {', '.join(apart)}\n" in said[0]
    assert "data: dev.en, dev.es, other/train.en, other/train.es, train.en, train.es\n" in said[1]
    assert "the same bits again" in softalign("verify", "deep/er/copy.h5", cwd=here).stdout


def test_a_public_copy_names_plugins_by_their_files(here: Path) -> None:
    (here / "plugins").mkdir()
    shutil.copy(ANGULAR, here / "plugins/angular.so")
    run = trained_run(here, "--plugin", "plugins/angular.so", "model.attention.score=angular", "train.epochs=1")
    softalign("publish", run, "-o", "copy.h5", cwd=here)
    with h5py.File(here / "copy.h5") as file:
        assert "\nplugins: [angular.so]\n" in file["provenance/spec_yaml"].asstr()[()]
    assert "the same bits again" in softalign("verify", "copy.h5", "--plugin", "plugins/angular.so", cwd=here).stdout


def test_products_can_be_computed_otherwise(tmp_path: Path) -> None:
    for name in ("portable", "sse2")[: 1 + (platform.machine() == "x86_64")]:
        assert "the same bits again" in softalign("verify", RECORDS[0], cwd=tmp_path, env=os.environ | {"SOFTALIGN_ISA": name}).stdout
    assert "SOFTALIGN_ISA" in error("ls", cwd=tmp_path, code=2, env=os.environ | {"SOFTALIGN_ISA": "sse9"})


def test_a_public_copy_of_a_fine_tuned_run_verifies_with_the_run_it_began_with(here: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """init.from and vocabulary.from name a folder as shells complete it, with a slash at the end."""
    write_corpus(here)
    base = Path(answer("run", "text.yaml", cwd=here)["record"]).parent
    changes = [f"{option}=results/text/{base.name}/" for option in ("init.from", "task.vocabulary.from")]
    tuned = Path(answer("run", "text.yaml", "name=tuned", *changes, cwd=here)["record"]).parent
    assert f"the data includes runs: {base.name}; publish them" in softalign("publish", tuned, "-o", "copy.h5", cwd=here).stdout
    assert f"the data includes runs: results/text/{base.name}; " in softalign("publish", tuned, "--below", ".", "-o", "below.h5", cwd=here).stdout
    assert softalign("verify", "below.h5", cwd=here).stdout == "below.h5: the same bits again\n"
    place = tmp_path_factory.mktemp("elsewhere")
    (place / base.name).mkdir()
    softalign("publish", base, "-o", place / base.name / "run.h5", cwd=here)
    for name in ("copy.h5", *(f"{split}.{side}" for split in ("train", "dev", "test") for side in ("en", "es"))):
        (here / name).rename(place / name)
    assert softalign("verify", "copy.h5", cwd=place).stdout == "copy.h5: the same bits again\n"
    series = json.loads(softalign("export", "results", "--what", "report", cwd=here).stdout)["series"]
    assert sorted(series) == ["text", "tuned"]  # and not by the digest of what it began with
